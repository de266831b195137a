import type { SourcePlace, TextRange } from '../model/diagnostic.ts';
import { toPrintable } from '../model/printable.ts';

/** A part of a text, in UTF-16 units. Includes `start`, excludes `end`. */
export interface Span {
  readonly start: number;
  readonly end: number;
}

/** A part of a text, and what should be there instead. */
export interface Correction extends Span {
  readonly text: string;
}

export interface SourceText {
  /** The path from the user, or `<stdin>`. */
  readonly file: string;
  readonly text: string;
  /** Returns the position of a span in the file, with an excerpt. */
  readonly toPlace: (span: Span) => SourcePlace;
  /** Returns the line of a correction as it should be, with its number. */
  readonly toCorrectedLine: (correction: Correction) => string;
  /** Returns the line number of an offset. The first line is 1. */
  readonly toLine: (offset: number) => number;
}

export function createSourceText(file: string, text: string): SourceText {
  const starts = listLineStarts(text);
  return {
    file,
    text,
    toPlace: (span) => toSourcePlace({ file, text, starts }, span),
    toCorrectedLine: (correction) => renderCorrectedLine({ file, text, starts }, correction),
    toLine: (offset) => computeLine(starts, offset),
  };
}

/** Returns the span of a part of a value, or of the whole value if the source spells the value differently. */
export function getSpanOfValuePart(source: string, span: Span, part: TextRange): Span {
  const { of, start, length } = part;
  const written = source.slice(span.start, span.end);
  const at = written.indexOf(of);
  const from = at < 0 ? (findInBlock(written, part) ?? findFolded(written, part)) : at + start;
  return from === undefined ? span : { start: span.start + from, end: span.start + from + length };
}

/** Returns the offset of a part in a folded text. `undefined` if the texts differ in more than white space. */
function findFolded(written: string, { of, start }: TextRange): number | undefined {
  let at = /^[|>][^\n]*/.exec(written)?.[0].length ?? 0;
  let from: number | undefined;
  for (let index = 0; index < of.length; index += 1) {
    if (isSpaceCharacter(of.charAt(index))) continue;
    while (isSpaceCharacter(written.charAt(at))) at += 1;
    if (index >= start) from ??= at;
    if (written.charAt(at) !== of.charAt(index)) return undefined;
    at += 1;
  }
  return from;
}

function isSpaceCharacter(character: string): boolean {
  return character === ' ' || character === '\n' || character === '\t' || character === '\r';
}

/**
 * Returns the offset of a part in a literal block (`|`), where each line is indented. `undefined` if there is no match.
 */
function findInBlock(written: string, { of, start }: TextRange): number | undefined {
  if (!written.startsWith('|')) return undefined;
  const before = of.slice(0, start).split('\n');
  const line = of.split('\n')[before.length - 1] ?? '';
  const above = written.split('\n').slice(0, before.length);
  const from = above.join('\n').length + 1;
  if (line === '') return undefined;
  const indent = (written.slice(from).split('\n')[0] ?? '').lastIndexOf(line);
  return indent < 0 ? undefined : from + indent + (before.at(-1) ?? '').length;
}

interface Lines {
  readonly file: string;
  readonly text: string;
  /** The offset of the start of each line. */
  readonly starts: readonly number[];
}

function toSourcePlace(lines: Lines, span: Span): SourcePlace {
  const line = computeLine(lines.starts, span.start);
  const column = span.start - (lines.starts[line - 1] ?? 0) + 1;
  const rest = (findLine(lines, line) ?? '').length - column + 1;
  const length = Math.max(1, Math.min(span.end - span.start, rest));
  const excerpt = renderExcerpt((wanted) => findLine(lines, wanted), { line, column, length });
  return { file: lines.file, line, column, excerpt };
}

function renderCorrectedLine(lines: Lines, { start, end, text }: Correction): string {
  const line = computeLine(lines.starts, start);
  const offset = start - (lines.starts[line - 1] ?? 0);
  const after = lines.text.slice(end).split(/\r?\n/, 1);
  const corrected = `${(findLine(lines, line) ?? '').slice(0, offset)}${text}${after[0] ?? ''}`;
  return `${line} | ${cutAround(corrected, offset, text.length).text}`;
}

function listLineStarts(text: string): readonly number[] {
  const starts = [0];
  for (let at = text.indexOf('\n'); at >= 0; at = text.indexOf('\n', at + 1)) starts.push(at + 1);
  return starts;
}

function computeLine(starts: readonly number[], offset: number): number {
  let [low, high] = [0, starts.length];
  while (high - low > 1) {
    const middle = (low + high) >>> 1;
    if ((starts[middle] ?? 0) <= offset) low = middle;
    else high = middle;
  }
  return low + 1;
}

function findLine({ text, starts }: Lines, line: number): string | undefined {
  const start = starts[line - 1];
  if (start === undefined) return undefined;
  const end = starts[line];
  return text.slice(start, end === undefined ? text.length : end - 1).replace(/\r$/, '');
}

/** The position of a caret. `line` and `column` count from 1; `length` is in UTF-16 units. */
interface Caret {
  readonly line: number;
  readonly column: number;
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
