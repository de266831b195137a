import { isAlias, isMap, isScalar, isSeq, type Node, Scalar, type YAMLMap, type YAMLSeq } from 'yaml';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import { pairMembers } from '../model/pair-members.ts';
import type { Correction, OffsetRange } from '../model/place.ts';
import { containsConcealed } from '../model/secret-value.ts';
import { type Entry, editBlockItems, editFlowItems } from './edit-items.ts';
import {
  type EditedText,
  getColonEnd,
  getContentEnd,
  getIndent,
  getItemEnd,
  indentLines,
  isBlockCollection,
  isBlockScalar,
  isEmptyNode,
  listDashes,
  listMapItems,
  listSeqItems,
  type MapItem,
  toItemRange,
} from './edited-text.ts';
import { getNodeRange, isMergeKey, type SyntaxTree } from './parse.ts';
import { renderFragment, renderJsonFragment } from './render-document.ts';

/**
 * Replaces values of a YAML document in its text: only what differs between two values is edited, so that comments, styles,
 * quotes and numbers stay as their author wrote them.
 */

/** Why a value cannot be changed where it stands. `finding`: a clause, such as `comes from an alias`. */
export interface EditRefusal extends OffsetRange {
  readonly finding: string;
}

/** The edits of one document so far. */
export interface Editing {
  readonly edited: EditedText;
  readonly tree: SyntaxTree;
  /** Whether the document is JSON, where keys and texts are in double quotes. */
  readonly isJson: boolean;
  readonly edits: Correction[];
  readonly refusals: EditRefusal[];
}

interface Sides {
  readonly from: Json;
  readonly to: Json;
}

/** Where a value stands. */
interface Holder {
  /** The offset of the key or the dash. What is below it is indented from there. */
  readonly start: number;
  /** The offset behind the colon or the dash. */
  readonly gap: number;
  readonly isFlow: boolean;
  readonly isMember: boolean;
}

/** Changes, adds or removes a member of a mapping. `undefined`: there is none. */
export function editMember(
  map: YAMLMap,
  name: string,
  { from, to }: { readonly from: Json | undefined; readonly to: Json | undefined },
  editing: Editing,
): void {
  const own = findOwnItem(map, name);
  if (own !== undefined && to !== undefined) {
    editOwnMember(map, own, { from: from ?? null, to }, editing);
    return;
  }
  const before = from === undefined ? {} : { [name]: from };
  editMembers(map, { from: before, to: to === undefined ? {} : { [name]: to } }, editing);
}

export function findOwnItem(map: YAMLMap, name: string): MapItem | undefined {
  return listMapItems(map).findLast(({ key }) => isScalar(key) && !isMergeKey(key) && String(key.value) === name);
}

/** Why a node cannot be changed itself. `undefined` if it can. */
export function findRefusalOfNode(node: Node, { targets }: SyntaxTree): string | undefined {
  if (isAlias(node)) return 'comes from an alias';
  if (node.anchor !== undefined && [...targets.values()].includes(node)) return 'has an anchor that an alias uses';
  if (isScalar(node) && typeof node.value === 'string' && PLACEHOLDER.test(node.value)) return 'comes from a variable';
  return undefined;
}

