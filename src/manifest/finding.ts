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
import { type FieldType, listInnerFields, objectOf, type ReferenceType } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { listReferableKinds } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { findInnerType } from '../kinds/walk.ts';
import { type Address, isResourceName } from '../model/address.ts';
import type { Diagnostic, DiagnosticCode, SourcePlace, TextPart } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import type { SchemaFinding } from '../schemas/findings.ts';
import { composeDocument, toSpan } from './parse.ts';
import { locatePart, type SourceText, type Span } from './source-text.ts';
import { suggestRemedy } from './suggest.ts';

/** A document of a kind that is known. */
export interface ManifestDocument {
  readonly position: Position;
  readonly kind: string;
  /** Absent: it has none, or one that cannot be a name. */
  readonly address: Address | undefined;
  readonly name: string;
  /** All of it, with variables filled in. */
  readonly value: JsonObject;
  /** Whether its fields conform to its kind. */
  readonly isValid: boolean;
  /** Of a Stack whose value has the settings of Defaults too: itself as it is written, then those, the nearest first. */
  readonly layers?: readonly ManifestDocument[];
}

/** A place in a document. */
export interface Place {
  readonly position: Position;
  readonly path: FieldPath;
  readonly target: Target;
}

/** A mistake in a document, at a path inside of it. */
export interface Finding {
  readonly code: DiagnosticCode;
  /** The message, without the address. */
  readonly message: string;
  readonly remedy?: string | undefined;
  readonly path: FieldPath;
  readonly target: Target;
  readonly related?: readonly { readonly message: string; readonly place: Place }[];
}

/** A finding and the document that has it. */
export interface DocumentFinding {
  readonly document: ManifestDocument;
  readonly finding: Finding;
}

/** The documents by address; of several with one address, the first. */
export type DocumentIndex = ReadonlyMap<Address, ManifestDocument>;

/** What a finding is in: a document, or something that should have been one. */
export type DiagnosticSubject = Pick<ManifestDocument, 'position'> &
  Partial<Pick<ManifestDocument, 'address' | 'kind'>>;

export function locateDiagnostic(subject: DiagnosticSubject, finding: Finding, locator: Locator): Diagnostic {
  const { path, target, related = [] } = finding;
  const { position, kind } = subject;
  return createDiagnostic(subject, {
    ...finding,
    remedy: finding.remedy ?? toExplainRemedy(kind, path),
    place: locatePlace({ position, path, target }, locator),
    related: related.map((other) => ({ message: other.message, place: locatePlace(other.place, locator) })),
  });
}

/** What a diagnostic of a manifest is made of. */
type LocatedFinding = Required<Pick<Diagnostic, 'place' | 'related'>> &
  Pick<Diagnostic, 'code' | 'message'> & { readonly remedy: string | undefined };

/** A diagnostic about a document: an error, whose message starts with the address. */
export function createDiagnostic(
  { address, kind }: Omit<DiagnosticSubject, 'position'>,
  finding: LocatedFinding,
): Diagnostic {
  const { code, message, remedy, place, related } = finding;
  const whose = address ?? kind;
  return {
    code,
    severity: 'error',
    message: shorten(whose === undefined ? message : `${whose}: ${message}`),
    ...(remedy !== undefined && { remedy: shorten(remedy) }),
    ...(address !== undefined && { address }),
    place,
    ...(related.length > 0 && { related }),
  };
}

/** The remedy of findings without their own: how to look the field up. */
function toExplainRemedy(kind: string | undefined, path: FieldPath): string {
  const names = path.filter((step) => typeof step === 'string');
  const [part, ...inner] = names;
  const table = kind === undefined ? undefined : findKind(kind);
  const known = table === undefined || part !== 'spec' ? names : listKnownSteps(table, inner);
  const topic = [...(kind === undefined ? [] : [kind]), ...known].join('.');
  return `To see what is allowed, run \`edgewise explain${topic === '' ? '' : ` ${topic}`}\`.`;
}

/** The names that are fields of the table; keys of maps are not. */
function listKnownSteps(table: Kind, names: readonly string[]): readonly string[] {
  let fields = table.fields;
  const end = names.findIndex((name) => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    fields = listInnerFields(field?.type);
    return field === undefined;
  });
  return end < 0 ? names : names.slice(0, end);
}

