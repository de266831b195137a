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
    anchors: new Map(),
    open: new Set(),
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
  readonly anchors: Map<string, { readonly value: Json; readonly size: number }>;
  /** Anchors of the nodes that are being converted. */
  readonly open: Set<string>;
  nodes: number;
  /** Nodes that aliases add. */
  copies: number;
  /** The alias that adds most. */
  largest: { readonly size: number; readonly span: Span } | undefined;
}

function convert(node: unknown, walk: Walk, depth: number): Json {
  walk.nodes += 1;
  if (isAlias(node)) return resolveAlias(node, walk);
  if (isScalar(node)) return keepAnchor(node, walk, () => convertScalar(node, walk));
  if (depth >= MAX_DEPTH && (isMap(node) || isSeq(node))) return refuseDepth(node, walk);
  if ((isMap(node) || isSeq(node)) && node.items.length > MAX_MEMBERS) return refuseMembers(node, walk);
  if (isMap(node)) return keepAnchor(node, walk, () => convertMap(node, walk, depth + 1));
  if (isSeq(node)) return keepAnchor(node, walk, () => convertList(node, walk, depth + 1));
  return null;
}

function keepAnchor(node: Scalar | YAMLMap | YAMLSeq, walk: Walk, toJson: () => Json): Json {
  const { anchor } = node;
  if (anchor === undefined) return toJson();
  const before = walk.nodes + walk.copies;
  walk.open.add(anchor);
  const value = toJson();
  walk.open.delete(anchor);
  walk.anchors.set(anchor, { value, size: walk.nodes + walk.copies - before + 1 });
  return value;
}

function resolveAlias(alias: Alias, walk: Walk): Json {
  const span = toSpan(alias);
  const found = walk.open.has(alias.source) ? undefined : walk.anchors.get(alias.source);
  if (found === undefined) {
    walk.faults.push(toAliasFault(alias.source, span, walk));
    return null;
  }
  walk.copies += found.size;
  if (found.size > (walk.largest?.size ?? 0)) walk.largest = { size: found.size, span };
  return found.value;
}

function toAliasFault(name: string, span: Span, walk: Walk): Fault {
  if (walk.open.has(name))
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
  const keys = new Map<string, Span>();
  const entries = map.items.map((pair: Pair): [string, Json] => {
    const key = isScalar(pair.key) ? String(pair.key.value) : '';
    if (isScalar(pair.key)) checkKey(key, { span: toSpan(pair.key), keys, walk });
    return [key, convert(pair.value, walk, depth)];
  });
  return Object.fromEntries(entries);
}

function checkKey(
  key: string,
  { span, keys, walk }: { readonly span: Span; readonly keys: Map<string, Span>; readonly walk: Walk },
): void {
  checkStorable('key', key, { span, walk });
  const first = keys.get(key);
  if (first === undefined) keys.set(key, span);
  else {
    const related = { message: 'first here', span: first };
    const message = `the key \`${key}\` appears twice in one mapping`;
    walk.faults.push({ code: 'yaml-syntax', message, remedy: 'Keep one of them.', span, related });
  }
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
  checkStorable('text', text, { span, walk });
  return text;
}

/** A service could not keep it as it is: the manifest would differ from what is live for ever. */
function checkStorable(
  what: 'key' | 'text',
  text: string,
  { span, walk }: { readonly span: Span; readonly walk: Walk },
): void {
  const fault = findTextFault(text);
  if (fault === undefined) return;
  walk.faults.push({
    code: 'bad-value',
    message: `this ${what} ${fault}`,
    remedy: 'Remove it: services cannot store it.',
    span,
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
