import { expect, it } from 'vitest';
import { countSteps } from './steps/count.ts';

/** Of many resources each takes as many calls of functions as of few, as the engine counts them: nothing looks at all of them for each. */

const [FEW, MANY] = [1000, 10_000];

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 600_000;

/** A function that is called for each resource, of each resource, is called more often than this; what sorts is not. */
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
