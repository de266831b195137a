import type { Writable } from 'node:stream';
import { createJobCommandEscaper, escapeJobCommands } from '../../model/job-commands.ts';
import type { SecretRedactor } from '../../model/secrets.ts';
import { wrapProse } from '../../report/text/layout.ts';
import type { Context, OutputStream } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { redactText } from './redact-text.ts';

interface ProcessOutput extends OutputStream {
  /**
   * Waits until everything is written. Resolves with the error message if writing failed, else with `undefined`. A pipe
   * that its reader closed (`head`) is not a failure.
   */
  readonly settle: () => Promise<string | undefined>;
}

type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Creates an output that writes to a stream. If a write fails, the command continues without this output. */
export function createStreamOutput(stream: ProcessStream): ProcessOutput {
  let isGone = false;
  let failure: string | undefined;
  const lose = (error: NodeJS.ErrnoException): void => {
    if (!isGone && error.code !== 'EPIPE') failure = error.message;
    isGone = true;
  };
  stream.on('error', lose);
  const write = (text: string, end: () => void = () => undefined): void => {
    const finish = (error?: Error | null): void => {
      if (error) lose(error);
      end();
    };
    try {
      stream.write(text, finish);
    } catch (error) {
      // Some streams throw an error instead of emitting it.
      finish(error instanceof Error ? error : new Error(String(error)));
    }
  };
  const writeUnlessGone = (text: string): void => {
    if (!isGone) write(text);
  };
  return {
    write: writeUnlessGone,
    writeCommands: writeUnlessGone,
    isTerminal: stream.isTTY === true,
    columns: () => stream.columns ?? 0,
    settle: async () => {
      if (!isGone) await new Promise<void>((done) => write('', done));
      return failure;
    },
  };
}

/** Waits for both outputs. If the result could not be written, says so on stderr, and a success becomes a failure. */
export async function flushOutputs(
  exitCode: ExitCode,
  { stdout, stderr }: { readonly stdout: ProcessOutput; readonly stderr: ProcessOutput },
): Promise<ExitCode> {
  const failure = await stdout.settle();
  if (failure !== undefined)
    stderr.write(
      `edgewise: The result cannot be written to standard output: ${failure}. Send it to a file or a program that reads it.\n`,
    );
  await stderr.settle();
  const isGood = exitCode === EXIT.success || exitCode === EXIT.changes;
  return failure !== undefined && isGood ? EXIT.failed : exitCode;
}

/**
 * Redacts the secrets of the run in all output and questions, and escapes what a CI system would execute in a log. Any
 * output may be one: a container that a job starts does not know of the job.
 */
export function createRedactedContext<T extends Context>(
  context: T,
  secrets: SecretRedactor,
): T & { readonly secrets: SecretRedactor } {
  return {
    ...context,
    secrets,
    stdout: filterCommands(redactOutput(context.stdout, secrets)),
    stderr: filterCommands(redactOutput(context.stderr, secrets)),
    ask: (question) => context.ask(wrapLastLine(escapeJobCommands(secrets.redact(question)), context.stderr)),
  };
}

/** A terminal would break the words of a question, which stands in its last line, wherever a row ends. */
export function wrapLastLine(text: string, { isTerminal, columns }: OutputStream): string {
  if (!isTerminal) return text;
  const start = text.lastIndexOf('\n') + 1;
  const [, line = '', end = ''] = /^(.*?)( *)$/s.exec(text.slice(start)) ?? [];
  return `${text.slice(0, start)}${wrapProse(line, columns(), { first: 0, rest: 0 }).join('\n')}${end}`;
}

function redactOutput(output: OutputStream, secrets: SecretRedactor): OutputStream {
  const write = (text: string): void => output.write(redactText(text, secrets));
  return { ...output, write, writeCommands: write };
}

function filterCommands(output: OutputStream): OutputStream {
  const filter = createJobCommandEscaper();
  return { ...output, write: (text) => output.write(filter(text)) };
}
