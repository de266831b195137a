import type { Writable } from 'node:stream';
import type { Output } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** An output of the process that knows what became of it. */
export interface ProcessOutput extends Output {
  /** Waits until everything is written, and gives the reason if that failed. A reader that went away (a pipe to `head`) is no failure. */
  readonly settle: () => Promise<string | undefined>;
}

/** A stream of the process. */
type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Writes to a stream until that fails. The command goes on even if its output is lost. The stream is opened when it is first needed, since that takes
 * time and many runs write to one of them only.
 */
export function createOutput(open: () => ProcessStream): ProcessOutput {
  let opened: ProcessStream | undefined;
  let isGone = false;
  let fault: string | undefined;
  const lose = (error: NodeJS.ErrnoException): void => {
    if (!isGone && error.code !== 'EPIPE') fault = error.message;
    isGone = true;
  };
  const get = (): ProcessStream => {
    opened ??= open().on('error', lose);
    return opened;
  };
  const write = (text: string, end?: () => void): void => {
    try {
      get().write(text, (error) => {
        if (error) lose(error);
        end?.();
      });
    } catch (error) {
      // Some streams throw errors that others emit.
      lose(error instanceof Error ? error : new Error(String(error)));
      end?.();
    }
  };
  return {
    write: (text) => {
      if (!isGone) write(text);
    },
    get isTerminal() {
      return get().isTTY === true;
    },
    columns: () => get().columns ?? 0,
    settle: async () => {
      if (opened !== undefined && !isGone) await new Promise<void>((done) => write('', done));
      return fault;
    },
  };
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
