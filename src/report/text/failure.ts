import type { Failure, FormOptions } from '../report.ts';
import { toFailureView } from '../view/failure-view.ts';
import { renderDiagnosticsText } from './diagnostics.ts';

/** Why a command did not complete, and what to do about it. Ends with a line break. */
export function renderFailureText(failure: Failure, options: FormOptions): string {
  const { diagnostics, error } = toFailureView(failure);
  const found = renderDiagnosticsText(diagnostics, options);
  const paragraph = error === undefined ? '' : toParagraph(error.lines.join('\n'), error.remedy);
  return [found, paragraph].filter((text) => text !== '').join('\n');
}

/** What went wrong, and what to do about it. */
export function toParagraph(message: string, remedy: string | undefined): string {
  return `edgewise: ${message}\n${remedy === undefined ? '' : `${remedy}\n`}`;
}
