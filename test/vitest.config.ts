import { defineConfig } from 'vitest/config';
import { MUTANT_VARIABLE, withBrokenSource } from './broken-source.ts';
import { findBuiltProgram } from './built-program.ts';
import { LongestFirst } from './longest-first.ts';
import { SOURCE_MUTANTS } from './simulation/source-mutants.ts';
import { MUTANTS } from './stranger/mutants.ts';
import { STRANGERS } from './stranger/tables.ts';
import { withStrangers } from './stranger/with-strangers.ts';
import { IS_FULL } from './tries.ts';

/** Where to leave the results as JSON, for a program that counts them. */
const results = process.env['EDGEWISE_TEST_RESULTS'];

/** What to break, so that it is seen that tests notice. */
const mutant = process.env[MUTANT_VARIABLE] ?? '';
const broken = { ...SOURCE_MUTANTS, ...MUTANTS }[mutant];
if (mutant !== '' && broken === undefined) throw new Error(`There is no mutant ${mutant}`);

/** What tests start that start the command line as a process. */
const program = process.env['EDGEWISE_BIN'] ?? findBuiltProgram() ?? 'src/cli/main.ts';

const STRANGER = 'test/stranger/**/*.test.ts';

/** What is told of every kind is told of the stranger's too; of the laws, a person who waits hears a few. The graphs of stacks have one kind only. */
const WITH_STRANGERS = [
  IS_FULL ? 'test/laws/!(stack-graphs).test.ts' : 'test/laws/{empty-plan,manifest-change,mark,normalize}.test.ts',
  'test/client/{pages,read-live}.test.ts',
  'test/server/lists.test.ts',
  'test/report/redact.test.ts',
];

/**
 * Some files of attacks start dozens of processes each, as a pipeline does: those are for full runs. Not by `exclude`, which would replace what the
 * command line excludes.
 */
const HOSTILE = IS_FULL
  ? 'test/hostile/**/*.test.ts'
  : 'test/hostile/!(as-it-is-installed|jobs-of-a-merge-request|more-than-is-read|steps-of-a-pull-request|texts-that-take-forever).test.ts';

export default defineConfig({
  test: {
    root: new URL('..', import.meta.url).pathname,
    setupFiles: ['test/setup.ts'],
    env: { EDGEWISE_BIN: program },
    // Generous: what hangs is to fail, and what is slow on a busy machine is not.
    testTimeout: 60_000,
    maxWorkers: '100%',
    sequence: { sequencer: LongestFirst },
    hookTimeout: 120_000,
    // Test files of one worker share what they import, which takes a large part of the time otherwise. No test changes what it imports.
    isolate: false,
    fsModuleCache: true,
    globalSetup: 'test/left-out.ts',
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
    projects: [
      {
        extends: true,
        plugins: [withBrokenSource(broken)],
        test: {
          name: 'edgewise',
          include: ['test/*.test.ts', 'test/!(stranger|hostile|installed)/**/*.test.ts', HOSTILE],
        },
      },
      {
        extends: true,
        test: {
          name: 'installed',
          include: ['test/installed/**/*.test.ts'],
          globalSetup: 'test/installed/install.ts',
        },
      },
      {
        extends: true,
        plugins: [withStrangers(), withBrokenSource(broken)],
        test: {
          name: 'stranger',
          include: [STRANGER, ...WITH_STRANGERS],
          env: { EDGEWISE_BIN: program, EDGEWISE_KINDS: STRANGERS.map(({ name }) => name).join(' ') },
        },
      },
    ],
    coverage: {
      provider: 'v8',
      include: ['src/**/*.ts'],
      reporter: ['text-summary', 'json-summary'],
      thresholds: { lines: 90, branches: 90 },
    },
  },
});
