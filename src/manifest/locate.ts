import {
  type Document,
  isAlias,
  isCollection,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  visit,
  type YAMLMap,
} from 'yaml';
import type { FieldPath } from '../model/state.ts';
import { composeDocument } from './parse.ts';
import type { SourceText, Span } from './source-text.ts';
import { toSpan } from './yaml-value.ts';

/** Where a document stands. */
export interface Position {
  readonly source: SourceText;
  /** The YAML document that it is, or is a part of. */
  readonly span: Span;
  /** The way to it inside of the YAML document: that of a member of a `List`. */
  readonly base: FieldPath;
  /** The file that a tool made it of. */
  readonly origin?: string;
}

/** Which part of a field is pointed at. For a value that starts on the next line it is the key. */
export type Target = 'key' | 'value';

/** Finds places in documents by parsing them again, because their syntax trees are not kept. Keeps the last tree, because diagnostics come in groups. */
export interface Locator {
  /** The place of a path; if it does not exist, of its innermost part that does. */
  readonly locate: (position: Position, path: FieldPath, target: Target) => Span;
  /** Hands over the syntax tree of a document that was just parsed, so that it is not parsed again. */
  readonly offer: (position: Pick<Position, 'source' | 'span'>, tree: Document.Parsed) => void;
  /** Lets the last document go. */
  readonly forget: () => void;
}

/** A locator, with nothing parsed yet. */
export function createLocator(): Locator {
  let last: Last | undefined;
  return {
    locate: ({ source, span, base }, path, target) => {
      if (last?.position.source !== source || last.position.span !== span) last = parseAgain({ source, span });
      last.tree ??= last.offered === undefined ? undefined : toTree(last.offered);
      const found = last.tree === undefined ? undefined : findSpan(last.tree, [...base, ...path], target);
      return found === undefined ? span : { start: found.start + last.offset, end: found.end + last.offset };
    },
    offer: (position, offered) => {
      last = { position, offered, tree: undefined, offset: 0 };
    },
    forget: () => {
      last = undefined;
    },
  };
}

/** The document that was looked at last. */
interface Last {
  readonly position: Pick<Position, 'source' | 'span'>;
  readonly offered: Document.Parsed | undefined;
  /** Made when it is first needed. */
  tree: Tree | undefined;
  /** What its places are counted from. */
  readonly offset: number;
}

function parseAgain({ source, span }: Pick<Position, 'source' | 'span'>): Last {
  const tree = parseTree(source.text.slice(span.start, span.end));
  return { position: { source, span }, offered: undefined, tree, offset: span.start };
}

/** A syntax tree with indexes that make many look-ups cheap. */
interface Tree {
  readonly root: Node | null;
  /** What each alias stands for. */
  readonly targets: ReadonlyMap<Node, Node>;
  /** The members of the maps that were asked for. */
  readonly members: Map<Node, ReadonlyMap<string, Found>>;
}

/** `undefined`: the text is nested so deeply that its tree cannot be built. */
function parseTree(text: string): Tree | undefined {
  try {
    const document = composeDocument(text);
    return document === undefined ? undefined : toTree(document);
  } catch (error) {
    if (error instanceof RangeError) return undefined;
    throw error;
  }
}

function toTree(document: Document.Parsed): Tree {
  const anchors = new Map<string, Node>();
  const targets = new Map<Node, Node>();
  visit(document, {
    Node: (_, node) => {
      const anchored = isAlias(node) ? anchors.get(node.source) : undefined;
      if (anchored !== undefined) targets.set(node, anchored);
      if (!isAlias(node) && node.anchor !== undefined) anchors.set(node.anchor, node);
    },
  });
  return { root: document.contents, targets, members: new Map() };
}

/** A node, and the key that it stands under. */
interface Found {
  readonly node: Node | null;
  readonly key: Node | undefined;
}

function findSpan(tree: Tree, path: FieldPath, target: Target): Span | undefined {
  let found: Found = { node: tree.root, key: undefined };
  for (const step of path) {
    const next = findMember(tree, found.node, step);
    if (next === undefined) break;
    found = next;
  }
  return toTargetSpan(found, target);
}

/** The member at a step; where a list may be a single value, that value is its own first member. */
function findMember(tree: Tree, node: Node | null, step: string | number): Found | undefined {
  const inner = (node === null ? undefined : tree.targets.get(node)) ?? node;
  if (isSeq<Node>(inner)) {
    const member = inner.items[Number(step)];
    return member === undefined ? undefined : { node: member, key: undefined };
  }
  const found = isMap<Node, Node | null>(inner) ? listMembers(tree, inner).get(String(step)) : undefined;
  return found ?? (step === 0 ? { node: inner, key: undefined } : undefined);
}

function listMembers({ members }: Tree, map: YAMLMap<Node, Node | null>): ReadonlyMap<string, Found> {
  const known = members.get(map);
  if (known !== undefined) return known;
  const entries = map.items.map(
    ({ key, value }) => [isScalar(key) ? String(key.value) : '', { node: value, key }] as const,
  );
  const listed = new Map<string, Found>(entries);
  members.set(map, listed);
  return listed;
}

function toTargetSpan({ node, key }: Found, target: Target): Span | undefined {
  const isWide = isCollection(node) && node.flow !== true;
  const isEmpty = node === null || node.range?.[0] === node.range?.[1];
  if (key !== undefined && (target === 'key' || isWide || isEmpty)) return toSpan(key);
  if (node === null) return undefined;
  return isWide ? toFirstSpan(node) : toSpan(node);
}

/** A collection that starts without a key of its own is pointed at by its first key, or by its first member. */
function toFirstSpan(node: Node): Span {
  const [first] = isCollection(node) ? node.items : [];
  if (isMap(node) && first !== undefined) return toFirstSpan((first as Pair<Node>).key); // the items of a map are pairs
  if (isSeq<Node>(node) && node.items[0] !== undefined) return toFirstSpan(node.items[0]);
  return toSpan(node);
}
