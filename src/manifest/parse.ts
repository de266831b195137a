import {
  type Alias,
  Composer,
  type Document,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  type Node,
  type Pair,
  Parser,
  type Scalar,
  type ScalarTag,
  Schema,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isKeyVariable, isWithheldVariable } from '../model/api-key.ts';
import type { DiagnosticCode } from '../model/diagnostic.ts';
import { type Json, MAX_DEPTH } from '../model/json.ts';
import { checkPrintable } from '../model/printable.ts';
import {
  createAllowance,
  describeOmitted,
  limitPerCode,
  NESTING_REMEDY,
  parseWithin,
  TOO_DEEP,
  type YamlAllowance,
  YamlLimitError,
} from './bounded-yaml.ts';
import { type Environment, fillEnvironment } from './environment.ts';
import { locatePart, type Span } from './source-text.ts';

/** One YAML document of a file. */
export interface ParsedDocument {
  /** Where it stands in the file. Its text can be parsed again on its own. */
  readonly span: Span;
  /** Its value, as far as it could be read. `null`: empty. */
  readonly value: Json;
  readonly findings: readonly SyntaxFinding[];
  /** Its findings leave its meaning open, so that its fields are not checked. */
  readonly isBroken: boolean;
  /** Its syntax tree, with places in the whole text. Not to be kept: ten thousand of them would not fit. */
  readonly tree?: Document.Parsed;
}

/** Every document of a text, one at a time. YAML 1.2, which JSON is a part of; keys are text, whatever they look like. */
export function* parseDocuments(
  text: string,
  env: Environment,
  allowance: YamlAllowance = createAllowance(),
): Generator<ParsedDocument> {
  const parser = new Parser();
  const composer = new Composer(OPTIONS);
  try {
    for (const document of composer.compose(parseWithin(parser, text, allowance)))
      yield toParsed(document, { env, text });
    const { errors } = composer.streamInfo();
    if (errors.length > 0) yield toBroken(errors.map((error) => toSyntaxFinding(error, text)));
  } catch (error) {
    if (!(error instanceof YamlLimitError)) throw error;
    const { message, remedy } = error;
    const span = { start: parser.offset, end: parser.offset + 1 };
    yield toBroken([{ code: 'yaml-syntax', message, remedy, span }]);
  }
}

/** The syntax tree of the document that a text starts with. */
export function composeDocument(text: string): Document.Parsed | undefined {
  for (const document of new Composer(OPTIONS).compose(new Parser().parse(text))) return document;
  return undefined;
}

/**
 * Most plain texts: nothing else of the core schema starts like them, so that they need not be compared with all of its numbers. Source: YAML 1.2.2,
 * 10.3.2 Tag Resolution.
 */
const PLAIN_TEXT: ScalarTag = {
  tag: 'tag:yaml.org,2002:str',
  default: true,
  test: /^[^-+.\d~nNtTfF]/,
  resolve: (text) => text,
};

/** One schema for all documents: the core schema of YAML 1.2, whatever a `%YAML` line says. Unique keys are checked elsewhere. */
const OPTIONS = {
  schema: new Schema({
    schema: 'core',
    customTags: (tags) => [PLAIN_TEXT, ...tags],
    resolveKnownTags: false,
    merge: false,
  }),
  stringKeys: true,
  uniqueKeys: false,
} as const;

function toParsed(
  document: Document.Parsed,
  context: { readonly env: Environment; readonly text: string },
): ParsedDocument {
  const [start, , end] = document.range;
  const { value, findings, isBomb } = toValue(document.contents, context);
  const [tags, structure] = listErrors(document);
  const [first] = structure;
  // Only the first error is shown: most of the others are caused by it.
  if (first !== undefined)
    return {
      span: { start, end },
      value,
      findings: [toSyntaxFinding(first, context.text)],
      isBroken: true,
      tree: document,
    };
  return {
    span: { start, end },
    value,
    findings: cutFindings([...tags.map((tag) => toSyntaxFinding(tag, context.text)), ...findings]),
    isBroken: isBomb,
    tree: document,
  };
}

function cutFindings(all: readonly SyntaxFinding[]): readonly SyntaxFinding[] {
  if (all.length === 0) return all;
  const { told, more } = limitPerCode(all);
  return [
    ...told,
    ...more.map(({ first: { code, span }, count }) => ({ code, span, ...describeOmitted(code, count) })),
  ];
}

