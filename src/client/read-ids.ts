import { findMember, isJsonArray, isJsonObject, type Json } from '../model/json.ts';

/**
 * The ids in the responses to GETs, in the order in which they first appeared. An id that a response contained before a
 * creation was sent is not the id of what it created.
 */
export class ReadIds {
  readonly #order = new Map<string, number>();
  readonly #bare = new Set<string>();

  /** The number of ids so far. */
  get count(): number {
    return this.#order.size;
  }

  /** The prefixes of the ids of resources that a response showed without metadata. */
  get prefixesWithoutMetadata(): ReadonlySet<string> {
    return this.#bare;
  }

  /** Records the id of a resource, or the ids of the resources in a list. */
  note(json: Json | undefined): void {
    const inner = isJsonObject(json)
      ? [json, ...Object.values(json).flatMap((value) => (isJsonArray(value) ? value : []))]
      : [];
    for (const one of inner) {
      const id = findMember(one, 'id');
      if (typeof id !== 'string') continue;
      if (!this.#order.has(id)) this.#order.set(id, this.#order.size);
      if ((findMember(one, 'metadata') ?? '') === '') this.#bare.add(id.slice(0, Math.max(id.indexOf('_'), 0)));
    }
  }

  /** Whether the id was among the first `count` ids. */
  isAmong(id: string, count: number): boolean {
    return (this.#order.get(id) ?? count) < count;
  }
}
