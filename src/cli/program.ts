import { fstatSync } from 'node:fs';
import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { readStream } from '../files/read-input.ts';
import { sleepFor } from '../model/sleep.ts';
import type { Context } from './context.ts';
import { EXIT } from './exit-code.ts';
import { createStreamOutput, flushOutputs } from './output/output.ts';
import { run } from './run.ts';

const stdout = createStreamOutput(process.stdout, { isFile: isRegularFile(1) });
const stderr = createStreamOutput(process.stderr, { isFile: isRegularFile(2) });

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
    rehearse: async (...tried) => (await import('../rehearse/rehearse.ts')).rehearsePlan(...tried),
    openNeighbours: async (...asked) => (await import('../repository/read-stack-tree.ts')).openTakeOverLookUp(...asked),
    openTransport: async (settings) => (await import('../stack/process-host.ts')).openTransport(settings),
  };
}

export async function runProgram(): Promise<void> {
  // A run that never completes must not look like a success.
  process.exitCode = EXIT.bug;
  process.exitCode = await flushOutputs(await run(process.argv.slice(2), createContext()), { stdout, stderr });
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
