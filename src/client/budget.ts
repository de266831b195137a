import type { RateLimit } from '../model/rate-limit.ts';

/** How many requests may be sent. */
export interface Budget {
  /** Milliseconds until a request may start; 0: now. `Infinity`: not before one that is under way has ended. */
  readonly toWaitMs: (now: number) => number;
  readonly start: () => void;
  /** A request has ended, whether or not it was answered. */
  readonly end: (now: number) => void;
}

/**
 * A rolling window over requests. Each takes a place from when it starts until a window after it ended: when the service counted it is not
 * known, but it lies in between. So no window of the service's clock ever sees more than the limit.
 */
export function createBudget({ requests, windowMs }: RateLimit): Budget {
  let underWay = 0;
  let ends: number[] = [];
  let oldest = 0;
  const forget = (now: number): void => {
    while (oldest < ends.length && (ends[oldest] ?? now) + windowMs <= now) oldest += 1;
    if (oldest <= requests) return;
    ends = ends.slice(oldest);
    oldest = 0;
  };
  return {
    toWaitMs: (now) => {
      forget(now);
      if (underWay + ends.length - oldest < requests) return 0;
      const first = ends[oldest];
      return first === undefined ? Number.POSITIVE_INFINITY : first + windowMs - now;
    },
    start: () => {
      underWay += 1;
    },
    end: (now) => {
      underWay -= 1;
      ends.push(now);
    },
  };
}
