import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { defineConfig } from 'vitest/config';
import { MUTANT_VARIABLE } from './broken-source.ts';
import { findBuiltProgram } from './built-program.ts';
import { COMPILED } from './compiled.ts';
import { INVENTED_KINDS } from './invented-kinds/tables.ts';

/**
 * The tests, by how long they take and what they need. `npm test` runs `fast` and `installed`; `npm run test:all` runs every project, and `--
 * --project laws` one of them.
 */

/** The folders of each project that only `npm run test:all` runs. */
const LONG = {
  /** Random manifests, accounts, inputs and runs, and all tests whose time grows with the number of tries. */
  laws: ['fuzz', 'laws', 'simulation', 'walks'],
  /** Each attack of docs/explanation/security.md. */
  attacks: ['hostile'],
  /** Processes over HTTP that are interrupted and killed, and the installed program in every home and terminal. */
  journeys: ['end-to-end', 'environments'],
  /** The commands and recipes of the documents, in a shell. */
  documents: ['sessions'],
  /** Large accounts and documents: the time grows no faster than the size. */
  load: ['load'],
  /** Programs that npm does not install: browsers, shells, sshd, pipelines, generators. And editors. */
  tools: ['browsers', 'editor', 'openapi', 'pipelines', 'shells', 'ssh', 'try'],
  /** Tests of the tests: each breaks Edgewise and expects a failing test. */
  mutants: ['mutants'],
};

/** Tests of every kind that are repeated with the invented kinds. The graphs of stacks use one kind only. */
const OF_EVERY_KIND = [
  'test/laws/!(distorted-responses|single-stack-run|stack-graphs|two-applies).test.ts',
  'test/client/{pages,read-live}.test.ts',
  'test/server/lists.test.ts',
  'test/report/redact.test.ts',
];

const ROOT = new URL('..', import.meta.url).pathname;

/** Tests that select typical cases, for `npm test`. `laws` repeats them with all cases, and `journeys` those of the installed program. */
const OF_ALL_CASES = globSync('test/*/*.test.ts', { cwd: ROOT }).filter((file) =>
  readFileSync(join(ROOT, file), 'utf8').includes("from '../cases.ts';"),
);

function listOfAllCases(project: string): readonly string[] {
  if (project !== 'laws' && project !== 'journeys') return [];
  return OF_ALL_CASES.filter((file) => file.startsWith('test/installed/') === (project === 'journeys'));
}

// For the processes that run tests, and those that tests start.
Object.assign(process.env, COMPILED);

/** The file for the results as JSON, which a program counts. */
const results = process.env['EDGEWISE_TEST_RESULTS'];

/** The program that tests start as a process. */
const program =
  process.env[MUTANT_VARIABLE] === undefined
    ? (process.env['EDGEWISE_BIN'] ?? findBuiltProgram() ?? 'src/cli/main.ts')
    : 'test/broken-program.ts';

/** Gives properties their seed and the number of tries. */
const PROPERTIES = 'test/setup-properties.ts';

/** Loads a file below `test` before a process that runs tests loads anything else. */
const preload = (file: string) => ['--import', new URL(file, import.meta.url).href];

/** Packs and installs the program. */
const INSTALL = 'test/installed/install.ts';

const toPattern = (folders: readonly string[]) => folders.map((folder) => `test/${folder}/**/*.test.ts`);

export default defineConfig({
  test: {
    root: ROOT,
    execArgv: preload('load-broken-source.ts'),
    env: { EDGEWISE_BIN: program },
    // Long enough for a busy machine: only a test that hangs fails.
    testTimeout: 180_000,
    hookTimeout: 240_000,
    maxWorkers: '100%',
    // The test files of one worker share their imports, which otherwise take a large part of the time. No test changes an imported module.
    isolate: false,
    // Node runs the sources as it runs those of the program. No test replaces a module.
    experimental: { viteModuleRunner: false, nodeLoader: false },
    reporters: results === undefined ? ['default'] : ['default', ['json', { outputFile: results }]],
    projects: [
      {
        extends: true,
        test: {
          name: 'fast',
          execArgv: preload('no-random-values.ts'),
          include: [
            'test/*.test.ts',
            `test/!(${[...Object.values(LONG).flat(), 'installed', 'invented-kinds'].join('|')})/**/*.test.ts`,
          ],
        },
      },
      {
        extends: true,
        test: {
          name: 'installed',
          include: ['test/installed/*.test.ts'],
          globalSetup: INSTALL,
        },
      },
      ...Object.entries(LONG).map(([name, folders]) => ({
        extends: true as const,
        test: {
          name,
          include: [...toPattern(folders), ...listOfAllCases(name)],
          env: { EDGEWISE_BIN: program, EDGEWISE_CASES: 'all' },
          setupFiles: [PROPERTIES],
          ...(name === 'journeys' && { globalSetup: INSTALL }),
          // Vite builds the page to try, so its sources use what Vite adds to imports.
          ...(name === 'tools' && { experimental: { viteModuleRunner: true } }),
        },
      })),
      {
        extends: true,
        test: {
          name: 'invented-kinds',
          setupFiles: [PROPERTIES],
          execArgv: preload('invented-kinds/load-invented-kinds.ts'),
          include: ['test/invented-kinds/**/*.test.ts', ...OF_EVERY_KIND],
          env: { EDGEWISE_BIN: program, EDGEWISE_KINDS: INVENTED_KINDS.map(({ name }) => name).join(' ') },
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
