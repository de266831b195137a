import type { Context, OutputStream } from '../../src/cli/context.ts';
import type { ExitCode } from '../../src/cli/exit-code.ts';
import { run } from '../../src/cli/run.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { listCollidingNames, listMissingManifests } from '../../src/repository/missing-manifests.ts';
import { findTokensInGit } from '../../src/repository/token-files.ts';

/** The output of a command, as a person sees it. */
export interface CommandResult {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options of a fake context. */
export interface FakeOptions {
  readonly cwd: string;
  /** The user id of the process. Absent: that of the tests. */
  readonly uid?: number;
  readonly transport?: Transport;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Responses to questions, in order. If none is left, there is no terminal. */
  readonly answers?: readonly string[];
  /** Called while a question waits for its answer. */
  readonly onAsk?: () => Promise<void>;
  /** Columns of the terminal of both outputs. Absent: pipes. */
  readonly terminal?: number;
  /** Gets the listener for SIGINT. */
  readonly onListen?: (interrupt: () => void) => void;
  readonly now?: () => Date;
  /** Absent: time passes at once, and only the clock of the command advances. */
  readonly sleep?: Context['sleep'];
  readonly random?: Context['random'];
  /** Absent: no timer calls back. */
  readonly after?: Context['after'];
  /** Called when the process exits at once. */
  readonly onExit?: () => void;
  /** Called with each text that is written to either output. */
  readonly onWrite?: (text: string) => void;
}

export const NOW = new Date('2026-03-01T12:00:00Z');
export const BASE_URL = 'https://api.test';

/** Runs one command line in a context of its own. */
export async function runCommand(
  argv: readonly string[],
  options: FakeOptions,
): Promise<CommandResult & { readonly exits: readonly number[] }> {
  const stdout = createOutput(options);
  const stderr = createOutput(options);
  const exits: number[] = [];
  const answers = [...(options.answers ?? [])];
  const clock = createClock(options);
  const context: Context = {
    stdout: stdout.output,
    stderr: stderr.output,
    env: { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: BASE_URL, ...options.env },
    cwd: options.cwd,
    uid: options.uid ?? process.getuid?.(),
    ...clock,
    random: options.random ?? (() => 0.5),
    after: options.after ?? (() => () => undefined),
    readStdin: async () => Buffer.from(options.stdin ?? ''),
    ask: async (question) => {
      const answer = answers.shift();
      if (answer !== undefined) stderr.output.write(`${question}${answer}\n`);
      await options.onAsk?.();
      return answer;
    },
    onInterrupt: (listener) => {
      options.onListen?.(listener);
      return () => undefined;
    },
    exitNow: (code) => {
      exits.push(code);
      options.onExit?.();
    },
    rehearse: rehearsePlan,
    listMissingManifests,
    listCollidingNames,
    findTokensInGit,
    openTransport: async () => ({ send: toSend(options.transport ?? refuseAll), close: async () => undefined }),
  };
  const exitCode = await run(argv, context);
  return { exitCode, stdout: stdout.text(), stderr: stderr.text(), exits };
}

/** A transport that fails on any request: for commands that send none. */
const refuseAll: Transport = async (request) => {
  throw new Error(`No request was expected, and ${request.method} ${request.url} was sent.`);
};

function createClock({ now = () => NOW, sleep }: FakeOptions): Pick<Context, 'now' | 'sleep'> {
  let sleptMs = 0;
  return {
    now: () => new Date(now().getTime() + sleptMs),
    sleep:
      sleep ??
      (async (ms) => {
        sleptMs += ms;
      }),
  };
}

/** An output of a process. `terminal`: its columns. Absent: a pipe. */
export function createFakeStream(write: OutputStream['write'], terminal?: number): OutputStream {
  return { write, writeCommands: write, isTerminal: terminal !== undefined, columns: () => terminal ?? 0 };
}

function createOutput({ terminal, onWrite }: FakeOptions): {
  readonly output: OutputStream;
  readonly text: () => string;
} {
  const parts: string[] = [];
  const write = (text: string): void => {
    parts.push(text);
    onWrite?.(text);
  };
  return {
    output: createFakeStream(write, terminal),
    text: () => parts.join(''),
  };
}
