import { BoundedMap } from '../model/bounded-map.ts';

/** What is listed: anything with an id. */
export interface Listed {
  readonly id: string;
}

/** A place in the list. What was removed keeps its way to what was older. */
interface Entry<T extends Listed> {
  /** `undefined`: removed. */
  value: T | undefined;
  older: Entry<T> | undefined;
  newer: Entry<T> | undefined;
}

/** The number of removed places that are remembered. */
const MAX_GONE = 100_000;

/**
 * Values in the order in which they were added, found by id and listed newest first. Adding, changing and removing cost the same however
 * many there are, and a page what it has on it. The places of the last values that were removed are still known, so that paging goes on
 * where they were.
 */
export class Listing<T extends Listed> {
  #newest: Entry<T> | undefined;
  /** The oldest first. */
  readonly #byId = new Map<string, Entry<T>>();
  /** By id: the places of what was removed. */
  readonly #gone = new BoundedMap<string, Entry<T>>(MAX_GONE);

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Whether paging can continue from the id: it is listed, or was removed only recently. */
  knows(id: string): boolean {
    return this.#byId.has(id) || this.#gone.get(id) !== undefined;
  }

  add(value: T): void {
    const entry: Entry<T> = { value, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
    this.#byId.set(value.id, entry);
    this.#gone.delete(value.id);
  }

  /** Puts a value in the place of the one with its id, if there is one. */
  replace(value: T): void {
    const entry = this.#byId.get(value.id);
    if (entry !== undefined) entry.value = value;
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    const { older, newer } = entry;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older !== undefined) older.newer = newer;
    entry.value = undefined;
    entry.newer = undefined;
    this.#byId.delete(id);
    this.#gone.set(id, entry);
  }

  /** At most `limit` values that were added before the one with the id `before`, newest first. */
  listBefore(before: string | undefined, limit: number): readonly T[] {
    const page: T[] = [];
    let entry = before === undefined ? this.#newest : this.#findOlder(before);
    for (; entry?.value !== undefined && page.length < limit; entry = entry.older) page.push(entry.value);
    return page;
  }

  /** All of them, oldest first. */
  listAll(): readonly T[] {
    return Array.from(this.#byId.values(), ({ value }) => value).filter((value) => value !== undefined);
  }

  #findOlder(id: string): Entry<T> | undefined {
    const entry = this.#byId.get(id) ?? this.#gone.get(id);
    let older = entry?.older;
    while (older !== undefined && older.value === undefined) older = older.older;
    // Who asks again need not go the same way again.
    for (let one = entry; one !== undefined && one.value === undefined && one.older !== older; ) {
      const next: Entry<T> | undefined = one.older;
      one.older = older;
      one = next;
    }
    return older;
  }
}
