import { describe, expect, it } from 'vitest';
import { createRateLimit } from '../../src/server/admission.ts';

describe('a rolling window', () => {
  it('never contains more requests than are allowed', () => {
    const requests = 5;
    const windowMs = 1000;
    const count = createRateLimit({ requests, windowMs });
    const taken: number[] = [];
    for (let time = 0; time < 100_000; time += 70) if (count(new Date(time)) === undefined) taken.push(time);
    const crowded = taken.filter((time, index) => time - (taken[index - requests] ?? -windowMs) < windowMs);
    expect(crowded).toEqual([]);
    expect(taken.length).toBeGreaterThan(99 * requests * 0.9);
  });

  it('has a wait of at least a second', () => {
    const count = createRateLimit({ requests: 1, windowMs: 1000 });
    count(new Date(0));
    expect([count(new Date(1)), count(new Date(999)), count(new Date(1000))]).toEqual([1, 1, undefined]);
  });
});
