import { sleepFor } from '../client/sleep.ts';
import { readStream } from '../files/read-input.ts';
import { createAsk } from './ask.ts';
import type { Context } from './context.ts';
import { createEngine, type Engine } from './engine.ts';
import { EXIT } from './exit-code.ts';
import { createDirectWrite } from './output/direct-write.ts';
import { createOutput, settleOutputs } from './output/output.ts';
import { run } from './run.ts';
import { createTuning } from './tune-engine.ts';

/** Without a listener, a signal ends the process even while it waits. */
const mayWait = (): boolean => process.listenerCount('SIGINT') + process.listenerCount('SIGTERM') === 0;

const stdout = createOutput({ open: () => process.stdout, findDirect: () => createDirectWrite(1, mayWait) });
const stderr = createOutput({ open: () => process.stderr, findDirect: () => createDirectWrite(2, mayWait) });

/** The parts of this process that a run gets. No other file but the one that starts it names the process. */
function createContext(engine: Engine): Context {
  return {
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
    ...createTuning(engine, process),
    ask: (question) => createAsk({ input: process.stdin, output: process.stderr, onInterrupt })(question),
    onInterrupt,
    exitNow: (code) => process.exit(code),
    openTransport: async (settings) => (await import('../stack/open-transport.ts')).openTransport(settings),
  };
}

/** Runs the words of this process, and leaves it the exit code. */
export async function runProgram(engine: Engine = createEngine(process)): Promise<void> {
  // So that a run which never comes to its end does not look like a success.
  process.exitCode = EXIT.bug;
  process.exitCode = await settleOutputs(await run(process.argv.slice(2), createContext(engine)), { stdout, stderr });
}

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return () => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
}
