import type { Diagnostic, Severity, SourcePlace } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import { toPrintableDiagnostic } from '../view/printable-diagnostic.ts';
import { type Paint, type Style, toPaint } from './color.ts';
import { toCount, wrapBehind } from './layout.ts';
import type { TextOptions } from './options.ts';

/** Diagnostics as a good compiler shows them, a blank line between two, and their number at the end. `''` when there are none. */
export function renderDiagnosticsText(diagnostics: readonly Diagnostic[], options: TextOptions): string {
  if (diagnostics.length === 0) return '';
  const blocks = diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options).join('\n'));
  return `${[...blocks, `${countSeverities(diagnostics)}.`].join('\n\n')}\n`;
}

/** One diagnostic: what is wrong, where, the related places, what to do. Only its first line is not indented. */
export function renderDiagnosticLines(diagnostic: Diagnostic, options: TextOptions): readonly string[] {
  const paint = toPaint(options.color);
  const { severity, code, message, remedy, address, place, related = [] } = toPrintableDiagnostic(diagnostic);
  const label = `${severity}[${toPrintable(code)}]`;
  const subject = address !== undefined && !message.includes(address) ? address : undefined;
  return [
    ...renderHeadline({ label, style: severity, message }, options),
    ...renderPlace(place, subject, paint),
    ...related.flatMap((one) => [...renderNote(one.message, options), ...renderPlace(one.place, undefined, paint)]),
    ...(remedy === undefined ? [] : renderHelp(remedy, options)),
  ];
}

/** A label and a sentence, wrapped. All texts are printable. */
export function renderHeadline(
  { label, style, message }: { readonly label: string; readonly style: Severity; readonly message: string },
  { color, width }: TextOptions,
): readonly string[] {
  const paint = toPaint(color);
  const [first = '', ...rest] = wrapBehind(`${label}: `, message, { width, rest: 4 });
  return [
    paint(style, label) + paint('strong', first.slice(label.length)),
    ...rest.map((line) => paint('strong', line)),
  ];
}

/** What to do, wrapped; further lines are made to be copied, and are not. The text is printable. */
export function renderHelp(remedy: string, options: TextOptions): readonly string[] {
  const [sentence = '', ...lines] = remedy.split('\n');
  const label = '  help:';
  return [
    ...renderRemark({ label, style: 'added', sentence }, options),
    ...lines.map((line) => `${' '.repeat(label.length + 1)}${line}`),
  ];
}

/** `2 errors, 1 warning`; only what there is. */
export function countSeverities(diagnostics: readonly Diagnostic[]): string {
  const severities: readonly Severity[] = ['error', 'warning'];
  return severities
    .map((severity) => ({ severity, number: diagnostics.filter((one) => one.severity === severity).length }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => toCount(number, severity))
    .join(', ');
}

function renderNote(message: string, options: TextOptions): readonly string[] {
  return renderRemark({ label: '  note:', style: 'strong', sentence: message }, options);
}

interface Remark {
  readonly label: string;
  readonly style: Style;
  readonly sentence: string;
}

function renderRemark({ label, style, sentence }: Remark, { color, width }: TextOptions): readonly string[] {
  const [first = '', ...rest] = wrapBehind(`${label} `, sentence, { width, rest: label.length + 1 });
  return [toPaint(color)(style, label) + first.slice(label.length), ...rest];
}

/** Never wrapped: an excerpt's columns mean something, and a file's position is made to be clicked. */
function renderPlace(place: SourcePlace | undefined, address: string | undefined, paint: Paint): readonly string[] {
  const name = address === undefined ? '' : `(${address})`;
  if (place === undefined) return name === '' ? [] : [`  ${paint('muted', name)}`];
  const position = `${place.file}:${place.line}:${place.column}`;
  const excerpt = place.excerpt.split('\n').filter((line) => line.trim() !== '');
  return [`  --> ${position} ${paint('muted', name)}`.trimEnd(), ...excerpt.map((line) => `  ${paint('muted', line)}`)];
}
