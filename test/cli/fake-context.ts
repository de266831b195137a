import type { Context, OutputStream } from '../../src/cli/context.ts';
import type { ExitCode } from '../../src/cli/exit-code.ts';
import { run } from '../../src/cli/run.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { listMissingManifests } from '../../src/repository/missing-manifests.ts';

/** What a command did, as a person would have seen it. */
export interface CommandResult {
  readonly exitCode: ExitCode;
  readonly stdout: string;
  readonly stderr: string;
}

/** What a fake context may differ in. */
export interface FakeOptions {
  readonly cwd: string;
  /** The user that it runs as; absent: the one that runs the tests. */
  readonly uid?: number;
  readonly transport?: Transport;
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  /** Answers to questions, in order. None left: there is no terminal. */
  readonly answers?: readonly string[];
  /** Something that happens while a question waits for its answer. */
  readonly onAsk?: () => Promise<void>;
  /** Columns of a terminal that both outputs are; absent: pipes. */
  readonly terminal?: number;
  /** Gets the listener that the process would call on SIGINT. */
  readonly onListen?: (interrupt: () => void) => void;
  readonly now?: () => Date;
  /** Without it, time passes at once: only the command's own clock moves on. */
  readonly sleep?: Context['sleep'];
  readonly random?: Context['random'];
  /** Without it, nothing that waits for time is called back. */
  readonly after?: Context['after'];
  /** Called when the process would end at once. */
  readonly onExit?: () => void;
  /** Sees each text as it is written to either output. */
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
    openTransport: async () => ({ send: toSend(options.transport ?? refuseAll), close: async () => undefined }),
  };
  const exitCode = await run(argv, context);
  return { exitCode, stdout: stdout.text(), stderr: stderr.text(), exits };
}

/** A transport on which any request is a failure: for commands that send none. */
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
    output: { write, isTerminal: terminal !== undefined, columns: () => terminal ?? 0 },
    text: () => parts.join(''),
  };
}
