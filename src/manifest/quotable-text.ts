import { isAlias, isCollection, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { ExcerptsByOutput } from '../model/excerpts.ts';
import type { Correction, OffsetRange, Place } from '../model/place.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import { createYamlBudget } from './bounded-yaml.ts';
import { NO_ENVIRONMENT } from './environment.ts';
import { renderExcerpt, renderLineWith } from './excerpt.ts';
import { getNodeRange, parseDocuments, type SyntaxTree } from './parse.ts';
import { listSecretRanges } from './secret-ranges.ts';
import { createSourceText, type SourceText } from './source-text.ts';
import { createYamlText } from './yaml-text.ts';

const HIDDEN = '(hidden)';

/** A manifest that diagnostics quote. */
export interface QuotableText extends ExcerptsByOutput {
  /** Hides a concealed value. */
  readonly hide: (range: OffsetRange) => void;
}

/**
 * Quotes a manifest from the positions of its nodes: without comments, and with `(hidden)` for each value that may be a
 * secret. The line of a syntax error is quoted on standard error only, and not if a name that looks like that of a
 * secret is near: in the line, in its neighbours, or in its parents by indentation.
 * `isText`: false if the manifest is not UTF-8, so that nothing of it can be parsed.
 */
export function createQuotableText(source: SourceText, isText: boolean): QuotableText {
  const hidden: OffsetRange[] = [];
  let read: ReadText | undefined;
  const getText = (): ReadText => (read ??= isText ? readText(source, hidden) : readNothing(source));
  return {
    hide: (range) => {
      hidden.push(range);
      read = undefined;
    },
    reports: {
      render: (place) => renderParsed(getText(), place) ?? '',
      renderCorrected: (place) => renderCorrected(getText(), place, isInBroken),
    },
    stderr: {
      render: (place) => renderParsed(getText(), place) ?? renderUnparsed(getText(), place),
      renderCorrected: (place) =>
        renderCorrected(getText(), place, (text, line) => isInBroken(text, line) && mayHaveSecret(text, line)),
    },
  };
}

/** A part of a text that an excerpt replaces. */
interface Cut extends OffsetRange {
  readonly standIn: string;
}

interface ReadText {
  readonly source: SourceText;
  /** Sorted, without overlaps. */
  readonly cuts: readonly Cut[];
  /** The ends of values and keys, by their starts. */
  readonly ends: ReadonlyMap<number, number>;
  /** The documents that cannot be parsed. */
  readonly broken: readonly OffsetRange[];
  /** What is wrong and can be corrected, by the offset of the diagnostic. */
  readonly corrections: ReadonlyMap<number, Correction>;
}

function readNothing(source: SourceText): ReadText {
  return { source, cuts: [], ends: new Map(), broken: [{ start: 0, end: source.text.length }], corrections: new Map() };
}

/** `hidden`: the ranges of concealed values. */
function readText(source: SourceText, hidden: readonly OffsetRange[]): ReadText {
  const { text } = source;
  const secrets: OffsetRange[] = [...hidden];
  const broken: OffsetRange[] = [];
  const nodes: Node[] = [];
  const corrections = new Map<number, Correction>();
  const documents = [...parseDocuments(source.yaml, NO_ENVIRONMENT, createYamlBudget())];
  for (const [index, { range, tree, isBroken, findings }] of documents.entries()) {
    for (const { range: at, correction } of findings) if (correction) corrections.set(at.start, correction);
    if (isBroken) broken.push({ start: range.start, end: documents[index + 1]?.range.start ?? text.length });
    if (tree === undefined) continue;
    secrets.push(...listSecretRanges(tree, text));
    nodes.push(...listNodes(tree));
  }
  const comments = listComments(text, nodes);
  const cuts = [
    ...secrets.map((range) => ({ ...range, standIn: HIDDEN })),
    ...comments.map((range) => ({ ...range, standIn: '' })),
  ];
  const ends = new Map(nodes.map((node) => [getNodeRange(node).start, getNodeRange(node).end]));
  return { source, cuts: withoutOverlaps(cuts), ends, broken, corrections };
}

/**
 * Returns a manifest as reports may show it, line by line: without comments, and with `(hidden)` for each value that may be
 * a secret. Nothing, if a part of it cannot be parsed.
 */
export function hideSecretsAndComments(text: string): string {
  const { cuts, broken } = readText(createSourceText('', createYamlText(text)), []);
  if (broken.length > 0) return '';
  let [shown, at] = ['', 0];
  for (const { start, end, standIn } of cuts) {
    shown += `${text.slice(at, start)}${standIn}${'\n'.repeat(text.slice(start, end).split('\n').length - 1)}`;
    at = end;
  }
  return shown + text.slice(at);
}

/** Lists the scalars, aliases and collections in brackets of a document, inner nodes last. */
function listNodes({ root }: SyntaxTree): readonly Node[] {
  const nodes: Node[] = [];
  const visit = (node: Node | null): void => {
    if (isScalar(node) || isAlias(node) || (isCollection(node) && node.flow === true)) nodes.push(node);
    if (isSeq<Node>(node)) node.items.forEach(visit);
    if (isMap<Node, Node | null>(node))
      for (const { key, value } of node.items) for (const member of [key, value]) visit(member);
  };
  visit(root);
  return nodes;
}

/** Lists the ranges of comments: what starts with `#` outside of scalars, and behind the head of a block. */
function listComments(text: string, nodes: readonly Node[]): readonly OffsetRange[] {
  const scalars = nodes
    .filter((node) => !isCollection(node))
    .map((node) => ({ ...getNodeRange(node), isBlock: isScalar(node) && /^BLOCK/.test(node.type ?? '') }))
    .sort((left, right) => left.start - right.start);
  const comments: OffsetRange[] = [];
  const comment = /(?<!\S)#[^\r\n]*/g;
  const findNext = (start: number): OffsetRange | undefined => {
    comment.lastIndex = start;
    const match = comment.exec(text);
    return match === null ? undefined : { start: match.index, end: comment.lastIndex };
  };
  // What is found behind a part is kept, so that a text is searched once.
  let next = findNext(0);
  const search = (start: number, end: number): void => {
    if (next !== undefined && next.start < start) next = findNext(start);
    for (; next !== undefined && next.start < end; next = findNext(next.end)) comments.push(next);
  };
  let from = 0;
  for (const { start, end, isBlock } of scalars) {
    search(from, start);
    if (isBlock) search(start, Math.max(start, text.indexOf('\n', start)));
    from = end;
  }
  search(from, text.length);
  return comments;
}

function withoutOverlaps(cuts: readonly Cut[]): readonly Cut[] {
  const sorted = cuts.toSorted((left, right) => left.start - right.start || right.end - left.end);
  const joined: Cut[] = [];
  for (const cut of sorted) {
    const last = joined.at(-1);
    if (last === undefined || cut.start >= last.end) joined.push(cut);
    else if (cut.end > last.end) joined[joined.length - 1] = { ...last, end: cut.end };
  }
  return joined;
}

/** Returns `undefined` if the position is in a document that cannot be parsed, or nothing is left of its line. */
function renderParsed(text: ReadText, place: Place): string | undefined {
  const line = text.source.findLine(place.line);
  if (line === undefined || isInBroken(text, line)) return undefined;
  const offset = text.source.toOffset(place);
  const shown = renderLine(text, line, true);
  if (shown.text.trim() === '') return undefined;
  const from = shown.toColumn(offset);
  const cut = text.cuts.find(({ start, end }) => start <= offset && offset < end);
  const isPlaceholder = text.source.text.startsWith('${', offset);
  const end = (isPlaceholder ? undefined : text.ends.get(offset)) ?? findWordEnd(text.source.text, offset);
  const to = cut === undefined ? shown.toColumn(Math.min(line.end, end)) : from + cut.standIn.length;
  const getLine = (number: number): string | undefined => {
    if (number === place.line) return shown.text;
    const other = text.source.findLine(number);
    return other === undefined || isInBroken(text, other) ? undefined : renderLine(text, other, false).text;
  };
  return renderExcerpt(getLine, { line: place.line, column: from + 1, length: to - from });
}

function isInBroken({ broken }: ReadText, line: OffsetRange): boolean {
  return broken.some(({ start, end }) => start <= line.end && line.start <= end);
}

/** Returns the end of a placeholder, a tag, an alias or a word. */
function findWordEnd(text: string, offset: number): number {
  const word = /\$\{[^}\s"']*\}?|[<>=]{7}|!<[^>\s]*>|![^\s,[\]{}]*|[*&]?[\w./-]+/y;
  word.lastIndex = offset;
  return word.test(text) ? word.lastIndex : offset + 1;
}

interface ShownLine {
  readonly text: string;
  /** Returns the column of an offset, from 0. */
  readonly toColumn: (offset: number) => number;
}

/** Renders a line with its cuts. Of a cut that began above, only the line with the caret shows a sign. */
function renderLine({ source, cuts }: ReadText, line: OffsetRange, hasCaret: boolean): ShownLine {
  const pieces: { readonly from: number; readonly to: number; readonly column: number; readonly isCut: boolean }[] = [];
  let shown = '';
  let at = line.start;
  const add = (to: number, text: string, isCut: boolean): void => {
    pieces.push({ from: at, to, column: shown.length, isCut });
    shown += text;
    at = to;
  };
  for (const { start, end, standIn } of cuts) {
    if (end <= line.start || start >= line.end) continue;
    const indent = start < line.start ? /^\s*/.exec(source.text.slice(line.start, Math.min(end, line.end)))?.[0] : '';
    const from = Math.max(start, line.start) + (indent ?? '').length;
    add(from, source.text.slice(at, from), false);
    add(Math.min(end, line.end), start >= line.start || hasCaret ? standIn : '', true);
  }
  add(line.end, source.text.slice(at, line.end), false);
  const toColumn = (offset: number): number => {
    const piece = pieces.findLast(({ from }) => from <= offset) ?? { from: offset, column: 0, isCut: false };
    return piece.column + (piece.isCut ? 0 : offset - piece.from);
  };
  return { text: shown.trimEnd(), toColumn };
}

/** Matches what may be a comment, to the end of the line. */
const COMMENT = /(?<!\S)(?:#|\/\/|\/\*).*$/;

/** Quotes a line that cannot be parsed, without what may be a comment. Empty if a secret may be near. */
function renderUnparsed(text: ReadText, { line, column }: Place): string {
  const range = text.source.findLine(line);
  if (range === undefined || mayHaveSecret(text, range)) return '';
  const shown = text.source.text.slice(range.start, range.end).replace(COMMENT, '');
  if (shown.trim() === '') return '';
  const length = findWordEnd(shown, column - 1) - column + 1;
  return renderExcerpt((number) => (number === line ? shown.trimEnd() : undefined), { line, column, length });
}

/** Whether a line in a document that cannot be parsed may have a secret. */
function mayHaveSecret(text: ReadText, range: OffsetRange): boolean {
  return hasSecret(text, range) || listLinesAround(text.source, range).some(hasNameOfSecret);
}

function hasSecret({ cuts }: ReadText, { start, end }: OffsetRange): boolean {
  return cuts.some((cut) => cut.standIn !== '' && cut.start < end && cut.end > start);
}

/** `mayHide`: whether the line may have a secret that its document does not show. */
function renderCorrected(
  text: ReadText,
  place: Place,
  mayHide: (text: ReadText, line: OffsetRange) => boolean,
): string {
  const { source, corrections } = text;
  const correction = corrections.get(source.toOffset(place));
  const line = source.findLine(place.line);
  if (correction === undefined || line === undefined || mayHide(text, line)) return '';
  const { start, end } = correction;
  if (hasSecret(text, { start: line.start, end: source.findLine(source.toPlace(end).line)?.end ?? end })) return '';
  const [after = ''] = source.text.slice(end).split(/\r?\n/, 1);
  return renderLineWith(place.line, {
    before: source.text.slice(line.start, start),
    text: correction.text,
    after: after.replace(COMMENT, ''),
  });
}

/** Returns a line, the nearest lines with content around it, and the lines above it that are indented less. */
function listLinesAround({ text, findLine, toPlace }: SourceText, { start }: OffsetRange): readonly string[] {
  const { line } = toPlace(start);
  const getLine = (number: number): string | undefined => {
    const range = findLine(number);
    return range && text.slice(range.start, range.end);
  };
  const own = getLine(line) ?? '';
  const lines = [own];
  for (let number = line + 1, below = getLine(number); below !== undefined; below = getLine(number)) {
    lines.push(below);
    if (below.trim() !== '') break;
    number += 1;
  }
  let indent = own.trim() === '' ? Number.POSITIVE_INFINITY : measureIndent(own);
  for (let number = line - 1, isNext = true; number > 0; number -= 1) {
    const above = getLine(number) ?? '';
    if (above.trim() === '') continue;
    if (isNext || measureIndent(above) < indent) lines.push(above);
    indent = Math.min(indent, measureIndent(above));
    isNext = false;
  }
  return lines;
}

/** The indentation of a line. A member of a list is indented more than the key of the list, whatever its column. */
function measureIndent(line: string): number {
  const [indent = ''] = /^\s*(?:- *)*/.exec(line) ?? [];
  return indent.length;
}

/** The kind of a document is no name. */
const HEADER = /^\s*(?:- )?["']?(?:apiVersion|kind)["']?:/;

function hasNameOfSecret(line: string): boolean {
  return !HEADER.test(line) && (line.match(/[\w.$-]+/g) ?? []).some(isNameOfSecret);
}
