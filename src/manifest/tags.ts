import { type Document, isScalar, type Node, type Parser, type Scalar, Schema, visit, type YAMLError } from 'yaml';
import type { SyntaxFinding } from '../model/finding.ts';
import type { Correction, OffsetRange } from '../model/place.ts';

/**
 * Tags, which begin with `!`. A manifest has none that changes a value: an author who writes `! (a == b)` means a
 * negation, and YAML would leave it out. The nodes of the `yaml` package show neither where a tag is nor every lone `!`, so the
 * tags are collected as tokens.
 */
export interface TagToken extends OffsetRange {
  readonly source: string;
  /** Whether the tag is inside brackets or braces, where a comma ends its value. */
  readonly isInFlow: boolean;
}

export function createTagToken(source: string, { offset, stack }: Pick<Parser, 'offset' | 'stack'>): TagToken {
  const isInFlow = stack.some(({ type }) => type === 'flow-collection');
  return { source, start: offset, end: offset + source.length, isInFlow };
}

/** A document with its errors about tags, in the text of its file. */
interface TaggedDocument {
  readonly document: Document.Parsed;
  readonly errors: readonly YAMLError[];
  readonly text: string;
}

/** Removes the tags before an offset from the list, and returns them. */
export function takeTags(tags: TagToken[], end: number): readonly TagToken[] {
  const rest = tags.findIndex(({ start }) => start >= end);
  return tags.splice(0, rest < 0 ? tags.length : rest);
}

/** Lists the tags of a document that a manifest cannot have: all but core tags that change nothing. */
export function listTagFindings(
  tags: readonly TagToken[],
  { document, errors, text }: TaggedDocument,
): readonly SyntaxFinding[] {
  if (tags.length === 0) return [];
  const nodes = mapTaggedNodes(document, tags);
  const refused = new Set(errors.map(({ pos }) => pos[0]));
  return tags.flatMap((tag) => {
    const isCore = CORE_TAGS.has(resolveTag(document, tag));
    const { node, isKey = false } = nodes.get(tag) ?? {};
    const isRefused = refused.has(tag.start);
    const isHarmless = isCore && !isRefused && (isKey || !isScalar(node) || isSameWithoutTag(node));
    return isHarmless ? [] : [createTagFinding(tag, { text, node, isCore, isRefused })];
  });
}

/** Whether a finding of the parser is about a tag, and not about the syntax around it. `starts` are the offsets of the tags. */
export function isAboutTag({ code, pos }: YAMLError, starts: ReadonlySet<number>): boolean {
  if (code === 'NON_STRING_KEY') return starts.has(pos[0]);
  return code === 'TAG_RESOLVE_FAILED' || code === 'BAD_COLLECTION_TYPE';
}

/** Returns the tag that causes a syntax error: the first one on its line. YAML splits the text there. */
export function findTagBeforeError(all: readonly TagToken[], { pos }: YAMLError, text: string): TagToken | undefined {
  const lineStart = text.lastIndexOf('\n', pos[0] - 1) + 1;
  return all.find(({ start, source }) => start >= lineStart && start <= pos[0] && !CORE_SHORTHAND.test(source));
}

const CORE_SHORTHAND = /^!!(?:bool|float|int|map|null|seq|str)$/;
const CORE = new Schema({ schema: 'core' });
const CORE_TAGS: ReadonlySet<string | null> = new Set(CORE.tags.map(({ tag }) => tag));

function resolveTag({ directives }: Document.Parsed, { source }: TagToken): string | null {
  return directives.tagName(source, () => undefined);
}

interface TaggedNode {
  readonly node: Node;
  /** Whether the node is a key. Keys are text, whatever their tag. */
  readonly isKey: boolean;
}

/** Maps each tag to its node. A tag is before its node, with at most an anchor and comments between them. */
function mapTaggedNodes(document: Document.Parsed, tags: readonly TagToken[]): ReadonlyMap<TagToken, TaggedNode> {
  const nodes = new Map<TagToken, TaggedNode>();
  visit(document, {
    Node: (place, node) => {
      const { range, tag } = node as Node & { readonly tag?: string }; // an alias has no tag
      if (tag === undefined || !range) return;
      const own = findLastBefore(tags, range[0]);
      // Nodes are visited from the outside to the inside, and the inner one is nearer.
      if (own !== undefined) nodes.set(own, { node, isKey: place === 'key' });
    },
  });
  return nodes;
}

