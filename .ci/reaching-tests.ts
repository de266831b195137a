import { appendFileSync, existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Mutant } from './mutant.ts';

/**
 * Which tests reach a call: only they can notice that it is broken. The sources of a checkout are changed so that each
 * call tells when it is made, and one run of the tests records it for each test file.
 */

/** A call, as a part of a source. `start`, `end`: in UTF-16 units. */
export interface CallRange {
  readonly file: string;
  readonly start: number;
  readonly end: number;
}

/** A test file that reaches a call, and how long it took when that was recorded. */
export interface ReachingTest {
  readonly file: string;
  readonly durationMs: number;
}

/** Made in the checkout by the recorder: a line for each call that a test file makes, `CALL DURATION-MS TEST-FILE`. */
const RECORD = 'reached-calls.txt';

/** Added to the setup of the tests in the checkout. A call of a module that is imported counts for the test file that imports it first. */
const RECORDER = `
import { appendFileSync } from 'node:fs';
import { afterAll, expect } from 'vitest';
const edgewiseTest = expect.getState().testPath;
const edgewiseStart = performance.now();
const edgewiseReached = new Set();
globalThis.edgewiseReached = (call) => edgewiseReached.add(call);
afterAll(() => {
  const rest = ' ' + Math.ceil(performance.now() - edgewiseStart) + ' ' + edgewiseTest + '\\n';
  for (const call of edgewiseReached) appendFileSync(${JSON.stringify(RECORD)}, call + rest);
});
`;

/**
 * Runs the tests of a checkout once, and returns the test files that reach each call, in the order of the calls.
 * `runTests` runs them in the checkout. All sources are afterwards as before.
 */
export async function findReachingTests(
  checkout: string,
  calls: readonly CallRange[],
  runTests: () => Promise<unknown>,
): Promise<readonly (readonly ReachingTest[])[]> {
  const numbered = calls.map((call, number) => ({ ...call, number }));
  const setup = join(checkout, 'test/setup.ts');
  const originals = new Map(
    [setup, ...calls.map(({ file }) => join(checkout, file))].map((path) => [path, readFileSync(path, 'utf8')]),
  );
  const record = join(checkout, RECORD);
  try {
    for (const [file, inFile] of Map.groupBy(numbered, (call) => call.file)) {
      const path = join(checkout, file);
      writeFileSync(path, markCalls(originals.get(path) ?? '', inFile));
    }
    appendFileSync(setup, RECORDER);
    await runTests();
    const lines = existsSync(record) ? readFileSync(record, 'utf8').trim().split('\n') : [];
    const found = calls.map((): ReachingTest[] => []);
    for (const line of lines) {
      const [number = '', duration = '', ...path] = line.split(' ');
      found[Number(number)]?.push({ file: relative(checkout, path.join(' ')), durationMs: Number(duration) });
    }
    return found;
  } finally {
    for (const [path, source] of originals) writeFileSync(path, source);
    rmSync(record, { force: true });
  }
}

/** Puts each call in parentheses that tell its number. Calls may contain each other. */
function markCalls(
  source: string,
  calls: readonly (Pick<Mutant, 'start' | 'end'> & { readonly number: number })[],
): string {
  const opened = calls.toSorted((a, b) => a.start - b.start || b.end - a.end);
  const closed = calls.toSorted((a, b) => a.end - b.end || b.start - a.start);
  let marked = '';
  let done = 0;
  const copyUntil = (position: number): void => {
    marked += source.slice(done, position);
    done = position;
  };
  let next = 0;
  for (const { start, number } of opened) {
    for (let one = closed[next]; one !== undefined && one.end <= start; one = closed[++next]) {
      copyUntil(one.end);
      marked += ')';
    }
    copyUntil(start);
    marked += `(globalThis.edgewiseReached?.(${number}), `;
  }
  for (const { end } of closed.slice(next)) {
    copyUntil(end);
    marked += ')';
  }
  copyUntil(source.length);
  return marked;
}
