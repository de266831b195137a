import { execFile } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { MUTANT_VARIABLE } from '../broken-source.ts';
import { MUTANTS } from '../invented-kinds/mutants.ts';

/** The tests that use the invented kinds as a user does. */
const JOURNEYS = ['life', 'contract', 'schemas'].map((name) => `test/invented-kinds/${name}.test.ts`);
const VITEST = [
  'node_modules/vitest/vitest.mjs',
  'run',
  '--config',
  'test/vitest.config.ts',
  '--project',
  'invented-kinds',
];

/** Runs the tests of the invented kinds, and returns their output. */
function runJourneys(mutant: string, tests: readonly string[]): Promise<string> {
  const env = { ...process.env, NO_COLOR: '1', [MUTANT_VARIABLE]: mutant };
  return new Promise((done) => {
    execFile(
      process.execPath,
      [...VITEST, ...tests, '--maxWorkers=1', '--bail=1'],
      { env, encoding: 'utf8' },
      (_, stdout) => done(stdout),
    );
  });
}

describe('a broken entry in the tables of kinds', () => {
  it.each(Object.entries(MUTANTS))(
    'is caught by the invented kinds: %s',
    { timeout: 300_000 },
    async (mutant, broken) => {
      expect(await runJourneys(mutant, broken.failingTest === undefined ? JOURNEYS : [broken.failingTest])).toMatch(
        / Tests {2}\d+ failed/,
      );
    },
  );
});
