import { expect, it } from 'vitest';
import { describeLong } from '../effort.ts';
import { MUTANTS } from './mutants.ts';
import { walk } from './walk.ts';

/** A few hundred walks have to be enough to notice. */
const ENOUGH = 300;

describeLong('a simulation of an edgewise that', () => {
  it.each(Object.entries(MUTANTS))('%s is noticed', { timeout: 600_000 }, async (_, { mutant, noticedAs }) => {
    let isNoticed = false;
    for (let seed = 1; !isNoticed && seed <= ENOUGH; seed += 1) {
      const { violations } = await walk(seed, mutant);
      isNoticed = violations.some((violation) => noticedAs.test(violation));
    }
    expect(isNoticed).toBe(true);
  });
});
