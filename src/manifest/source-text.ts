import type { OffsetRange, Place, TextRange } from '../model/place.ts';
import type { YamlText } from './yaml-text.ts';

export interface SourceText {
  /** The path from the user, or `<stdin>`. */
  readonly file: string;
  readonly yaml: YamlText;
  readonly text: string;
  /** Returns the position of an offset in the file. */
  readonly toPlace: (offset: number) => Place;
  /** Returns the offset of a position. */
  readonly toOffset: (place: Pick<Place, 'line' | 'column'>) => number;
  /** Returns the range of a line without its line break. `undefined`: there is no such line. */
  readonly findLine: (line: number) => OffsetRange | undefined;
}

export function createSourceText(file: string, yaml: YamlText): SourceText {
  const { text } = yaml;
  const starts = listLineStarts(text);
  return {
    file,
    yaml,
    text,
    toPlace: (offset) => {
      const line = computeLine(starts, offset);
      return { file, line, column: offset - (starts[line - 1] ?? 0) + 1 };
    },
    toOffset: ({ line, column }) => (starts[line - 1] ?? 0) + column - 1,
    findLine: (line) => {
      const start = starts[line - 1];
      if (start === undefined) return undefined;
      const written = text.slice(start, (starts[line] ?? text.length + 1) - 1);
      return { start, end: start + written.replace(/\r$/, '').length };
    },
  };
}

/** Returns the range of a part of a value, or of the whole value if the source spells the value differently. */
export function getRangeOfValuePart(source: string, range: OffsetRange, part: TextRange): OffsetRange {
  const { of, start, end } = part;
  const written = source.slice(range.start, range.end);
  const at = written.indexOf(of);
  const from = at < 0 ? (findInBlock(written, part) ?? findFolded(written, part)) : at + start;
  return from === undefined ? range : { start: range.start + from, end: range.start + from + end - start };
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
