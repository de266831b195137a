import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { readResource } from '../kinds/read-response.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';
import { shareLists } from './share-lists.ts';

/** Lists of kinds during an apply. Callers that ask before a list has started share it, so that it shows what each of them created before. */
export class LookUps {
  readonly #list: ReturnType<typeof shareLists>;
  #count = 0;

  constructor(list: Client['list']) {
    this.#list = shareLists((...asked) => {
      this.#count += 1;
      return list(...asked);
    });
  }

  /** Lists that were asked for. */
  get count(): number {
    return this.#count;
  }

  /** Everything of a kind, newest first, by a list that starts after this call. Rejects as the client does. */
  async list(kind: Kind): Promise<readonly LiveResource[]> {
    const list = await this.#list(kind);
    const known = LISTS.get(list) ?? list.map((json, listIndex) => ({ ...read(kind, json), listIndex }));
    LISTS.set(list, known);
    return known;
  }
}

/** What was made of a list: several stacks may be given the same one. */
const LISTS = new WeakMap<readonly JsonObject[], readonly LiveResource[]>();

/** What was made of its parts: an answer may be the same value as in the list before. */
const PARTS = new WeakMap<JsonObject, LiveResource>();

function read(kind: Kind, json: JsonObject): LiveResource {
  const known = PARTS.get(json) ?? readResource(kind, json);
  PARTS.set(json, known);
  return known;
}
