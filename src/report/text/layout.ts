/** How texts are measured, filled up and wrapped. Texts given here are printable and without colour. */

const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6\u{1f300}-\u{1faff}\u{20000}-\u{3fffd}]/gu;
const MARK = /\p{Mark}/gu;
const ASCII = /^[\x20-\x7e]*$/;

/** A word, with the spaces that are inside of quotes or backticks, since one may copy what is quoted. */
const UNBREAKABLE = /(?:`[^`]*`|"[^"]*"|\S)+/g;

/** Fewest columns that prose is squeezed into, however narrow the terminal. */
const MIN_COLUMNS = 20;

/** Terminal columns that a text takes. */
export function toColumns(text: string): number {
  if (ASCII.test(text)) return text.length;
  return Array.from(text.replace(MARK, '').replace(WIDE, '??')).length;
}

/** The text, filled up with spaces to a number of columns. */
export function toPadded(text: string, columns: number): string {
  return text + ' '.repeat(Math.max(0, columns - toColumns(text)));
}

/** The text, or as much of its beginning as fits, with `…` for the rest. 0 columns: no limit. */
export function toClipped(text: string, columns: number): string {
  if (columns === 0 || toColumns(text) <= columns) return text;
  let clipped = '';
  for (const character of text) {
    if (toColumns(clipped + character) > columns - 1) break;
    clipped += character;
  }
  return `${clipped}…`;
}

/** Columns that stand before the first line of a paragraph, and before its other lines. */
export interface Indent {
  readonly first: number;
  readonly rest: number;
}

/** The lines of a paragraph that fit a width, without what stands before them. Quoted pieces and long words stay whole. */
export function wrapProse(text: string, width: number, { first, rest }: Indent): readonly string[] {
  if (width === 0) return [text];
  const lines: string[] = [];
  let line = '';
  for (const word of text.match(UNBREAKABLE) ?? []) {
    const room = Math.max(MIN_COLUMNS, width - (lines.length === 0 ? first : rest));
    const longer = line === '' ? word : `${line} ${word}`;
    if (line !== '' && toColumns(longer) > room) {
      lines.push(line);
      line = word;
    } else line = longer;
  }
  return [...lines, line];
}

/** The lines of a paragraph behind a prefix; the lines after the first are indented by `rest` columns. */
export function wrapBehind(prefix: string, text: string, { width, rest }: { width: number; rest: number }): string[] {
  const [first = '', ...more] = wrapProse(text, width, { first: toColumns(prefix), rest });
  return [prefix + first, ...more.map((line) => ' '.repeat(rest) + line)];
}

/** Stands before what goes on from the line above, so that it is taken for no line of its own. */
const CONTINUED = '↪ ';

/** Whether a line is wider than the terminal. 0 columns: no limit. */
export function isTooWide(line: string, width: number): boolean {
  return width > 0 && toColumns(line) > width;
}

/**
 * A line behind a prefix, broken where it must, and rather behind a space: nothing of it is left out or added but the sign of what goes on, which
 * stands behind `rest` columns.
 */
export function breakBehind(prefix: string, text: string, { width, rest }: { width: number; rest: number }): string[] {
  const [first = '', ...more] = breakExactly(text, width, { first: toColumns(prefix), rest: rest + CONTINUED.length });
  return [prefix + first, ...more.map((line) => ' '.repeat(rest) + CONTINUED + line)];
}

function breakExactly(text: string, width: number, { first, rest }: Indent): readonly string[] {
  if (width === 0) return [text];
  const lines: string[] = [];
  let line = '';
  for (const character of text) {
    const room = Math.max(MIN_COLUMNS, width - (lines.length === 0 ? first : rest));
    if (line !== '' && toColumns(line + character) > room) {
      const space = line.lastIndexOf(' ') + 1;
      const end = space > room / 2 ? space : line.length;
      lines.push(line.slice(0, end));
      line = line.slice(end);
    }
    line += character;
  }
  return [...lines, line];
}

/** `1 request`, `2 requests`. */
export function toCount(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** A time as one says it before waiting: `30 s`, `4 min 0 s`, `1 h 27 min`. Parts of a second count as a whole one. */
export function toTimeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}
