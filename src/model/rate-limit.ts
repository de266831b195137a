/** At most so many requests in any window of that length. */
export interface RateLimit {
  readonly requests: number;
  readonly windowMs: number;
}

/** What a rate limit looks like. */
export const RATE_LIMIT_EXPECTED = 'REQUESTS/SECONDSs, such as `120/60s`';

/** A regular expression that rate limits match, and nothing else does. */
export const RATE_LIMIT_PATTERN = '^([1-9][0-9]{0,6})/([1-9][0-9]{0,5})s$';

const RATE_LIMIT = new RegExp(RATE_LIMIT_PATTERN);

/** A rate limit such as `120/60s`; `undefined` when it is none. */
export function parseRateLimit(text: string): RateLimit | undefined {
  const [, requests, seconds] = RATE_LIMIT.exec(text) ?? [];
  if (requests === undefined || seconds === undefined) return undefined;
  return { requests: Number(requests), windowMs: Number(seconds) * 1000 };
}

/** The text of a rate limit: `120/60s`. */
export function toRateLimitText({ requests, windowMs }: RateLimit): string {
  return `${requests}/${windowMs / 1000}s`;
}

/** The least time in milliseconds that so many requests take: those of the first window go at once. */
export function toLeastMs(count: number, { requests, windowMs }: RateLimit): number {
  return Math.max(0, Math.floor((count - 1) / requests)) * windowMs;
}
