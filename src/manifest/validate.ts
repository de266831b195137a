import { toBuffer } from '../files/read-input.ts';
import type { DeepFormatChecks } from '../kinds/deep-format-checks.ts';
import type { Kind } from '../kinds/kind.ts';
import { listMarkedFields, normalizeSpec } from '../kinds/normalize.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName } from '../model/address.ts';
import { type Diagnostic, hasErrors, type ManifestStart, type SourcePlace } from '../model/diagnostic.ts';
import { parseRenderSource } from '../model/field-path.ts';
import { hashSha256, isJsonArray, isJsonObject, type Json, type JsonObject, toByteLength } from '../model/json.ts';
import {
  FIELD_DIGEST_LENGTH,
  MARK_KEY,
  parseMetadata,
  renderMetadata,
  renderUserMetadata,
  UNMANAGED_DIGEST,
} from '../model/mark.ts';
import type { LocatePart, PolicyDocument, PolicyDocuments, PolicyTestDocument } from '../model/policy.ts';
import { NO_SECRETS, type Secrets } from '../model/secrets.ts';
import type {
  DesiredResource,
  DesiredState,
  FieldPath,
  ManifestInput,
  ResourceLifecycle,
  Spec,
} from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { createPolicySpecSchema, createPolicyTestSpecSchema } from '../schemas/policy.ts';
import { createAllowance, createDiagnosticCounter, describeOmitted, limitPerCode } from './bounded-yaml.ts';
import { type ReadContext, type ReadDocuments, readDocuments } from './documents.ts';
import { type Environment, NO_FIELD_FILES, type ReadFieldFile, resolveManifestPath, STDIN } from './environment.ts';
import {
  createLocator,
  type DocumentFinding,
  type Finding,
  type Locator,
  locateDiagnostic,
  locatePlace,
  type ManifestDocument,
  type Position,
} from './finding.ts';
import { encodeSource, type ManifestBytes, type ManifestSource } from './load.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import { redactSource } from './secrets.ts';
import type { Span } from './source-text.ts';
import { decodeSource } from './stack-render.ts';
import {
  fillInDefaults,
  findSeveralStacks,
  listDescribedHandOvers,
  listDuplicateClaims,
  listDuplicates,
  listExtraStacks,
  listRenamedFromConflicts,
  listSecondDefaults,
  listStackSettings,
  listUnusedKinds,
  locateSetting,
  NO_STACK,
  readLabelsAndAnnotations,
  readStackSettings,
  type StackSetting,
} from './stack-settings.ts';

/**
 * From the bytes of manifest files to the desired state. Pure and synchronous; never throws, whatever the bytes are. Reports
 * every mistake at once. What a field may hold is in its kind's table, not here.
 */

/** The options of validation. */
export interface ValidateOptions {
  /** Fills in `${env:NAME}`. */
  readonly env: Environment;
  /** What no manifest may contain. Left out: no secret is known. */
  readonly secrets?: Pick<Secrets, 'redact' | 'find'>;
  /** Whether the lack of a `Stack` is an error, as it is where something will be compared or written. Default: true. */
  readonly requireStack?: boolean;
  /** Reads the files that fields name; left out: such a field is an error. */
  readonly readFile?: ReadFieldFile;
  /** What looks closer at texts whose form is right: `loadDeepFormatChecks`. Left out: only the form is checked. */
  readonly closerChecks?: DeepFormatChecks;
}

/** What the manifests ask for, when nothing is wrong with them. */
export interface ValidatedManifests {
  readonly state: DesiredState | undefined;
  /** By file in the order given, then line, then column; those without a place last. */
  readonly diagnostics: readonly Diagnostic[];
  /** The first `Stack` document, valid or not; absent: there is none that can be read. */
  readonly stack?: FoundStack;
  /** The policies and their cases whose fields are right, whatever else is wrong. */
  readonly rules: PolicyDocuments;
}

/** The known parts of a `Stack` that may be invalid. */
interface FoundStack {
  /** Absent: it has none, or one that cannot be a name. */
  readonly name?: string;
  /** The position of its document's start, or of a path in it. Parses it again. */
  readonly locate: (path?: FieldPath) => SourcePlace;
  /** Its settings. Only of a valid one. */
  readonly listSettings: () => readonly StackSetting[];
}

