import type { Writable } from 'node:stream';
import { once } from '../../model/once.ts';
import type { Output } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { DirectWrite } from './direct-write.ts';

/** An output of the process that knows what became of it. */
export interface ProcessOutput extends Output {
  /** Waits until everything is written, and gives the reason if that failed. A reader that went away (a pipe to `head`) is no failure. */
  readonly settle: () => Promise<string | undefined>;
}

/** A stream of the process. */
type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Where an output writes to. */
export interface OutputOptions {
  /** Opens the stream. */
  readonly open: () => ProcessStream;
  /** How to write without it; absent, or giving `undefined`: there is no way. */
  readonly findDirect?: () => DirectWrite | undefined;
}

/**
 * Writes to a stream until that fails. The command goes on even if its output is lost. The stream is opened when it is first needed, since that takes
 * time: many runs write to one of them only, and without the stream where that can be.
 */
export function createOutput({ open, findDirect }: OutputOptions): ProcessOutput {
  let opened: ProcessStream | undefined;
  let isGone = false;
  let fault: string | undefined;
  const direct = once(() => findDirect?.());
  const lose = (error: NodeJS.ErrnoException): void => {
    if (!isGone && error.code !== 'EPIPE') fault = error.message;
    isGone = true;
  };
  const get = (): ProcessStream => {
    opened ??= open().on('error', lose);
    return opened;
  };
  const write = (text: string, end?: () => void): void => {
    const finish = (error?: Error | null): void => {
      if (error) lose(error);
      end?.();
    };
    try {
      const rest = opened === undefined ? writeWithout(direct(), text) : text;
      if (rest === undefined) finish();
      else get().write(rest, finish);
    } catch (error) {
      // Some streams throw errors that others emit.
      finish(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return {
    write: (text) => {
      if (!isGone) write(text);
    },
    get isTerminal() {
      return direct() === undefined && get().isTTY === true;
    },
    columns: () => (direct() === undefined ? (get().columns ?? 0) : 0),
    settle: async () => {
      if (opened !== undefined && !isGone) await new Promise<void>((done) => write('', done));
      return fault;
    },
  };
}

/** What is left of a text for the stream. */
function writeWithout(direct: DirectWrite | undefined, text: string): string | Uint8Array | undefined {
  return direct === undefined ? text : direct(Buffer.from(text));
}

/** The exit code of a command whose output has been waited for: a result that was lost is a failure, and stderr says so. */
export async function settleOutputs(
  exitCode: ExitCode,
  { stdout, stderr }: { readonly stdout: ProcessOutput; readonly stderr: ProcessOutput },
): Promise<ExitCode> {
  const fault = await stdout.settle();
  if (fault !== undefined) stderr.write(`edgewise: The result cannot be written to standard output: ${fault}\n`);
  await stderr.settle();
  const isGood = exitCode === EXIT.done || exitCode === EXIT.changes;
  return fault !== undefined && isGood ? EXIT.failed : exitCode;
}
