import { setImmediate } from 'node:timers/promises';

/** A clock that goes on only when everybody sleeps, and then at once to when the first one wakes. */
export interface VirtualClock {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
}

interface Sleeper {
  readonly at: number;
  readonly wake: () => void;
}

/** A clock at a moment, in milliseconds. For programs that wait for nothing else but for each other. */
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