/** Validates manifests. */
export function validateManifests(given: readonly ManifestSource[], options: ValidateOptions): ValidatedManifests {
  const sources = given.map(encodeSource);
  const locator = createLocator();
  // What a program hands over as a text is meant as manifests, whatever it is.
  const handed = new Set(given.filter((source) => 'text' in source).map(({ file }) => file));
  const tally = createDiagnosticCounter();
  const { documents: written, diagnostics, mayHideStack } = readAll(sources, options, { locator, tally, handed });
  const stacks = written.filter(({ kind }) => kind === 'Stack');
  const several = findSeveralStacks(stacks);
  if (several !== undefined) return { state: undefined, diagnostics: [several], rules: toPolicyDocuments([], locator) };
  const documents = fillInDefaults(written);
  const [stack] = documents.filter(({ kind }) => kind === 'Stack');
  const index = toIndex(documents);
  const references = resolveReferences(documents, index);
  const duplicates = listDuplicates(documents, index);
  const findings = [
    ...listExtraStacks(stacks),
    ...listSecondDefaults(documents),
    ...listUnusedKinds(documents, stack),
    ...listDescribedHandOvers(index, stack),
    ...duplicates,
    ...listRenamedFromConflicts(documents, index),
    ...references.findings,
    ...listDuplicateClaims(without(references.specs, duplicates)),
    ...listMetadataFindings(documents, references, stack?.name ?? ''),
  ];
  const all = [
    ...diagnostics,
    ...cutFindings(findings)
      .filter(({ finding }) => tally.admit(finding.code))
      .map(({ document, finding }) => locateDiagnostic(document, finding, locator)),
    ...(stacks.length === 0 && !mayHideStack && options.requireStack !== false ? [NO_STACK] : []),
    ...tally.listRest(),
  ];
  locator.forget();
  const state = hasErrors(all) ? undefined : toState(sources, { documents, references, locator });
  return {
    state,
    diagnostics: sortByPlace(all, sources),
    rules: toPolicyDocuments(documents, locator),
    ...(stack !== undefined && { stack: toFoundStack(stack, locator) }),
  };
}

function toFoundStack(stack: ManifestDocument, locator: Locator): FoundStack {
  return {
    ...(isResourceName(stack.name) && { name: stack.name }),
    locate: (path = []) => locateSetting(stack, path, locator),
    listSettings: () => listStackSettings(stack, locator),
  };
}

/** The diagnostics of each document, limited to a number that a person reads. */
function cutFindings(findings: readonly DocumentFinding[]): readonly DocumentFinding[] {
  return [...Map.groupBy(findings, ({ document }) => document)].flatMap(([document, group]) => {
    const { told, more } = limitPerCode(group.map(({ finding }) => finding));
    const rest = more.map(({ first, count }) => ({ ...first, ...describeOmitted(first.code, count), related: [] }));
    return [...told, ...rest].map((finding) => ({ document, finding }));
  });
}

function readAll(
  sources: readonly ManifestBytes[],
  options: ValidateOptions,
  { locator, tally, handed }: Pick<ReadContext, 'locator' | 'tally'> & { readonly handed: ReadonlySet<string> },
): ReadDocuments {
  const allowance = createAllowance();
  const { env, secrets = NO_SECRETS, readFile = NO_FIELD_FILES, closerChecks = new Map() } = options;
  const documents: ManifestDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  let mayHideStack = false;
  // Gathered at once: lists of its own for each of ten thousand files take more than the files.
  for (const source of sources) {
    const decoded = decodeSource(source);
    if ('code' in decoded) {
      diagnostics.push(withoutExcerpt(decoded, source));
      mayHideStack = true;
      continue;
    }
    const { text, held } = redactSource(decoded, secrets);
    if (held !== undefined) diagnostics.push(held);
    const context = { env, secrets, locator, readFile, closerChecks, allowance, tally };
    const read = readDocuments(text, context, source);
    for (const document of read.documents) documents.push(document);
    const told = handed.has(text.file) || isQuotable(text) ? read.diagnostics : toUnquoted(text.file, read.diagnostics);
    for (const diagnostic of told) diagnostics.push(diagnostic);
    mayHideStack ||= read.mayHideStack;
  }
  return { documents, diagnostics, mayHideStack };
}

/** The first error of the documents of one file, whatever other files hold. Files that fields name are not read. */
export function findDocumentError(
  source: ManifestBytes,
  { env }: Pick<ValidateOptions, 'env'>,
): Diagnostic | undefined {
  const context = { locator: createLocator(), tally: createDiagnosticCounter(), handed: new Set<string>() };
  return readAll([source], { env }, context).diagnostics.find(
    ({ severity, code }) => severity === 'error' && code !== 'file-unreadable',
  );
}

