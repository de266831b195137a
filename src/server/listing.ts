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

/** The number of removed places that are remembered; the oldest is forgotten first. */
const MAX_GONE = 100_000;

/**
 * Values in the order in which they were added, found by id and listed newest first. On the whole, adding, changing and removing cost
 * the same however many there are, and a page little more. The places of the last values that were removed are still known, so that
 * paging goes on where they were.
 */
export class Listing<T extends Listed> {
  #entries: Entry<T>[] = [];
  readonly #byId = new Map<string, Entry<T>>();
  /** By id: the positions of what was removed, the first removed first. */
  readonly #gone = new Map<string, number>();
  #next = 0;
  #gaps = 0;

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Whether paging can continue from the id: it is listed, or was removed only recently. */
  knows(id: string): boolean {
    return this.#byId.has(id) || this.#gone.has(id);
  }

  add(value: T): void {
    const entry = { position: this.#next++, value };
    this.#entries.push(entry);
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
    entry.value = undefined;
    this.#byId.delete(id);
    this.#rememberGone(id, entry.position);
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
    const position = this.#byId.get(id)?.position ?? this.#gone.get(id) ?? 0;
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

  #rememberGone(id: string, position: number): void {
    this.#gone.set(id, position);
    if (this.#gone.size <= MAX_GONE) return;
    for (const first of this.#gone.keys().take(1)) this.#gone.delete(first);
  }

  #closeGaps(): void {
    this.#entries = this.#entries.filter(({ value }) => value !== undefined);
    this.#gaps = 0;
  }
}
