import { ApiError, NetworkError } from '../model/errors.ts';
import { toPrintable } from '../model/printable.ts';
import { toPrintableLines } from './escape.ts';
import type { Failure, FormOptions } from './report.ts';
import { renderDiagnosticsText } from './text-diagnostics.ts';

/** Why a command came to no result, and what to do about it. Ends with a line break. */
export function renderFailureText({ command, diagnostics = [], error }: Failure, options: FormOptions): string {
  const found = renderDiagnosticsText(diagnostics, options);
  return error === undefined ? found : [found, renderError(error, command)].filter((text) => text !== '').join('\n');
}

/** A message of ours may have lines; one that holds what a service said is a single line, so that nobody can forge others. */
function renderError(error: NonNullable<Failure['error']>, command: string | undefined): string {
  if (!(error instanceof Error)) return toParagraph(toPrintableLines(error.message).join('\n'), error.remedy);
  const message = toPrintable(error.message);
  if (error instanceof ApiError || error instanceof NetworkError) {
    return toParagraph([message, ...(READING.has(command ?? '') ? [UNREAD] : [])].join('\n'), toRemedy(error));
  }
  return toParagraph(
    `${message}\n${toPrintableLines(error.stack ?? '').join('\n')}`,
    'This is a bug in edgewise. Please report it with the lines above.',
  );
}

/** Commands that only read before they have a plan; what goes wrong later stands in their result. */
const READING: ReadonlySet<string> = new Set(['plan', 'apply', 'destroy']);
const UNREAD = 'What is live could not be read whole, so there is no plan. Nothing was written.';

/** What to do about what a service said; nothing where only it can know. */
export function toRemedy(error: Error): string | undefined {
  return error instanceof ApiError && error.isAuthentication ? 'Check the API key and its permissions.' : undefined;
}

/** What went wrong, and what to do about it. */
export function toParagraph(message: string, remedy: string | undefined): string {
  return `edgewise: ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`;
}
