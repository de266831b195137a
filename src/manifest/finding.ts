import { isCollection, isMap, isScalar, isSeq, type Node, type Pair, type YAMLMap } from 'yaml';
import { type FieldType, getNestedFields, objectOf, type ReferenceType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { listKindsOfReferenceType } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findMemberType } from '../kinds/walk.ts';
import { type Address, isResourceName } from '../model/address.ts';
import { KEY_VARIABLE } from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Finding, FindingOn } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { OffsetRange, Place, TextRange } from '../model/place.ts';
import type { FieldPath } from '../model/state.ts';
import type { SchemaFinding } from '../schemas/findings.ts';
import { findRetiredFieldRemedy } from '../settings/retired.ts';
import { getNodeRange, isMergeKey, type SyntaxTree } from './parse.ts';
import { isPathOfSecret } from './secret-ranges.ts';
import { getRangeOfValuePart, type SourceText } from './source-text.ts';
import { suggest, suggestRemedy } from './suggest.ts';

/** A document whose kind is known. */
export interface ManifestDocument {
  readonly source: DocumentSource;
  readonly kind: string;
  /** Absent if the name is missing or invalid, or if the kind is `Defaults`. */
  readonly address: Address | undefined;
  readonly name: string;
  /** The whole document, with variables filled in. */
  readonly value: JsonObject;
  /** Whether all fields conform to the kind. */
  readonly isValid: boolean;
  /** Set for a Stack with Defaults: the Stack itself, then its Defaults, nearest first. */
  readonly layers?: readonly ManifestDocument[];
}

export type DocumentFinding = FindingOn<ManifestDocument>;

/** Maps each address to the first document that has it. */
export type DocumentsByAddress = ReadonlyMap<Address, ManifestDocument>;

export function createIndex(documents: readonly ManifestDocument[]): DocumentsByAddress {
  const index = new Map<Address, ManifestDocument>();
  for (const document of documents) {
    const { address } = document;
    if (address !== undefined && !index.has(address)) index.set(address, document);
  }
  return index;
}

/** The subject of a finding: a document, or a value that should be a document. */
export type DiagnosticSubject = Pick<ManifestDocument, 'source'> & Partial<Pick<ManifestDocument, 'address' | 'kind'>>;

export function locateDiagnostic(subject: DiagnosticSubject, finding: Finding): Diagnostic {
  const { path, target, related = [] } = finding;
  const { source, kind } = subject;
  return createDiagnostic(subject, {
    ...finding,
    remedy: finding.remedy ?? formatExplainRemedy(kind, path),
    place: locate(source, path, target),
    related,
  });
}

type DiagnosticParts = Pick<Finding, 'code' | 'severity' | 'message' | 'remedy' | 'related'> &
  Pick<Diagnostic, 'place'>;

/** Creates a diagnostic on a document. Its message starts with the address. */
export function createDiagnostic(
  { address, kind }: Omit<DiagnosticSubject, 'source'>,
  finding: DiagnosticParts,
): Diagnostic {
  const { code, severity = 'error', message, remedy, place, related = [] } = finding;
  const whose = address ?? kind;
  return {
    code,
    severity,
    message: shortenMessage(whose === undefined ? message : `${whose}: ${message}`),
    remedy: remedy === undefined ? undefined : shortenMessage(remedy),
    address,
    place,
    ...(related.length > 0 && { related }),
  };
}

/** Returns the default remedy, which says how to look up the field. */
function formatExplainRemedy(kind: string | undefined, path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string');
  const [part, ...inner] = names;
  const table = kind === undefined ? undefined : findKind(kind);
  const known = table === undefined || part !== 'spec' ? names : listKnownSteps(table, inner);
  const topic = [...(kind === undefined ? [] : [kind]), ...known].join('.');
  return `To see what is allowed, run \`edgewise explain${topic === '' ? '' : ` ${topic}`}\`.`;
}

