import { readFile } from 'node:fs/promises';

/**
 * Prints each test that failed with what it says, and `N passed, N failed`, for vitest's JSON results of the same tests in several runs: a test that
 * failed in one of them has failed. Fails when there is nothing to count.
 */

interface TestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** Why the file could not be run. */
    readonly message: string;
    readonly assertionResults: readonly {
      readonly fullName: string;
      readonly status: string;
      readonly failureMessages: readonly string[];
    }[];
  }[];
}

interface Test {
  readonly name: string;
  readonly passed: boolean;
  readonly messages: readonly string[];
}

/** All tests. A file that could not be run counts as one test, and nothing is to be skipped. */
function listTests({ testResults }: TestResults): readonly Test[] {
  return testResults.flatMap(({ name: file, status, message, assertionResults }) =>
    assertionResults.length === 0
      ? [{ name: file, passed: status === 'passed', messages: [message] }]
      : assertionResults.map((test) => ({
          name: `${file} ${test.fullName}`,
          passed: test.status === 'passed',
          messages: test.failureMessages.length > 0 ? test.failureMessages : [test.status],
        })),
  );
}

/** As much of a message as a person reads before they look at the whole. */
function shorten(message: string): string {
  const lines = message.split('\n').slice(0, 30);
  return lines.map((line) => `  ${line.slice(0, 300)}`).join('\n');
}

const files = process.argv.slice(2);
const runs = await Promise.all(
  files.map(async (file): Promise<TestResults> => JSON.parse(await readFile(file, 'utf8'))),
);
const tests = runs.flatMap(listTests);
const failed = new Set<string>();
for (const { name, messages } of tests.filter((test) => !test.passed)) {
  failed.add(name);
  console.log([`✗ ${name}`, ...messages.map(shorten)].join('\n'));
}
const passed = new Set(tests.map(({ name }) => name).filter((name) => !failed.has(name)));
console.log(`${passed.size} passed, ${failed.size} failed`);
if (tests.length === 0 || failed.size > 0) process.exitCode = 1;
