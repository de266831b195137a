import { expect, it } from 'vitest';
import { countSteps } from './steps/count.ts';

/** Each of many resources takes as many function calls as each of few: no function visits all resources for each one. */

const [FEW, MANY] = [1000, 10_000];

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 600_000;

/** The limit of growth: a function that visits all resources for each one exceeds it, and a sort does not. */
const MOST = (2 * MANY) / FEW;

it(
  'the calls of a plan, its rehearsal and its apply grow no faster than the resources',
  async () => {
    const [few = new Map(), many = new Map()] = await countSteps(
      { module: new URL('stack-task.ts', import.meta.url), name: 'prepareStack' },
      [FEW, MANY],
    );
    const calls = Array.from(many, ([name, count]) => ({ name, count, before: few.get(name) ?? 0 }));
    expect(calls.filter(({ before }) => before >= FEW / 2).length).toBeGreaterThan(500);
    expect(calls.filter(({ before, count }) => before >= FEW / 2 && count > MOST * before)).toEqual([]);
  },
  TIMEOUT_MS,
);
