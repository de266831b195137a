import { readFile } from 'node:fs/promises';

/**
 * Prints `N passed, N failed` for vitest's JSON results of the same tests in several runs: a test that failed in one of them
 * has failed. Fails when there is nothing to count.
 */

interface TestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    readonly assertionResults: readonly { readonly fullName: string; readonly status: string }[];
  }[];
}

/** The names of all tests, with whether they passed. A file that could not be run counts as one test. */
function listTests({ testResults }: TestResults): readonly (readonly [name: string, passed: boolean])[] {
  return testResults.flatMap(({ name, status, assertionResults }) =>
    assertionResults.length === 0
      ? [[name, status === 'passed'] as const]
      : assertionResults.map((test) => [`${name} ${test.fullName}`, test.status === 'passed'] as const),
  );
}

const files = process.argv.slice(2);
const runs = await Promise.all(
  files.map(async (file): Promise<TestResults> => JSON.parse(await readFile(file, 'utf8'))),
);
const tests = runs.flatMap(listTests);
const failed = new Set(tests.filter(([, passed]) => !passed).map(([name]) => name));
const passed = new Set(tests.map(([name]) => name).filter((name) => !failed.has(name)));
console.log(`${passed.size} passed, ${failed.size} failed`);
if (tests.length === 0 || failed.size > 0) process.exitCode = 1;
