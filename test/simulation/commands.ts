import type { TestStack } from '../laws/stack.ts';
import { chooseFaults } from './faults.ts';
import { checkRun } from './oracle.ts';
import type { SeededRandom } from './random.ts';
import type { Owns } from './request-checker.ts';
import { type Disruptions, finishRuns, type Run, startRun } from './run-edgewise.ts';
import { chooseApi, toManifestText, type World } from './world.ts';

/** Skips the rehearsal, which takes as long as the rest of an apply and does not change its requests. */
export const QUICKLY = ['--no-rehearsal'];

/** Options of one command. */
export interface StartOptions {
  /** Its standard input. */
  readonly stack?: TestStack;
  /** Which resources it may change. Absent: those of the only stack. */
  readonly owns?: Owns;
  readonly chance: SeededRandom;
  readonly disruptions: Disruptions;
}

/** Requests and seconds, in the syntax of the setting. */
const RATE_LIMITS = ['20/10s', '120/60s', 'none'] as const;

/** Starts a command with random settings. */
export function startCommand(
  world: World,
  argv: readonly string[],
  { stack, owns, chance, disruptions }: StartOptions,
): Run {
  const rateLimit = chance.pick(RATE_LIMITS);
  const api = chooseApi(chance);
  return startRun(world, {
    name: `run ${world.runs.length + 1}`,
    argv,
    stdin: stack === undefined ? '' : toManifestText(stack, api),
    ...(owns !== undefined && { owns }),
    disruptions,
    rateLimit,
    chance: chance.fork('way'),
    env: {
      EDGEWISE_RATE_LIMIT: rateLimit,
      // If there are several stacks, each sets its own.
      ...(owns !== undefined && { EDGEWISE_BASE_URL: '' }),
    },
  });
}

/** Waits until commands end, and checks each. */
export async function runAll(world: World, started: readonly Run[]): Promise<void> {
  await finishRuns(world, started);
  for (const run of started) await checkRun(world, run);
  world.time.clear();
}

/** Chooses the disruptions of a command. */
export function chooseDisruptions(chance: SeededRandom, { meddling = 0.3 } = {}): Disruptions {
  const request = chance.int(1, 30);
  const when = chance.pick(['before', 'after'] as const);
  const acts = chance.isLucky(meddling) ? [chance.int(1, 25), chance.int(1, 25)] : [];
  const cursors = chance.fork('cursors');
  return {
    faults: chooseFaults(chance, { undetectable: true }),
    otherUserRequests: new Set(acts),
    ...(meddling > 0 && cursors.isLucky(0.5) && { lostCursors: cursors.int(1, 3) }),
    ...(chance.isLucky(0.25) && { death: { request, when } }),
    ...(chance.isLucky(0.1) && { interrupt: { request, isTwice: chance.isLucky(0.3) } }),
    ...(chance.isLucky(0.15) && { lostSink: { request, isRescueLost: chance.isLucky(0.2) } }),
  };
}
