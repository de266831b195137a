import {
  type Alias,
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  type Node,
  type Scalar,
  type YAMLError,
  type YAMLMap,
  type YAMLSeq,
} from 'yaml';
import { isKeyOrKeyFileVariable, isVariableForbiddenInManifests } from '../model/api-key.ts';
import type { SyntaxFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import type { OffsetRange } from '../model/place.ts';
import { checkStorableText } from '../model/printable.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import {
  createYamlBudget,
  describeOmittedDiagnostics,
  limitDiagnosticsPerCode,
  NESTING_REMEDY,
  type RemainingYamlBudget,
  TOO_DEEP_MESSAGE,
} from './bounded-yaml.ts';
import { type ManifestEnvironment, replaceEnvironmentVariables } from './environment.ts';
import { findNamedMistake, mayHideMistake } from './named-mistakes.ts';
import { getRangeOfValuePart } from './source-text.ts';
import { createTagFinding, findTagBeforeError, isAboutTag, listTagFindings, type TagToken } from './tags.ts';
import type { YamlText } from './yaml-text.ts';

export interface ParsedDocument {
  /** The position in the file. */
  readonly range: OffsetRange;
  /** The part of the document's value that could be read. `null` if the document is empty. */
  readonly value: Json;
  readonly findings: readonly SyntaxFinding[];
  /** Whether the findings leave the meaning of the document unclear. Fields of such a document are not checked. */
  readonly isBroken: boolean;
  /** Absent if the file was not read to its end. */
  readonly tree?: SyntaxTree;
}

/** The nodes of a document, with their positions in the text. */
export interface SyntaxTree {
  readonly root: Node | null;
  /** The node that each alias refers to. */
  readonly targets: ReadonlyMap<Node, Node>;
}

/**
 * Converts YAML 1.2, which includes JSON, one document at a time. Keys are always text, even if they look like numbers.
 */
export function* parseDocuments(
  yaml: YamlText,
  env: ManifestEnvironment,
  allowance: RemainingYamlBudget = createYamlBudget(),
): Generator<ParsedDocument> {
  const { text } = yaml;
  const { documents, errors, limit } = yaml.compose(allowance);
  for (const { document, tags } of documents) yield convertDocument(document, { env, text, tags });
  if (errors.length > 0) yield createBrokenDocument(errors.map((error) => createSyntaxFinding(error, text)));
  if (limit === undefined) return;
  const { message, remedy } = limit.error;
  const range = { start: limit.offset, end: limit.offset + 1 };
  yield createBrokenDocument([{ code: 'yaml-syntax', message, remedy, range }]);
}

function convertDocument(
  document: Document.Parsed,
  context: { readonly env: ManifestEnvironment; readonly text: string; readonly tags: readonly TagToken[] },
): ParsedDocument {
  const { text } = context;
  const [start, , end] = document.range;
  const { value, findings, isBomb, tree } = convertRoot(document.contents, context);
  const [aboutTags, [first]] = listParseErrors(document, context.tags);
  const tagFindings = listTagFindings(context.tags, { document, errors: aboutTags, text });
  const read = { range: { start, end }, value, tree };
  if (first !== undefined || mayHideMistake(document.contents)) {
    const named = findNamedMistake(text, { start, end, error: first, root: document.contents });
    if (named !== undefined) return { ...read, findings: [named], isBroken: true };
  }
  // Show only the first error, because it causes most of the others.
  if (first !== undefined) {
    const cause = findTagBeforeError(context.tags, first, text);
    const finding = cause === undefined ? createSyntaxFinding(first, text) : createTagFinding(cause, { text });
    return { ...read, findings: [finding], isBroken: true };
  }
  return { ...read, findings: limitFindingsOfFile([...tagFindings, ...findings]), isBroken: isBomb };
}

function limitFindingsOfFile(all: readonly SyntaxFinding[]): readonly SyntaxFinding[] {
  const { shown, more } = limitDiagnosticsPerCode(all);
  return [
    ...shown,
    ...more.map(({ first: { code, range }, count }) => ({ code, range, ...describeOmittedDiagnostics(code, count) })),
  ];
}

