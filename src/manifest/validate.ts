import { AS_WRITTEN, canonical, listFieldsWithDigest } from '../kinds/canonical.ts';
import { parseIgnoredPart } from '../kinds/ignored-parts.ts';
import { hasToken, type Kind } from '../kinds/kind.ts';
import { createLongestMarkReferences } from '../kinds/paths.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName } from '../model/address.ts';
import { type Diagnostic, hasErrors, sortDiagnosticsInSourceOrder } from '../model/diagnostic.ts';
import type { QuotedTexts } from '../model/excerpts.ts';
import { formatPath } from '../model/field-path.ts';
import type { Finding } from '../model/finding.ts';
import { computeUtf8ByteLength, hashSha256, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import {
  FIELD_DIGEST_LENGTH,
  IGNORED_FIELD_DIGEST,
  MARK_KEY,
  renderMetadata,
  renderUserMetadata,
  splitMetadata,
} from '../model/mark.ts';
import type { LocateInDocument } from '../model/place.ts';
import type { PolicyDocument, PolicyDocuments, PolicyTestDocument } from '../model/policy.ts';
import { NO_OP_SECRET_REDACTOR, type SecretRedactor } from '../model/secrets.ts';
import type { DesiredResource, DesiredState, FieldPath, ResourceLifecycle, Spec } from '../model/state.ts';
import { MANIFEST_API_VERSION } from '../schemas/document.ts';
import { POLICY_SPEC_SCHEMA, POLICY_TEST_SPEC_SCHEMA } from '../schemas/policy.ts';
import {
  createDiagnosticLimiter,
  createYamlBudget,
  describeOmittedDiagnostics,
  limitDiagnosticsPerCode,
} from './bounded-yaml.ts';
import {
  checkDuplicateAddresses,
  findStacksInSeveralFoldersError,
  listDisabledKindFindings,
  listDuplicateDefaultsInFolders,
  listExtraStackFindings,
  listHandOversWithManifest,
  listRenamedFromInUseFindings,
  NO_STACK_DIAGNOSTIC,
} from './check-documents.ts';
import { listDuplicateClaims, readFormer } from './claims.ts';
import { concealDocuments, listConcealedPaths } from './conceal.ts';
import { decodeManifestSource } from './decode-source.ts';
import {
  getDocumentLabelsAndAnnotations,
  type ReadContext,
  type ReadDocuments,
  readDocuments,
  type ToolField,
} from './documents.ts';
import { createEditableManifest } from './edit-document.ts';
import { listEmptyKeyWarnings } from './empty-keys.ts';
import { type ManifestEnvironment, REFUSE_FIELD_FILES, type ReadFieldFile } from './environment.ts';
import {
  type DocumentFinding,
  type DocumentSource,
  findRange,
  getDocumentFolder,
  locate,
  locateDiagnostic,
  type ManifestDocument,
} from './finding.ts';
import { createQuotableText, type QuotableText } from './quotable-text.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import { redactSource } from './secrets.ts';
import { suggestSkipPattern } from './skip-files.ts';
import { type ManifestContent, type Source, toSource } from './source.ts';
import type { SourceText } from './source-text.ts';
import { addDefaultsToStack, locateSetting, readStackSettings } from './stack-settings.ts';
import { listUnusedAnchorWarnings } from './unused-anchors.ts';

/**
 * Turns the bytes of manifest files into the desired state. Pure and synchronous; never throws, for any bytes. Reports
 * every mistake at once. The rules for each field are in its kind's table, not here.
 */

/** Options of `validateManifests`. */
export interface ValidateOptions {
  /** The environment that fills in `${env:NAME}`. */
  readonly env: ManifestEnvironment;
  /** Secrets that no manifest may contain. Absent if no secret is known. */
  readonly secrets?: SecretRedactor | undefined;
  /** Gets the texts that reports may quote. Absent: no report quotes them. */
  readonly quoted?: QuotedTexts | undefined;
  /** Whether a missing `Stack` is an error (default: true). Pass false if nothing will be compared or written. */
  readonly requireStack?: boolean;
  /** Reads files that fields name. If absent, a field that names a file is an error. */
  readonly readFile?: ReadFieldFile;
}

/** The desired state, and all diagnostics. The state is `undefined` if a manifest has an error. */
export interface ValidatedManifests {
  readonly state: DesiredState | undefined;
  /** Sorted by file in the given order, then by line and column. Diagnostics without a position are last. */
  readonly diagnostics: readonly Diagnostic[];
  /** The first `Stack`, even if it is invalid. Absent if no `Stack` could be read. */
  readonly stack?: FoundStack | undefined;
  /** The policies and policy tests whose own fields are valid, even if other documents are invalid. */
  readonly rules: PolicyDocuments;
  /** The number of documents that belong to other tools, which are skipped. */
  readonly ofOthers: number;
}

/** The readable parts of a `Stack`, which may be invalid. */
interface FoundStack {
  /** Absent if the name is missing or invalid. */
  readonly name?: string;
  /** Returns the position of a path in the document, by default of the document's start. */
  readonly locate: LocateInDocument;
}

/**
 * Turns manifests into the desired state, and reports every mistake as a diagnostic. Never throws.
 * @example
 * const { state, diagnostics } = validateManifests([{ file: 'made.yaml', text }], {
 *   env: { variables: {}, offered: [] },
 * });
 */
export function validateManifests(given: readonly ManifestContent[], options: ValidateOptions): ValidatedManifests {
  const sources = given.map(toSource);
  // Diagnostics may quote all text from a program, because a program passes only manifests as text.
  const handed = new Set(given.filter((source) => 'text' in source).map(({ file }) => file));
  const counter = createDiagnosticLimiter();
  const {
    documents: written,
    diagnostics,
    mayHideStack,
    ofOthers,
    toolFields,
    quotable,
  } = readAllDocuments(sources, options, { counter, handed });
  const stacks = written.filter(({ kind }) => kind === 'Stack');
  const several = findStacksInSeveralFoldersError(stacks);
  if (several !== undefined)
    return { state: undefined, diagnostics: [several], rules: parsePolicyDocuments([]), ofOthers };
  const concealed = concealDocuments(written, { ...options, secrets: options.secrets ?? NO_OP_SECRET_REDACTOR });
  hideConcealed(concealed.documents, quotable);
  const documents = addDefaultsToStack(concealed.documents);
  const [stack] = documents.filter(({ kind }) => kind === 'Stack');
  const index = createIndex(documents);
  const references = resolveReferences(documents, index);
  const duplicates = checkDuplicateAddresses(documents, index);
  const findings = [
    ...concealed.findings,
    ...listExtraStackFindings(stacks),
    ...listDuplicateDefaultsInFolders(documents),
    ...listDisabledKindFindings(documents, stack),
    ...listHandOversWithManifest(index, stack),
    ...duplicates,
    ...listRenamedFromInUseFindings(documents, index),
    ...references.findings,
    ...listDuplicateClaims(leaveOutDuplicates(references.specs, duplicates)),
    ...[...references.ignored].flatMap(([document, ignored]) => listIgnoredMemberFindings(document, ignored)),
    ...listMetadataFindings(documents, references, stack?.name ?? ''),
  ];
  const all = [
    ...diagnostics,
    ...limitFindingsOfRun(findings)
      .filter(({ finding }) => counter.shouldShow(finding.code))
      .map(({ subject, finding }) => locateDiagnostic(subject, finding)),
    ...listToolFieldWarnings(toolFields),
    ...listEmptyKeyWarnings(written),
    ...listUnusedAnchorWarnings(written),
    ...(stacks.length === 0 && !mayHideStack && options.requireStack !== false ? [NO_STACK_DIAGNOSTIC] : []),
    ...counter.listRest(),
  ];
  const state = hasErrors(all) ? undefined : createState(sources, { documents, references });
  return {
    state,
    diagnostics: sortDiagnosticsInSourceOrder(all, sources),
    rules: parsePolicyDocuments(documents),
    ofOthers,
    stack: stack && toFoundStack(stack),
  };
}

/** Lets no report quote a concealed value. */
function hideConcealed(documents: readonly ManifestDocument[], quotable: ReadonlyMap<string, QuotableText>): void {
  for (const { source, value } of documents)
    for (const path of listConcealedPaths(value))
      quotable.get(source.text.file)?.hide(findRange(source, path, 'value'));
}

function toFoundStack(stack: ManifestDocument): FoundStack {
  return {
    ...(isResourceName(stack.name) && { name: stack.name }),
    locate: (path = []) => locateSetting(stack, path),
  };
}

/** Returns one warning for all fields that other tools added. Empty if there are none. */
function listToolFieldWarnings(fields: readonly ToolField[]): readonly Diagnostic[] {
  const [first] = fields;
  if (first === undefined) return [];
  const names = [...new Set(fields.map(({ path }) => formatPath(path)))].sort();
  const documents = new Set(fields.map(({ subject }) => subject.source)).size;
  const { source } = first.subject;
  return [
    {
      code: 'bad-field',
      severity: 'warning',
      message: `${names.join(', ')}: ignored in ${documents === 1 ? '1 document' : `${documents} documents`}, because other tools add ${names.length === 1 ? 'it' : 'them'}`,
      remedy: 'Nothing is stored for them: edgewise has no namespaces, and the name alone is part of the mark.',
      place: locate(source, first.path, 'key'),
    },
  ];
}

/** Keeps the first findings of each code in a document, and replaces the others by one finding with their number. */
function limitFindingsOfRun(findings: readonly DocumentFinding[]): readonly DocumentFinding[] {
  return [...Map.groupBy(findings, ({ subject }) => subject)].flatMap(([subject, group]) => {
    const { shown, more } = limitDiagnosticsPerCode(group.map(({ finding }) => finding));
    const rest = more.map(({ first, count }) => ({
      ...first,
      ...describeOmittedDiagnostics(first.code, count),
      related: [],
    }));
    return [...shown, ...rest].map((finding) => ({ subject, finding }));
  });
}

/** What was read of one file. */
interface ReadFile extends ReadDocuments {
  readonly file: string;
  /** Whether its diagnostics may be shown. */
  readonly isQuoted: boolean;
  /** The diagnostic of a secret in the file. */
  readonly held?: Diagnostic | undefined;
  /** Whether it is a pointer of Git LFS. */
  readonly isPointer?: boolean;
}

function readAllDocuments(
  sources: readonly Source[],
  options: ValidateOptions,
  { counter, handed }: Pick<ReadContext, 'counter'> & { readonly handed: ReadonlySet<string> },
): ReadDocuments & { readonly quotable: ReadonlyMap<string, QuotableText> } {
  const { env, secrets = NO_OP_SECRET_REDACTOR, readFile = REFUSE_FIELD_FILES, quoted } = options;
  const quotable = new Map<string, QuotableText>();
  const context = { env, secrets, readFile, allowance: createYamlBudget(), counter };
  const files = sources.map((source): ReadFile => {
    const { file } = source;
    const { source: decoded, diagnostic } = decodeManifestSource(source);
    const { text, held } = redactSource(decoded, secrets);
    const isQuoted = handed.has(file) || isQuotable(text);
    if (isQuoted) quotable.set(file, createQuotableText(text, diagnostic === undefined));
    if (diagnostic !== undefined) {
      const none = { documents: [], mayHideStack: true, ofOthers: 0, toolFields: [] };
      return { file, ...none, diagnostics: [diagnostic], isQuoted: true };
    }
    const isPointer = text.text.startsWith('version https://git-lfs');
    return { file, ...readDocuments(text, context, source), isQuoted, held, isPointer };
  });
  for (const [file, text] of quotable) quoted?.add(file, text);
  const [stack] = files.flatMap(({ documents }) => documents.filter(({ kind }) => kind === 'Stack'));
  const manifests = files.filter(({ isQuoted }) => isQuoted).map(({ file }) => file);
  return {
    documents: files.flatMap(({ documents }) => documents),
    diagnostics: files.flatMap(({ file, diagnostics, isQuoted, held, isPointer = false }) => [
      ...(held === undefined ? [] : [held]),
      ...(isQuoted ? diagnostics : describeUnquoted(file, diagnostics, { stack, manifests, isPointer })),
    ]),
    mayHideStack: files.some(({ mayHideStack }) => mayHideStack),
    ofOthers: files.reduce((count, { ofOthers }) => count + ofOthers, 0),
    toolFields: files.flatMap(({ toolFields }) => toolFields),
    quotable,
  };
}

/** Returns the first error in the documents of one file. Does not read other files, even if fields name them. */
export function checkFileForFirstError(source: Source, { env }: Pick<ValidateOptions, 'env'>): Diagnostic | undefined {
  const context = { counter: createDiagnosticLimiter(), handed: new Set<string>() };
  return readAllDocuments([source], { env }, context).diagnostics.find(
    ({ severity, code }) => severity === 'error' && code !== 'file-unreadable',
  );
}

function createIndex(documents: readonly ManifestDocument[]): ReadonlyMap<Address, ManifestDocument> {
  const index = new Map<Address, ManifestDocument>();
  for (const document of documents) {
    const { address } = document;
    if (address !== undefined && !index.has(address)) index.set(address, document);
  }
  return index;
}

/** Omits duplicate documents, which are already reported and repeat every claim of the first document. */
function leaveOutDuplicates(
  specs: ResolvedReferences['specs'],
  duplicates: readonly DocumentFinding[],
): ResolvedReferences['specs'] {
  if (duplicates.length === 0) return specs;
  const copies = new Set(duplicates.map(({ subject }) => subject));
  return new Map([...specs].filter(([document]) => !copies.has(document)));
}

function listMetadataFindings(
  documents: readonly ManifestDocument[],
  { specs, ignored }: ResolvedReferences,
  stack: string,
): readonly DocumentFinding[] {
  return documents.flatMap((document): DocumentFinding[] => {
    const kind = findKind(document.kind);
    if (kind === undefined) return [];
    const { name, isValid } = document;
    const spec = specs.get(document) ?? {};
    if (spec['metadata'] === undefined) return [];
    const lifecycle = readLifecycle(document, ignored.get(document) ?? []);
    const finding = findMetadataFinding({ kind, stack, name, spec, lifecycle, isValid });
    return finding === undefined ? [] : [{ subject: document, finding }];
  });
}

function readLifecycle(document: ManifestDocument, ignored: readonly string[]): ResourceLifecycle {
  const { value, kind } = document;
  const lifecycle = isJsonObject(value['lifecycle']) ? value['lifecycle'] : {};
  return {
    protect: lifecycle['protect'] === true,
    ignore: [...new Set(ignored)].filter((path) => !isInIgnoredField(path, ignored)),
    ...readFormer(document),
    settings: readLifecycleSettings(lifecycle, findKind(kind)?.lifecycle ?? {}),
  };
}

/** Whether a path is a member of a field that is ignored as a whole. */
function isInIgnoredField(path: string, ignored: readonly string[]): boolean {
  const { field, member } = parseIgnoredPart(path);
  return member !== undefined && ignored.includes(field);
}

/** Finds ignored members of fields that can have no members: of a module that is not set, or of metadata that is a text. */
function listIgnoredMemberFindings(document: ManifestDocument, ignored: readonly string[]): readonly DocumentFinding[] {
  const kind = findKind(document.kind);
  const spec = isJsonObject(document.value['spec']) ? document.value['spec'] : {};
  if (kind === undefined || !document.isValid) return [];
  return ignored.flatMap((path, index): readonly DocumentFinding[] => {
    const { field, member } = parseIgnoredPart(path);
    if (member === undefined) return [];
    const refusal = refuseIgnoredMember({ field, member, type: kind.fields[field]?.type.type }, spec[field]);
    if (refusal === undefined) return [];
    const finding: Finding = {
      code: 'bad-value',
      message: `lifecycle.ignore[${index}] is \`${path}\`, but spec.${field} ${refusal.why}`,
      remedy: `${refusal.otherwise}, or ignore it as a whole: \`${field}\`.`,
      path: ['lifecycle', 'ignore', index],
    };
    return [{ subject: document, finding }];
  });
}

/** Returns why a member cannot be ignored, and what the user can do instead. `undefined` if it can be ignored. */
function refuseIgnoredMember(
  { field, member, type }: { readonly field: string; readonly member: string; readonly type: string | undefined },
  value: Json | undefined,
): { readonly why: string; readonly otherwise: string } | undefined {
  if (typeof value === 'string' && value !== '')
    return { why: 'is a text, which has no members', otherwise: 'Write it as a mapping' };
  if (type === 'metadata' && member === MARK_KEY)
    return { why: `has the mark under ${MARK_KEY}`, otherwise: 'Name another key' };
  if (type === 'object' && (value ?? undefined) === undefined)
    return { why: 'is not set', otherwise: `Set spec.${field}` };
  return undefined;
}

function readLifecycleSettings(lifecycle: JsonObject, fields: Kind['lifecycle']): Spec {
  return Object.fromEntries(Object.entries(lifecycle).filter(([name]) => Object.hasOwn(fields, name)));
}

interface StateParts {
  readonly documents: readonly ManifestDocument[];
  readonly references: ResolvedReferences;
}

function createState(sources: readonly Source[], { documents, references }: StateParts): DesiredState {
  const stack = documents.find(({ kind }) => kind === 'Stack');
  const resources = documents.flatMap((document): [Address, DesiredResource][] => {
    const { address, kind } = document;
    if (address === undefined || findKind(kind) === undefined) return [];
    return [[address, createDesiredResource(document, references, address)]];
  });
  return {
    stack: readStackSettings(stack),
    resources: new Map(resources),
    externals: references.externals,
    locateExternal: (address) => {
      const document = documents.find((one) => one.address === address);
      return document && locate(document.source, ['spec', 'id']);
    },
    ...(references.crossStackReferences.size > 0 && { crossStackReferences: references.crossStackReferences }),
    inputs: sources.map(({ file, bytes }) => ({ file, digest: hashSha256(bytes, 'hex') })),
  };
}

function createDesiredResource(
  document: ManifestDocument,
  { specs, ignored }: ResolvedReferences,
  address: Address,
): DesiredResource {
  const { kind, name, source, value } = document;
  return {
    address,
    kind,
    name,
    spec: specs.get(document) ?? {},
    written: isJsonObject(value['spec']) ? value['spec'] : {},
    lifecycle: readLifecycle(document, ignored.get(document) ?? []),
    ...getDocumentLabelsAndAnnotations(value),
    allow: readAllow(value),
    locate: (path = [], part = undefined) => locate(source, path, 'value', part),
    readSource: (path) => readRange(source, path),
    manifest: createEditableManifest(document),
  };
}

function readRange(source: DocumentSource, path: FieldPath): string {
  const { start, end } = findRange(source, path, 'value');
  return source.text.text.slice(start, end);
}

function readAllow({ lint }: JsonObject): DesiredResource['allow'] {
  const allow = isJsonObject(lint) ? lint['allow'] : undefined;
  return isJsonObject(allow) ? (allow as DesiredResource['allow']) : {}; // its schema has checked it
}

/** Parses the policies and policy tests whose fields are valid. */
function parsePolicyDocuments(documents: readonly ManifestDocument[]): PolicyDocuments {
  const valid = documents.filter(({ isValid }) => isValid);
  return {
    policies: valid.filter(({ kind }) => kind === 'Policy').map((document) => parsePolicy(document)),
    tests: valid.filter(({ kind }) => kind === 'PolicyTest').map((document) => parseTest(document)),
  };
}

function parsePolicy(document: ManifestDocument): PolicyDocument {
  const spec = POLICY_SPEC_SCHEMA.parse(document.value['spec']);
  return { name: document.name, ...spec, locate: createLocate(document) };
}

function parseTest(document: ManifestDocument): PolicyTestDocument {
  const { policy, cases } = POLICY_TEST_SPEC_SCHEMA.parse(document.value['spec']);
  // The cast is safe: the schema leaves the values of a case untyped, and values parsed from YAML are JSON.
  return {
    name: document.name,
    policy,
    cases: cases as PolicyTestDocument['cases'],
    locate: createLocate(document),
  };
}

function createLocate({ source }: ManifestDocument): LocateInDocument {
  return (path = [], part = undefined) => locate(source, path, 'value', part);
}

/**
 * Diagnostics quote manifests only. A path can lead to a key, to another tool's credentials or to another program's
 * cache, and the plan of a pull request is public.
 */

/** Matches the `apiVersion` of a manifest, in YAML or JSON. */
const DECLARATION = /\bapiVersion["']?\s*:\s*["']?edgewise\//;

/** Whether diagnostics may quote a text: a file, or standard input. */
function isQuotable({ text }: Pick<SourceText, 'text'>): boolean {
  return DECLARATION.test(text) && !text.includes('\0');
}

/** The Stack of the manifests, and the files that are certainly manifests. */
interface Surroundings {
  readonly stack: ManifestDocument | undefined;
  readonly manifests: readonly string[];
  /** Whether the file is a pointer of Git LFS. */
  readonly isPointer: boolean;
}

/** Describes the error of a file that may not be quoted, without revealing its content. */
function describeUnquoted(
  file: string,
  [first]: readonly Diagnostic[],
  { stack, manifests, isPointer }: Surroundings,
): readonly Diagnostic[] {
  if (first === undefined) return [];
  const { code, severity, place } = first;
  const at = place === undefined ? undefined : { file, line: place.line, column: 1 };
  if (isPointer) {
    const message = `${file} is a pointer of Git LFS, and not the file itself`;
    const remedy = 'Run `git lfs pull`. In a pipeline, let the checkout fetch the files of LFS (GitHub: `lfs: true`).';
    return [{ code, severity, message, remedy, place: at }];
  }
  const pattern = stack === undefined ? undefined : suggestSkipPattern(file, getDocumentFolder(stack), manifests);
  return [
    {
      code,
      severity,
      message: `${file} is not a manifest: nothing in it declares \`apiVersion: ${MANIFEST_API_VERSION}\``,
      remedy: `Add \`apiVersion: ${MANIFEST_API_VERSION}\` to its documents. ${pattern === undefined ? 'Or name another file.' : `If it belongs to another tool, write \`skip_files: [${JSON.stringify(pattern)}]\` in the spec of the Stack.`} What is in it is not shown, because it may be a secret.`,
      place: at,
    },
  ];
}

/** The data that a mark contains, except the digests. */
interface MarkContent {
  readonly kind: Kind;
  readonly stack: string;
  readonly name: string;
  readonly spec: Spec;
  readonly lifecycle: ResourceLifecycle;
  /** Whether all fields conform to the kind. If not, the length of the metadata is not checked. */
  readonly isValid: boolean;
}

/** Returns the error in a resource's metadata, if any. The mark counts towards the length limit. */
export function findMetadataFinding(marked: MarkContent): Finding | undefined {
  const { kind, spec, isValid } = marked;
  const type = kind.fields['metadata']?.type;
  const user = spec['metadata'];
  if (type?.type !== 'metadata' || (typeof user !== 'string' && !isJsonObject(user))) return undefined;
  if (mayHoldMark(user)) {
    const { mark, error } = splitMetadata(renderUserMetadata(user));
    if (mark !== undefined || error !== undefined) return createReservedFinding(user);
  }
  const length = isValid ? computeUtf8ByteLength(renderMetadata(user, createLongestMark(marked))) : 0;
  return length <= type.maxBytes ? undefined : createTooLongFinding(length, type.maxBytes);
}

function mayHoldMark(user: string | JsonObject): boolean {
  return typeof user === 'string' ? user.trimStart().startsWith('{') : Object.hasOwn(user, MARK_KEY);
}

function createReservedFinding(user: string | JsonObject): Finding {
  return {
    code: 'bad-value',
    message: `spec.metadata has the key \`${MARK_KEY}\`, which is reserved for the mark`,
    remedy: 'Use another key.',
    ...(typeof user === 'string'
      ? { path: ['spec', 'metadata'] }
      : { path: ['spec', 'metadata', MARK_KEY], target: 'key' }),
  };
}

function createTooLongFinding(length: number, limit: number): Finding {
  return {
    code: 'bad-value',
    message: `spec.metadata is ${length} bytes long, including the mark; the limit is ${limit} bytes of UTF-8`,
    remedy: `Shorten it by ${length - limit} ${length - limit === 1 ? 'byte' : 'bytes'}.`,
    path: ['spec', 'metadata'],
  };
}

/** Returns the longest mark that apply may write. Placeholders stand for the digests, and have the same length. */
function createLongestMark({ kind, stack, name, spec, lifecycle }: MarkContent) {
  const digest = 'x'.repeat(FIELD_DIGEST_LENGTH);
  const marked = listFieldsWithDigest(kind, canonical(kind, spec, AS_WRITTEN)).filter(
    (field) => !lifecycle.ignore.includes(field),
  );
  const fields = [
    ...marked.map((field) => [field, digest]),
    ...lifecycle.ignore.map((field) => [field, IGNORED_FIELD_DIGEST]),
  ];
  return {
    stack,
    name,
    protect: lifecycle.protect,
    delivered: hasToken(kind),
    ...createLongestMarkReferences(kind),
    fields: Object.fromEntries(fields),
  };
}
