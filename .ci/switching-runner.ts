import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type RunnerTask, type RunnerTestCase, type RunnerTestSuite, TestRunner, type TestTryOptions } from 'vitest';
import { ACTIVE_VARIABLE, REACHED_VARIABLE, type Switches } from './mutant-switches.ts';

/**
 * Runs tests in a checkout with switches. First it records which mutants each test reaches. Then, with a file of trials,
 * it runs each test once for each mutant that it may notice, until one test has noticed it. Only a test that passes
 * without a mutant before and after has noticed one: others depend on what an earlier run of the same test left.
 */

/** What a test reached. A line of the record. */
export interface ReachedByTest {
  /** Relative to the checkout. */
  readonly file: string;
  /** Of the test, the same in each run. */
  readonly id: string;
  readonly durationMs: number;
  readonly reached: readonly number[];
}

/** The indices of the mutants to try, by ID of a test. */
export type Trials = Readonly<Record<string, readonly number[]>>;

/** The folder that runner and caller share. */
export const STATE_VARIABLE = 'MUTANTS_STATE';

/** In that folder: the record, the trials, the files that have ended, and what is tried at the moment by each process. */
export const [RECORD, TRIALS, ENDED, CURRENT] = ['reached.jsonl', 'trials.json', 'ended.txt', 'current-'];

/** The file in that folder that exists when a mutant was noticed, and names the test. */
export function toNoticedFile(state: string, index: number): string {
  return join(state, `noticed-${index}`);
}

/** What a process tries: which mutant in which test. An empty file: nothing. */
export interface CurrentTrial {
  readonly index: number;
  readonly test: string;
}

const state = process.env[STATE_VARIABLE] ?? '';
const reachedByChildren = join(state, `children-${process.pid}.txt`);
const currentTrial = join(state, `${CURRENT}${process.pid}`);
const trials: Trials | undefined = existsSync(join(state, TRIALS))
  ? JSON.parse(readFileSync(join(state, TRIALS), 'utf8'))
  : undefined;
const switches = getSwitches();
process.env[REACHED_VARIABLE] = reachedByChildren;

/** The runs of one test: without a mutant, then with each. After each that fails, without one again. */
interface TestRuns {
  readonly waiting: number[];
  active: number | undefined;
  failed: number | undefined;
  isOver: boolean;
}

export default class SwitchingRunner extends TestRunner {
  #runs: TestRuns = { waiting: [], active: undefined, failed: undefined, isOver: false };

  override async onBeforeRunTask(test: RunnerTask): Promise<void> {
    await super.onBeforeRunTask(test);
    if (trials === undefined) {
      // What was reached while the file was imported is reached once in a process: no test can try it anew.
      takeReached();
      return;
    }
    const waiting = (trials[test.id] ?? []).filter((index) => !existsSync(toNoticedFile(state, index)));
    this.#runs = { waiting, active: undefined, failed: undefined, isOver: false };
    if (waiting.length === 0) test.mode = 'skip';
    else if (test.type === 'test') test.repeats = 2 * waiting.length;
  }

  override onBeforeTryTask(test: RunnerTask, options: TestTryOptions): void {
    super.onBeforeTryTask(test, options);
    if (trials === undefined) return;
    const { active, isOver } = this.#runs;
    if (isOver) throw new Error('All mutants were tried');
    switches.active = active;
    if (active === undefined) delete process.env[ACTIVE_VARIABLE];
    else process.env[ACTIVE_VARIABLE] = String(active);
    const current: CurrentTrial | undefined = active === undefined ? undefined : { index: active, test: nameOf(test) };
    writeFileSync(currentTrial, current === undefined ? '' : JSON.stringify(current));
  }

  override async onAfterRetryTask(test: RunnerTestCase, options: TestTryOptions): Promise<void> {
    await super.onAfterRetryTask(test, options);
    const runs = this.#runs;
    if (trials === undefined || runs.isOver) return;
    switches.active = undefined;
    delete process.env[ACTIVE_VARIABLE];
    writeFileSync(currentTrial, '');
    const hasPassed = test.result?.state === 'pass';
    if (runs.active !== undefined && !hasPassed) {
      this.#runs = { ...runs, active: undefined, failed: runs.active };
      return;
    }
    if (runs.active === undefined && !hasPassed) {
      this.#runs = { ...runs, isOver: true };
      return;
    }
    if (runs.failed !== undefined) writeFileSync(toNoticedFile(state, runs.failed), nameOf(test));
    const active = runs.waiting.find((index) => index !== runs.active && !existsSync(toNoticedFile(state, index)));
    const waiting = active === undefined ? [] : runs.waiting.slice(runs.waiting.indexOf(active) + 1);
    this.#runs = { waiting, active, failed: undefined, isOver: active === undefined };
  }

  override async onAfterRunSuite(suite: RunnerTestSuite): Promise<void> {
    await super.onAfterRunSuite(suite);
    if (trials !== undefined && 'filepath' in suite) appendFileSync(join(state, ENDED), `${suite.file.name}\n`);
  }

  override onAfterRunTask(test: RunnerTask): void {
    super.onAfterRunTask(test);
    if (trials !== undefined) return;
    const line: ReachedByTest = {
      file: test.file.name,
      id: test.id,
      durationMs: test.result?.duration ?? 0,
      reached: takeReached(),
    };
    appendFileSync(join(state, RECORD), `${JSON.stringify(line)}\n`);
  }
}

/** Returns what this process and its child processes have reached since the last call. */
function takeReached(): readonly number[] {
  const children = existsSync(reachedByChildren) ? readFileSync(reachedByChildren, 'utf8') : '';
  writeFileSync(reachedByChildren, '');
  const reached = new Set([...switches.reached, ...children.split('\n').filter(Boolean).map(Number)]);
  switches.reached.clear();
  return [...reached];
}

function nameOf(test: RunnerTask): string {
  return `${test.file.name} > ${test.fullTestName}`;
}

function getSwitches(): Switches {
  const shared: typeof globalThis & { mutantSwitches?: Switches } = globalThis;
  shared.mutantSwitches ??= { active: undefined, reached: new Set() };
  return shared.mutantSwitches;
}
