import { expect, it } from 'vitest';
import { describeLong } from '../effort.ts';
import { MUTANTS } from './mutants.ts';
import { simulate } from './simulate.ts';
import { REPOSITORIES } from './walk.ts';

/** A few hundred walks have to be enough to notice. */
const ENOUGH = 300;

describeLong('a simulation of an edgewise that', () => {
  it.each(Object.entries(MUTANTS))('%s is noticed', { timeout: 600_000 }, async (name, { noticedAs, needsSeveral }) => {
    let isNoticed = false;
    const step = needsSeveral ? REPOSITORIES : 1;
    const last = ENOUGH * step;
    for (let seed = step; !isNoticed && seed <= last; ) {
      const range = ['--from', String(seed), '--step', String(step), '--seeds', String((last - seed) / step + 1)];
      const { exitCode, output } = await simulate(['--mutant', name, ...range]);
      if (exitCode === 0) break;
      const [violations, at] = /^seed (\d+):\n[\s\S]*/m.exec(output) ?? [output];
      isNoticed = noticedAs.test(violations);
      if (at === undefined) break;
      // Each time it goes on behind the walk that noticed something else.
      seed = Number(at) + step;
    }
    expect(isNoticed).toBe(true);
  });
});
