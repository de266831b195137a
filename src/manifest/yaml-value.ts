import {
  type Alias,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  type Scalar,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isKeyVariable } from '../model/api-key.ts';
import type { DiagnosticCode } from '../model/diagnostic-codes.ts';
import { type Json, MAX_DEPTH } from '../model/json.ts';
import { findTextFault } from '../model/storable-text.ts';
import { type Environment, fillEnvironment } from './environment.ts';
import { NOT_AS_DEEP } from './lex.ts';
import { type Span, toPartSpan } from './source-text.ts';

/** Something wrong in the text of a document, before it is known what the document means. */
export interface Fault {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly remedy: string;
  readonly span: Span;
  /** The value that it is in, where that is more. */
  readonly within?: Span;
  readonly related?: { readonly message: string; readonly span: Span };
}

/** A node of a YAML document as JSON, with its variables filled in. */
export interface YamlValue {
  readonly value: Json;
  readonly faults: readonly Fault[];
  /** Aliases make the value larger than the limit. */
  readonly isBomb: boolean;
}

/** Nodes that aliases may add to a document: so many, and so many for each node that it has itself. */
const FREE_COPIES = 1_000;
const COPIES_PER_NODE = 10;

/** The JSON value of a node. Aliases share the value that they stand for, so that a bomb takes no memory. */
export function toValue(node: Node | null, { env, text }: Pick<Walk, 'env' | 'text'>): YamlValue {
  const walk: Walk = {
    env,
    text,
    faults: [],
    anchors: undefined,
    open: undefined,
    nodes: 0,
    copies: 0,
    largest: undefined,
  };
  const value = convert(node, walk, 0);
  const { largest } = walk;
  if (largest === undefined || walk.copies <= FREE_COPIES + COPIES_PER_NODE * walk.nodes)
    return { value, faults: walk.faults, isBomb: false };
  return { value, faults: [...walk.faults, toBombFault(largest.span)], isBomb: true };
}

function toBombFault(span: Span): Fault {
  return {
    code: 'yaml-aliases',
    message: 'the aliases of this document expand to too many values',
    remedy: 'Use fewer aliases, or split the document.',
    span,
  };
}

/** What is known on the way through one document. */
interface Walk {
  readonly env: Environment;
  /** What the document stands in. */
  readonly text: string;
  readonly faults: Fault[];
  /** Made for the first anchor, as `open` is: most documents have none. */
  anchors: Map<string, { readonly value: Json; readonly size: number }> | undefined;
  /** Anchors of the nodes that are being converted. */
  open: Set<string> | undefined;
  nodes: number;
  /** Nodes that aliases add. */
  copies: number;
  /** The alias that adds most. */
  largest: { readonly size: number; readonly span: Span } | undefined;
}

function convert(node: unknown, walk: Walk, depth: number): Json {
  walk.nodes += 1;
  if (isAlias(node)) return resolveAlias(node, walk);
  if (!isScalar(node)) {
    if (!isMap(node) && !isSeq(node)) return null;
    if (depth >= MAX_DEPTH) return refuseDepth(node, walk);
    if (node.items.length > MAX_MEMBERS) return refuseMembers(node, walk);
  }
  return node.anchor === undefined ? convertPlain(node, walk, depth) : keepAnchor(node, node.anchor, { walk, depth });
}

function convertPlain(node: Scalar | YAMLMap | YAMLSeq, walk: Walk, depth: number): Json {
  if (isScalar(node)) return convertScalar(node, walk);
  return isMap(node) ? convertMap(node, walk, depth + 1) : convertList(node, walk, depth + 1);
}

function keepAnchor(
  node: Scalar | YAMLMap | YAMLSeq,
  anchor: string,
  { walk, depth }: { readonly walk: Walk; readonly depth: number },
): Json {
  const before = walk.nodes + walk.copies;
  walk.open ??= new Set();
  walk.open.add(anchor);
  const value = convertPlain(node, walk, depth);
  walk.open.delete(anchor);
  walk.anchors ??= new Map();
  walk.anchors.set(anchor, { value, size: walk.nodes + walk.copies - before + 1 });
  return value;
}

function resolveAlias(alias: Alias, walk: Walk): Json {
  const span = toSpan(alias);
  const found = walk.open?.has(alias.source) ? undefined : walk.anchors?.get(alias.source);
  if (found === undefined) {
    walk.faults.push(toAliasFault(alias.source, span, walk));
    return null;
  }
  walk.copies += found.size;
  if (found.size > (walk.largest?.size ?? 0)) walk.largest = { size: found.size, span };
  return found.value;
}

function toAliasFault(name: string, span: Span, walk: Walk): Fault {
  if (walk.open?.has(name))
    return {
      code: 'yaml-aliases',
      message: `the alias \`*${name}\` is inside its own anchor`,
      remedy: 'Write the value instead of the alias.',
      span,
    };
  return {
    code: 'yaml-syntax',
    message: `the alias \`*${name}\` has no anchor \`&${name}\` before it`,
    remedy: `Add \`&${name}\` to the value that you mean, or put the text in quotes: "*${name}".`,
    span,
  };
}

function refuseDepth(node: Node, walk: Walk): Json {
  const message = `this is nested more than ${MAX_DEPTH} levels deep`;
  walk.faults.push({
    code: 'yaml-syntax',
    message,
    remedy: NOT_AS_DEEP,
    span: toSpan(node),
  });
  return null;
}