/** Returns two lists in text order: the errors about tags, which concern one value each, and all other errors. */
function listParseErrors(
  { errors, warnings }: Document.Parsed,
  tags: readonly TagToken[],
): readonly [readonly YAMLError[], readonly YAMLError[]] {
  // The parser only warns of an unknown tag, although it changes the meaning of the value.
  const all = [...errors, ...warnings].sort((left, right) => left.pos[0] - right.pos[0]);
  const starts = new Set(tags.map(({ start }) => start));
  const aboutTags = new Set(all.filter((error) => isAboutTag(error, starts)));
  return [
    [...aboutTags],
    errors.filter((error) => !aboutTags.has(error)).sort((left, right) => left.pos[0] - right.pos[0]),
  ];
}

function createBrokenDocument(findings: readonly SyntaxFinding[]): ParsedDocument {
  const start = findings[0]?.range.start ?? 0;
  return { range: { start, end: start }, value: null, findings: findings.slice(0, 1), isBroken: true };
}

/** Extends the range to the whole word, because the parser reports only the first character. */
function createSyntaxFinding(error: YAMLError, text: string): SyntaxFinding {
  const [start, end] = error.pos;
  const [word = ''] = /^[\w./-]+/.exec(text.slice(start, start + MAX_WORD)) ?? [];
  return {
    code: 'yaml-syntax',
    message: describeError(error),
    remedy: chooseSyntaxRemedy(error.code),
    range: { start, end: Math.max(end, start + Math.max(word.length, 1)) },
  };
}

/** Longer than any name or field of a manifest. */
const MAX_WORD = 100;

function describeError(error: YAMLError): string {
  if (error.code === 'RESOURCE_EXHAUSTION') return TOO_DEEP_MESSAGE;
  if (error.code === 'NON_STRING_KEY') return 'a key must be text';
  return `not valid YAML: ${describeParserError(error)}`;
}

/** Returns the parser's sentence, without the text of the file that it may end with. */
function describeParserError({ code, message }: YAMLError): string {
  if (code === 'BAD_DIRECTIVE') return 'A directive is not supported';
  if (code === 'BAD_DQ_ESCAPE') return 'Invalid escape sequence';
  if (code === 'BAD_SCALAR_START') return message.replace(/ \S$/, '');
  return code === 'UNEXPECTED_TOKEN' ? message.replace(/(?<=\S): .*$/s, '') : message;
}

/** Returns the remedy that helps most often. The `yaml` package defines the codes. */
function chooseSyntaxRemedy(code: YAMLError['code']): string {
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
    case 'RESOURCE_EXHAUSTION':
      return NESTING_REMEDY;
    default:
      return 'Correct the text here, or close what is left open above.';
  }
}

/** The JSON value of a YAML node, with variables filled in. */
interface YamlValue {
  readonly value: Json;
  readonly findings: readonly SyntaxFinding[];
  /** Whether aliases enlarge the value beyond the limit. */
  readonly isBomb: boolean;
  readonly tree: SyntaxTree;
}

/**
 * Aliases may add FREE_COPIES nodes to a document, plus COPIES_PER_NODE for each node of the document itself. Documents
 * whose resources share lists need fewer. An alias bomb with ten aliases in each level exceeds this at its fourth level.
 */
const FREE_COPIES = 1_000;
const COPIES_PER_NODE = 10;

/**
 * Converts a node to JSON. Aliases share the value of their anchor, and merge keys copy only within the limit, so an alias
 * bomb uses no memory.
 */
function convertRoot(root: Node | null, { env, text }: Pick<Walk, 'env' | 'text'>): YamlValue {
  const walk: Walk = {
    env,
    text,
    root,
    findings: [],
    anchors: new Map(),
    open: new Set(),
    isSecret: false,
    targets: new Map(),
    nodes: 0,
    copies: 0,
    maxCopies: FREE_COPIES + COPIES_PER_NODE * countNodes(root),
    largest: undefined,
  };
  const value = convert(root, walk, 0);
  const { findings, largest, targets } = walk;
  const tree = { root, targets };
  if (largest === undefined || !isBomb(walk)) return { value, findings, isBomb: false, tree };
  return { value, findings: [...findings, createBombFinding(largest.range)], isBomb: true, tree };
}

function countNodes(node: unknown): number {
  if (isMap(node)) return node.items.reduce((count, { value }) => count + countNodes(value), 1);
  return isSeq(node) ? node.items.reduce<number>((count, item) => count + countNodes(item), 1) : 1;
}

function isBomb({ copies, maxCopies }: Pick<Walk, 'copies' | 'maxCopies'>): boolean {
  return copies > maxCopies;
}

function createBombFinding(range: OffsetRange): SyntaxFinding {
  return {
    code: 'yaml-syntax',
    message: 'the aliases of this document expand to too many values',
    remedy: 'Use fewer aliases, or split the document.',
    range,
  };
}

