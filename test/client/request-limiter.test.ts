import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  createRequestLimiter,
  createRollingWindow,
  type RequestLimiterOptions,
  type WaitNotice,
} from '../../src/client/request-limiter.ts';
import { computeMinimumRequestTimeMs } from '../../src/model/stack.ts';
import { createRateLimit } from '../../src/server/admission.ts';
import { toTries } from '../tries.ts';
import { catchError } from './fake-service.ts';

/** A limiter on a clock that moves on with each wait. */
function createLimiter(options: Partial<RequestLimiterOptions> = {}) {
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

describe('a request limiter', () => {
  it('never lets the service count more than its limit in any window, however long requests take', async () => {
    const gaps = fc.array(fc.record({ takes: fc.nat(90), counted: fc.double({ min: 0, max: 1, noNaN: true }) }), {
      maxLength: 60,
    });
    const property = fc.asyncProperty(gaps, fc.integer({ min: 1, max: 7 }), async (requests, limit) => {
      const rateLimit = { requests: limit, windowMs: 60 };
      const { limiter, now, pass } = createLimiter({ rateLimit, concurrency: 1 });
      const isOver = createRateLimit(rateLimit);
      for (const { takes, counted } of requests) {
        await limiter.admit(async () => {
          const countedAt = now() + takes * counted;
          expect(isOver(new Date(Math.floor(countedAt)))).toBeUndefined();
          pass(takes);
        }, undefined);
      }
    });
    await fc.assert(property, { numRuns: toTries(100) });
  });

  it('starts the first window at once, and the rest as early as allowed', async () => {
    const { limiter, now, waits } = createLimiter({ rateLimit: { requests: 120, windowMs: 60_000 } });
    await Promise.all(Array.from({ length: 540 }, () => limiter.admit(async () => undefined, undefined)));
    expect(now()).toBe(computeMinimumRequestTimeMs(540, { requests: 120, windowMs: 60_000 }));
    expect(now()).toBe(240_000);
    expect(waits[0]).toEqual({ waitMs: 60_000, reason: 'budget' });
  });

  it('counts a request until it has ended', () => {
    const budget = createRollingWindow({ requests: 2, windowMs: 10 });
    budget.start(1);
    budget.start(1);
    expect(budget.computeWaitMs(1000, 1)).toBe(Number.POSITIVE_INFINITY);
    budget.end(1000);
    expect([budget.computeWaitMs(1009, 1), budget.computeWaitMs(1010, 1)]).toEqual([1, 0]);
  });

  it('rejects requests without waiting once waitSignal is aborted', async () => {
    const waitSignal = new AbortController();
    const reason = new Error('interrupted');
    const { limiter } = createLimiter({
      rateLimit: { requests: 1, windowMs: 60_000 },
      sleep: async () => waitSignal.abort(reason),
    });
    await limiter.admit(async () => undefined, undefined);
    let isSent = false;
    const waiting = limiter.admit(async () => {
      isSent = true;
    }, waitSignal.signal);
    expect(await catchError(waiting)).toBe(reason);
    expect(isSent).toBe(false);
  });
});

describe('a service that throttles', () => {
  it('slows down every request, and halves how many run at once', async () => {
    const { limiter, now, waits } = createLimiter();
    limiter.throttle(3000);
    expect(limiter.concurrency()).toBe(4);
    const starts = await Promise.all([1, 2].map(() => limiter.admit(async () => now(), undefined)));
    expect(starts.every((start) => start >= 3000)).toBe(true);
    expect(waits[0]).toEqual({ waitMs: 3000, reason: 'pause' });
  });

  it('counts once, however many requests it rejects at that moment', () => {
    const { limiter, pass } = createLimiter();
    for (let refused = 0; refused < 5; refused += 1) limiter.throttle(1000);
    expect(limiter.concurrency()).toBe(4);
    pass(1000);
    limiter.throttle(1000);
    expect(limiter.concurrency()).toBe(2);
  });

  it('gets back to the limit step by step, and no further', () => {
    const { limiter, pass } = createLimiter();
    for (let round = 0; round < 5; round += 1) {
      limiter.throttle(10);
      pass(10);
    }
    expect(limiter.concurrency()).toBe(1);
    const seen: number[] = [];
    for (let request = 0; request < 100; request += 1) {
      limiter.recover();
      if (seen.at(-1) !== limiter.concurrency()) seen.push(limiter.concurrency());
    }
    expect(seen).toEqual([2, 3, 4, 5, 6, 7, 8]);
  });
});
