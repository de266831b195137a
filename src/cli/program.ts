import { createInterface } from 'node:readline';
import type { Readable, Writable } from 'node:stream';
import { StackError } from '../model/user-errors.ts';
import { createProcessHost } from '../stack/process-host.ts';
import type { Context } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { createStreamOutput, flushOutputs } from './output/output.ts';
import { refuseToRun, run } from './run.ts';

const stdout = createStreamOutput(process.stdout);
const stderr = createStreamOutput(process.stderr);

/**
 * The signals that interrupt a run. SIGHUP is one of them only if a person watches, whose terminal was then closed.
 * Elsewhere it may be ignored (`nohup`), which a listener would undo.
 */
const INTERRUPTS = process.stderr.isTTY ? (['SIGINT', 'SIGTERM', 'SIGHUP'] as const) : (['SIGINT', 'SIGTERM'] as const);

/** Creates the context of a command. In this folder, only this file and main.ts use `process`. */
function createProcessContext(cwd: string): Context {
  return {
    stdout,
    stderr,
    ...createProcessHost(cwd),
    after: (ms, act) => {
      const timer = setTimeout(act, ms).unref();
      return () => clearTimeout(timer);
    },
    ask: (question) => createPrompt({ input: process.stdin, output: findTerminal(), onInterrupt })(question),
    onInterrupt,
    program: process.argv[1],
    exitNow: (code) => process.exit(code),
    rehearse: async (...tried) => (await import('../rehearse/rehearse.ts')).rehearsePlan(...tried),
    listMissingManifests: async (...asked) =>
      (await import('../repository/missing-manifests.ts')).listMissingManifests(...asked),
    listCollidingNames: async (...asked) =>
      (await import('../repository/missing-manifests.ts')).listCollidingNames(...asked),
    findTokensInGit: async (...asked) => (await import('../repository/token-files.ts')).findTokensInGit(...asked),
  };
}

export async function runProgram(): Promise<void> {
  // A run that never completes must not look like a success.
  process.exitCode = EXIT.bug;
  process.exitCode = await flushOutputs(await runInWorkingFolder(process.argv.slice(2)), { stdout, stderr });
}

async function runInWorkingFolder(argv: readonly string[]): Promise<ExitCode> {
  try {
    return await run(argv, createProcessContext(process.cwd()));
  } catch (cause) {
    if (!(cause instanceof Error && 'syscall' in cause && cause.syscall === 'uv_cwd')) throw cause;
    const remedy = 'Change to a folder that exists, and start the command there.';
    const message = 'The working folder was deleted, or a folder above it cannot be read.';
    return refuseToRun(new StackError(message, { reason: 'invalid', remedy, cause }), argv, createProcessContext('/'));
  }
}

/**
 * How long after a signal others belong to the same interrupt: Ctrl-C and the stop of a job reach every process of a
 * group, and npm and the shells of pipelines pass on theirs too.
 */
const SAME_INTERRUPT_MS = 500;

function onInterrupt(listener: () => void): () => void {
  let last = -SAME_INTERRUPT_MS;
  const interrupt = (): void => {
    const now = performance.now();
    if (now - last < SAME_INTERRUPT_MS) return;
    last = now;
    listener();
  };
  for (const signal of INTERRUPTS) process.on(signal, interrupt);
  return () => {
    for (const signal of INTERRUPTS) process.off(signal, interrupt);
  };
}

/** Finds the output at which the user sees a question: a file of logs may get the other one. */
function findTerminal(): Writable | undefined {
  return [process.stderr, process.stdout].find(({ isTTY }) => isTTY);
}

export interface PromptTerminal {
  readonly input: Readable & { readonly isTTY?: boolean };
  /** `undefined`: the user would not see the question. */
  readonly output: Writable | undefined;
  readonly onInterrupt: Context['onInterrupt'];
}

/** Creates an `ask` for a terminal. */
export function createPrompt({ input, output, onInterrupt }: PromptTerminal): Context['ask'] {
  return async (question) => {
    if (input.isTTY !== true || output === undefined) return undefined;
    const prompt = question.slice(question.lastIndexOf('\n') + 1);
    const { promise: ended, resolve: end } = Promise.withResolvers<string | undefined>();
    const leave = (): void => end(undefined);
    const reader = createInterface({ input, output });
    reader.once('close', leave);
    // When a terminal is closed, each of these may fail, also later.
    for (const stream of [reader, input, output]) stream.on('error', leave);
    const stopListening = onInterrupt(leave);
    output.write(question.slice(0, question.length - prompt.length));
    reader.question(prompt, end);
    const answer = await ended;
    reader.close();
    if (answer !== undefined) {
      stopListening();
      return answer;
    }
    // Still listening: a closed terminal also sends SIGHUP, which must not end the process before it has cleaned up.
    output.write('\n');
    throw new StackError('Declined: nothing was written.', { reason: 'interrupted' });
  };
}
