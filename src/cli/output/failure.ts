import { ApiError, NetworkError } from '../../model/errors.ts';
import type { Failure, SentEvents } from '../../report/report.ts';
import { renderFailureText } from '../../report/text/failure.ts';
import { InvalidManifests, StackError } from '../../stack/stack-error.ts';
import type { RunSubject } from '../../stack/surroundings.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { type FormatFlags, toTextOptions } from './present.ts';
import { publish } from './publish.ts';

/** The command that failed, and how it was to show its result. */
export interface FailedCommand extends RunSubject {
  /** Absent: there is no such command. */
  readonly command?: string;
  readonly flags: FormatFlags;
  /** Events that were sent before it failed. */
  readonly sent?: SentEvents;
}

/** Shows why a command did not complete, and gives its exit code. Text goes to stderr; every other form that was asked for is a whole document. */
export async function showFailure(
  error: unknown,
  { command, stack, locate, flags: given, sent }: FailedCommand,
  context: Context,
): Promise<ExitCode> {
  const flags = error instanceof CommandError && error.isUnreported ? { ...given, report: [] } : given;
  const failure: Failure = {
    ...(command !== undefined && { command }),
    ...(stack !== undefined && { stack }),
    ...toReported(error),
  };
  const isShown = flags.format === 'text';
  const exitCode = await publish(
    { about: 'failure', failure },
    {
      flags,
      isShown,
      exitCode: toFailedExitCode(error),
      ...(sent !== undefined && { sent }),
      ...(locate !== undefined && { locate }),
    },
    context,
  );
  context.stderr.write(renderFailureText(failure, toTextOptions(context.stderr, context, flags)));
  return exitCode;
}

/** What a command ends with that came to no result. */
export function toFailedExitCode(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof StackError) return EXIT[error.reason];
  if (error instanceof InvalidManifests) return EXIT.invalid;
  if (error instanceof ApiError) return error.isAuthentication ? EXIT.authentication : EXIT.failed;
  return error instanceof NetworkError ? EXIT.failed : EXIT.bug;
}

/** What is reported of an error. */
export function toReported(error: unknown): Pick<Failure, 'diagnostics' | 'error'> {
  if (error instanceof InvalidManifests) return { diagnostics: error.diagnostics };
  if (!(error instanceof CommandError || error instanceof StackError))
    return { error: error instanceof Error ? error : new Error(String(error)) };
  const { message, remedy } = error;
  return { error: { message, ...(remedy !== undefined && { remedy }) } };
}
