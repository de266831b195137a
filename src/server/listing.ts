/** What is listed: anything with an id. */
export interface Listed {
  readonly id: string;
}

interface Entry<T extends Listed> {
  readonly position: number;
  value: T | undefined;
}

/** Fewer gaps than this are not worth closing. */
const MIN_GAPS = 1024;

/**
 * Values in the order in which they were added, found by id and listed newest first. On the whole, adding, changing and removing cost
 * the same however many there are, and a page little more. The place of a value that was removed not long ago is still known, so that
 * paging goes on where it was.
 */
export class Listing<T extends Listed> {
  #entries: Entry<T>[] = [];
  readonly #byId = new Map<string, Entry<T>>();
  #next = 0;
  #gaps = 0;

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Whether the id has, or lately had, a place to go on from. */
  knows(id: string): boolean {
    return this.#byId.has(id);
  }

  add(value: T): void {
    const entry = { position: this.#next++, value };
    this.#entries.push(entry);
    this.#byId.set(value.id, entry);
  }

  /** Puts a value in the place of the one with its id, if there is one. */
  replace(value: T): void {
    const entry = this.#byId.get(value.id);
    if (entry?.value !== undefined) entry.value = value;
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry?.value === undefined) return;
    entry.value = undefined;
    this.#gaps += 1;
    if (this.#gaps > MIN_GAPS && this.#gaps * 2 > this.#entries.length) this.#closeGaps();
  }

  /** At most `limit` values that were added before the one with the id `before`, newest first. */
  listBefore(before: string | undefined, limit: number): readonly T[] {
    const page: T[] = [];
    let index = before === undefined ? this.#entries.length : this.#indexOf(before);
    while (page.length < limit && index > 0) {
      index -= 1;
      const value = this.#entries[index]?.value;
      if (value !== undefined) page.push(value);
    }
    return page;
  }

  /** All of them, oldest first. */
  listAll(): readonly T[] {
    return this.#entries.flatMap(({ value }) => (value === undefined ? [] : [value]));
  }

  #indexOf(id: string): number {
    const position = this.#byId.get(id)?.position ?? 0;
    let low = 0;
    let high = this.#entries.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      const isEarlier = (this.#entries[middle]?.position ?? position) < position;
      if (isEarlier) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  #closeGaps(): void {
    for (const [id, { value }] of this.#byId) if (value === undefined) this.#byId.delete(id);
    this.#entries = this.#entries.filter(({ value }) => value !== undefined);
    this.#gaps = 0;
  }
}
