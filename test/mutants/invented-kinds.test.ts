import { describe, expect, it } from 'vitest';
import { MUTANTS } from '../invented-kinds/mutants.ts';
import { runBrokenTests } from './run-broken-tests.ts';

/** The tests that use the invented kinds as a user does. */
const JOURNEYS = ['life', 'contract', 'schemas'].map((name) => `test/invented-kinds/${name}.test.ts`);

describe('a broken entry in the tables of kinds', () => {
  it.each(Object.entries(MUTANTS))(
    'is caught by the invented kinds: %s',
    { timeout: 300_000 },
    async (mutant, broken) => {
      const files = broken.failingTest === undefined ? JOURNEYS : [broken.failingTest];
      expect(await runBrokenTests(mutant, ['invented-kinds'], files)).toMatch(/ Tests {2}\d+ failed/);
    },
  );
});
