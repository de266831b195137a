import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, globSync, mkdtempSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setInterval } from 'node:timers/promises';
import {
  CURRENT,
  type CurrentTrial,
  ENDED,
  RECORD,
  type ReachedByTest,
  STATE_VARIABLE,
  TRIALS,
  type Trials,
  toNoticedFile,
} from './switching-runner.ts';

/** Tests a checkout with switches: which tests reach which mutants, and which of them notice one. */

/** A test that reaches a mutant. */
export interface ReachingTest {
  /** Relative to the checkout. */
  readonly file: string;
  readonly id: string;
  readonly durationMs: number;
}

/** Runs all tests once without a mutant. Returns the tests that reach each of `count` mutants. */
export async function recordReach(checkout: string, count: number): Promise<readonly (readonly ReachingTest[])[]> {
  const state = createState(checkout);
  await once(startTests(checkout, state, []), 'exit');
  const lines = readLines(join(state, RECORD)).map((line): ReachedByTest => JSON.parse(line));
  if (lines.length === 0) throw new Error(`No test ran in ${checkout}`);
  const reach = Array.from({ length: count }, (): ReachingTest[] => []);
  for (const { file, id, durationMs, reached } of lines)
    for (const index of reached) reach[index]?.push({ file, id, durationMs });
  return reach;
}

/** A test gets so long with one mutant, with its hooks. */
const MOST_MS = 90_000;

/**
 * Runs tests with mutants. `tests`: the tests to try, by the index of the mutant. Calls `onNoticed` as soon as a test has
 * noticed a mutant. A mutant with which a test hangs, or its process ends, is noticed, too.
 */
export async function tryMutants(
  checkout: string,
  tests: ReadonlyMap<number, readonly ReachingTest[]>,
  onNoticed: (index: number, test: string) => void,
): Promise<void> {
  const state = createState(checkout);
  const pairs = Array.from(tests, ([index, list]) => list.map(({ id }) => ({ id, index }))).flat();
  const trials: Trials = Object.fromEntries(
    Array.from(
      Map.groupBy(pairs, ({ id }) => id),
      ([id, ofTest]) => [id, ofTest.map(({ index }) => index)],
    ),
  );
  writeFileSync(join(state, TRIALS), JSON.stringify(trials));
  const files = [...new Set([...tests.values()].flat().map(({ file }) => file))];
  const told = new Set<number>();
  const tell = (): void => {
    for (const index of tests.keys()) {
      const path = toNoticedFile(state, index);
      const test = told.has(index) || !existsSync(path) ? '' : readFileSync(path, 'utf8');
      if (test !== '') onNoticed(index, test);
      if (test !== '') told.add(index);
    }
  };
  let isStuck = true;
  while (isStuck) {
    const ended = new Set(readLines(join(state, ENDED)));
    const left = files.filter((file) => !ended.has(file));
    if (left.length === 0) break;
    isStuck = await runUntilStuck(checkout, { state, files: left, onTick: tell });
  }
  tell();
}

/** Runs test files until all have ended, or a mutant is stuck in one of them. Returns whether one was, which is noted. */
async function runUntilStuck(
  checkout: string,
  { state, files, onTick }: { readonly state: string; readonly files: readonly string[]; readonly onTick: () => void },
): Promise<boolean> {
  const child = startTests(checkout, state, files);
  const exit = once(child, 'exit');
  for await (const _ of setInterval(1000)) {
    onTick();
    const hasEnded = child.exitCode !== null || child.signalCode !== null;
    const stuck = listCurrent(state).filter(({ ms }) => hasEnded || ms > MOST_MS);
    for (const { trial, path } of stuck) {
      writeFileSync(
        toNoticedFile(state, trial.index),
        `${trial.test}, which ${hasEnded ? 'ended the process' : 'hung'}`,
      );
      writeFileSync(path, '');
    }
    if (stuck.length > 0) endAll(child);
    if (stuck.length > 0 || hasEnded) {
      await exit;
      return stuck.length > 0;
    }
  }
  return false;
}

function listCurrent(
  state: string,
): readonly { readonly trial: CurrentTrial; readonly path: string; readonly ms: number }[] {
  return globSync(`${CURRENT}*`, { cwd: state }).flatMap((name) => {
    const path = join(state, name);
    const text = readFileSync(path, 'utf8');
    return text === '' ? [] : [{ trial: JSON.parse(text), path, ms: Date.now() - statSync(path).mtimeMs }];
  });
}

function startTests(checkout: string, state: string, files: readonly string[]): ChildProcess {
  const words = ['node_modules/vitest/vitest.mjs', 'run', '--config', '.ci/switched.config.ts', '--project', 'fast'];
  return spawn(process.execPath, [...words, ...files], {
    cwd: checkout,
    env: { ...process.env, [STATE_VARIABLE]: state },
    detached: true,
    stdio: 'ignore',
  });
}

/** Ends a process and all that it started. */
function endAll({ pid, exitCode }: ChildProcess): void {
  if (pid !== undefined && exitCode === null) process.kill(-pid, 'SIGKILL');
}

function createState(checkout: string): string {
  return mkdtempSync(join(checkout, 'node_modules/.mutants-'));
}

function readLines(path: string): readonly string[] {
  return existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : [];
}
