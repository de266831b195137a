import { isCollection, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import type { Correction, OffsetRange } from '../model/place.ts';
import { getNodeRange } from './parse.ts';

/**
 * The text of a file while parts of it are replaced: where lines begin, and where the content of a node ends. A text
 * without a line end at its end is treated as if it had one, which `applyEdits` removes again.
 */
export interface EditedText {
  readonly text: string;
  readonly eol: string;
  readonly isPadded: boolean;
}

export function createEditedText(source: string): EditedText {
  const eol = /\r?\n/.exec(source)?.[0] ?? '\n';
  const isPadded = !source.endsWith('\n');
  return { text: isPadded ? `${source}${eol}` : source, eol, isPadded };
}

/** Returns the text with its edits. They do not overlap; of those at one offset, the shorter comes first. */
export function applyEdits({ text, eol, isPadded }: EditedText, edits: readonly Correction[]): string {
  let [after, at] = ['', 0];
  for (const edit of edits.toSorted((left, right) => left.start - right.start || left.end - right.end)) {
    after += text.slice(at, edit.start) + edit.text;
    at = Math.max(at, edit.end);
  }
  after += text.slice(at);
  return isPadded && after.endsWith(eol) ? after.slice(0, -eol.length) : after;
}

export function getLineStart({ text }: EditedText, offset: number): number {
  return offset === 0 ? 0 : text.lastIndexOf('\n', offset - 1) + 1;
}

/** Returns the offset after the next line end. */
export function getNextLineStart({ text }: EditedText, offset: number): number {
  const end = text.indexOf('\n', offset);
  return end < 0 ? text.length : end + 1;
}

/** As many spaces as there are characters before an offset in its line. */
export function getIndent(edited: EditedText, offset: number): string {
  return ' '.repeat(offset - getLineStart(edited, offset));
}

/** Indents each line but the first, and gives all the line ends of the file. */
export function indentLines({ eol }: EditedText, text: string, indent: string): string {
  const [first = '', ...rest] = text.split('\n');
  return [first, ...rest.map((line) => (line === '' ? '' : `${indent}${line}`))].join(eol);
}

/** Whether a node is written with indentation or dashes, and not in brackets or braces. */
export function isBlockCollection(node: Node | null): boolean {
  return isCollection(node) && node.flow !== true;
}

export function isBlockScalar(node: Node | null): node is Scalar {
  return isScalar(node) && (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED);
}

/** Whether nothing is written for a node: it is the value of a key without one. */
export function isEmptyNode(node: Node | null): boolean {
  return node === null || (isScalar(node) && node.range?.[0] === node.range?.[1]);
}

/** A member of a mapping of a file. */
export interface MapItem {
  readonly key: Node;
  readonly value: Node | null;
}

export function listMapItems(map: YAMLMap): readonly MapItem[] {
  return map.items as readonly MapItem[]; // the parser makes a node of each key and value
}

export function listSeqItems(list: YAMLSeq): readonly (Node | null)[] {
  return list.items as readonly (Node | null)[]; // the parser makes a node of each member
}

/** Returns the offset after the colon of a key, or after the key if none follows. */
export function getColonEnd({ text }: EditedText, key: Node): number {
  COLON.lastIndex = getNodeRange(key).end;
  return COLON.test(text) ? COLON.lastIndex : getNodeRange(key).end;
}

const COLON = /\s*:/y;

/** Returns the offsets of the dashes of a list that is not in brackets. */
export function listDashes(edited: EditedText, list: YAMLSeq): readonly number[] {
  let at = getNodeRange(list).start;
  return listSeqItems(list).map((member) => {
    TO_DASH.lastIndex = at;
    const dash = TO_DASH.test(edited.text) ? TO_DASH.lastIndex - 1 : at;
    at = member === null || isEmptyNode(member) ? dash + 1 : getContentEnd(edited, member);
    return dash;
  });
}

/** Matches the rest of a line, lines of comments, and the dash after them. */
const TO_DASH = /(?:[ \t]*(?:#[^\n]*)?\r?\n)*[ \t]*-/y;

/** Returns the offset after the last character of a value, without white space and comments behind it. */
export function getContentEnd(edited: EditedText, node: Node): number {
  const { start, end } = getNodeRange(node);
  if (isBlockScalar(node)) return start + edited.text.slice(start, end).trimEnd().length;
  if (!isBlockCollection(node)) return end;
  if (isMap(node)) {
    const item = listMapItems(node).at(-1);
    return item === undefined ? end : getItemEnd(edited, item);
  }
  const dash = isSeq(node) ? listDashes(edited, node).at(-1) : undefined;
  const member = isSeq(node) ? listSeqItems(node).at(-1) : undefined;
  if (dash === undefined) return end;
  return member === undefined || member === null || isEmptyNode(member) ? dash + 1 : getContentEnd(edited, member);
}

/** Returns the offset after a member of a mapping. */
export function getItemEnd(edited: EditedText, { key, value }: MapItem): number {
  return value === null || isEmptyNode(value) ? getColonEnd(edited, key) : getContentEnd(edited, value);
}

/** A member of a collection: from its key or dash to the end of its content, and where the line behind it begins. */
export interface ItemRange extends OffsetRange {
  readonly next: number;
}

export function toItemRange(edited: EditedText, start: number, end: number, value: Node | null): ItemRange {
  const last = findLastScalar(value);
  // The empty lines at the end of such a text are a part of it.
  const keepsLines = last !== undefined && /^[|>][-0-9]*\+/.test(edited.text.slice(getNodeRange(last).start));
  return { start, end, next: keepsLines ? getNodeRange(last).end : getNextLineStart(edited, end) };
}

function findLastScalar(node: Node | null | undefined): Scalar | undefined {
  if (node === undefined || node === null) return undefined;
  if (isBlockScalar(node)) return node;
  if (!isBlockCollection(node)) return undefined;
  return findLastScalar(
    isMap(node) ? listMapItems(node).at(-1)?.value : isSeq(node) ? listSeqItems(node).at(-1) : null,
  );
}
