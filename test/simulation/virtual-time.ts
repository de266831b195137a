import { isFileWorkUnderWay } from './file-work.ts';
import type { SeededRandom } from './random.ts';

/**
 * Time that passes only when nothing else is left to do. Whatever happens later is an event; the next one happens once
 * everything that the last one set off has come to rest. Events of one time come in an order that the seed decides.
 */
export interface VirtualTime {
  readonly nowMs: () => number;
  readonly at: (delayMs: number, event: () => void) => void;
  /** Resolves after a time, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Lets time pass until `isOver` says so. Rejects when nothing happens any more. */
  readonly runUntil: (isOver: () => boolean) => Promise<void>;
  /** Drops all that was still to happen. */
  readonly clear: () => void;
}

interface Event {
  readonly timeMs: number;
  readonly rank: number;
  readonly happen: () => void;
}

/** More events than any walk has: something goes round and round. */
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

/** Turns of the event loop without work on files after which nothing is left to do. */
const CALM_TURNS = 2;

/** Waits for all that follows by itself: promises, and work on files, which takes real time. */
async function waitUntilIdle(): Promise<void> {
  for (let calm = 0; calm < CALM_TURNS; ) {
    await new Promise((resolve) => setImmediate(resolve));
    calm = isFileWorkUnderWay() ? 0 : calm + 1;
  }
}