/** Returns the leading names that are fields of the table. Stops at any other name, such as a key of a map. */
function listKnownSteps(table: Kind, names: readonly string[]): readonly string[] {
  let fields = table.fields;
  const end = names.findIndex((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = getNestedFields(field?.type);
    return field === undefined;
  });
  return end < 0 ? names : names.slice(0, end);
}

/**
 * The number of characters kept at each end of a long message. Both ends fill ten lines of a terminal. Messages quote
 * texts of any length.
 */
const MAX_HALF = 400;

export function shortenMessage(message: string): string {
  return message.length <= 2 * MAX_HALF ? message : `${message.slice(0, MAX_HALF)}…${message.slice(-MAX_HALF)}`;
}

/** Returns the position of a finding and, if a tool made the document, its source file. */
export function locate(source: DocumentSource, path: FieldPath, target: Target = 'value', part?: TextRange): Place {
  const { text, origin } = source;
  const range = findRange(source, path, target);
  const place = text.toPlace((part === undefined ? range : getRangeOfValuePart(text.text, range, part)).start);
  return origin === undefined ? place : { ...place, origin };
}

/** `value`: the document with the finding. */
export function toManifestFinding(
  schemaFinding: SchemaFinding,
  kind: string,
  { source, value }: Pick<ManifestDocument, 'source' | 'value'>,
): Finding {
  const finding = withoutSecret(
    { ...schemaFinding, message: `${formatPath(schemaFinding.path)} ${schemaFinding.message}` },
    kind,
    value,
  );
  const { code, path, at, message, repeats } = finding;
  return {
    code,
    message,
    remedy: (finding.needsQuotes && findQuotesRemedy(source, path)) || findRemedy(finding, kind),
    path: at === 'parent' ? path.slice(0, -1) : path,
    target: at === 'value' ? 'value' : 'key',
    related: repeats && [{ message: 'first here', place: locate(source, repeats, 'key') }],
  };
}

/** Returns a finding whose texts quote no value, and no unknown key, below a name that looks like that of a secret. */
function withoutSecret(finding: SchemaFinding, kind: string, document: Json): SchemaFinding {
  const { path, at, unknown, message, remedy, needsQuotes, given: _, ...rest } = finding;
  const parent = path.slice(0, -1);
  const isUnknownKey = at === 'key' && unknown !== undefined;
  if (isUnknownKey && isPathOfSecret(parent, kind) && suggest(unknown.given, unknown.known) === undefined)
    return { ...finding, message: `${formatPath(parent)} has an unknown field` };
  if (at !== 'value' || !isPathOfSecret(path, kind)) return finding;
  const value = path.reduce<Json | undefined>(findMember, document);
  if (typeof value === 'object' || value === undefined) return finding;
  return {
    ...rest,
    path,
    at,
    unknown,
    message: hideWord(message, String(value)),
    // Behind a colon, a remedy has the value as it should be written.
    remedy: needsQuotes === true ? 'Put it in quotes.' : remedy?.replace(/: .*$/s, '.'),
  };
}

function findMember(value: Json | undefined, step: string | number): Json | undefined {
  if (isJsonArray(value)) return value[Number(step)];
  return isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
}

/** Replaces a value in a text that has it as a word. Not by a pattern: a value may be longer than patterns can be. */
function hideWord(text: string, value: string): string {
  if (value === '') return text;
  const [first = '', ...parts] = text.split(value);
  return parts.reduce((before, after) => {
    const isInWord = /[A-Za-z0-9]$/.test(before) || /^[A-Za-z0-9]/.test(after);
    return `${before}${isInWord ? value : '(hidden)'}${after}`;
  }, first);
}

/** Quotes the value as it is written: YAML reads 1.10 as 1.1. `undefined` if its text is not known. */
function findQuotesRemedy(source: DocumentSource, path: FieldPath): string | undefined {
  const { start, end } = findRange(source, path, 'value');
  const written = source.text.text.slice(start, end);
  return /^[-+.\w]{1,100}$/.test(written) ? `Put it in quotes: "${written}".` : undefined;
}

