import type { Writable } from 'node:stream';
import { createJobCommandEscaper, isInCiJob } from '../../model/pipeline.ts';
import type { SecretRedactor } from '../../model/secrets.ts';
import type { Context, OutputStream } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

interface ProcessOutput extends OutputStream {
  /**
   * Waits until everything is written. Resolves with the error message if writing failed, else with `undefined`. A pipe
   * that its reader closed (`head`) is not a failure.
   */
  readonly settle: () => Promise<string | undefined>;
}

type ProcessStream = Writable & { readonly isTTY?: boolean; readonly columns?: number };

/** Creates an output that writes to a stream. If a write fails, the command continues without this output. */
export function createStreamOutput(
  stream: ProcessStream,
  { isFile = false }: { readonly isFile?: boolean } = {},
): ProcessOutput {
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
  return {
    write: (text) => {
      if (!isGone) write(text);
    },
    isFile,
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
      `edgewise: The result cannot be written to standard output: ${failure}. Send it to a file or a program that takes it.\n`,
    );
  await stderr.settle();
  const isGood = exitCode === EXIT.success || exitCode === EXIT.changes;
  return failure !== undefined && isGood ? EXIT.failed : exitCode;
}

/** Redacts the secrets of the run in all output and questions, and escapes text that a CI runner would execute as a command. */
export function createRedactedContext<T extends Context>(
  context: T,
  secrets: SecretRedactor,
): T & { readonly secrets: SecretRedactor } {
  const stdout = redactOutput(context.stdout, secrets);
  return {
    ...context,
    secrets,
    stdout: isInCiJob(context.env) ? filterCommands(stdout) : stdout,
    // Filter stderr even if no variable identifies a CI job, because a container may lack such variables. No program
    // parses stderr, so the filter does no harm.
    stderr: filterCommands(redactOutput(context.stderr, secrets)),
    ask: (question) => context.ask(secrets.redact(question)),
  };
}

function redactOutput(output: OutputStream, { redact }: SecretRedactor): OutputStream {
  const { writeCommands } = output;
  return {
    ...output,
    write: (text) => output.write(redact(text)),
    ...(writeCommands !== undefined && { writeCommands: (text: string) => writeCommands(redact(text)) }),
  };
}

/** Filters job commands out of an output. Does not filter a file, because the runner does not read it. */
function filterCommands(output: OutputStream): OutputStream {
  if (output.isFile === true) return output;
  const filter = createJobCommandEscaper();
  return {
    ...output,
    write: (text) => output.write(filter(text)),
    writeCommands: (text) => output.write(text),
  };
}
