import { describe, expect, it } from 'vitest';
import { MUTANTS } from './mutants.ts';
import { walk } from './walk.ts';

/** A few hundred walks have to be enough to notice. */
const ENOUGH = 300;

describe('a simulation of an edgewise that', () => {
  it.each(Object.entries(MUTANTS))('%s is caught', { timeout: 120_000 }, async (_, mutant) => {
    let caught: number | undefined;
    for (let seed = 1; caught === undefined && seed <= ENOUGH; seed += 1)
      if ((await walk(seed, mutant)).violations.length > 0) caught = seed;
    expect(caught).toBeDefined();
  });
});
