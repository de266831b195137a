import { describe, expect, it } from 'vitest';
import { createRollingWindow } from '../../src/client/request-limiter.ts';
import { computeMinimumRequestTimeMs } from '../../src/model/stack.ts';
import { catchError } from './fake-service.ts';
import { type CountedRequest, createLimiter, expectWithinLimit } from './simulated-limiter.ts';

const repeat = (times: number, ...requests: readonly CountedRequest[]) => Array(times).fill(requests).flat();

describe('a request limiter', () => {
  const atOnce = { takesMs: 0, countedAt: 0 };
  const early = { takesMs: 50, countedAt: 0 };
  const late = { takesMs: 50, countedAt: 1 };
  const slow = { takesMs: 90, countedAt: 0.5 };

  it.each<[string, readonly CountedRequest[]]>([
    ['take no time', repeat(30, atOnce)],
    ['are counted at their start', repeat(30, early)],
    ['are counted at their end', repeat(30, late)],
    ['are counted at the end of one and the start of the next', repeat(15, late, early)],
    ['take no time after slow ones', repeat(5, slow, late, ...repeat(8, atOnce))],
    ['take a third of the window', repeat(30, { takesMs: 20, countedAt: 1 }, { takesMs: 20, countedAt: 0 })],
  ])('lets the service count no more than its limit in any window if requests %s', async (_, requests) => {
    for (const limit of [1, 2, 3, 7]) await expectWithinLimit(requests, limit);
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

  it('waits until enough requests have left the window', () => {
    const budget = createRollingWindow({ requests: 2, windowMs: 10 });
    budget.start(2);
    budget.end(0);
    budget.end(5);
    expect([1, 2].map((count) => budget.computeWaitMs(6, count))).toEqual([4, 9]);
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