/** Characters of a message that are kept at its start and at its end: what it quotes has no limit. */
const MAX_HALF = 400;

/** A message that fits, its middle left out where it does not. */
export function shorten(message: string): string {
  return message.length <= 2 * MAX_HALF ? message : `${message.slice(0, MAX_HALF)}…${message.slice(-MAX_HALF)}`;
}

/** The source place of a finding, with its excerpt. */
export function locatePlace({ position, path, target }: Place, locator: Locator, part?: TextPart): SourcePlace {
  const span = locator.locate(position, path, target);
  const { source, origin } = position;
  const found = source.toPlace(part === undefined ? span : locatePart(source.text, span, part));
  return origin === undefined ? found : { ...found, origin };
}

/** Converts a finding of a schema. */
export function toFinding(finding: SchemaFinding, kind: string, position: Position): Finding {
  const { code, path, at, message, repeats } = finding;
  return {
    code,
    message: `${formatPath(path)} ${message}`,
    remedy: toFindingRemedy(finding, kind),
    path: at === 'parent' ? path.slice(0, -1) : path,
    target: at === 'value' ? 'value' : 'key',
    ...(repeats !== undefined && {
      related: [{ message: 'first here', place: { position, path: repeats, target: 'key' } }],
    }),
  };
}

function toFindingRemedy(finding: SchemaFinding, kind: string): string | undefined {
  const { code, path, remedy, unknown, given } = finding;
  if (given !== undefined) return toNameRemedy(given, finding, kind);
  if (unknown === undefined) return remedy;
  const special = code === 'unknown-field' ? toSpecialRemedy(path, unknown.given, kind) : undefined;
  if (special !== undefined) return special;
  // The message about a value that is not allowed lists the allowed ones.
  return suggestRemedy(unknown.given, unknown.known, code === 'unknown-field');
}

/** The remedy for a text that is not a name or a reference: the one that was most likely meant. */
function toNameRemedy(
  given: string,
  finding: Pick<SchemaFinding, 'code' | 'path' | 'at'>,
  kind: string,
): string | undefined {
  const { code } = finding;
  if (code === 'bad-name') {
    const name = given
      .toLowerCase()
      .replace(/[^a-z0-9._-]+/g, '-')
      .slice(0, 63)
      .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
    return isResourceName(name) ? `Did you mean \`${name}\`?` : undefined;
  }
  const type = code === 'wrong-reference' ? findReferenceType(kind, finding) : undefined;
  const [referable] = type === undefined ? [] : listReferableKinds(type);
  return referable !== undefined && isResourceName(given) && !given.includes('_')
    ? `Did you mean \`${referable.name}/${given}\`?`
    : undefined;
}

/** The type of a reference in a spec, or of a key of one of its maps. */
function findReferenceType(kind: string, { path, at }: Pick<SchemaFinding, 'path' | 'at'>): ReferenceType | undefined {
  const [spec, ...steps] = path.slice(0, -1);
  const { fields = {} } = (spec === 'spec' ? findKind(kind) : undefined) ?? {};
  const holder = steps.reduce<FieldType | undefined>(findInnerType, objectOf(fields));
  const type = holder?.type === 'map' && at === 'key' ? holder.keys : findInnerType(holder, path.at(-1) ?? '');
  return type?.type === 'reference' ? type : undefined;
}

/** Special remedies for unknown fields that users often write. */
function toSpecialRemedy(path: FieldPath, given: string, kind: string): string | undefined {
  if (given === '<<') return 'YAML 1.2 has no merge keys. Write the fields out, or use an alias for a whole value.';
  const table = findKind(kind);
  if (table === undefined) return undefined;
  const isSettable = table.specFields.some(([name]) => name === given);
  if (path.length === 1 && isSettable) return `Did you mean \`spec.${given}\`?`;
  const isInSpec = path.length === 2 && path[0] === 'spec';
  return isInSpec && !isSettable && Object.hasOwn(table.fields, given)
    ? 'Remove the line: only the service sets this field.'
    : undefined;
}

/** The position of a document. */
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
type Target = 'key' | 'value';

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
  /** The target of each alias. */
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

/** A node, and its key. */
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