/** Twice the longest `List` that a document has room for. What is wrong with each of more members would not fit. */
const MAX_MEMBERS = 20_000;

function refuseMembers(node: YAMLMap | YAMLSeq, walk: Walk): Json {
  const what = isMap(node) ? 'keys' : 'members';
  walk.faults.push({
    code: 'yaml-syntax',
    message: `this has ${node.items.length.toLocaleString('en')} ${what}; the limit is ${MAX_MEMBERS.toLocaleString('en')}`,
    remedy: 'Divide it: no field of a manifest is as long.',
    span: toSpan(node),
  });
  return isMap(node) ? {} : [];
}

function convertMap(map: YAMLMap, walk: Walk, depth: number): Json {
  const members: Record<string, Json> = {};
  const repeats: Repeats = { map, first: undefined };
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (isScalar(key)) {
      checkStorable('key', name, key, walk);
      if (Object.hasOwn(members, name)) walk.faults.push(toRepeatFault(name, key, repeats));
    }
    const member = convert(value, walk, depth);
    if (name === '__proto__') Object.defineProperty(members, name, { ...OWN, value: member });
    else members[name] = member;
  }
  return members;
}

/** A word that every object has a setter for is a key like any other. */
const OWN = { configurable: true, enumerable: true, writable: true };

/** Where the keys of a map stand first, once one is repeated. */
interface Repeats {
  readonly map: YAMLMap;
  first: ReadonlyMap<string, Span> | undefined;
}

function toRepeatFault(name: string, key: Scalar, repeats: Repeats): Fault {
  repeats.first ??= new Map(repeats.map.items.filter(hasScalarKey).map(toNamed).reverse());
  const first = repeats.first.get(name);
  return {
    code: 'yaml-syntax',
    message: `the key \`${name}\` appears twice in one mapping`,
    remedy: 'Keep one of them.',
    span: toSpan(key),
    ...(first !== undefined && { related: { message: 'first here', span: first } }),
  };
}

function hasScalarKey(pair: Pair): pair is Pair<Scalar> {
  return isScalar(pair.key);
}

function toNamed({ key }: Pair<Scalar>): readonly [string, Span] {
  return [String(key.value), toSpan(key)];
}

function convertList(list: YAMLSeq, walk: Walk, depth: number): Json {
  return list.items.map((item) => convert(item, walk, depth));
}

function convertScalar(scalar: Scalar, walk: Walk): Json {
  const { value } = scalar;
  if (typeof value === 'string') return convertText(value, scalar, walk);
  if (typeof value === 'number') return convertNumber(value, scalar, walk);
  return typeof value === 'boolean' ? value : null;
}

function convertText(value: string, scalar: Scalar, walk: Walk): string {
  const text = value.includes('${') ? fillText(value, scalar, walk) : value;
  checkStorable('text', text, scalar, walk);
  return text;
}

function fillText(value: string, scalar: Scalar, walk: Walk): string {
  const { text, unset, malformed, isTooLong } = fillEnvironment(value, walk.env);
  const span = toSpan(scalar);
  if (isTooLong)
    walk.faults.push({
      code: 'bad-value',
      message: 'this text is too long with its variables filled in',
      remedy: 'Shorten it: no field of a manifest is as long.',
      span,
    });
  const toPart = (part: string) => ({
    span: toPartSpan(walk.text, span, { of: part, start: 0, length: part.length }),
    within: span,
  });
  for (const part of new Set(malformed)) walk.faults.push({ ...toMalformedFault(part), ...toPart(part) });
  for (const name of new Set(unset)) {
    const isKey = isKeyVariable(name);
    walk.faults.push({
      code: 'env-unset',
      message: isKey
        ? `the environment variable ${name} is for an API key, which no manifest can have`
        : `the environment variable ${name} is not set`,
      remedy: isKey ? 'Remove it.' : `Set it, or give a default: \${env:${name}:-default}.`,
      ...toPart(`\${env:${name}}`),
    });
  }
  return text;
}

/** A service could not keep it as it is: the manifest would differ from what is live for ever. */
function checkStorable(what: 'key' | 'text', text: string, node: Node, walk: Walk): void {
  const fault = findTextFault(text);
  if (fault === undefined) return;
  walk.faults.push({
    code: 'bad-value',
    message: `this ${what} ${fault}`,
    remedy: 'Remove it: services cannot store it.',
    span: toSpan(node),
  });
}

function toMalformedFault(part: string): Pick<Fault, 'code' | 'message' | 'remedy'> {
  return {
    code: 'env-malformed',
    message: `\`${part}\` is neither \`\${env:NAME}\` nor \`\${env:NAME:-default}\``,
    remedy: 'A name has letters, digits and `_`; a default has no braces. Write `$${env:` for the text itself.',
  };
}

function convertNumber(value: number, scalar: Scalar, walk: Walk): Json {
  const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(scalar.source ?? '');
  if (Number.isFinite(value) && !isInexact) return value === 0 ? 0 : value;
  walk.faults.push({
    code: 'bad-value',
    message: `the number ${scalar.source ?? value} cannot be stored exactly`,
    remedy: `If it is text, put it in quotes: "${scalar.source ?? value}".`,
    span: toSpan(scalar),
  });
  return 0;
}

/** Where a node stands. */
export function toSpan(node: Node): Span {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}
