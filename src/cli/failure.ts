import { ApiError, NetworkError } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';
import { toPrintableLines } from '../report/escape.ts';
import { type Failure, renderFailureJson } from '../report/json.ts';
import { renderDiagnosticsText } from '../report/text-diagnostics.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT, type ExitCode, InvalidManifests } from './exit-code.ts';
import { type FormatFlags, toTextOptions } from './present.ts';

/** The command that failed, and how it was to show its result. */
export interface FailedCommand {
  readonly command: string;
  readonly flags: FormatFlags;
}

/** Shows why a command came to no result, and gives its exit code. Text goes to stderr, and JSON, when asked for, to stdout. */
export function showFailure(error: unknown, { command, flags }: FailedCommand, context: Context): ExitCode {
  const exitCode = toExitCode(error);
  if (flags.format === 'json') context.stdout.write(renderFailureJson({ command, ...toReported(error) }));
  context.stderr.write(renderFailure(error, { command, flags }, context));
  return exitCode;
}

function toExitCode(error: unknown): ExitCode {
  if (error instanceof CommandError) return error.exitCode;
  if (error instanceof InvalidManifests) return EXIT.invalid;
  if (error instanceof ApiError) return error.isAuthentication ? EXIT.authentication : EXIT.failed;
  return error instanceof NetworkError ? EXIT.failed : EXIT.bug;
}

/** A message of ours may have lines; one that holds what a service said is a single line, so that nobody can forge others. */
function renderFailure(error: unknown, { command, flags }: FailedCommand, context: Context): string {
  if (error instanceof InvalidManifests) {
    return renderDiagnosticsText(error.diagnostics, toTextOptions(context.stderr, context, flags));
  }
  if (error instanceof CommandError) return toParagraph(toPrintableLines(error.message).join('\n'), error.remedy);
  const message = toPrintable(error instanceof Error ? error.message : String(error));
  if (error instanceof ApiError || error instanceof NetworkError) {
    return toParagraph([message, ...(READING.has(command) ? [UNREAD] : [])].join('\n'), toRemedy(error));
  }
  const trace = error instanceof Error ? (error.stack ?? '') : '';
  return toParagraph(`${message}\n${trace}`, 'This is a bug in edgewise. Please report it with the lines above.');
}

/** Commands that only read before they have a plan; what goes wrong later stands in their result. */
const READING: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']);
const UNREAD = 'What is live could not be read whole, so there is no plan. Nothing was written.';

function toRemedy(error: ApiError | NetworkError): string | undefined {
  return error instanceof ApiError && error.isAuthentication ? 'Check the API key and its permissions.' : undefined;
}

/** What went wrong, and what to do about it. */
export function toParagraph(message: string, remedy: string | undefined): string {
  return `edgewise: ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`;
}

function toReported(error: unknown): Pick<Failure, 'diagnostics' | 'error'> {
  if (error instanceof InvalidManifests) return { diagnostics: error.diagnostics };
  if (!(error instanceof CommandError)) return { error: error instanceof Error ? error : new Error(String(error)) };
  const { message, remedy } = error;
  return { error: { message, ...(remedy !== undefined && { remedy }) } };
}
