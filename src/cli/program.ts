import { fstatSync } from 'node:fs';
import type { Readable, Writable } from 'node:stream';
import { readStream } from '../files/read-input.ts';
import { sleepFor } from '../model/elapsed.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit-code.ts';
import { createLazyStreamOutput, flushOutputs } from './output/output.ts';
import { run } from './run.ts';

const stdout = createLazyStreamOutput(() => process.stdout, { isFile: () => isRegularFile(1) });
const stderr = createLazyStreamOutput(() => process.stderr, { isFile: () => isRegularFile(2) });

/** Creates the context of a command. In this folder, only this file and main.ts use `process`. */
function createContext(): Context {
  return {
    stdout,
    stderr,
    env: process.env,
    cwd: process.cwd(),
    uid: process.getuid?.(),
    now: () => new Date(),
    sleep: sleepFor,
    after: (ms, act) => {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
    readStdin: () => readStream(process.stdin),
    ask: (question) => createPrompt({ input: process.stdin, output: process.stderr, onInterrupt })(question),
    onInterrupt,
    exitNow: (code) => process.exit(code),
    rehearse: async (...tried) => {
      const { rehearsePlan } = await import('../rehearse/rehearse.ts');
      return collectGarbageEarly(() => rehearsePlan(...tried));
    },
    openNeighbours: async (...asked) => (await import('../repository/read-stack-tree.ts')).openTakeOverLookUp(...asked),
    openTransport: async (settings) => (await import('../stack/process-host.ts')).openTransport(settings),
  };
}

export async function runProgram(): Promise<void> {
  // A run that never completes must not look like a success.
  process.exitCode = EXIT.bug;
  const exitCode = await flushOutputs(await run(process.argv.slice(2), createContext()), { stdout, stderr });
  // Everything is written. Without this call, Node frees the heap page by page: 7 ms of each run.
  process.exit(exitCode);
}

/**
 * Makes V8 mark garbage at half of the heap's limit, not at the limit, while `act` runs. A rehearsal creates most of a
 * run's garbage, and V8 goes on allocating while it marks. The peak of a plan of 10,000 new edges is 335 MB without
 * this, and 311 MB with it; that of their apply 337 and 325 MB. Then V8 gets its own value back, because it discards
 * kept code that was compiled with other settings.
 */
async function collectGarbageEarly<T>(act: () => Promise<T>): Promise<T> {
  const { setFlagsFromString } = process.getBuiltinModule('node:v8');
  setFlagsFromString('--incremental-marking-hard-trigger=50');
  try {
    return await act();
  } finally {
    setFlagsFromString('--incremental-marking-hard-trigger=0');
  }
}

function onInterrupt(listener: () => void): () => void {
  process.on('SIGINT', listener);
  process.on('SIGTERM', listener);
  return () => {
    process.off('SIGINT', listener);
    process.off('SIGTERM', listener);
  };
}

function isRegularFile(fd: number): boolean {
  try {
    return fstatSync(fd).isFile();
  } catch (error) {
    if (error instanceof Error) return false; // the descriptor is closed
    throw error;
  }
}

export interface PromptTerminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  readonly output: Writable;
  readonly onInterrupt: Context['onInterrupt'];
}

/** Creates an `ask` for a terminal. If the user leaves the question (Ctrl-C, Ctrl-D, SIGTERM), the answer is empty. */
export function createPrompt({ input, output, onInterrupt }: PromptTerminal): Context['ask'] {
  return async (question) => {
    if (input.isTTY !== true) return undefined;
    const prompt = question.slice(question.lastIndexOf('\n') + 1);
    output.write(question.slice(0, question.length - prompt.length));
    const { createInterface } = await import('node:readline');
    const { promise: closed, resolve: setClosed } = Promise.withResolvers<void>();
    let answer: string | undefined;
    const reader = createInterface({ input, output }).once('close', setClosed);
    const stopListening = onInterrupt(() => reader.close());
    reader.question(prompt, (text) => {
      answer = text;
      reader.close();
    });
    await closed;
    stopListening();
    if (answer === undefined) output.write('\n');
    return answer ?? '';
  };
}
