import { type InspectColor, styleText } from 'node:util';
import { countColumns } from '../view/escape.ts';

/** Layout of text: padding, wrapping, breaking and painting. The functions expect printable text without colour. */

/** Matches a word. Spaces within quotes or backticks belong to the word, because users copy quoted text. */
const UNBREAKABLE = /(?:`[^`]*`|"[^"]*"|\S)+/g;

/** The minimum width of wrapped text, even if the terminal is narrower: below it, most words would be split. */
const MIN_COLUMNS = 20;

export function padToWidth(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - countColumns(text)));
}

/** The indent, in columns, of the first line of a paragraph and of its other lines. */
interface Indent {
  readonly first: number;
  readonly rest: number;
}

/**
 * Wraps a paragraph to a width in columns; 0 disables wrapping. Returns lines without indent. Does not break quoted
 * text or long words.
 */
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

/** Wraps a paragraph that follows a prefix. The lines after the first are indented by `rest` columns. */
export function wrapWithPrefix(
  prefix: string,
  text: string,
  { width, rest }: { width: number; rest: number },
): string[] {
  const [first = '', ...more] = wrapProse(text, width, { first: countColumns(prefix), rest });
  return [prefix + first, ...more.map((line) => ' '.repeat(rest) + line)];
}

/** Marks a continued line, to distinguish it from a new line. */
const CONTINUED = '↪ ';

/** Whether a line is wider than the terminal. A width of 0 means no limit. */
export function isTooWide(line: string, width: number): boolean {
  return width > 0 && countColumns(line) > width;
}

/**
 * Breaks a line that follows a prefix, preferably after a space. Keeps every character of the text. Each continued line
 * starts with `rest` spaces and CONTINUED.
 */
export function hardWrapWithPrefix(
  prefix: string,
  text: string,
  { width, rest }: { width: number; rest: number },
): string[] {
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
  const getRoom = (): number => Math.max(MIN_COLUMNS, width - (lines.length === 0 ? first : rest));
  const endLine = (): void => {
    lines.push(line);
    line = '';
  };
  for (const [word] of text.matchAll(/[^ ]* |[^ ]+/g)) {
    const isOver = countColumns(line + word) > getRoom();
    const isWhole = countColumns(word) <= Math.max(MIN_COLUMNS, width - rest);
    if (isOver && line !== '' && (isWhole || countColumns(line) > getRoom() / 2)) endLine();
    for (const character of word) {
      if (line !== '' && countColumns(line + character) > getRoom()) endLine();
      line += character;
    }
  }
  return [...lines, line];
}

/** The meaning of a piece of text. LOOKS maps it to colours. */
export type TextRole = 'added' | 'removed' | 'changed' | 'replaced' | 'muted' | 'warning' | 'error' | 'strong';

export type Paint = (style: TextRole, text: string) => string;

const LOOKS = {
  added: ['green'],
  removed: ['red'],
  changed: ['yellow'],
  replaced: ['magenta'],
  muted: ['dim'],
  warning: ['bold', 'yellow'],
  error: ['bold', 'red'],
  strong: ['bold'],
} as const satisfies Record<TextRole, readonly InspectColor[]>;

/** Creates a painter. Without `color`, it returns texts unchanged. Never reads the environment. */
export function createPainter(color: boolean): Paint {
  if (!color) return (_, text) => text;
  return (style, text) => (text === '' ? '' : styleText(LOOKS[style], text, { validateStream: false }));
}

export type TableColumn<Row> = readonly [heading: string, toCell: (row: Row) => string];

/** Renders a line of headings, then a line for each row, with aligned columns. */
export function renderTable<Row>(rows: readonly Row[], columns: readonly TableColumn<Row>[]): readonly string[] {
  const table = [columns.map(([name]) => name), ...rows.map((row) => columns.map(([, toCell]) => toCell(row)))];
  const widths = columns.map((_, column) => Math.max(...table.map((line) => countColumns(line[column] ?? ''))));
  return table.map((line) =>
    line
      .map((cell, column) => padToWidth(cell, widths[column] ?? 0))
      .join('  ')
      .trimEnd(),
  );
}