function findRemedy(finding: SchemaFinding, kind: string): string | undefined {
  const { code, path, remedy, unknown, given } = finding;
  if (given !== undefined)
    return code === 'bad-reference' ? findReferenceRemedy(given, finding, kind) : findNameRemedy(given);
  const attached = findAttachedRemedy(finding, kind);
  if (attached !== undefined) return attached;
  if (unknown === undefined) return remedy;
  const retired = code === 'bad-field' ? findRetiredFieldRemedy(kind, path) : undefined;
  if (retired !== undefined) return retired;
  const special = code === 'bad-field' ? findSpecialRemedy(path, unknown.given, kind) : undefined;
  if (special !== undefined) return special;
  if (remedy !== undefined) return remedy;
  // The message about an unknown value already lists the allowed values.
  return suggestRemedy(unknown.given, unknown.known, code === 'bad-field');
}

/** Suggests the valid name that resembles this one. */
function findNameRemedy(given: string): string | undefined {
  const name = given
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .slice(0, 63)
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return isResourceName(name) ? `Did you mean \`${name}\`?` : undefined;
}

/** Suggests an address if a reference has only a name. */
function findReferenceRemedy(
  given: string,
  finding: Pick<SchemaFinding, 'path' | 'at'>,
  kind: string,
): string | undefined {
  const type = findReferenceType(kind, finding);
  const [referable] = type === undefined ? [] : listKindsOfReferenceType(type);
  return referable !== undefined && isResourceName(given) && !given.includes('_')
    ? `Did you mean \`${referable.name}/${given}\`?`
    : undefined;
}

/** Returns the reference type of the value or map key at a path in a spec. `undefined` if it is not a reference. */
function findReferenceType(kind: string, { path, at }: Pick<SchemaFinding, 'path' | 'at'>): ReferenceType | undefined {
  const [spec, ...steps] = path.slice(0, -1);
  const { fields = {} } = (spec === 'spec' ? findKind(kind) : undefined) ?? {};
  const holder = steps.reduce<FieldType | undefined>(findMemberType, objectOf(fields));
  const type = holder?.type === 'map' && at === 'key' ? holder.keys : findMemberType(holder, path.at(-1) ?? '');
  return type?.type === 'reference' ? type : undefined;
}

/** Returns the remedy for a document that describes a resource of a kind that edgewise only attaches modules to. */
function findAttachedRemedy({ code, path, unknown }: SchemaFinding, kind: string): string | undefined {
  const table = findKind(kind);
  if (table?.role !== 'attached' || path.length !== 2 || path[0] !== 'spec') return undefined;
  const isMeantOtherwise =
    unknown === undefined ? path[1] === 'id' : suggest(unknown.given, unknown.known) === undefined;
  if (code !== 'bad-field' || !isMeantOtherwise) return undefined;
  return `The kind ${kind} sets modules of one that exists: name it with \`id: ${table.idPrefix}_…\`. To refer to one only, write \`kind: External\` with \`spec: { id: ${table.idPrefix}_… }\`.`;
}

/** Returns the remedy for some common unknown fields. */
function findSpecialRemedy(path: FieldPath, given: string, kind: string): string | undefined {
  if (/^spec\.api\.(api_?)?(key|token)$/i.test(path.join('.')))
    return `No manifest has the key. Set ${KEY_VARIABLE}, or name another variable in key_env.`;
  const table = findKind(kind);
  if (table === undefined) return undefined;
  const isSettable = table.specFields.some(([name]) => name === given);
  if (path.length === 1 && isSettable) return `Did you mean \`spec.${given}\`?`;
  const isInSpec = path.length === 2 && path[0] === 'spec';
  return isInSpec && !isSettable && Object.hasOwn(table.fields, given)
    ? 'Remove the line: only the service sets this field.'
    : undefined;
}

/** The text of a document. `locate` returns the `Place` of a path in it. */
export interface DocumentSource {
  readonly text: SourceText;
  /** The YAML document. For a member of a `List`, the YAML document that contains the `List`. */
  readonly range: OffsetRange;
  readonly tree?: SyntaxTree | undefined;
  /** The path from the YAML document to this document. Empty unless this document is a member of a `List`. */
  readonly base: FieldPath;
  /** The source file from which a tool made this document. */
  readonly origin?: string;
}

