import type { Writable } from 'node:stream';
import { createJobCommandFilter, isReadByRunner } from '../../model/pipeline.ts';
import type { Secrets } from '../../model/secrets.ts';
import type { Context, Output } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** An output of the process that knows what became of it. */
interface ProcessOutput extends Output {
  /** Waits until everything is written, and returns the reason if that failed. A reader that closed the pipe (`head`) does not count as a failure. */
  readonly settle: () => Promise<string | undefined>;
}

/** A stream of the process. */
type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/**
 * Writes to a stream until that fails. The command continues even if its output is lost. A run may need only one of its streams: each is opened by its first
 * text.
 */
export function createOutput(
  open: () => ProcessStream,
  { isFile = () => false }: { readonly isFile?: () => boolean } = {},
): ProcessOutput {
  let opened: ProcessStream | undefined;
  let isGone = false;
  let failure: string | undefined;
  const lose = (error: NodeJS.ErrnoException): void => {
    if (!isGone && error.code !== 'EPIPE') failure = error.message;
    isGone = true;
  };
  const get = (): ProcessStream => {
    opened ??= open().on('error', lose);
    return opened;
  };
  const write = (text: string, end: () => void = () => undefined): void => {
    const finish = (error?: Error | null): void => {
      if (error) lose(error);
      end();
    };
    try {
      get().write(text, finish);
    } catch (error) {
      // Some streams throw errors that others emit.
      finish(error instanceof Error ? error : new Error(String(error)));
    }
  };
  return {
    write: (text) => {
      if (!isGone) write(text);
    },
    get isFile() {
      return isFile();
    },
    get isTerminal() {
      return get().isTTY === true;
    },
    columns: () => get().columns ?? 0,
    settle: async () => {
      if (opened !== undefined && !isGone) await new Promise<void>((done) => write('', done));
      return failure;
    },
  };
}

/** The exit code of a command whose output has been waited for: a result that was lost is a failure, and stderr says so. */
export async function settleOutputs(
  exitCode: ExitCode,
  { stdout, stderr }: { readonly stdout: ProcessOutput; readonly stderr: ProcessOutput },
): Promise<ExitCode> {
  const failure = await stdout.settle();
  if (failure !== undefined) stderr.write(`edgewise: The result cannot be written to standard output: ${failure}\n`);
  await stderr.settle();
  const isGood = exitCode === EXIT.done || exitCode === EXIT.changes;
  return failure !== undefined && isGood ? EXIT.failed : exitCode;
}

/** Filters of every text that the process prints: it contains no secret of the run, and no command to the runner of the job. */
export function guardOutputs<T extends Context>(context: T, secrets: Secrets): T & { readonly secrets: Secrets } {
  const stdout = strikeOutput(context.stdout, secrets);
  return {
    ...context,
    secrets,
    stdout: isReadByRunner(context.env) ? guardOutput(stdout) : stdout,
    // A container in a job does not know about the job; only people and runners read this stream.
    stderr: guardOutput(strikeOutput(context.stderr, secrets)),
  };
}

function strikeOutput(output: Output, { redact }: Secrets): Output {
  const { writeCommands } = output;
  return {
    write: (text) => output.write(redact(text)),
    ...(writeCommands !== undefined && { writeCommands: (text: string) => writeCommands(redact(text)) }),
    ...(output.isFile !== undefined && { isFile: output.isFile }),
    get isTerminal() {
      return output.isTerminal;
    },
    columns: () => output.columns(),
  };
}

/** The runner does not read a file, so its text is not changed. */
function guardOutput(output: Output): Output {
  if (output.isFile === true) return output;
  const filter = createJobCommandFilter();
  return {
    write: (text) => output.write(filter(text)),
    writeCommands: (text) => output.write(text),
    get isTerminal() {
      return output.isTerminal;
    },
    columns: () => output.columns(),
  };
}
