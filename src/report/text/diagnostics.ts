import type { Diagnostic } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type { TextOptions } from '../report.ts';
import { type DiagnosticLine, listDiagnosticLines } from '../view/diagnostic-view.ts';
import { countSeverities } from '../view/wording.ts';
import { type Style, toPaint, wrapBehind } from './layout.ts';

/** Diagnostics as a good compiler shows them, a blank line between two, and their number at the end. `''` when there are none. */
export function renderDiagnosticsText(diagnostics: readonly Diagnostic[], options: TextOptions): string {
  if (diagnostics.length === 0) return '';
  const blocks = diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options).join('\n'));
  return `${[...blocks, `${countSeverities(diagnostics)}.`].join('\n\n')}\n`;
}

/** One diagnostic: what is wrong, where, the related places, what to do. Only its first line is not indented. */
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
  const paint = toPaint(options.color);
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
  return [toPaint(color)(style, label) + first.slice(label.length), ...rest];
}
