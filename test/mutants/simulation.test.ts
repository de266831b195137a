import { describe, expect, it } from 'vitest';
import { MUTANTS, type MutantCase } from '../simulation/mutants.ts';
import { simulate } from '../simulation/simulate.ts';
import { SOURCE_MUTANTS } from '../simulation/source-mutants.ts';
import { REPOSITORIES } from '../simulation/walk.ts';
import { runBrokenTests } from './run-broken-tests.ts';

type Noticed = Pick<MutantCase, 'noticedAs' | 'needsSeveral' | 'seenAt'>;

/** The number of walks that must be enough to notice. */
const ENOUGH = 400;

const CASES = Object.entries<Noticed>({ ...MUTANTS, ...SOURCE_MUTANTS });

describe('a simulation of a broken edgewise', () => {
  it.each(CASES)(
    'is caught by a test: %s',
    { timeout: 1_800_000 },
    async (name, { noticedAs, needsSeveral = false, seenAt }) => {
      const step = needsSeveral ? REPOSITORIES : 1;
      const isSeen = seenAt !== undefined && (await isNoticed(name, { noticedAs, step, first: seenAt, last: seenAt }));
      expect(isSeen || (await isNoticed(name, { noticedAs, step, first: step, last: ENOUGH * step }))).toBe(true);
    },
  );
});

interface Walks {
  readonly noticedAs: RegExp;
  readonly step: number;
  readonly first: number;
  readonly last: number;
}

/** Whether a walk with a broken edgewise shows the expected message. After a walk with another message, it continues with the next walk. */
async function isNoticed(name: string, { noticedAs, step, first, last }: Walks): Promise<boolean> {
  for (let seed = first; seed <= last; ) {
    const range = ['--from', String(seed), '--step', String(step), '--seeds', String((last - seed) / step + 1)];
    const { exitCode, output } = await simulate(['--mutant', name, ...range]);
    if (exitCode === 0) return false;
    const [violations, at] = /^seed (\d+):\n[\s\S]*/m.exec(output) ?? [output];
    if (noticedAs.test(violations)) return true;
    if (at === undefined) return false;
    seed = Number(at) + step;
  }
  return false;
}

describe('the tests of a fixed bug', () => {
  it.each(Object.entries(SOURCE_MUTANTS))(
    'fail without the fix: %s',
    { timeout: 300_000 },
    async (name, { failingTests }) => {
      const files = failingTests.map((file) => `test/${file}.test.ts`);
      // A test that hangs is stopped soon.
      const output = await runBrokenTests(name, ['fast', 'laws'], files, ['--testTimeout=10000']);
      expect(output).toMatch(/ Tests {2}\d+ failed/);
    },
  );
});
