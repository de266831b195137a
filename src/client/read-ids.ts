import { findMember, isJsonObject, type Json, toJsonList } from '../model/json.ts';

/**
 * The ids in the responses to GETs, in the order in which they first appeared. An id that a response contained before a
 * creation was sent is not the id of what it created.
 */
export class ReadIds {
  readonly #order = new Map<string, number>();

  /** The number of ids so far. */
  get count(): number {
    return this.#order.size;
  }

  /** Records the id of a resource, or the ids of the resources in a list. */
  note(json: Json | undefined): void {
    const inner = isJsonObject(json) ? [json, ...Object.values(json).flatMap(toJsonList)] : [];
    for (const one of inner) {
      const id = findMember(one, 'id');
      if (typeof id === 'string' && !this.#order.has(id)) this.#order.set(id, this.#order.size);
    }
  }

  /** Whether the id was among the first `count` ids. */
  isAmong(id: string, count: number): boolean {
    return (this.#order.get(id) ?? count) < count;
  }
}
