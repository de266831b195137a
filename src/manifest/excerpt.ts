import { toPrintable } from '../model/printable.ts';

/** Where a caret goes: line and column from 1, the length in UTF-16 units. */
export interface Caret {
  readonly line: number;
  readonly column: number;
  readonly length: number;
}

/** Columns of the source that an excerpt shows; of a longer line, the part around the caret. */
const MAX_WIDTH = 100;

/** Columns before the caret that stay when a long line is cut. */
const LEAD = 40;

/**
 * A line of a source with the caret below it, and the lines around it where they say something. `getLine` counts from 1.
 * What cannot be printed is shown escaped, and the caret stays under what it points at.
 */
export function renderExcerpt(getLine: (line: number) => string | undefined, caret: Caret): string {
  const gutter = String(caret.line + 1).length;
  const toRow = (label: string, text: string) => `${label.padStart(gutter)} | ${text}`.trimEnd();
  const toContext = (line: number) => {
    const text = getLine(line);
    return text === undefined || !isTelling(text) ? [] : [toRow(String(line), cutAround(text, 0, 0).text)];
  };
  const { text, from, to } = cutAround(getLine(caret.line) ?? '', caret.column - 1, caret.length);
  return [
    ...toContext(caret.line - 1),
    toRow(String(caret.line), text),
    toRow('', ' '.repeat(from) + '^'.repeat(Math.max(1, to - from))),
    ...toContext(caret.line + 1),
  ].join('\n');
}

/** Empty lines and the lines between documents tell nothing. */
function isTelling(line: string): boolean {
  return line.trim() !== '' && !/^(---|\.\.\.)\s*$/.test(line);
}

/** A printed part of a line, and the columns of it that the caret goes under. */
interface Cut {
  readonly text: string;
  readonly from: number;
  readonly to: number;
}

function cutAround(line: string, offset: number, length: number): Cut {
  const start = toCutStart(line, offset, length);
  const head = toCells(line.slice(start, offset));
  const body = toCells(line.slice(offset, offset + Math.min(length, MAX_WIDTH)));
  const tail = toCells(line.slice(offset + length, offset + length + MAX_WIDTH));
  const lead = start > 0 ? ['…', ...head] : head;
  const from = toWidth(lead);
  const kept = takeWidth([...body, ...tail], MAX_WIDTH - from);
  const isCut = kept.length < body.length + tail.length || offset + length + MAX_WIDTH < line.length;
  const to = Math.min(from + toWidth(body), from + toWidth(kept));
  return { text: [...lead, ...kept, ...(isCut ? ['…'] : [])].join(''), from, to };
}

/** Where the shown part of a line starts: at its start, unless what the caret points at would then be out of sight. */
function toCutStart(line: string, offset: number, length: number): number {
  if (line.length <= MAX_WIDTH || offset + Math.min(length, LEAD) <= MAX_WIDTH) return 0;
  const start = offset - LEAD;
  return /[\uDC00-\uDFFF]/.test(line.charAt(start)) ? start - 1 : start;
}

/** The characters of a text as they are printed: a tab as two spaces, what is invisible as its escape. */
function toCells(text: string): readonly string[] {
  return Array.from(text.replace(HALF_CHARACTER, ''), (character) =>
    character === '\t' ? '  ' : toPrintable(character),
  );
}

/** What a cut leaves of a character. */
const HALF_CHARACTER = /[\uD800-\uDBFF]$/;

const WIDE = /[\p{Emoji_Presentation}\p{sc=Han}\p{sc=Hangul}\p{sc=Hiragana}\p{sc=Katakana}\u3000-\u303F\uFF01-\uFF60]/u;
const COMBINING = /\p{Mark}/u;

/** Columns that printed characters take on a terminal, near enough. */
function toWidth(cells: readonly string[]): number {
  return cells.reduce((width, cell) => width + toCellWidth(cell), 0);
}

function toCellWidth(cell: string): number {
  if (COMBINING.test(cell)) return 0;
  return WIDE.test(cell) ? 2 : cell.length;
}

function takeWidth(cells: readonly string[], width: number): readonly string[] {
  let used = 0;
  const end = cells.findIndex((cell) => {
    used += toCellWidth(cell);
    return used > width;
  });
  return end < 0 ? cells : cells.slice(0, end);
}
