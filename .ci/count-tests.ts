import { readFile } from 'node:fs/promises';

/**
 * Reads vitest's JSON results of the same tests in several runs. Prints each failed test with its message, and `N passed, N failed`: a test
 * that failed in one run has failed. Fails if there is nothing to count.
 */

interface TestResults {
  readonly testResults: readonly {
    readonly name: string;
    readonly status: string;
    /** The reason why the file could not be run. */
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

/** Lists all tests. A file that could not be run counts as one test. Skipped tests are failures. */
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

/** Shortens a message to its first lines. */
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