/** Drops the excerpt of a file that may not be a manifest: it might be a secret. */
function withoutExcerpt(diagnostic: Diagnostic, { file, bytes }: ManifestBytes): Diagnostic {
  const { place } = diagnostic;
  if (place === undefined || isQuotable({ file, text: toBuffer(bytes).toString('latin1') })) return diagnostic;
  return { ...diagnostic, place: { ...place, excerpt: '' } };
}

function toIndex(documents: readonly ManifestDocument[]): ReadonlyMap<Address, ManifestDocument> {
  const index = new Map<Address, ManifestDocument>();
  for (const document of documents) {
    const { address } = document;
    if (address !== undefined && !index.has(address)) index.set(address, document);
  }
  return index;
}

/** A duplicate document repeats every claim of the first: only the duplicate itself is reported. */
function without(
  specs: ResolvedReferences['specs'],
  duplicates: readonly DocumentFinding[],
): ResolvedReferences['specs'] {
  if (duplicates.length === 0) return specs;
  const copies = new Set(duplicates.map(({ document }) => document));
  return new Map([...specs].filter(([document]) => !copies.has(document)));
}

function listMetadataFindings(
  documents: readonly ManifestDocument[],
  { specs }: ResolvedReferences,
  stack: string,
): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const kind = findKind(document.kind);
    if (kind === undefined) return [];
    const { name, isValid } = document;
    const spec = specs.get(document) ?? {};
    if (spec['metadata'] === undefined) return [];
    const finding = findMetadataFinding({ kind, stack, name, spec, lifecycle: toLifecycle(document), isValid });
    return finding === undefined ? [] : [{ document, finding }];
  });
}

function toLifecycle({ value, kind, position }: ManifestDocument): ResourceLifecycle {
  if (value['lifecycle'] === undefined) return NO_LIFECYCLE;
  const lifecycle = isJsonObject(value['lifecycle']) ? value['lifecycle'] : {};
  const { protect, ignore, adopt, renamed_from: renamedFrom } = lifecycle;
  return {
    protect: protect === true,
    ignore: isJsonArray(ignore) ? ignore.filter((name) => typeof name === 'string') : [],
    adopt: typeof adopt === 'string' ? adopt : undefined,
    ...toFormer(renamedFrom),
    settings: toSettings(lifecycle, findKind(kind)?.lifecycle ?? {}, position.source.file),
  };
}

const NO_LIFECYCLE: ResourceLifecycle = { protect: false, ignore: [], adopt: undefined, settings: {} };

function toFormer(former: Json | undefined): Pick<ResourceLifecycle, 'renamedFrom' | 'takenFrom'> {
  if (typeof former === 'string') return { renamedFrom: former };
  if (former === undefined || !isJsonObject(former)) return {};
  const { stack, name } = former;
  return typeof stack === 'string' && typeof name === 'string' ? { takenFrom: { stack, name } } : {};
}

function toSettings(lifecycle: JsonObject, fields: Kind['lifecycle'], file: string): Spec {
  const settings = Object.entries(lifecycle).flatMap(([name, value]): [string, Json][] => {
    const type = Object.hasOwn(fields, name) ? fields[name]?.type : undefined;
    if (type === undefined) return [];
    const isPath = type.type === 'text' && type.isPath && typeof value === 'string';
    return [[name, isPath ? resolveManifestPath(file, value) : value]];
  });
  return Object.fromEntries(settings);
}

/** What a state is made of. */
interface Parts {
  readonly documents: readonly ManifestDocument[];
  readonly references: ResolvedReferences;
  readonly locator: Locator;
}

function toState(sources: readonly ManifestBytes[], { documents, references, locator }: Parts): DesiredState {
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const resources = documents.flatMap((document): [Address, DesiredResource][] => {
    const { address, kind } = document;
    if (address === undefined || findKind(kind) === undefined) return [];
    return [[address, toResource(document, references.specs.get(document) ?? {}, { address, locator })]];
  });
  return {
    stack: readStackSettings(stack, locator),
    resources: new Map(resources),
    externals: references.externals,
    ...(references.foreign.size > 0 && { foreign: references.foreign }),
    inputs: sources.map(toInput),
  };
}

/** The digest is made when it is asked for: only plans have it. */
function toInput({ file, bytes }: ManifestBytes): ManifestInput {
  return {
    file,
    get digest() {
      return hashSha256(bytes, 'hex');
    },
  };
}

