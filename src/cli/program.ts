import { getHeapSpaceStatistics, getHeapStatistics, setFlagsFromString } from 'node:v8';
import { sleepFor } from '../client/sleep.ts';
import { readStream } from '../files/read-input.ts';
import { createAsk } from './ask.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit-code.ts';
import { createDirectWrite } from './output/direct-write.ts';
import { createOutput, settleOutputs } from './output/output.ts';
import { run } from './run.ts';

/** Without a listener, a signal ends the process even while it waits. */
const mayWait = (): boolean => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM') === 0;

const stdout = createOutput({ open: () => process.stdout, findDirect: () => createDirectWrite(1, mayWait) });
const stderr = createOutput({ open: () => process.stderr, findDirect: () => createDirectWrite(2, mayWait) });

let isSparing = false;

/** The parts of this process that a run gets. No other file but the one that starts it names the process. */
const context: Context = {
  stdout,
  stderr,
  env: process.env,
  cwd: process.cwd(),
  now: () => new Date(),
  sleep: sleepFor,
  after: (ms, act) => {
    const timer = setTimeout(act, ms).unref();
    return () => clearTimeout(timer);
  },
  readStdin: () => readStream(process.stdin),
  onManifests: (bytes) => {
    if (bytes <= LARGE_BYTES) return;
    isSparing = true;
    setFlagsFromString(`${YOUNG_GROWTH}=1`);
  },
  onDecided: keepYoungSpace,
  onLetGo: collect,
  ask: (question) => createAsk({ input: process.stdin, output: process.stderr, onInterrupt })(question),
  onInterrupt,
  exitNow: (code) => process.exit(code),
  openTransport: async (settings) => {
    stopSparing();
    return (await import('../stack/open-transport.ts')).openTransport(settings);
  },
};

/**
 * Reading so many bytes of manifests makes so many values for a short time that the space for new ones would grow to more than all that is kept. While
 * they are read it does not, for a twentieth of the time. What comes afterwards keeps more of what it makes, and would take a fifth longer.
 */
const LARGE_BYTES = 250_000;
const YOUNG_GROWTH = '--semi-space-growth-factor';
/** The engine's own value in every Node that is supported. */
const USUAL_GROWTH = 2;

function stopSparing(): void {
  if (isSparing) setFlagsFromString(`${YOUNG_GROWTH}=${USUAL_GROWTH}`);
  isSparing = false;
}

/** Half of what the space for new values grows to by itself. */
const LARGE_YOUNG_SPACE = 16_000_000;

/** What is kept anyway is only copied by a larger space, which takes as much memory as the plan of ten thousand resources. */
function keepYoungSpace(): void {
  const young = getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space');
  if (young === undefined || young.space_size < LARGE_YOUNG_SPACE) return;
  isSparing = true;
  setFlagsFromString(`${YOUNG_GROWTH}=1`);
}

/** Below that, a run takes hardly more memory than what it has loaded. */
const LARGE_HEAP = 64_000_000;
/** The heap grew by so much since it was last collected: the cost stays in proportion, however often somebody lets go of something. */
const GROWTH = 1.4;

let kept = 0;

/**
 * Collects garbage, when there may be enough of it. Left to itself, the engine lets a heap grow to several times of what it keeps; asked to collect more often it
 * also does so while nothing can be let go of, which takes a quarter more CPU time.
 */
function collect(): void {
  const { used_heap_size: before } = getHeapStatistics();
  if (before < Math.max(LARGE_HEAP, kept * GROWTH)) return;
  // The engine shows its collector to a context that is made after it is told to. Code that is compiled is kept for an engine that is not.
  setFlagsFromString('--expose-gc');
  const collectAll: () => void = process.getBuiltinModule('node:vm').runInNewContext('gc');
  setFlagsFromString('--no-expose-gc');
  collectAll();
  kept = getHeapStatistics().used_heap_size;
}

/** Runs the words of this process, and leaves it the exit code. */
export async function runProgram(): Promise<void> {
  // So that a run which never comes to its end does not look like a success.
  process.exitCode = EXIT.bug;
  process.exitCode = await settleOutputs(await run(process.argv.slice(2), context), { stdout, stderr });
  // Compiled code that is kept is for the engine as it was started.
  stopSparing();
}

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return () => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
}