/** The state of converting one document. */
interface Walk {
  readonly env: ManifestEnvironment;
  /** The whole text of the file. */
  readonly text: string;
  readonly root: Node | null;
  readonly findings: SyntaxFinding[];
  /** The node and the value of each anchor, with the size in nodes. */
  readonly anchors: Map<string, { readonly node: Node; readonly value: Json; readonly size: number }>;
  /** Anchors of the nodes that are being converted. */
  readonly open: Set<string>;
  /** Whether what is converted is below a name that looks like that of a secret, so that no message quotes it. */
  isSecret: boolean;
  /** The node that each alias refers to. */
  readonly targets: Map<Node, Node>;
  nodes: number;
  /** The number of nodes that aliases have added so far. */
  copies: number;
  readonly maxCopies: number;
  /** The alias that adds the most nodes. */
  largest: { readonly size: number; readonly range: OffsetRange } | undefined;
}

function convert(node: unknown, walk: Walk, depth: number): Json {
  walk.nodes += 1;
  if (isAlias(node)) return convertAlias(node, walk);
  if (!isScalar(node)) {
    if (!isMap(node) && !isSeq(node)) return null;
    if (depth >= MAX_DEPTH) return reportDepth(node, walk);
    if (node.items.length > MAX_MEMBERS) return reportMembers(node, node.items.length, walk);
  }
  return node.anchor === undefined ? convertPlain(node, walk, depth) : keepAnchor(node, node.anchor, { walk, depth });
}

function convertPlain(node: Scalar | YAMLMap | YAMLSeq, walk: Walk, depth: number): Json {
  if (isScalar(node)) return convertScalar(node, walk);
  return isMap(node) ? convertMap(node, walk, depth + 1) : node.items.map((item) => convert(item, walk, depth + 1));
}

function keepAnchor(
  node: Scalar | YAMLMap | YAMLSeq,
  anchor: string,
  { walk, depth }: { readonly walk: Walk; readonly depth: number },
): Json {
  const before = walk.nodes + walk.copies;
  walk.open.add(anchor);
  const value = convertPlain(node, walk, depth);
  walk.open.delete(anchor);
  walk.anchors.set(anchor, { node, value, size: walk.nodes + walk.copies - before + 1 });
  return value;
}

function convertAlias(alias: Alias, walk: Walk): Json {
  const range = getNodeRange(alias);
  const found = walk.open.has(alias.source) ? undefined : walk.anchors.get(alias.source);
  if (found === undefined) {
    walk.findings.push({ ...createAliasFinding(alias.source, walk), range });
    return null;
  }
  walk.targets.set(alias, found.node);
  walk.copies += found.size;
  if (found.size > (walk.largest?.size ?? 0)) walk.largest = { size: found.size, range };
  return found.value;
}

function createAliasFinding(name: string, { open, isSecret }: Walk): Omit<SyntaxFinding, 'range'> {
  const code = 'yaml-syntax';
  const alias = isSecret ? 'this alias' : `the alias \`*${name}\``;
  if (open.has(name))
    return { code, message: `${alias} is inside its own anchor`, remedy: 'Write the value instead of the alias.' };
  if (isSecret)
    return { code, message: `${alias} has no anchor before it`, remedy: 'If it is text, put it in quotes.' };
  return {
    code,
    message: `${alias} has no anchor \`&${name}\` before it`,
    remedy: `Add \`&${name}\` to the value that you mean, or put the text in quotes: "*${name}".`,
  };
}

function reportDepth(node: Node, walk: Walk): Json {
  const message = `this is nested more than ${MAX_DEPTH} levels deep`;
  walk.findings.push({
    code: 'yaml-syntax',
    message,
    remedy: NESTING_REMEDY,
    range: getNodeRange(node),
  });
  return null;
}

/**
 * The maximum length of a list or map: twice the longest `List` that fits in a document. Findings about the members of
 * a longer one would use too much memory.
 */
const MAX_MEMBERS = 20_000;

function reportMembers(node: YAMLMap | YAMLSeq, count: number, walk: Walk): Json {
  const what = isMap(node) ? 'keys' : 'members';
  walk.findings.push({
    code: 'yaml-syntax',
    message: `this has ${count.toLocaleString('en')} ${what}; the limit is ${MAX_MEMBERS.toLocaleString('en')}`,
    remedy: `Split it: no field of a manifest needs that many ${what}.`,
    range: getNodeRange(node),
  });
  return isMap(node) ? {} : [];
}