/** Matches the start of `${env:NAME}` or `${secret:NAME}`, but not where it is escaped. */
const PLACEHOLDER = /(?<!\$)\$\{(?:env|secret):/;

const IN_MERGED = 'comes from a merge key';
const IS_HIDDEN = 'is hidden at the service, or may be a secret';

function refuse({ refusals }: Editing, { start, end }: OffsetRange, finding: string): void {
  refusals.push({ start, end, finding });
}

/** Refuses to remove a value of which a part comes from elsewhere. Returns whether it did. */
function refuseToRemove(node: Node | null, editing: Editing): boolean {
  const found = node === null ? undefined : findInnerRefusal(node, editing.tree);
  if (found !== undefined) refuse(editing, getNodeRange(found.node), found.finding);
  return found !== undefined;
}

function findInnerRefusal(node: Node, tree: SyntaxTree): { readonly node: Node; readonly finding: string } | undefined {
  const finding = findRefusalOfNode(node, tree);
  if (finding !== undefined) return { node, finding };
  const merge = isMap(node) ? listMapItems(node).find(({ key }) => isMergeKey(key)) : undefined;
  if (merge !== undefined) return { node: merge.key, finding: IN_MERGED };
  for (const member of listMembers(node)) {
    const inner = member === null ? undefined : findInnerRefusal(member, tree);
    if (inner !== undefined) return inner;
  }
  return undefined;
}

/** Keys have no variables. */
function listMembers(node: Node): readonly (Node | null)[] {
  if (isMap(node)) return listMapItems(node).map(({ value }) => value);
  return isSeq(node) ? listSeqItems(node) : [];
}

function editOwnMember(map: YAMLMap, { key, value }: MapItem, sides: Sides, editing: Editing): void {
  const { start } = getNodeRange(key);
  const gap = getColonEnd(editing.edited, key);
  editValue(value, sides, { start, gap, isFlow: map.flow === true, isMember: true }, editing);
}

function editValue(node: Node | null, sides: Sides, holder: Holder, editing: Editing): void {
  const { from, to } = sides;
  if (isSameJson(from, to)) return;
  const finding = node === null ? undefined : findRefusalOfNode(node, editing.tree);
  if (node !== null && finding !== undefined) {
    refuse(editing, getNodeRange(node), finding);
    return;
  }
  if (isMap(node) && typeof from === 'string') {
    refuse(editing, getNodeRange(node), 'is in a file that the manifest names');
    return;
  }
  if (
    isMap(node) &&
    isJsonObject(from) &&
    isJsonObject(to) &&
    Object.keys(from).some((name) => Object.hasOwn(to, name))
  ) {
    editMembers(node, { from, to }, editing);
    return;
  }
  if (isSeq(node) && isJsonArray(from) && isJsonArray(to) && to.length > 0) {
    editList(node, { from, to }, holder, editing);
    return;
  }
  replaceValue(node, to, holder, editing);
}

interface Members {
  readonly from: JsonObject;
  readonly to: JsonObject;
}

/** Edits the members that differ. A mapping that has members keeps at least one, or is edited for one of them only. */
function editMembers(map: YAMLMap, { from, to }: Members, editing: Editing): void {
  const removed = new Set<MapItem>();
  for (const [name, before] of Object.entries(from)) {
    const own = findOwnItem(map, name);
    const after = Object.hasOwn(to, name) ? to[name] : undefined;
    if (after !== undefined && isSameJson(before, after)) continue;
    if (own === undefined) refuse(editing, getNodeRange(map), IN_MERGED);
    else if (after !== undefined) editOwnMember(map, own, { from: before, to: after }, editing);
    else if (!refuseToRemove(own.value, editing)) removed.add(own);
  }
  const added: [string, Json][] = [];
  for (const [name, after] of Object.entries(to)) {
    const own = findOwnItem(map, name);
    if (Object.hasOwn(from, name)) continue;
    if (own !== undefined) editOwnMember(map, own, { from: null, to: after }, editing);
    else if (containsConcealed(after)) refuse(editing, getNodeRange(map), IS_HIDDEN);
    else added.push([name, after]);
  }
  if (removed.size + added.length > 0) editItems(map, removed, added, editing);
}

function editItems(
  map: YAMLMap,
  removed: ReadonlySet<MapItem>,
  added: readonly (readonly [string, Json])[],
  editing: Editing,
): void {
  const { edited, edits, isJson } = editing;
  const items = listMapItems(map);
  const ranges = items.map((item) => {
    const value = item.value ?? null;
    return toItemRange(edited, getNodeRange(item.key).start, getItemEnd(edited, item), value);
  });
  const quotes = findQuotes(items.map(({ value }) => value));
  const isFlow = !isBlockCollection(map);
  const texts = added.map(([name, value]) => {
    if (isJson) return `${JSON.stringify(name)}: ${renderJsonFragment(value)}`;
    const text = renderFragment({ [name]: value }, { isFlow, quotes });
    return isFlow ? text.slice(1, -1) : text;
  });
  const entries: readonly Entry[] = [...items.flatMap((item, index) => (removed.has(item) ? [] : [index])), ...texts];
  if (items.length === removed.size) {
    const inner = isFlow ? texts.join(', ') : '';
    const { start } = getNodeRange(map);
    edits.push({ start, end: getContentEnd(edited, map), text: `{${inner}}` });
  } else if (isFlow) edits.push(...editFlowItems(edited, { inside: getInside(map), items: ranges }, entries));
  else edits.push(...editBlockItems(edited, ranges, entries));
}

/** The style of the quotes that the last quoted text of a collection has. */
function findQuotes(nodes: readonly (Node | null)[]): Scalar.Type | undefined {
  const last = nodes.findLast((node) => isScalar(node) && typeof node.value === 'string');
  return isScalar(last) ? findQuotesOf(last) : undefined;
}

function findQuotesOf({ type }: Scalar): Scalar.Type | undefined {
  return type === Scalar.QUOTE_DOUBLE || type === Scalar.QUOTE_SINGLE ? type : undefined;
}

/** The range between the brackets or braces. */
function getInside(node: YAMLMap | YAMLSeq): OffsetRange {
  const { start, end } = getNodeRange(node);
  return { start: start + 1, end: end - 1 };
}

function editList(
  list: YAMLSeq,
  { from, to }: { readonly from: readonly Json[]; readonly to: readonly Json[] },
  holder: Holder,
  editing: Editing,
): void {
  const { edited, isJson } = editing;
  const nodes = listSeqItems(list);
  if (nodes.length !== from.length) {
    refuse(editing, getNodeRange(list), IN_MERGED);
    return;
  }
  const isFlow = !isBlockCollection(list);
  const pairs = pairMembers(from, to, isSameJson);
  if (pairs.every((pair) => pair.from === undefined || pair.to === undefined)) {
    replaceValue(list, to, holder, editing);
    return;
  }
  const dashes = isFlow ? [] : listDashes(edited, list);
  const quotes = findQuotes(nodes);
  const getNode = (index: number): Node | null => nodes[index] ?? null;
  const entries = pairs.flatMap((pair): readonly Entry[] => {
    const value = to[pair.to ?? -1] ?? null;
    if (pair.from === undefined) {
      if (containsConcealed(value)) refuse(editing, getNodeRange(list), IS_HIDDEN);
      if (isJson) return [renderJsonFragment(value)];
      const text = renderFragment([value], { isFlow, quotes });
      return [isFlow ? text.slice(1, -1) : text];
    }
    if (pair.to === undefined) return refuseToRemove(getNode(pair.from), editing) ? [pair.from] : [];
    const start = dashes[pair.from] ?? getNodeRange(nodes[pair.from] ?? list).start;
    const own = { start, gap: isFlow ? start : start + 1, isFlow, isMember: false };
    editValue(getNode(pair.from), { from: from[pair.from] ?? null, to: value }, own, editing);
    return [pair.from];
  });
  editListItems(list, entries, editing);
}

/** Removes a member of a list, unless a part of it comes from elsewhere. */
export function removeListMember(list: YAMLSeq, index: number, editing: Editing): void {
  const nodes = listSeqItems(list);
  if (refuseToRemove(nodes[index] ?? null, editing)) return;
  const kept = [...nodes.keys()].filter((at) => at !== index);
  if (kept.length > 0) {
    editListItems(list, kept, editing);
    return;
  }
  editing.edits.push({ start: getNodeRange(list).start, end: getContentEnd(editing.edited, list), text: '[]' });
}

function editListItems(list: YAMLSeq, entries: readonly Entry[], { edited, edits }: Editing): void {
  const dashes = isBlockCollection(list) ? listDashes(edited, list) : [];
  const ranges = listSeqItems(list).map((node, index) => {
    const start = dashes[index] ?? getNodeRange(node ?? list).start;
    const end = node === null || isEmptyNode(node) ? start + 1 : getContentEnd(edited, node);
    return toItemRange(edited, start, end, node);
  });
  if (isBlockCollection(list)) edits.push(...editBlockItems(edited, ranges, entries));
  else edits.push(...editFlowItems(edited, { inside: getInside(list), items: ranges }, entries));
}

/** Replaces a value as a whole. */
function replaceValue(node: Node | null, to: Json, holder: Holder, editing: Editing): void {
  const { edited, edits, isJson } = editing;
  if (refuseToRemove(node, editing)) return;
  if (containsConcealed(to)) {
    refuse(editing, node === null ? { start: holder.gap, end: holder.gap } : getNodeRange(node), IS_HIDDEN);
    return;
  }
  const { gap } = holder;
  const isEmpty = node === null || isEmptyNode(node);
  const start = isEmpty ? gap : getNodeRange(node).start;
  const end = isEmpty ? gap : getContentEnd(edited, node);
  const quotes = isScalar(node) ? findQuotesOf(node) : undefined;
  const header = isBlockScalar(node) ? (HEADER_COMMENT.exec(edited.text.slice(start))?.[1] ?? '') : '';
  const inline = isJson ? renderJsonFragment(to) : renderFragment([to], { isFlow: true, quotes }).slice(1, -1);
  const below = holder.isFlow || isJson ? undefined : renderBelow(to, { holder, edited, quotes });
  const isClear = edited.text.slice(gap, start).trim() === '';
  if (below === undefined || (below.includes('\n') && !(isClear && canBeBelow({ edited, end, below, header })))) {
    edits.push({ start, end, text: `${isEmpty ? ' ' : ''}${inline}${header}` });
    return;
  }
  const takesGap = isEmpty || (isClear && (below.startsWith(edited.eol) || isBlockCollection(node)));
  edits.push({ start: takesGap ? gap : start, end, text: `${takesGap ? below : below.slice(1)}${header}` });
}

/** Matches the header of a text in lines. Captures the comment in it. */
const HEADER_COMMENT = /^[|>][-+0-9]*([ \t]+#[^\r\n]*)/;

/** Renders a value as it stands behind a colon or a dash: ` x`, or lines below it. */
function renderBelow(
  to: Json,
  {
    holder,
    edited,
    quotes,
  }: { readonly holder: Holder; readonly edited: EditedText; readonly quotes: Scalar.Type | undefined },
): string {
  const text = holder.isMember
    ? renderFragment({ k: to }, { quotes }).slice(2)
    : renderFragment([to], { quotes }).slice(1);
  return indentLines(edited, text, getIndent(edited, holder.start));
}

/** Whether a value can have several lines here. A comment behind it would become a part of a text. */
function canBeBelow({
  edited,
  end,
  below,
  header,
}: {
  readonly edited: EditedText;
  readonly end: number;
  readonly below: string;
  readonly header: string;
}): boolean {
  const behind = edited.text.slice(end, edited.text.indexOf('\n', end));
  const isText = /^ [|>]/.test(below);
  return header === '' && (behind.trim() === '' || !isText);
}