/** Errors about a tag, which concern one value, and the others, in the order of the text. */
function listErrors({ errors, warnings }: Document.Parsed): readonly [readonly YAMLError[], readonly YAMLError[]] {
  if (errors.length === 0 && warnings.length === 0) return [[], []];
  // For the parser an unknown tag is only a warning, although it changes the meaning of the value.
  const all = [...errors, ...warnings.filter(isAboutTag)].sort((left, right) => left.pos[0] - right.pos[0]);
  return [all.filter(isAboutTag), all.filter((error) => !isAboutTag(error))];
}

function isAboutTag({ code }: YAMLError): boolean {
  return code === 'TAG_RESOLVE_FAILED' || code === 'BAD_COLLECTION_TYPE';
}

function toBroken(findings: readonly SyntaxFinding[]): ParsedDocument {
  const start = findings[0]?.span.start ?? 0;
  return { span: { start, end: start }, value: null, findings: findings.slice(0, 1), isBroken: true };
}

/** The parser points at one character; the span covers the whole word. */
function toSyntaxFinding(error: YAMLError, text: string): SyntaxFinding {
  const [start, end] = error.pos;
  const [word = ''] = /^[\w./-]+/.exec(text.slice(start, start + MAX_WORD)) ?? [];
  return {
    code: 'yaml-syntax',
    message: describeError(error),
    remedy: toSyntaxRemedy(error.code),
    span: { start, end: Math.max(end, start + Math.max(word.length, 1)) },
  };
}

const MAX_WORD = 100;

function describeError(error: YAMLError): string {
  if (error.code === 'RESOURCE_EXHAUSTION') return TOO_DEEP;
  if (error.code === 'NON_STRING_KEY') return 'a key must be text';
  return isAboutTag(error)
    ? `this tag is not supported: ${error.message.replace('Unresolved tag: ', '')}`
    : `not valid YAML: ${error.message}`;
}

/** What most often helps. Sources of the codes: the parser. */
function toSyntaxRemedy(code: YAMLError['code']): string {
  switch (code) {
    case 'BLOCK_AS_IMPLICIT_KEY':
    case 'BAD_SCALAR_START':
    case 'UNEXPECTED_TOKEN':
      return 'Put text in quotes if it contains `: ` or ` #`, or starts with a special character of YAML.';
    case 'TAB_AS_INDENT':
      return 'Indent with spaces.';
    case 'BAD_INDENT':
    case 'MULTILINE_IMPLICIT_KEY':
    case 'MISSING_CHAR':
      return 'Look here and above for a missing colon, quote or bracket, and for wrong indentation.';
    case 'NON_STRING_KEY':
      return 'Put the key in quotes.';
    case 'TAG_RESOLVE_FAILED':
    case 'BAD_COLLECTION_TYPE':
      return 'Remove the tag. For values from outside, use environment variables: see docs/manifests.md.';
    case 'RESOURCE_EXHAUSTION':
      return NESTING_REMEDY;
    default:
      return 'Correct the text here, or close what is left open above.';
  }
}

/** Something wrong in the text of a document, before it is known what the document means. */
export interface SyntaxFinding {
  readonly code: DiagnosticCode;
  readonly message: string;
  readonly remedy: string;
  readonly span: Span;
  /** The value that it is in, where that is more. */
  readonly within?: Span;
  readonly related?: { readonly message: string; readonly span: Span };
}

/** A node of a YAML document as JSON, with its variables filled in. */
interface YamlValue {
  readonly value: Json;
  readonly findings: readonly SyntaxFinding[];
  /** Aliases make the value larger than the limit. */
  readonly isBomb: boolean;
}

/** Nodes that aliases may add to a document: so many, and so many for each node that it has itself. */
const FREE_COPIES = 1_000;
const COPIES_PER_NODE = 10;

/** The JSON value of a node. Aliases share the value that they stand for, so that a bomb takes no memory. */
function toValue(node: Node | null, { env, text }: Pick<Walk, 'env' | 'text'>): YamlValue {
  const walk: Walk = {
    env,
    text,
    findings: [],
    anchors: undefined,
    open: undefined,
    nodes: 0,
    copies: 0,
    largest: undefined,
  };
  const value = convert(node, walk, 0);
  const { largest } = walk;
  if (largest === undefined || walk.copies <= FREE_COPIES + COPIES_PER_NODE * walk.nodes)
    return { value, findings: walk.findings, isBomb: false };
  return { value, findings: [...walk.findings, toBombFinding(largest.span)], isBomb: true };
}