function convertMap(map: YAMLMap, walk: Walk, depth: number): Json {
  const keys = new Map<string, Scalar>();
  const merged: JsonObject[] = [];
  const members: [string, Json][] = [];
  const second = findSecondHeader(map, walk);
  if (second !== undefined) walk.findings.push(createSecondHeaderFinding(second));
  for (const { key, value } of map.items) {
    const name = isScalar(key) ? String(key.value) : '';
    if (isScalar(key)) {
      checkKey(name, key, walk);
      const first = keys.get(name);
      if (first === undefined) keys.set(name, key);
      else if (second === undefined)
        walk.findings.push(createRepeatFinding(walk.isSecret ? undefined : name, key, first));
    }
    if (isMergeKey(key)) merged.push(...convertMergeSources(value, getNodeRange(map), { walk, depth }));
    else {
      const { isSecret } = walk;
      walk.isSecret ||= isNameOfSecret(name);
      members.push([name, convert(value, walk, depth)]);
      walk.isSecret = isSecret;
    }
  }
  if (merged.length === 0 || isBomb(walk)) return Object.fromEntries(members);
  // The members of the mapping itself win, then those of earlier sources.
  const inherited = merged.toReversed().flatMap((source) => Object.entries(source));
  const all = new Map([...inherited, ...members]);
  return all.size > MAX_MEMBERS ? reportMembers(map, all.size, walk) : Object.fromEntries(all);
}

export const MERGE_KEY = '<<';

/**
 * Whether a key is a merge key (yaml.org/type/merge.html). The option `merge` of the `yaml` package only concerns its own
 * conversion to values, which knows neither positions nor the limit on copies.
 */
export function isMergeKey(key: unknown): boolean {
  return isScalar(key) && key.type === 'PLAIN' && key.value === MERGE_KEY;
}

/** Converts the value of a merge key to the mappings that it merges: one, or a list of them. */
function convertMergeSources(
  node: unknown,
  mapRange: OffsetRange,
  { walk, depth }: { readonly walk: Walk; readonly depth: number },
): readonly JsonObject[] {
  const count = walk.findings.length;
  const value = convert(node, walk, depth);
  const sources = isJsonArray(value) ? value : [value];
  if (sources.every(isJsonObject)) return sources;
  // An alias without an anchor was reported.
  if (walk.findings.length === count)
    walk.findings.push({
      code: 'yaml-syntax',
      message: 'the merge key `<<` must have a mapping, or a list of mappings',
      remedy: 'Name the anchor of a mapping, such as `<<: *common`.',
      range: isNode(node) ? getNodeRange(node) : mapRange,
    });
  return [];
}

function checkKey(name: string, key: Scalar, walk: Walk): void {
  checkStorable('key', name, key, walk);
  if (name !== MERGE_KEY || isMergeKey(key)) return;
  walk.findings.push({
    code: 'yaml-syntax',
    message: 'the key `<<` in quotes is not a merge key',
    remedy: 'Write it without quotes to merge a mapping, or choose another key.',
    range: getNodeRange(key),
  });
}

/** The key that begins a second header in the mapping of a document: a line `---` is missing above it. */
function findSecondHeader(map: YAMLMap, { root }: Walk): Scalar | undefined {
  if (map !== root) return undefined;
  const names = new Set<string>();
  const repeated = map.items.flatMap(({ key }) => {
    const isRepeat = isScalar(key) && names.has(String(key.value));
    if (isScalar(key)) names.add(String(key.value));
    return isRepeat ? [key] : [];
  });
  const [first] = repeated;
  return ['apiVersion', 'kind'].every((name) => repeated.some(({ value }) => value === name)) ? first : undefined;
}

function createSecondHeaderFinding(key: Scalar): SyntaxFinding {
  return {
    code: 'yaml-syntax',
    message: 'a second document begins here, in the mapping of the first',
    remedy: 'Put a line `---` above it. Or, if it is the same document, keep one of the lines of each name.',
    range: getNodeRange(key),
  };
}

