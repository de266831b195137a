import type { TextOptions } from '../report.ts';
import { toClipped } from '../view/columns.ts';
import { toNameList } from '../view/wording.ts';
import { toPadded } from './layout.ts';

/** A resource on one line: what it is called, what is done to it, why, and the names of the fields. */
export interface CompactLine {
  readonly heading: string;
  /** Column at which the rest stands. */
  readonly column: number;
  /** What is done to it; empty: the list that it stands in says it. */
  readonly said: string;
  readonly why: string | undefined;
  readonly fields: readonly string[];
  readonly paint: (text: string) => string;
}

/** The line, as much of it as fits the terminal. Only the heading has a look. */
export function renderCompactLine(
  { heading, column, said, why, fields, paint }: CompactLine,
  { width }: Pick<TextOptions, 'width'>,
): string {
  const names = fields.length === 0 ? undefined : toNameList(fields);
  const reason = why === undefined || names === undefined ? (why ?? names) : `${why} (${names})`;
  const more = [...(said === '' ? [] : [said]), ...(reason === undefined ? [] : [reason])].join(': ');
  const line = toClipped(`${toPadded(`${heading}  `, column)}${more}`.trimEnd(), width);
  return line.startsWith(heading) ? paint(heading) + line.slice(heading.length) : paint(line);
}
