import type { RateLimit } from '../model/rate-limit.ts';

/**
 * Counts requests in a rolling window. Each call is a request: it returns nothing when that is within the limit, and the seconds to wait when not.
 * Requests over the limit do not count. Throws `RangeError` on a limit that lets nothing through.
 */
export function createRateLimit({ requests, windowMs }: RateLimit): (now: Date) => number | undefined {
  if (!Number.isInteger(requests) || requests < 1) throw new RangeError('A rate limit must allow at least one request');
  if (!(windowMs > 0)) throw new RangeError('The window of a rate limit must be longer than zero');
  let times: number[] = [];
  let oldest = 0;
  return (now) => {
    const time = now.getTime();
    while (oldest < times.length && (times[oldest] ?? time) <= time - windowMs) oldest += 1;
    if (times.length - oldest >= requests) {
      return Math.max(1, Math.ceil(((times[oldest] ?? time) + windowMs - time) / 1000));
    }
    if (oldest > requests) {
      times = times.slice(oldest);
      oldest = 0;
    }
    times.push(time);
    return undefined;
  };
}
