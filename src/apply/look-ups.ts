import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { readResource } from '../kinds/read-response.ts';
import type { JsonObject } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';

/** Lists of kinds during an apply. Callers that ask before a list has started share it, so that it shows what each of them created before. */
export class LookUps {
  readonly #list: Client['list'];
  readonly #running = new Map<string, Promise<unknown>>();
  readonly #waiting = new Map<string, Promise<readonly LiveResource[]>>();
  readonly #known = new WeakMap<JsonObject, LiveResource>();
  #count = 0;

  constructor(list: Client['list']) {
    this.#list = list;
  }

  /** Lists that were asked for. */
  get count(): number {
    return this.#count;
  }

  /** Everything of a kind, newest first, by a list that starts after this call. Rejects as the client does. */
  async list(kind: Kind): Promise<readonly LiveResource[]> {
    const waiting = this.#waiting.get(kind.name);
    if (waiting !== undefined) return waiting;
    const next = this.#listAfter(kind, this.#running.get(kind.name));
    this.#waiting.set(kind.name, next);
    return next;
  }

  async #listAfter(kind: Kind, running: Promise<unknown> | undefined): Promise<readonly LiveResource[]> {
    await running;
    this.#count += 1;
    const answer = this.#list(kind);
    this.#waiting.delete(kind.name);
    const over = answer.then(NOTHING, NOTHING);
    this.#running.set(kind.name, over);
    return (await answer).map((json, listIndex) => ({ ...this.#read(kind, json), listIndex }));
  }

  /** An answer may be the same value as in the list before. */
  #read(kind: Kind, json: JsonObject): LiveResource {
    const known = this.#known.get(json) ?? readResource(kind, json);
    this.#known.set(json, known);
    return known;
  }
}

const NOTHING = (): void => undefined;
