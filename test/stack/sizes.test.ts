import { expect } from 'vitest';
import { assertDefined } from '../../src/model/errors.ts';
import { itLong } from '../effort.ts';
import { countSteps } from '../steps/count.ts';

/** Of many resources each takes as many steps as of few, as the engine counts them: nothing that looks at all of them for each. */

/** More than what is remembered of the resources before: else of few, all is known. */
const [FEW, MANY] = [60, 480];

/** A process that counts is slow on a busy machine. */
const TIMEOUT_MS = 120_000;

/** A block that runs for each resource, of each resource, runs more often than this; what sorts does not. */
const MOST = (2 * MANY) / FEW;

itLong(
  'a plan, its rehearsal and its apply take steps in proportion to what they are about',
  async () => {
    // The first run counts what is done once. The engine forgets some counts when it throws code away: it does not count too many.
    const sizes = [FEW, FEW, FEW, FEW, MANY];
    const [, ...runs] = await countSteps(
      { module: new URL('sizes-task.ts', import.meta.url), name: 'prepareStack' },
      sizes,
    );
    const many = assertDefined(runs.pop(), 'the last run');
    const blocks = [...many].map(([block, count]) => {
      return { block, count, before: Math.max(...runs.map((few) => few.get(block) ?? 0)) };
    });
    expect(blocks.filter(({ before }) => before >= FEW).length).toBeGreaterThan(500);
    expect(blocks.filter(({ before, count }) => before >= FEW && count > MOST * before)).toEqual([]);
  },
  TIMEOUT_MS,
);