function findLastBefore(tags: readonly TagToken[], offset: number): TagToken | undefined {
  let [low, high] = [0, tags.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((tags[middle]?.end ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return tags[low - 1];
}

/** Whether YAML would read a scalar as the same value without its tag. */
function isSameWithoutTag({ source = '', type, value }: Scalar): boolean {
  if (type !== 'PLAIN') return value === source;
  const tag = CORE.tags.find((one) => one.default === true && 'test' in one && one.test?.test(source));
  if (tag === undefined || tag.collection !== undefined) return value === source;
  const read = tag.resolve(source, () => undefined, { intAsBigInt: false });
  return Object.is(isScalar(read) ? read.value : read, value);
}

interface TagPlace {
  readonly text: string;
  readonly node?: Node | undefined;
  /** Whether the tag is one of YAML. */
  readonly isCore?: boolean;
  /** Whether the parser refuses the tag for this value. */
  readonly isRefused?: boolean;
}

export function createTagFinding(
  tag: TagToken,
  { text, node, isCore = false, isRefused = false }: TagPlace,
): SyntaxFinding {
  const { source, start, end } = tag;
  const found = { code: 'yaml-syntax', range: { start, end } } as const;
  if (isCore)
    return {
      ...found,
      message: `this tag ${isRefused ? 'does not fit its value' : 'changes its value'}`,
      remedy: 'Write the value that you mean without a tag, and text in quotes.',
      correction: correctValue(tag, node),
    };
  const message = 'YAML reads `!` and what follows it as a tag, and not as part of the value';
  const correction = quoteWholeValue(tag, { text, node });
  if (source === '!' || !WORD.test(source))
    return { ...found, message, remedy: correction === undefined ? REMOVE_OR_QUOTE : QUOTE, correction };
  return { ...found, message, remedy: `${REMOVE} ${QUOTE_TEXT}`, correction };
}

/** What a custom tag looks like. Other tags look like expressions, such as `!(a` and `!conn.geo.city`. */
const WORD = /^!{1,2}[A-Za-z][\w:/-]*$/;
const QUOTE = 'Put quotes around the whole value.';
const REMOVE_OR_QUOTE = 'Remove it. If it belongs to a text, put quotes around the whole text.';
const REMOVE = 'Remove the tag. For values from outside, use environment variables: see docs/reference/manifests.md.';
const QUOTE_TEXT = 'If it is text, such as a negation, put quotes around the whole value.';

function correctValue({ start }: TagToken, node: Node | undefined): Correction | undefined {
  if (!isScalar(node) || isBlock(node) || !node.range) return undefined;
  const { value, range } = node;
  return { start, end: range[1], text: typeof value === 'string' ? quote(value) : String(value) };
}

/** Puts quotes around a tag and its value. `undefined` if the value is a mapping, a list or a block of text. */
function quoteWholeValue(
  { source, start, end, isInFlow }: TagToken,
  { text, node }: Pick<TagPlace, 'text' | 'node'>,
): Correction | undefined {
  const isVerbatim = source.startsWith('!<');
  if (isVerbatim) return undefined;
  if (isScalar(node) && !isBlock(node) && node.range)
    return quoteRange(text, { start, end: Math.max(end, node.range[1]) });
  const isWritten = /\S/.test(text.charAt(end));
  if (node !== undefined && !isWritten) return undefined;
  const line = findEndOfLine(text, start);
  return line === undefined
    ? undefined
    : quoteRange(text, { start, end: isInFlow ? findEndInFlow(text, { start, end: line }) : line });
}

function quoteRange(text: string, range: OffsetRange): Correction {
  return {
    ...range,
    text: quote(
      text
        .slice(range.start, range.end)
        .trim()
        .replace(/\s*\n\s*/g, ' '),
    ),
  };
}

/** A text as a quoted scalar. Expressions often contain quotes of one sort. */
function quote(text: string): string {
  return /["\\]/.test(text) ? `'${text.replaceAll("'", "''")}'` : `"${text}"`;
}

function isBlock({ type }: Scalar): boolean {
  return type === 'BLOCK_LITERAL' || type === 'BLOCK_FOLDED';
}

/** Far longer than an expression. A longer line is not searched, because a file may have many tags on one line. */
const MAX_LINE = 1_000;

/** The end of the text on a line, before a comment. `undefined` if the line is too long. */
function findEndOfLine(text: string, start: number): number | undefined {
  const [line = ''] = /^[^\r\n]*/.exec(text.slice(start, start + MAX_LINE)) ?? [];
  return line.length === MAX_LINE ? undefined : start + line.replace(/\s+(?:#.*)?$/, '').length;
}

/** The end of a value inside brackets or braces: before a comma or a closing bracket that is not part of the value. */
function findEndInFlow(text: string, { start, end }: OffsetRange): number {
  let depth = 0;
  for (let at = start; at < end; at += 1) {
    const character = text.charAt(at);
    if (depth === 0 && /[,\]}]/.test(character)) return at;
    if (/[[({]/.test(character)) depth += 1;
    if (/[\])}]/.test(character)) depth -= 1;
    if (/["']/.test(character)) at = Math.max(at, text.slice(0, end).indexOf(character, at + 1));
  }
  return end;
}
