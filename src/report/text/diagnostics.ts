import type { Diagnostic } from '../../model/diagnostic.ts';
import { assertNever, InvariantError } from '../../model/errors.ts';
import type { Failure, FormOptions, Report, TextOptions, Validation } from '../report.ts';
import { type DiagnosticLine, listDiagnosticLines, toFailureView } from '../view/diagnostic-view.ts';
import { countSeverities, toValidationSize } from '../view/wording.ts';
import { createPainter, type Style, wrapBehind } from './layout.ts';

/** Diagnostics as a good compiler shows them, a blank line between two, and their number at the end. `''` when there are none. */
export function renderDiagnosticsText(diagnostics: readonly Diagnostic[], options: TextOptions): string {
  if (diagnostics.length === 0) return '';
  const blocks = diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options).join('\n'));
  return `${[...blocks, `${countSeverities(diagnostics)}.`].join('\n\n')}\n`;
}

/** One diagnostic: the message, its place, the related places, the remedy. Only its first line is not indented. */
export function renderDiagnosticLines(diagnostic: Diagnostic, options: TextOptions): readonly string[] {
  return renderMessageLines(listDiagnosticLines(diagnostic), diagnostic.severity, options);
}

/** The lines of a message, its sentences wrapped, its label in the style of what it is. All texts are printable. */
export function renderMessageLines(
  lines: readonly DiagnosticLine[],
  style: Style,
  options: TextOptions,
): readonly string[] {
  return lines.flatMap((line) => renderLine(line, style, options));
}

/** Places and excerpts are never wrapped: an excerpt's columns mean something, and a file's position is made to be clicked. */
function renderLine(line: DiagnosticLine, style: Style, options: TextOptions): readonly string[] {
  const { role, label, text } = line;
  const paint = createPainter(options.color);
  switch (role) {
    case 'headline': {
      const [first = '', ...rest] = wrapBehind(`${label} `, text, { width: options.width, rest: 4 });
      return [
        paint(style, label) + paint('strong', first.slice(label.length)),
        ...rest.map((one) => paint('strong', one)),
      ];
    }
    case 'note':
      return renderSentence(line, 'strong', options);
    case 'help':
      return renderSentence(line, 'added', options);
    case 'place':
    case 'excerpt':
      return [`${label} ${paint('muted', text)}`.trimEnd()];
    case 'copied':
      return [`${label} ${text}`];
    default:
      return assertNever(role);
  }
}

function renderSentence(
  { label, text }: DiagnosticLine,
  style: Style,
  { color, width }: TextOptions,
): readonly string[] {
  const [first = '', ...rest] = wrapBehind(`${label} `, text, { width, rest: label.length + 1 });
  return [createPainter(color)(style, label) + first.slice(label.length), ...rest];
}

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

/** What a check of manifests found, for a person at a terminal. The only report that this form has. */
export function renderValidationForm(report: Report, options: FormOptions): string {
  if (report.about !== 'validation') throw new InvariantError(`This format shows no ${report.about}`);
  return renderValidationText(report.validation, options);
}

/** The same as a part of the form of every report. */
export function renderValidationText(validation: Validation, options: FormOptions): string {
  const { diagnostics } = validation;
  const found = renderDiagnosticsText(diagnostics, options);
  if (diagnostics.some(({ severity }) => severity === 'error')) return found;
  return `${found}${toValidationSize(validation)}: valid.\n`;
}
