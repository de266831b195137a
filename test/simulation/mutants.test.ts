import { expect, it } from 'vitest';
import { describeLong } from '../effort.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';

/** A few hundred walks have to be enough to notice. */
const ENOUGH = 300;

describeLong('a simulation of an edgewise that', () => {
  it.each(Object.entries(MUTANTS))('%s is noticed', { timeout: 600_000 }, async (name, { noticedAs }) => {
    let isNoticed = false;
    for (let seed = 1; !isNoticed && seed <= ENOUGH; ) {
      const range = ['--from', String(seed), '--seeds', String(ENOUGH - seed + 1)];
      const { exitCode, output } = await simulate(['--mutant', name, ...range]);
      if (exitCode === 0) break;
      const [violations, at] = /^seed (\d+):\n[\s\S]*/m.exec(output) ?? [output];
      isNoticed = noticedAs.test(violations);
      if (at === undefined) break;
      // Each time it goes on behind the walk that noticed something else.
      seed = Number(at) + 1;
    }
    expect(isNoticed).toBe(true);
  });
});
