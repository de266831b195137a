import { expect } from 'vitest';
import { createRequestLimiter, type RequestLimiterOptions, type WaitNotice } from '../../src/client/request-limiter.ts';
import { createRateLimit } from '../../src/server/admission.ts';

/** Creates a limiter on a clock that moves on with each wait. */
export function createLimiter(options: Partial<RequestLimiterOptions> = {}) {
  let time = 0;
  const waits: WaitNotice[] = [];
  const limiter = createRequestLimiter({
    concurrency: 8,
    now: () => time,
    sleep: async (ms) => {
      time += ms;
    },
    onWait: (notice) => waits.push(notice),
    ...options,
  });
  return { limiter, waits, now: () => time, pass: (ms: number) => (time += ms) };
}

/** A request that takes so many milliseconds, and that the service counts after this share of them: 0 to 1. */
export interface CountedRequest {
  readonly takesMs: number;
  readonly countedAt: number;
}

/** Sends requests one after another. The service must not count more than `limit` in any 60 ms. */
export async function expectWithinLimit(requests: readonly CountedRequest[], limit: number): Promise<void> {
  const rateLimit = { requests: limit, windowMs: 60 };
  const { limiter, now, pass } = createLimiter({ rateLimit, concurrency: 1 });
  const findExcess = createRateLimit(rateLimit);
  for (const { takesMs, countedAt } of requests)
    await limiter.admit(async () => {
      expect(findExcess(new Date(Math.floor(now() + takesMs * countedAt)))).toBeUndefined();
      pass(takesMs);
    }, undefined);
}