function toBombFinding(span: Span): SyntaxFinding {
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
  readonly findings: SyntaxFinding[];
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
    walk.findings.push(toAliasFinding(alias.source, span, walk));
    return null;
  }
  walk.copies += found.size;
  if (found.size > (walk.largest?.size ?? 0)) walk.largest = { size: found.size, span };
  return found.value;
}

function toAliasFinding(name: string, span: Span, walk: Walk): SyntaxFinding {
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
  walk.findings.push({
    code: 'yaml-syntax',
    message,
    remedy: NESTING_REMEDY,
    span: toSpan(node),
  });
  return null;
}

/** Twice the longest `List` that a document has room for. What is wrong with each of more members would not fit. */
const MAX_MEMBERS = 20_000;

function refuseMembers(node: YAMLMap | YAMLSeq, walk: Walk): Json {
  const what = isMap(node) ? 'keys' : 'members';
  walk.findings.push({
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
      if (Object.hasOwn(members, name)) walk.findings.push(toRepeatFinding(name, key, repeats));
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

function toRepeatFinding(name: string, key: Scalar, repeats: Repeats): SyntaxFinding {
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
  const { text, unset, withheld, malformed, isTooLong } = fillEnvironment(value, walk.env);
  const span = toSpan(scalar);
  if (isTooLong)
    walk.findings.push({
      code: 'bad-value',
      message: 'this text is too long with its variables filled in',
      remedy: 'Shorten it: no field of a manifest is as long.',
      span,
    });
  const toPart = (part: string) => ({
    span: locatePart(walk.text, span, { of: part, start: 0, length: part.length }),
    within: span,
  });
  for (const part of new Set(malformed)) walk.findings.push({ ...toMalformedFinding(part), ...toPart(part) });
  for (const name of new Set(withheld)) {
    // Only what is for a key is refused with a default, too.
    const part = isWithheldVariable(name) ? `\${env:${name}` : `\${env:${name}}`;
    walk.findings.push({ ...toWithheldFinding(name), ...toPart(part) });
  }
  for (const name of new Set(unset))
    walk.findings.push({
      code: 'env-unset',
      message: `the environment variable ${name} is not set`,
      remedy: `Set it, or give a default: \${env:${name}:-default}.`,
      ...toPart(`\${env:${name}}`),
    });
  return text;
}

function toWithheldFinding(name: string): Pick<SyntaxFinding, 'code' | 'message' | 'remedy'> {
  const code = 'env-not-offered';
  if (isWithheldVariable(name)) {
    const what = isKeyVariable(name) ? 'an API key' : 'a token';
    return {
      code,
      message: `the environment variable ${name} is for ${what}, which no manifest can have`,
      remedy: 'Remove it.',
    };
  }
  return {
    code,
    message: `the environment variable ${name} is not offered to manifests`,
    remedy: `Offer it with \`--env ${name}\` or \`EDGEWISE_ENV=${name}\`. Or give a default: \${env:${name}:-default}.`,
  };
}

/** A service could not keep it as it is: the manifest would differ from what is live for ever. */
function checkStorable(what: 'key' | 'text', text: string, node: Node, walk: Walk): void {
  const finding = checkPrintable(text);
  if (finding === undefined) return;
  walk.findings.push({
    code: 'bad-value',
    message: `this ${what} ${finding}`,
    remedy: 'Remove it: services cannot store it.',
    span: toSpan(node),
  });
}

function toMalformedFinding(part: string): Pick<SyntaxFinding, 'code' | 'message' | 'remedy'> {
  return {
    code: 'env-malformed',
    message: `\`${part}\` is neither \`\${env:NAME}\` nor \`\${env:NAME:-default}\``,
    remedy: 'A name has letters, digits and `_`; a default has no braces. Write `$${env:` for the text itself.',
  };
}

function convertNumber(value: number, scalar: Scalar, walk: Walk): Json {
  const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(scalar.source ?? '');
  if (Number.isFinite(value) && !isInexact) return value === 0 ? 0 : value;
  walk.findings.push({
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
