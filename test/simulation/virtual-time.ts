import { isFileWorkUnderWay } from './file-work.ts';
import type { SeededRandom } from './random.ts';

/**
 * A clock that advances only when nothing else is left to do. Every later action is an event. The next event runs when everything that the last
 * one started has ended. The seed decides the order of events at one time.
 */
export interface VirtualTime {
  readonly nowMs: () => number;
  readonly at: (delayMs: number, event: () => void) => void;
  /** Resolves after a time, or when the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Advances the clock until `isOver` is true. Rejects if no event is left. */
  readonly runUntil: (isOver: () => boolean) => Promise<void>;
  /** Drops all later events. */
  readonly clear: () => void;
}

interface Event {
  readonly timeMs: number;
  readonly rank: number;
  readonly happen: () => void;
}

/** More events than any walk has: the run is in a loop. */
const MAX_EVENTS = 20_000;

export function createVirtualTime(startMs: number, chance: SeededRandom): VirtualTime {
  let nowMs = startMs;
  let events: Event[] = [];
  const at = (delayMs: number, happen: () => void): void => {
    events.push({ timeMs: nowMs + Math.max(0, Math.round(delayMs)), rank: chance.next(), happen });
  };
  const step = (): boolean => {
    const [first] = events.toSorted((left, right) => left.timeMs - right.timeMs || left.rank - right.rank);
    if (first === undefined) return false;
    events = events.filter((event) => event !== first);
    nowMs = first.timeMs;
    first.happen();
    return true;
  };
  return {
    nowMs: () => nowMs,
    at,
    sleep: (ms, signal) =>
      new Promise((resolve) => {
        if (signal?.aborted) resolve();
        signal?.addEventListener('abort', () => resolve());
        at(ms, resolve);
      }),
    runUntil: async (isOver) => {
      for (let count = 0; count < MAX_EVENTS; count += 1) {
        await waitUntilIdle();
        if (isOver()) return;
        if (!step()) throw new Error(`It waits for something that never happens`);
      }
      throw new Error(`${MAX_EVENTS} events, and no end`);
    },
    clear: () => {
      events = [];
    },
  };
}

/** Turns of the event loop without file operations after which nothing is left to do. */
const CALM_TURNS = 2;

/** Waits for promises and file operations, which take real time. */
async function waitUntilIdle(): Promise<void> {
  for (let calm = 0; calm < CALM_TURNS; ) {
    await new Promise((resolve) => setImmediate(resolve));
    calm = isFileWorkUnderWay() ? 0 : calm + 1;
  }
}
