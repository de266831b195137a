import type { Place } from '../model/place.ts';
import { toPrintable } from '../model/printable.ts';

/** Where a caret begins, and its length in UTF-16 units. */
interface Caret extends Pick<Place, 'line' | 'column'> {
  readonly length: number;
}

/**
 * The maximum width of an excerpt in columns: usual terminals and logs do not wrap it. A longer line is cut around the
 * caret.
 */
const MAX_WIDTH = 100;

/**
 * The number of columns that a cut line keeps before the caret: less than half, because the value starts at the caret.
 */
const LEAD = 40;

/**
 * Renders a line of a source with a caret below it, and the lines before and after it if they have content. `getLine`
 * counts from 1. Unprintable characters are shown as escapes, and the caret is moved accordingly.
 */
export function renderExcerpt(getLine: (line: number) => string | undefined, caret: Caret): string {
  const gutter = String(caret.line + 1).length;
  const formatRow = (label: string, text: string) => `${label.padStart(gutter)} | ${text}`.trimEnd();
  const listContextRows = (line: number) => {
    const text = getLine(line);
    return text === undefined || !isContentLine(text) ? [] : [formatRow(String(line), cutAround(text, 0, 0).text)];
  };
  const { text, from, to } = cutAround(getLine(caret.line) ?? '', caret.column - 1, caret.length);
  return [
    ...listContextRows(caret.line - 1),
    formatRow(String(caret.line), text),
    formatRow('', ' '.repeat(from) + '^'.repeat(Math.max(1, to - from))),
    ...listContextRows(caret.line + 1),
  ].join('\n');
}

/** Renders one line with its number. If it is long, it is cut around `text`. */
export function renderLineWith(
  line: number,
  { before, text, after }: { readonly before: string; readonly text: string; readonly after: string },
): string {
  return `${line} | ${cutAround(`${before}${text}${after}`, before.length, text.length).text}`.trimEnd();
}

/** Whether a line has content: it is not empty and does not separate documents. */
function isContentLine(line: string): boolean {
  return line.trim() !== '' && !/^(---|\.\.\.)\s*$/.test(line);
}

/** A line, cut for printing, and the columns of the caret. */
interface Cut {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function cutAround(line: string, offset: number, length: number): Cut {
  const start = computeCutStart(line, offset, length);
  const head = listCells(line.slice(start, offset));
  const body = listCells(line.slice(offset, offset + Math.min(length, MAX_WIDTH)));
  const tail = listCells(line.slice(offset + length, offset + length + MAX_WIDTH));
  const lead = start > 0 ? ['…', ...head] : head;
  const from = measureWidth(lead);
  const kept = takeWidth([...body, ...tail], MAX_WIDTH - from);
  const isCut = kept.length < body.length + tail.length || offset + length + MAX_WIDTH < line.length;
  const to = Math.min(from + measureWidth(body), from + measureWidth(kept));
  return { text: [...lead, ...kept, ...(isCut ? ['…'] : [])].join(''), from, to };
}

/** Returns the offset at which the shown part of a line starts: 0 unless the caret would be cut off. */
function computeCutStart(line: string, offset: number, length: number): number {
  if (line.length <= MAX_WIDTH || offset + Math.min(length, LEAD) <= MAX_WIDTH) return 0;
  const start = offset - LEAD;
  return /[\uDC00-\uDFFF]/.test(line.charAt(start)) ? start - 1 : start;
}

/** Lists the characters of a text as printed. A tab becomes two spaces, an unprintable character its escape. */
function listCells(text: string): readonly string[] {
  return Array.from(text.replace(HALF_CHARACTER, ''), (character) =>
    character === '\t' ? '  ' : toPrintable(character),
  );
}

/** Matches half of a surrogate pair at the end, which remains where a text is cut. */
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;

const WIDE = /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303F\uFF01-\uFF60]/u;
const COMBINING = /\p{Mark}/u;

/** Returns the approximate number of terminal columns of printed characters. */
function measureWidth(cells: readonly string[]): number {
  return cells.reduce((width, cell) => width + measureCell(cell), 0);
}

function measureCell(cell: string): number {
  if (COMBINING.test(cell)) return 0;
  return WIDE.test(cell) ? 2 : cell.length;
}

function takeWidth(cells: readonly string[], width: number): readonly string[] {
  let used = 0;
  const end = cells.findIndex((cell) => {
    used += measureCell(cell);
    return used > width;
  });
  return end < 0 ? cells : cells.slice(0, end);
}