function toResource(
  document: ManifestDocument,
  spec: Spec,
  { address, locator }: { readonly address: Address; readonly locator: Locator },
): DesiredResource {
  const { kind, name, position, value } = document;
  return {
    address,
    kind,
    name,
    spec,
    written: isJsonObject(value['spec']) ? value['spec'] : {},
    lifecycle: toLifecycle(document),
    ...readLabelsAndAnnotations(value),
    allow: toAllow(value),
    findStart: () => findStart(position, locator),
    locate: (path = [], part = undefined) => locatePlace({ position, path, target: 'value' }, locator, part),
  };
}

/** A document of its own starts at the first line that says something; only for a member of a `List` its syntax tree is needed. */
function findStart(position: Position, locator: Locator): ManifestStart {
  const { source, span, base, origin } = position;
  const start = base.length === 0 ? skipToStart(source.text, span) : locator.locate(position, [], 'value').start;
  return { file: source.file, line: source.toLine(start), ...(origin !== undefined && { origin }) };
}

/** Behind empty lines, comments, directives and the line that parts documents. */
function skipToStart(text: string, { start }: Span): number {
  const before = /(?:[^\S\n]*(?:#[^\n]*|%[^\n]*|---[^\S\n]*(?:#[^\n]*)?)?\r?\n)*/y;
  before.lastIndex = start;
  return start + (before.exec(text)?.[0].length ?? 0);
}

function toAllow({ lint }: JsonObject): DesiredResource['allow'] {
  const allow = isJsonObject(lint) ? lint['allow'] : undefined;
  return isJsonObject(allow) ? (allow as DesiredResource['allow']) : {}; // its schema has checked it
}

/** By file in the order of the sources, then line, then column; those without a place last. */
export function sortByPlace(
  diagnostics: readonly Diagnostic[],
  sources: readonly Pick<ManifestSource, 'file'>[],
): readonly Diagnostic[] {
  if (diagnostics.length < 2) return diagnostics;
  const files = new Map(sources.map(({ file }, index) => [file, index]));
  const toRank = ({ place }: Diagnostic) =>
    place === undefined ? [sources.length, 0, 0] : [files.get(place.file) ?? 0, place.line, place.column];
  const ranked = diagnostics.map((diagnostic) => ({ diagnostic, rank: toRank(diagnostic) }));
  return ranked.sort((left, right) => compareRanks(left.rank, right.rank)).map(({ diagnostic }) => diagnostic);
}

function compareRanks(left: readonly number[], right: readonly number[]): number {
  const at = left.findIndex((number, index) => number !== right[index]);
  return at < 0 ? 0 : (left[at] ?? 0) - (right[at] ?? 0);
}

/** The policies among documents, and their cases: those whose fields conform to their kind. */
function toPolicyDocuments(documents: readonly ManifestDocument[], locator: Locator): PolicyDocuments {
  const valid = documents.filter(({ isValid }) => isValid);
  return {
    policies: valid.filter(({ kind }) => kind === 'Policy').map((document) => toPolicy(document, locator)),
    tests: valid.filter(({ kind }) => kind === 'PolicyTest').map((document) => toTest(document, locator)),
  };
}

function toPolicy(document: ManifestDocument, locator: Locator): PolicyDocument {
  const { match, ...spec } = createPolicySpecSchema().parse(document.value['spec']);
  const { kinds, actions, danger, labels, stacks } = match;
  const matched = {
    ...(kinds !== undefined && { kinds }),
    ...(actions !== undefined && { actions }),
    ...(danger !== undefined && { danger }),
    ...(labels !== undefined && { labels }),
    ...(stacks !== undefined && { stacks }),
  };
  return { name: document.name, match: matched, ...spec, locate: toLocate(document, locator) };
}

function toTest(document: ManifestDocument, locator: Locator): PolicyTestDocument {
  const { policy, cases } = createPolicyTestSpecSchema().parse(document.value['spec']);
  // The schema lets any field of a change through, and what was parsed from YAML is JSON.
  return {
    name: document.name,
    policy,
    cases: cases as PolicyTestDocument['cases'],
    locate: toLocate(document, locator),
  };
}

function toLocate({ position }: ManifestDocument, locator: Locator): LocatePart {
  return (path = [], part = undefined) => locatePlace({ position, path, target: 'value' }, locator, part);
}

/**
 * Diagnostics quote manifests, and nothing else: a path can lead to a key, to credentials of another tool or to what another program remembers, and a plan of a
 * pull request is public.
 */

/** What a manifest declares, in YAML or JSON. */
const DECLARATION = /\bapiVersion["']?\s*:\s*["']?edgewise\//;

/** Whether a text may be quoted. Standard input, and the output of a command, are meant as manifests. */
function isQuotable({ file, text }: { readonly file: string; readonly text: string }): boolean {
  if (file === STDIN || parseRenderSource(file) !== undefined) return true;
  return DECLARATION.test(text) && !text.includes('\0');
}

/** The error of a file that may not be quoted, in one sentence that does not reveal its content. */
function toUnquoted(file: string, [first]: readonly Diagnostic[]): readonly Diagnostic[] {
  if (first === undefined) return [];
  const { code, severity, place } = first;
  return [
    {
      code,
      severity,
      message: `${file} is no manifest: nothing in it declares \`apiVersion: ${MANIFEST_API_VERSION}\``,
      remedy: `Add \`apiVersion: ${MANIFEST_API_VERSION}\` to its documents, or name another file. What is in it is not shown, because it may be a secret.`,
      ...(place !== undefined && { place: { file, line: place.line, column: 1, excerpt: '' } }),
    },
  ];
}

/** The content of a mark, without the digests. */
interface Marked {
  readonly kind: Kind;
  readonly stack: string;
  readonly name: string;
  readonly spec: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** Whether all fields conform to the kind; the length is not counted before. */
  readonly isValid: boolean;
}

/** The error in the metadata of a resource, which also contains the mark. */
export function findMetadataFinding(marked: Marked): Finding | undefined {
  const { kind, spec, isValid } = marked;
  const type = kind.fields['metadata']?.type;
  const user = spec['metadata'];
  if (type?.type !== 'metadata' || (typeof user !== 'string' && !isJsonObject(user))) return undefined;
  if (mayHoldMark(user)) {
    const { mark, error } = parseMetadata(renderUserMetadata(user));
    if (mark !== undefined || error !== undefined) return toReserved(user);
  }
  if (isSurelyShort(marked, user, type.maxBytes)) return undefined;
  const length = isValid ? toByteLength(renderMetadata(user, toLongestMark(marked))) : 0;
  return length <= type.maxBytes ? undefined : toTooLong(length, type.maxBytes);
}

function mayHoldMark(user: string | JsonObject): boolean {
  return typeof user === 'string' ? user.trimStart().startsWith('{') : Object.hasOwn(user, MARK_KEY);
}

/** Most metadata is far from the limit, whatever the mark turns out to be. Without this validate of 10,000 edges takes 0.15 s of CPU more, of 2.7. */
function isSurelyShort({ kind, stack, name, lifecycle }: Marked, user: string | JsonObject, limit: number): boolean {
  const fields = kind.specFields.map(([field]) => field);
  const texts = [stack, name, lifecycle.renamedFrom ?? '', ...lifecycle.ignore, ...fields];
  const stated = texts.reduce((sum, text) => sum + toByteLength(text) + FIELD_DIGEST_LENGTH + QUOTES, 0);
  return toByteLength(JSON.stringify(user)) + stated + KEYS <= limit;
}

/** Bytes between two entries of an object of texts, and more than all of its keys take in a mark. */
const QUOTES = 6;
const KEYS = 200;

function toReserved(user: string | JsonObject): Finding {
  return {
    code: 'reserved-metadata',
    message: `spec.metadata has the key \`${MARK_KEY}\`, which is reserved for the mark`,
    remedy: 'Use another key.',
    ...(typeof user === 'string'
      ? { path: ['spec', 'metadata'], target: 'value' }
      : { path: ['spec', 'metadata', MARK_KEY], target: 'key' }),
  };
}

function toTooLong(length: number, limit: number): Finding {
  return {
    code: 'too-long',
    message: `spec.metadata is ${length} bytes long, including the mark; the limit is ${limit} bytes of UTF-8`,
    remedy: `Shorten it by ${length - limit} ${length - limit === 1 ? 'byte' : 'bytes'}.`,
    path: ['spec', 'metadata'],
    target: 'value',
  };
}

/** The mark as it will be once everything is applied; the digests stand in for those that are not known yet. */
function toLongestMark({ kind, stack, name, spec, lifecycle }: Marked) {
  const digest = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const marked = listMarkedFields(kind, normalizeSpec(kind, spec)).filter((field) => !lifecycle.ignore.includes(field));
  const fields = [
    ...marked.map((field) => [field, digest]),
    ...lifecycle.ignore.map((field) => [field, UNMANAGED_DIGEST]),
  ];
  return {
    stack,
    name,
    protect: lifecycle.protect,
    delivered: kind.oneTimeFields.length > 0,
    ...(lifecycle.renamedFrom !== undefined && { was: lifecycle.renamedFrom }),
    fields: Object.fromEntries(fields),
  };
}
