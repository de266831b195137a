import type { Diagnostic, SourcePlace } from '../../model/diagnostic.ts';
import { toPrintable } from '../../model/printable.ts';
import { toPrintableLines } from './escape.ts';

/** The diagnostic with every text of it printable. Only excerpts and remedies have line breaks. */
export function toPrintableDiagnostic(diagnostic: Diagnostic): Diagnostic {
  const { message, remedy, address, place, related } = diagnostic;
  return {
    ...diagnostic,
    message: toPrintable(message),
    ...(remedy !== undefined && { remedy: toPrintableLines(remedy).join('\n') }),
    ...(address !== undefined && { address: toPrintable(address) }),
    ...(place !== undefined && { place: toPrintablePlace(place) }),
    ...(related !== undefined && {
      related: related.map((one) => ({ message: toPrintable(one.message), place: toPrintablePlace(one.place) })),
    }),
  };
}

/** The place with every text of it printable. A tab is a space here: an escape of more columns would move what the caret points at. */
export function toPrintablePlace(place: SourcePlace): SourcePlace {
  const lines = toPrintableLines(place.excerpt.replaceAll('\t', ' '));
  const { file, origin } = place;
  return {
    ...place,
    file: toPrintable(file),
    excerpt: lines.join('\n'),
    ...(origin !== undefined && { origin: toPrintable(origin) }),
  };
}

/** What a diagnostic is about, unless its message says so. */
export function findSubject({ address, message }: Pick<Diagnostic, 'address' | 'message'>): string | undefined {
  return address === undefined || message.includes(address) ? undefined : address;
}

/** One line of a diagnostic as a compiler shows it: a label that says what it is, and a text. */
export interface DiagnosticLine {
  /** `place` and `excerpt` keep their columns; `copied` is made to be copied; the others are sentences. */
  readonly role: 'headline' | 'place' | 'excerpt' | 'note' | 'help' | 'copied';
  /** With the indent before it. */
  readonly label: string;
  readonly text: string;
}

/** The lines of a diagnostic, unwrapped: what is wrong, where, the related places, what to do. Only the first is not indented. */
export function listDiagnosticLines(diagnostic: Diagnostic): readonly DiagnosticLine[] {
  const printable = toPrintableDiagnostic(diagnostic);
  const { severity, code, message, remedy, place, related = [] } = printable;
  return [
    { role: 'headline', label: `${severity}[${toPrintable(code)}]:`, text: message },
    ...listPlaceLines(place, findSubject(printable)),
    ...listRelatedLines(related),
    ...(remedy === undefined ? [] : listHelpLines(remedy)),
  ];
}

/** The lines that show other places, each with what is there. The texts are printable. */
export function listRelatedLines(related: NonNullable<Diagnostic['related']>): readonly DiagnosticLine[] {
  return related.flatMap((one): readonly DiagnosticLine[] => [
    { role: 'note', label: '  note:', text: one.message },
    ...listPlaceLines(one.place),
  ]);
}

/** The lines that say what to do: a sentence, and lines that are made to be copied. The text is printable. */
export function listHelpLines(remedy: string): readonly DiagnosticLine[] {
  const label = '  help:';
  const [sentence = '', ...lines] = remedy.split('\n');
  const indent = ' '.repeat(label.length);
  return [
    { role: 'help', label, text: sentence },
    ...lines.map((text): DiagnosticLine => ({ role: 'copied', label: indent, text })),
  ];
}

/** The lines that show a place: its position and, unless there is no room for that, the excerpt. The texts are printable. */
export function listPlaceLines(place: SourcePlace | undefined, subject?: string): readonly DiagnosticLine[] {
  const name = subject === undefined ? '' : `(${subject})`;
  if (place === undefined) return name === '' ? [] : [{ role: 'excerpt', label: ' ', text: name }];
  const lines = place.excerpt.split('\n').filter((line) => line.trim() !== '');
  return [
    { role: 'place', label: `  --> ${place.file}:${place.line}:${place.column}`, text: name },
    ...lines.map((text): DiagnosticLine => ({ role: 'excerpt', label: ' ', text })),
  ];
}
