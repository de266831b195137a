import { BOUNDARY_REMEDY } from '../files/boundary.ts';
import type { TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { type Kind, toHyphenated } from '../kinds/kind.ts';
import { findPrefixOfUnmanagedKind } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { listBadPrototypeKeys } from '../kinds/walk.ts';
import { omitOptionalNullsFromSpec } from '../kinds/written-form.ts';
import { isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Finding, SyntaxFinding, UncodedFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { checkStorableText, toPrintable } from '../model/printable.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import type { FieldPath } from '../model/state.ts';
import { DOCUMENT_KINDS, findDocumentSchema, LIST_API_VERSIONS, MANIFEST_API_VERSION } from '../schemas/document.ts';
import { yieldSchemaFindings } from '../schemas/findings.ts';
import {
  type DiagnosticLimiter,
  describeOmittedDiagnostics,
  limitDiagnosticsPerCode,
  type RemainingYamlBudget,
} from './bounded-yaml.ts';
import type { FieldFileResult, ManifestEnvironment, ReadFieldFile } from './environment.ts';
import {
  createDiagnostic,
  type DiagnosticSubject,
  type DocumentSource,
  locate,
  locateDiagnostic,
  type ManifestDocument,
  toManifestFinding,
} from './finding.ts';
import {
  hasOneHeader,
  isApiVersionOfOthers,
  isDataOfOthers,
  isDocumentOfOthers,
  isHelmChart,
  isTemplateOfOthers,
} from './foreign.ts';
import { type ParsedDocument, parseDocuments } from './parse.ts';
import { findRunSecretInDocument, withRefusalOfSecretFiles } from './secrets.ts';
import type { SourceText } from './source-text.ts';
import { suggest } from './suggest.ts';

/** The documents of some files, and the diagnostics of checks within single documents. */
export interface ReadDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
  /** Whether a document that could not be read may be a `Stack`. */
  readonly mayHideStack: boolean;
  /** The number of documents that belong to other tools, which are skipped. */
  readonly ofOthers: number;
  /** The fields that other tools added, which are ignored. */
  readonly toolFields: readonly ToolField[];
}

/** A field that another tool added to a document. `path` starts at the document. */
export interface ToolField {
  readonly subject: DiagnosticSubject;
  readonly path: FieldPath;
}

export interface ReadContext {
  readonly env: ManifestEnvironment;
  readonly secrets: Pick<SecretRedactor, 'redact' | 'find'>;
  readonly readFile: ReadFieldFile;
  /** `allowance` and `counter` are the remaining limits for YAML and for diagnostics. */
  readonly allowance: RemainingYamlBudget;
  readonly counter: DiagnosticLimiter;
}

/** Reads every document of a file, including members of a `List`. `onlyDefaults`: ignores all but Defaults. */
export function readDocuments(
  source: SourceText,
  context: ReadContext,
  { onlyDefaults = false }: { readonly onlyDefaults?: boolean | undefined } = {},
): ReadDocuments {
  if (isTemplateOfOthers(source.text)) return { ...NO_DOCUMENTS, ofOthers: 1 };
  const { env } = context;
  const documents: ManifestDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  let mayHideStack = false;
  let ofOthers = 0;
  const toolFields: ToolField[] = [];
  for (const parsed of parseDocuments(source.yaml, env, context.allowance)) {
    const all = unfold(parsed, { text: source, range: parsed.range, tree: parsed.tree, base: [] }, parsed.value);
    const candidates = all.filter((candidate) => !isOfOthers(candidate));
    const meant = onlyDefaults ? candidates.filter(mayBeDefaults) : candidates;
    ofOthers += all.length - candidates.length;
    if (meant.length === 0 && (onlyDefaults || all.length > 0)) continue;
    const read = meant.map((candidate) => inspectDocument(candidate, context));
    for (const { document } of read) if (document !== undefined) documents.push(document);
    toolFields.push(...read.flatMap(({ subject, toolPaths = [] }) => toolPaths.map((path) => ({ subject, path }))));
    diagnostics.push(...listDiagnostics(parsed, read, { source, counter: context.counter }));
    mayHideStack ||= read.some(({ maybeStack }) => maybeStack);
  }
  return { documents, diagnostics, mayHideStack, ofOthers, toolFields };
}

export const NO_DOCUMENTS: ReadDocuments = {
  documents: [],
  diagnostics: [],
  mayHideStack: false,
  ofOthers: 0,
  toolFields: [],
};

/** Returns one warning for all fields that other tools added. Empty if there are none. */
export function listToolFieldWarnings(fields: readonly ToolField[]): readonly Diagnostic[] {
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

/** Omits findings at the position of a syntax error, because the syntax error causes them. */
function listDiagnostics(
  parsed: ParsedDocument,
  read: readonly Inspected[],
  { source, counter }: Pick<ReadContext, 'counter'> & { readonly source: SourceText },
): readonly Diagnostic[] {
  const [only] = read;
  const subject = read.length === 1 ? only?.subject : undefined;
  const syntax = parsed.findings
    // Without a tree, the file was not read to its end. Always report that.
    .filter(({ code }) => parsed.tree === undefined || counter.shouldShow(code))
    .map((finding) => createSyntaxDiagnostic(source, finding, subject));
  const values = parsed.findings.map(({ range, within = range }) => source.toPlace(within.start));
  const places = new Set(values.map(({ line, column }) => `${line}:${column}`));
  const located = read.flatMap(({ subject, findings }) =>
    findings.filter(({ code }) => counter.shouldShow(code)).map((finding) => locateDiagnostic(subject, finding)),
  );
  return [...syntax, ...located.filter(({ place }) => !places.has(`${place?.line}:${place?.column}`))];
}

function createSyntaxDiagnostic(
  source: SourceText,
  finding: SyntaxFinding,
  subject: DiagnosticSubject | undefined,
): Diagnostic {
  const { range, related } = finding;
  return createDiagnostic(subject ?? {}, {
    ...finding,
    place: source.toPlace(range.start),
    related: related === undefined ? [] : [{ message: related.message, place: source.toPlace(related.range.start) }],
  });
}

/** A document or a member of a `List`, before its kind is known. */
interface Candidate {
  readonly source: DocumentSource;
  readonly value: Json;
  readonly isBroken: boolean;
}

/** Returns the document, followed by its members if it is a `List`. */
function unfold(parsed: ParsedDocument, source: DocumentSource, value: Json): readonly Candidate[] {
  if (value === null && source.base.length === 0 && !parsed.isBroken) return [];
  const origin = findKustomizeOriginFile(value);
  const own = origin === undefined ? source : { ...source, origin };
  const candidate = { source: own, value, isBroken: parsed.isBroken };
  if (!isJsonObject(value) || value['kind'] !== 'List' || !isJsonArray(value['items'])) return [candidate];
  const members = value['items'].flatMap((item, index) =>
    unfold(parsed, { ...source, base: [...source.base, 'items', index] }, item),
  );
  return [{ ...candidate, value: { ...value, items: [] } }, ...members];
}

/** Whether a document certainly belongs to another tool. What is wrong in it is then not reported. */
function isOfOthers({ source: { tree, base, text }, value, isBroken }: Candidate): boolean {
  if (isBroken) return false;
  if (base.length > 0) return isDocumentOfOthers(value);
  if (tree === undefined || !hasOneHeader(tree)) return false;
  return isDocumentOfOthers(value) || isDataOfOthers(value) || isHelmChart(value, text.file);
}

/** Whether a document is a `Defaults`, or is broken and may be one. Ignores a `Defaults` of another tool. */
function mayBeDefaults({ value, isBroken }: Candidate): boolean {
  if (!isJsonObject(value)) return isBroken;
  const { apiVersion = '', kind } = value;
  if (kind === undefined) return isBroken;
  return kind === 'Defaults' && typeof apiVersion === 'string' && /^(?:edgewise\/|$)/.test(apiVersion);
}

interface Inspected {
  readonly subject: DiagnosticSubject;
  readonly document?: ManifestDocument | undefined;
  readonly findings: readonly Finding[];
  /** Whether the kind is unknown and may be `Stack`. */
  readonly maybeStack: boolean;
  /** The paths of the fields that another tool added. */
  readonly toolPaths?: readonly FieldPath[];
}

function inspectDocument(candidate: Candidate, context: ReadContext): Inspected {
  // Skip a broken value: aliases can make it huge, and only its address is used.
  const held = candidate.isBroken ? undefined : findRunSecretInDocument(candidate.value, context.secrets);
  if (held === undefined) return inspectValue(candidate, context);
  const { value, path, message, remedy } = held;
  const inspected = inspectValue({ ...candidate, value }, context);
  const { subject, document, maybeStack } = inspected;
  const finding: Finding = { code: 'secret-in-manifest', message, remedy, path };
  return {
    subject,
    findings: [finding],
    maybeStack,
    document: document && { ...document, isValid: false },
  };
}

function inspectValue(candidate: Candidate, context: ReadContext): Inspected {
  const { source, value, isBroken } = candidate;
  if (!isJsonObject(value)) {
    const message = 'a document must be a mapping with apiVersion, kind, metadata and spec';
    const finding = { ...createRootFinding('bad-value', message), remedy: ADD_HEADER };
    return { subject: { source }, findings: isBroken ? [] : [finding], maybeStack: isBroken };
  }
  const { kind } = value;
  if (typeof kind === 'string' && DOCUMENT_KINDS.includes(kind))
    return inspectKind(kind, { ...candidate, value }, context);
  const header = isBroken ? undefined : findHeaderFinding(value);
  const maybeStack = typeof kind === 'string' ? suggest(kind, DOCUMENT_KINDS) === 'Stack' : isBroken;
  return { subject: { source }, findings: header === undefined ? [] : [header], maybeStack };
}

/** Reads only the address of a broken document, so that references to it are not reported as dangling. */
function inspectKind(
  kind: string,
  { source, value, isBroken }: Candidate & { readonly value: JsonObject },
  context: ReadContext,
): Inspected {
  if (isBroken) {
    const document = createManifestDocument(kind, { metadata: value['metadata'] ?? null }, { source, isValid: false });
    return { subject: { source, kind, address: document.address }, document, findings: [], maybeStack: false };
  }
  const header = findHeaderFinding(value);
  // A Stack of another tool is not the Stack of these manifests.
  if (header !== undefined && (kind === 'Stack' || kind === 'Defaults') && isApiVersionOfOthers(value['apiVersion']))
    return { subject: { source, kind }, findings: [header], maybeStack: false };
  const readFile = withRefusalOfSecretFiles(context.readFile, context.secrets);
  const { own, paths: toolPaths } = withoutToolFields(value);
  const filled = fillInFiles(kind, withoutOptionalNulls(kind, own), (path) => readFile(source.text.file, path));
  const inFields = [...filled.findings, ...listFieldFindings({ kind, value: filled.value, source })];
  const findings = header === undefined ? inFields : [header];
  const document = createManifestDocument(kind, filled.value, { source, isValid: findings.length === 0 });
  const subject = { source, kind, address: document.address };
  return { subject, findings, maybeStack: false, toolPaths, ...(kind !== 'List' && { document }) };
}

/**
 * Leaves out what kustomize and kubectl add to documents of any kind: a namespace, and the empty fields of a resource that
 * no cluster has. Other values in these fields are unknown fields.
 */
function withoutToolFields(value: JsonObject): { readonly own: JsonObject; readonly paths: readonly FieldPath[] } {
  const { metadata = null, status = null, ...rest } = value;
  const isEmptyStatus =
    'status' in value && (status === null || (isJsonObject(status) && Object.keys(status).length === 0));
  const { namespace, creationTimestamp, ...naming } = isJsonObject(metadata) ? metadata : {};
  const [hasNamespace, hasNoTime] = [typeof namespace === 'string', creationTimestamp === null];
  const paths = [
    ...(hasNamespace ? [['metadata', 'namespace']] : []),
    ...(hasNoTime ? [['metadata', 'creationTimestamp']] : []),
    ...(isEmptyStatus ? [['status']] : []),
  ];
  if (paths.length === 0 || value['kind'] === 'List') return { own: value, paths: [] };
  const own = {
    ...rest,
    ...('metadata' in value && {
      metadata: isJsonObject(metadata)
        ? {
            ...naming,
            ...(!hasNamespace && namespace !== undefined && { namespace }),
            ...(!hasNoTime && creationTimestamp !== undefined && { creationTimestamp }),
          }
        : metadata,
    }),
    ...('status' in value && !isEmptyStatus && { status }),
  };
  return { own, paths };
}

function withoutOptionalNulls(kind: string, value: JsonObject): JsonObject {
  const { spec } = value;
  if (spec === null && kind !== 'List') {
    const { spec: _, ...rest } = value;
    return rest;
  }
  const table = findKind(kind);
  const withoutNulls = table !== undefined && isJsonObject(spec) ? omitOptionalNullsFromSpec(table, spec) : spec;
  return withoutNulls === undefined ? value : { ...value, spec: withoutNulls };
}

function createManifestDocument(
  kind: string,
  value: JsonObject,
  rest: Pick<ManifestDocument, 'source' | 'isValid'>,
): ManifestDocument {
  const metadata = value['metadata'];
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const address = kind !== 'Defaults' && isResourceName(name) ? toAddress(kind, name) : undefined;
  return { ...rest, kind, value, name, address };
}

function createRootFinding(code: Finding['code'], message: string): Finding {
  return { code, message, path: [] };
}

/** Returns the error in `apiVersion` or `kind`. The caller checks fields only if there is none. */
function findHeaderFinding(value: JsonObject): Finding | undefined {
  const { apiVersion, kind } = value;
  if (apiVersion === undefined && kind === undefined)
    return { ...createRootFinding('bad-field', 'apiVersion and kind are missing'), remedy: ADD_HEADER };
  return findHeaderTextFinding('kind', kind) ?? findKindFinding(value) ?? findVersionFinding(kind, apiVersion);
}

const ADD_HEADER = `Start every document with apiVersion: ${MANIFEST_API_VERSION} and its kind. Move files that are not manifests to another folder.`;

function findHeaderTextFinding(name: string, value: Json | undefined): Finding | undefined {
  if (typeof value === 'string') return undefined;
  const remedy =
    name === 'kind' ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Write apiVersion: ${MANIFEST_API_VERSION}.`;
  if (value === undefined) return { ...createRootFinding('bad-field', `${name} is missing`), target: 'key', remedy };
  return { code: 'bad-value', message: `${name} must be text`, path: [name], remedy };
}

function findKindFinding({ kind, apiVersion, metadata }: JsonObject): Finding | undefined {
  if (typeof kind !== 'string' || DOCUMENT_KINDS.includes(kind)) return undefined;
  const isOfOtherTool = typeof apiVersion === 'string' && apiVersion !== MANIFEST_API_VERSION;
  const what = isOfOtherTool ? `${kind} of ${apiVersion}` : kind;
  return {
    code: 'unknown-kind',
    message: `${what} is not a kind of edgewise`,
    remedy: formatKindRemedy(kind, metadata),
    path: ['kind'],
  };
}

function formatKindRemedy(kind: string, metadata: Json | undefined): string {
  const prefix = findPrefixOfUnmanagedKind(kind);
  if (prefix !== undefined) return formatExternalRemedy(prefix, metadata);
  const { name, title } = findKind(kind) ?? {};
  if (name !== undefined) return `No manifest has ${title}s. Use edgewise ${toHyphenated(name)} submit.`;
  if (kind === 'Kustomization')
    return 'Build its folder and pass the output to edgewise: `kustomize build . | edgewise plan -`.';
  const nearest = suggest(kind, DOCUMENT_KINDS);
  return nearest === undefined ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Did you mean \`${nearest}\`?`;
}

/** The document to write for what edgewise refers to and does not manage. */
function formatExternalRemedy(prefix: string, metadata: Json | undefined): string {
  const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
  const shown = typeof name === 'string' && isResourceName(name) ? name : 'office';
  return [
    'Edgewise refers to it by its id, and does not manage it. Write:',
    `apiVersion: ${MANIFEST_API_VERSION}`,
    'kind: External',
    `metadata: { name: ${shown} }`,
    `spec: { id: ${prefix}_… }`,
  ].join('\n');
}

function findVersionFinding(kind: Json | undefined, apiVersion: Json | undefined): Finding | undefined {
  const known: readonly string[] = kind === 'List' ? LIST_API_VERSIONS : [MANIFEST_API_VERSION];
  if (typeof apiVersion !== 'string') return findHeaderTextFinding('apiVersion', apiVersion);
  if (known.includes(apiVersion)) return undefined;
  return {
    code: 'unknown-kind',
    message: `apiVersion is \`${apiVersion}\`, but this version of edgewise reads \`${MANIFEST_API_VERSION}\``,
    remedy: `Write apiVersion: ${MANIFEST_API_VERSION}, or use a version of edgewise that reads the other.`,
    path: ['apiVersion'],
  };
}

/** Lists the findings of the kind's schema. If there are none, lists findings of checks across fields. */
function listFieldFindings({
  kind,
  value,
  source,
}: Pick<ManifestDocument, 'kind' | 'value' | 'source'>): readonly Finding[] {
  const schema = findDocumentSchema(kind);
  const { shown, more } = limitDiagnosticsPerCode(schema === undefined ? [] : yieldSchemaFindings(schema, value));
  if (shown.length > 0)
    return [
      ...shown.map((finding) => toManifestFinding(finding, kind, { value, source })),
      ...more.map(({ first, count }) => ({
        ...toManifestFinding(first, kind, { value, source }),
        ...describeOmittedDiagnostics(first.code, count),
      })),
    ];
  const { spec, lifecycle } = value;
  if (!isJsonObject(spec)) return [];
  const settings = isJsonObject(lifecycle) ? lifecycle : {};
  const table = findKind(kind);
  if (table === undefined) return [];
  const [unusable] = listBadPrototypeKeys(table.specType, spec);
  if (unusable !== undefined) return [createUnusableKeyFinding(unusable)];
  const inSpec = table.check(spec);
  return [
    ...inSpec.map((finding) => createSpecFinding('spec', finding)),
    ...table.checkLifecycle(settings, spec).map((finding) => createSpecFinding('lifecycle', finding)),
  ];
}

function createUnusableKeyFinding(path: FieldPath): Finding {
  const message = `spec.${formatPath(path.slice(0, -1))} has the key \`${path.at(-1)}\`, which cannot be used`;
  return { code: 'bad-value', message, remedy: 'Use another key.', path: ['spec', ...path], target: 'key' };
}

function createSpecFinding(part: 'spec' | 'lifecycle', finding: UncodedFinding): Finding {
  return { ...finding, code: 'bad-value', path: [part, ...finding.path] };
}

/**
 * Returns the file from which a tool made a document, according to kustomize's `originAnnotations`. `undefined` if
 * there is no such annotation or the file is in another repository. Source: "Kustomize built-ins, buildMetadata".
 */
export function findKustomizeOriginFile(document: Json): string | undefined {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const text = isJsonObject(annotations) ? annotations[ANNOTATION] : undefined;
  if (typeof text !== 'string' || /^repo:/m.test(text)) return undefined;
  const [, path] = /^path: *(\S.*)$/m.exec(text) ?? /^configuredIn: *(\S.*)$/m.exec(text) ?? [];
  return path?.trimEnd().replace(/^(["'])(.*)\1$/, '$2');
}

const ANNOTATION = 'config.kubernetes.io/origin';

/**
 * Replaces `{ file: path }` with the text of the file in fields whose kind allows it. File content is never quoted,
 * because a path can lead to a secret.
 */
function fillInFiles(
  kind: string,
  value: JsonObject,
  read: (path: string) => FieldFileResult,
): { readonly value: JsonObject; readonly findings: readonly Finding[] } {
  const spec = value['spec'];
  const table = findKind(kind);
  if (table === undefined || !isJsonObject(spec)) return { value, findings: [] };
  const findings: Finding[] = [];
  const texts = listFileFields(table).flatMap(([name, type]): [string, Json][] => {
    const path = findFilePath(spec[name]);
    if (path === undefined) return [];
    const file = read(path);
    const found = 'finding' in file ? describeUnreadFile(file) : checkText(type, file.text);
    if (found !== undefined)
      findings.push({
        code: 'file-unreadable',
        remedy: FOLDER_REMEDY,
        ...found,
        message: `spec.${name} names ${path}, which ${found.message}`,
        path: ['spec', name, 'file'],
      });
    return 'finding' in file || found !== undefined ? [] : [[name, file.text.trim()]];
  });
  if (texts.length === 0) return { value, findings };
  return { value: { ...value, spec: { ...spec, ...Object.fromEntries(texts) } }, findings };
}

/** Lists the fields that accept the text of a file. */
function listFileFields(kind: Kind): readonly (readonly [name: string, type: TextType])[] {
  return kind.specFields.flatMap(([name, { type }]) =>
    type.type === 'text' && type.orFile ? [[name, type] as const] : [],
  );
}

function findFilePath(value: Json | undefined): string | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { file, ...rest } = value;
  return typeof file === 'string' && file !== '' && Object.keys(rest).length === 0 ? file : undefined;
}

const FOLDER_REMEDY = 'The path is relative to the folder of this manifest.';

/** What is wrong with a file. The message follows its name. */
type FileFinding = Partial<Finding> & Pick<Finding, 'message'>;

function describeUnreadFile(file: Extract<FieldFileResult, { readonly finding: string }>): FileFinding {
  const { finding, meant, isRefused } = file;
  if (isRefused) return { code: 'path-refused', message: finding, remedy: BOUNDARY_REMEDY };
  if (meant === undefined) return { message: finding };
  return { message: finding, remedy: `Did you mean \`${toPrintable(meant)}\`? ${FOLDER_REMEDY}` };
}

function checkText({ format }: TextType, text: string): FileFinding | undefined {
  const finding = checkStorableText(text);
  if (finding !== undefined) return { message: finding };
  if (format === undefined || FORMATS[format].check(text.trim()) === undefined) return undefined;
  if (!PRIVATE_KEY.test(text)) return { message: `does not hold ${FORMATS[format].expected}` };
  const remedy =
    'Name the file of the public key, which usually ends with .pub: `ssh-keygen -y -f` and this file print it. No manifest needs the private key.';
  return { message: 'holds a private key', remedy };
}

const PRIVATE_KEY = /^-----BEGIN [A-Z ]*PRIVATE KEY-----/m;

interface LabelsAndAnnotations {
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
}

export function getDocumentLabelsAndAnnotations({ metadata }: JsonObject): LabelsAndAnnotations {
  const { labels, annotations } = isJsonObject(metadata) ? metadata : {};
  return { labels: toTextMap(labels), annotations: toTextMap(annotations) };
}

function toTextMap(texts: Json | undefined): Readonly<Record<string, string>> {
  const entries = isJsonObject(texts) ? Object.entries(texts) : [];
  return Object.fromEntries(entries.filter((entry): entry is [string, string] => typeof entry[1] === 'string'));
}
