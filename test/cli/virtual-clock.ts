import { setImmediate } from 'node:timers/promises';

/** A clock that stands still until every caller sleeps, and then advances to the first end of a sleep. */
export interface VirtualClock {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** Creates a clock at a time in milliseconds. For programs that wait only for each other. */
export function createVirtualClock(startMs: number): VirtualClock {
  let nowMs = startMs;
  let isGoing = false;
  const sleepers: Sleeper[] = [];
  const go = async (): Promise<void> => {
    isGoing = true;
    while (sleepers.length > 0) {
      await setImmediate();
      await setImmediate();
      const first = sleepers.shift();
      nowMs = Math.max(nowMs, first?.at ?? nowMs);
      first?.wake();
    }
    isGoing = false;
  };
  return {
    now: () => nowMs,
    sleep: (ms) =>
      new Promise((wake) => {
        const at = nowMs + ms;
        const place = sleepers.findIndex((sleeper) => sleeper.at > at);
        sleepers.splice(place < 0 ? sleepers.length : place, 0, { at, wake });
        if (!isGoing) void go();
      }),
  };
}
