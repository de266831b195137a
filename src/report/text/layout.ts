import { type InspectColor, styleText } from 'node:util';
import { countColumns } from '../view/escape.ts';

/** How texts look: filled up, wrapped, broken and coloured. Texts given here are printable and without colour. */

/** A word, with the spaces inside of quotes or backticks, since users copy quoted text. */
const UNBREAKABLE = /(?:`[^`]*`|"[^"]*"|\S)+/g;

/** Fewest columns that prose is squeezed into, however narrow the terminal. */
const MIN_COLUMNS = 20;

/** The text, filled up with spaces to a number of columns. */
export function padToColumns(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - countColumns(text)));
}

/** Columns that stand before the first line of a paragraph, and before its other lines. */
interface Indent {
  readonly first: number;
  readonly rest: number;
}

/** The lines of a paragraph that fit a width, without their prefix. Quoted pieces and long words are not broken. */
export function wrapProse(text: string, width: number, { first, rest }: Indent): readonly string[] {
  if (width === 0) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(UNBREAKABLE) ?? []) {
    const room = Math.max(MIN_COLUMNS, width - (lines.length === 0 ? first : rest));
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && countColumns(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The lines of a paragraph behind a prefix; the lines after the first are indented by `rest` columns. */
export function wrapBehind(prefix: string, text: string, { width, rest }: { width: number; rest: number }): string[] {
  const [first = '', ...more] = wrapProse(text, width, { first: countColumns(prefix), rest });
  return [prefix + first, ...more.map((line) => ' '.repeat(rest) + line)];
}

/** Precedes a continued line, so that it is not taken for a new one. */
const CONTINUED = '↪ ';

/** Whether a line is wider than the terminal. 0 columns: no limit. */
export function isTooWide(line: string, width: number): boolean {
  return width > 0 && countColumns(line) > width;
}

/**
 * A line behind a prefix, broken where necessary, preferably after a space: nothing is left out or added but the sign of a continued line, which follows
 * `rest` columns.
 */
export function breakBehind(prefix: string, text: string, { width, rest }: { width: number; rest: number }): string[] {
  const [first = '', ...more] = breakExactly(text, width, {
    first: countColumns(prefix),
    rest: rest + CONTINUED.length,
  });
  return [prefix + first, ...more.map((line) => ' '.repeat(rest) + CONTINUED + line)];
}

function breakExactly(text: string, width: number, { first, rest }: Indent): readonly string[] {
  if (width === 0) return [text];
  const lines: string[] = [];
  let line = '';
  for (const character of text) {
    const room = Math.max(MIN_COLUMNS, width - (lines.length === 0 ? first : rest));
    if (line !== '' && countColumns(line + character) > room) {
      const space = line.lastIndexOf(' ') + 1;
      const end = space > room / 2 ? space : line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
    line += character;
  }
  return [...lines, line];
}

/** What a piece of text means to the reader; how it looks is decided here alone. */
export type Style = 'added' | 'removed' | 'changed' | 'replaced' | 'muted' | 'warning' | 'error' | 'strong';

/** Gives a text the look of a style. */
export type Paint = (style: Style, text: string) => string;

const LOOKS = {
  added: ['green'],
  removed: ['red'],
  changed: ['yellow'],
  replaced: ['magenta'],
  muted: ['dim'],
  warning: ['bold', 'yellow'],
  error: ['bold', 'red'],
  strong: ['bold'],
} as const satisfies Record<Style, readonly InspectColor[]>;

/** Creates the painter for a text with or without colour. Never reads the environment: the caller has decided. */
export function createPainter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (style, text) => (text === '' ? '' : styleText(LOOKS[style], text, { validateStream: false }));
}

/** A column of a table: its heading, and what it shows of a row. */
export type Column<Row> = readonly [heading: string, toCell: (row: Row) => string];

/** The headings, and a line for each row, aligned. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly Column<Row>[]): readonly string[] {
  const table = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, toCell]) => toCell(row)))];
  const widths = columns.map((_, column) => Math.max(...table.map((line) => countColumns(line[column] ?? ''))));
  return table.map((line) =>
    line
      .map((cell, column) => padToColumns(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
