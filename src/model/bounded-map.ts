/** Entries of which at most `max` are kept: what was added first is forgotten first. Each operation costs the same, however many there are. */
export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #entries = new Map<Key, Value>();
  /** Stands before the oldest entry. A new iterator would go past all that was deleted before it, since a Map is tidied up only now and then. */
  readonly #oldest = this.#entries.keys();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** A key that is there keeps its place. */
  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const first = this.#oldest.next();
    if (first.done !== true) this.#entries.delete(first.value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }
}
