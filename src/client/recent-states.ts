import type { JsonObject } from '../model/json.ts';
import { RECENT_STATE_MS } from '../model/stack.ts';

/** The states of resources and modules that the service has shown in the last five seconds, by URL path. */
export class RecentStates {
  readonly #now: () => number;
  /** The oldest first. */
  readonly #states = new Map<string, { readonly json: JsonObject | null; readonly atMs: number }>();

  /** `now` returns milliseconds since a fixed moment. */
  constructor(now: () => number) {
    this.#now = now;
  }

  /** Records a state that a response has just shown. `null`: the module at the path is not set. */
  note(path: string, json: JsonObject | null): void {
    const now = this.#now();
    for (const [old, { atMs }] of this.#states) {
      if (isRecent(atMs, now)) break;
      this.#states.delete(old);
    }
    this.#states.delete(path);
    this.#states.set(path, { json, atMs: now });
  }

  /** Returns the state at a path. `undefined` if the service has not shown it in the last five seconds. */
  find(path: string): JsonObject | null | undefined {
    const found = this.#states.get(path);
    return found !== undefined && isRecent(found.atMs, this.#now()) ? found.json : undefined;
  }
}

/** False if the clock was set back, because then it is unknown how long ago the state was shown. */
function isRecent(atMs: number, now: number): boolean {
  return now >= atMs && now - atMs <= RECENT_STATE_MS;
}
