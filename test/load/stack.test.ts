import { expect, it } from 'vitest';
import { countSteps, type Steps } from './steps/count.ts';

/** Each of many resources or stacks takes as many function calls as each of few: no function visits all of them for each one. */

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 600_000;

it(
  'the calls of a plan, its rehearsal and its apply grow no faster than the resources',
  async () => expectLinear({ module: 'stack-task.ts', name: 'prepareStack', few: 1000, leastFunctions: 500 }),
  TIMEOUT_MS,
);

it(
  'the calls of a comparison of stacks with a commit grow no faster than the stacks',
  async () => expectLinear({ module: 'changes-task.ts', name: 'prepareChanges', few: 200, leastFunctions: 300 }),
  TIMEOUT_MS,
);

interface Growth {
  readonly module: string;
  readonly name: string;
  /** The smaller size. The larger one is ten times as large. */
  readonly few: number;
  /** At least so many functions are called for about each of the few. */
  readonly leastFunctions: number;
}

async function expectLinear({ module, name, few, leastFunctions }: Growth): Promise<void> {
  const many = 10 * few;
  const [before, after]: readonly (Steps | undefined)[] = await countSteps(
    { module: new URL(module, import.meta.url), name },
    [few, many],
  );
  const calls = Array.from(after ?? [], ([called, count]) => ({ called, count, before: before?.get(called) ?? 0 }));
  // A function that visits all for each one exceeds this growth, and a sort does not.
  const most = (2 * many) / few;
  expect(calls.filter((one) => one.before >= few / 2).length).toBeGreaterThan(leastFunctions);
  expect(calls.filter((one) => one.before >= few / 2 && one.count > most * one.before)).toEqual([]);
}