type Target = NonNullable<Finding['target']>;

interface FoundNode {
  readonly node: Node | null;
  readonly key: Node | undefined;
}

/** Returns the range of a path. If the path does not exist, returns the range of its longest existing part. */
export function findRange({ range, tree, base }: DocumentSource, path: FieldPath, target: Target): OffsetRange {
  if (tree === undefined) return range;
  let found: FoundNode = { node: tree.root, key: undefined };
  for (const step of [...base, ...path]) {
    const next = findMemberNode(tree, found.node, step);
    if (next === undefined) break;
    found = next;
  }
  return findTargetRange(found, target) ?? range;
}

/** Returns the node at a path. `null`: a key without a value. `undefined`: there is none. */
export function findNode({ tree, base }: DocumentSource, path: FieldPath): Node | null | undefined {
  if (tree === undefined) return undefined;
  let node: Node | null = tree.root;
  for (const step of [...base, ...path]) {
    const found = findMemberNode(tree, node, step);
    if (found === undefined) return undefined;
    node = found.node;
  }
  return node;
}

/** Returns the member at a step of a path. Step 0 of a single value is the value itself, like a list of one. */
function findMemberNode(tree: SyntaxTree, node: Node | null, step: string | number): FoundNode | undefined {
  const inner = resolveAlias(tree, node);
  if (isSeq<Node>(inner)) {
    const member = inner.items[Number(step)];
    return member === undefined ? undefined : { node: member, key: undefined };
  }
  for (const { items } of isYamlMap(inner) ? listMergedMaps(tree, inner) : []) {
    const pair = items.findLast(({ key }) => isScalar(key) && !isMergeKey(key) && String(key.value) === String(step));
    if (pair !== undefined) return { node: pair.value, key: pair.key };
  }
  return step === 0 ? { node: inner, key: undefined } : undefined;
}

function resolveAlias({ targets }: SyntaxTree, node: Node | null): Node | null {
  return (node === null ? undefined : targets.get(node)) ?? node;
}

function isYamlMap(node: Node | null): node is YAMLMap<Node, Node | null> {
  return isMap(node);
}

/** Lists a mapping and all that its merge keys name. A member has the value of the first in which it is. */
function listMergedMaps(
  tree: SyntaxTree,
  map: YAMLMap<Node, Node | null>,
  seen = new Set<YAMLMap<Node, Node | null>>(),
): ReadonlySet<YAMLMap<Node, Node | null>> {
  if (seen.has(map)) return seen;
  seen.add(map);
  for (const { value } of map.items.filter(({ key }) => isMergeKey(key))) {
    const source = resolveAlias(tree, value);
    for (const one of isSeq<Node>(source) ? source.items : [source]) {
      const merged = resolveAlias(tree, one);
      if (isYamlMap(merged)) listMergedMaps(tree, merged, seen);
    }
  }
  return seen;
}

function findTargetRange({ node, key }: FoundNode, target: Target): OffsetRange | undefined {
  const isWide = isCollection(node) && node.flow !== true;
  const isEmpty = node === null || node.range?.[0] === node.range?.[1];
  if (key !== undefined && (target === 'key' || isWide || isEmpty)) return getNodeRange(key);
  if (node === null) return undefined;
  return isWide ? locateFirst(node) : getNodeRange(node);
}

/** Returns the range of the first key or first scalar in a collection. */
function locateFirst(node: Node): OffsetRange {
  const [first] = isCollection(node) ? node.items : [];
  if (isMap(node) && first !== undefined) return locateFirst((first as Pair<Node>).key); // the items of a map are pairs
  if (isSeq<Node>(node) && node.items[0] !== undefined) return locateFirst(node.items[0]);
  return getNodeRange(node);
}

export function getDocumentFolder({ source }: Pick<ManifestDocument, 'source'>): string {
  const { file } = source.text;
  return file.includes('/') ? file.slice(0, file.lastIndexOf('/')) : '.';
}