/** `name`: absent if no message may quote it. */
function createRepeatFinding(name: string | undefined, key: Scalar, first: Scalar): SyntaxFinding {
  return {
    code: 'yaml-syntax',
    message: `${name === undefined ? 'this key' : `the key \`${name}\``} appears twice in one mapping`,
    remedy: name === MERGE_KEY ? 'Write one with a list: `<<: [*first, *second]`.' : 'Keep one of them.',
    range: getNodeRange(key),
    related: { message: 'first here', range: getNodeRange(first) },
  };
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
  const { text, unset, withheld, malformed, isTooLong } = replaceEnvironmentVariables(value, walk.env);
  const range = getNodeRange(scalar);
  if (isTooLong)
    walk.findings.push({
      code: 'bad-value',
      message: 'this text is too long with its variables filled in',
      remedy: 'Shorten it: no field of a manifest allows this length.',
      range,
    });
  const toPart = (part: string) => ({
    range: getRangeOfValuePart(walk.text, range, { of: part, start: 0, end: part.length }),
    within: range,
  });
  for (const part of new Set(malformed))
    walk.findings.push({ ...createMalformedFinding(part, walk.isSecret), ...toPart(part) });
  for (const name of new Set(withheld)) {
    const [plain, start] = [`\${env:${name}}`, `\${env:${name}:-`];
    walk.findings.push({
      ...createWithheldFinding(name, walk.env),
      ...toPart(value.includes(plain) ? plain : start),
    });
  }
  for (const name of new Set(unset))
    walk.findings.push({
      code: 'env-reference',
      message: `the environment variable ${name} is not set`,
      remedy: `Set it, or give a default: \${env:${name}:-default}.`,
      ...toPart(`\${env:${name}}`),
    });
  return text;
}

function createWithheldFinding(
  name: string,
  { offeredSecrets = [] }: ManifestEnvironment,
): Pick<SyntaxFinding, 'code' | 'message' | 'remedy'> {
  const code = 'env-reference';
  if (isVariableForbiddenInManifests(name)) {
    const what = isKeyOrKeyFileVariable(name) ? 'an API key' : 'a token';
    return {
      code,
      message: `the environment variable ${name} is for ${what}, which no manifest can have`,
      remedy: 'Remove it.',
    };
  }
  if (offeredSecrets.includes(name))
    return {
      code,
      message: `the environment variable ${name} is offered as a secret, and \`\${env:}\` shows what it reads`,
      remedy: 'Name another variable: a secret is never shown.',
    };
  return {
    code,
    message: `the environment variable ${name} is not offered to manifests`,
    remedy: `Set it, and offer it with \`--env ${name}\` or \`EDGEWISE_ENV=${name}\`. A default counts only for a variable that is offered.`,
  };
}

/** Rejects text that services cannot store unchanged, because it would always differ from the live resource. */
function checkStorable(what: 'key' | 'text', text: string, node: Node, walk: Walk): void {
  const finding = checkStorableText(text);
  if (finding === undefined) return;
  walk.findings.push({
    code: 'bad-value',
    message: `this ${what} ${finding}`,
    remedy: 'Remove it: services cannot store it.',
    range: getNodeRange(node),
  });
}

function createMalformedFinding(part: string, isSecret: boolean): Pick<SyntaxFinding, 'code' | 'message' | 'remedy'> {
  const placeholder = isSecret ? 'a placeholder here' : `\`${part}\``;
  if (part.startsWith('${secret:'))
    return {
      code: 'env-reference',
      message: `${placeholder} is not \`\${secret:NAME}\``,
      remedy: 'A name has letters, digits and `_`, and there is no default. Write `$${secret:` for the text itself.',
    };
  return {
    code: 'env-reference',
    message: `${placeholder} is neither \`\${env:NAME}\` nor \`\${env:NAME:-default}\``,
    remedy: 'A name has letters, digits and `_`; a default has no braces. Write `$${env:` for the text itself.',
  };
}

function convertNumber(value: number, scalar: Scalar, walk: Walk): Json {
  const isInexact = Number.isInteger(value) && !Number.isSafeInteger(value) && /^[-+]?\d+$/.test(scalar.source ?? '');
  if (Number.isFinite(value) && !isInexact) return value === 0 ? 0 : value;
  const written = scalar.source ?? String(value);
  walk.findings.push({
    code: 'bad-value',
    message: `${walk.isSecret ? 'this number' : `the number ${written}`} cannot be stored exactly`,
    remedy: walk.isSecret ? 'If it is text, put it in quotes.' : `If it is text, put it in quotes: "${written}".`,
    range: getNodeRange(scalar),
  });
  return 0;
}

export function getNodeRange(node: Node): OffsetRange {
  const [start, end] = node.range ?? [0, 0];
  return { start, end };
}
