import { isAlias, isMap, isScalar, isSeq, type Node } from 'yaml';
import type { OffsetRange } from '../model/place.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import { listSecretNames } from '../model/secret-value.ts';
import type { FieldPath } from '../model/state.ts';
import { getNodeRange, type SyntaxTree } from './parse.ts';

/**
 * Lists the ranges in a document that no excerpt shows, sorted: what is below a key whose name looks like that of a
 * secret, whatever its style, with its anchor, its tag and the values that aliases in it name, and each text with
 * `${secret:NAME}`. `text` is the text of the file. The token sinks of a Stack are no secrets: every plan shows them.
 */
export function listSecretRanges({ root, targets }: SyntaxTree, text: string): readonly OffsetRange[] {
  const ranges: OffsetRange[] = [];
  const hidden = new Set<Node>();
  const hideTargets = (node: Node | null): void => {
    if (node === null || hidden.has(node)) return;
    hidden.add(node);
    const target = targets.get(node);
    if (target !== undefined) hide(target, target.range?.[0] ?? 0);
    for (const member of listMembers(node)) hideTargets(member);
  };
  const hide = (node: Node, after: number): void => {
    ranges.push(findRangeWithProperties(text, node, after));
    hideTargets(node);
  };
  const sinks = new Set<Node | null>(listTokenSinks(root));
  const visit = (node: Node | null): void => {
    if (isMap<Node, Node | null>(node)) {
      for (const { key, value } of node.items) {
        const isNamed = isScalar(key) && isNameOfSecret(String(key.value)) && !sinks.has(value);
        if (isNamed && value !== null) hide(value, getNodeRange(key).end);
        else for (const member of [key, value]) visit(member);
      }
    } else if (isSeq<Node>(node)) node.items.forEach(visit);
    else if (isScalar(node) && listSecretNames(String(node.value)).length > 0) ranges.push(getNodeRange(node));
  };
  visit(root);
  return ranges.filter(({ start, end }) => end > start).sort((left, right) => left.start - right.start);
}

/** Returns the mappings `spec.tokens` and `spec.tokens.credentials` of a document, or of the members of a `List`. */
function listTokenSinks(document: Node | null): readonly Node[] {
  if (!isMap<Node, Node | null>(document)) return [];
  const kind: unknown = document.get('kind');
  const items: unknown = document.get('items', true);
  if (kind === 'List' && isSeq<Node>(items)) return items.items.flatMap(listTokenSinks);
  if (!SETTINGS.has(kind)) return [];
  return [TOKEN_SINKS, [...TOKEN_SINKS, 'credentials']]
    .map((path) => document.getIn(path, true))
    .filter((node) => isMap<Node, Node | null>(node));
}

/** Whether a path of a document goes through a name that looks like that of a secret. */
export function isPathOfSecret(path: FieldPath, kind: string): boolean {
  const isSink = SETTINGS.has(kind) && TOKEN_SINKS.every((name, index) => path[index] === name);
  const rest = isSink ? path.slice(path[2] === 'credentials' ? 3 : 2) : path;
  return rest.some((step) => typeof step === 'string' && isNameOfSecret(step));
}

const SETTINGS: ReadonlySet<unknown> = new Set(['Stack', 'Defaults']);
const TOKEN_SINKS = ['spec', 'tokens'];

function listMembers(node: Node): readonly (Node | null)[] {
  if (isSeq<Node>(node)) return node.items;
  return isMap<Node, Node | null>(node) ? node.items.flatMap(({ key, value }) => [key, value]) : [];
}

/** Returns the range of a value with its anchor and tag, which are behind `after`. */
function findRangeWithProperties(text: string, node: Node, after: number): OffsetRange {
  const { start, end } = getNodeRange(node);
  const isBare = isAlias(node) || (node.tag === undefined && node.anchor === undefined);
  if (isBare || after >= start) return { start, end };
  const at = text.slice(after, start).search(/[&!]/);
  return { start: at < 0 ? start : after + at, end };
}
