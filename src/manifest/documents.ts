import { findKind } from '../kinds/tables/registry.ts';
import { listBadPrototypeKeys } from '../kinds/walk.ts';
import { omitOptionalNullsFromSpec } from '../kinds/written-form.ts';
import { isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Finding, SyntaxFinding, UncodedFinding } from '../model/finding.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import type { FieldPath } from '../model/state.ts';
import { DOCUMENT_KINDS, findDocumentSchema } from '../schemas/document.ts';
import { yieldSchemaFindings } from '../schemas/findings.ts';
import {
  type DiagnosticLimiter,
  describeOmittedDiagnostics,
  limitDiagnosticsPerCode,
  type RemainingYamlBudget,
} from './bounded-yaml.ts';
import { ADD_HEADER, findHeaderFinding } from './document-header.ts';
import type { ManifestEnvironment, ReadFieldFile } from './environment.ts';
import { fillInFiles } from './field-files.ts';
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
  findKustomizeOriginFile,
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
  /** What the files of this run may still contain. */
  readonly budget: RemainingYamlBudget;
  /** Says which diagnostics are still shown. */
  readonly limiter: DiagnosticLimiter;
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
  for (const parsed of parseDocuments(source.yaml, env, context.budget)) {
    const all = unfold(parsed, { text: source, range: parsed.range, tree: parsed.tree, base: [] }, parsed.value);
    const candidates = all.filter((candidate) => !isOfOthers(candidate));
    const meant = onlyDefaults ? candidates.filter(mayBeDefaults) : candidates;
    ofOthers += all.length - candidates.length;
    if (meant.length === 0 && (onlyDefaults || all.length > 0)) continue;
    const read = meant.map((candidate) => inspectDocument(candidate, context));
    for (const { document } of read) if (document !== undefined) documents.push(document);
    toolFields.push(...read.flatMap(({ subject, toolPaths = [] }) => toolPaths.map((path) => ({ subject, path }))));
    diagnostics.push(...listDiagnostics(parsed, read, { source, limiter: context.limiter }));
    mayHideStack ||= read.some(({ mayBeStack }) => mayBeStack);
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
  { source, limiter }: Pick<ReadContext, 'limiter'> & { readonly source: SourceText },
): readonly Diagnostic[] {
  const [only] = read;
  const subject = read.length === 1 ? only?.subject : undefined;
  const syntax = parsed.findings
    // Without a tree, the file was not read to its end. Always report that.
    .filter(({ code }) => parsed.tree === undefined || limiter.shouldShow(code))
    .map((finding) => createSyntaxDiagnostic(source, finding, subject));
  const values = parsed.findings.map(({ range, within = range }) => source.toPlace(within.start));
  const places = new Set(values.map(({ line, column }) => `${line}:${column}`));
  const located = read.flatMap(({ subject, findings }) =>
    findings.filter(({ code }) => limiter.shouldShow(code)).map((finding) => locateDiagnostic(subject, finding)),
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

/** What the checks of one candidate found. `document` is absent if its kind is unknown. */
interface Inspected {
  readonly subject: DiagnosticSubject;
  readonly document?: ManifestDocument | undefined;
  readonly findings: readonly Finding[];
  /** Whether the kind is unknown and may be `Stack`. */
  readonly mayBeStack: boolean;
  /** The paths of the fields that another tool added. */
  readonly toolPaths?: readonly FieldPath[];
}

/** Checks a candidate. A secret of the run in it is its only finding, because any other could quote it. */
function inspectDocument(candidate: Candidate, context: ReadContext): Inspected {
  // Skip a broken value: aliases can make it huge, and only its address is used.
  const secret = candidate.isBroken ? undefined : findRunSecretInDocument(candidate.value, context.secrets);
  if (secret === undefined) return inspectValue(candidate, context);
  const { value, path, message, remedy } = secret;
  const inspected = inspectValue({ ...candidate, value }, context);
  const { subject, document, mayBeStack } = inspected;
  const finding: Finding = { code: 'secret-in-manifest', message, remedy, path };
  return {
    subject,
    findings: [finding],
    mayBeStack,
    document: document && { ...document, isValid: false },
  };
}

/** Checks a candidate, as far as its `kind` and `apiVersion` allow. */
function inspectValue(candidate: Candidate, context: ReadContext): Inspected {
  const { source, value, isBroken } = candidate;
  if (!isJsonObject(value)) {
    const message = 'a document must be a mapping with apiVersion, kind, metadata and spec';
    const finding: Finding = { code: 'bad-value', message, remedy: ADD_HEADER, path: [] };
    return { subject: { source }, findings: isBroken ? [] : [finding], mayBeStack: isBroken };
  }
  const { kind } = value;
  if (typeof kind === 'string' && DOCUMENT_KINDS.includes(kind))
    return inspectKind(kind, { ...candidate, value }, context);
  const header = isBroken ? undefined : findHeaderFinding(value);
  const mayBeStack = typeof kind === 'string' ? suggest(kind, DOCUMENT_KINDS) === 'Stack' : isBroken;
  return { subject: { source }, findings: header === undefined ? [] : [header], mayBeStack };
}

/** Reads only the address of a broken document, so that references to it are not reported as dangling. */
function inspectKind(
  kind: string,
  { source, value, isBroken }: Candidate & { readonly value: JsonObject },
  context: ReadContext,
): Inspected {
  if (isBroken) {
    const document = createManifestDocument(kind, { metadata: value['metadata'] ?? null }, { source, isValid: false });
    return { subject: { source, kind, address: document.address }, document, findings: [], mayBeStack: false };
  }
  const header = findHeaderFinding(value);
  // A Stack of another tool is not the Stack of these manifests.
  if (header !== undefined && (kind === 'Stack' || kind === 'Defaults') && isApiVersionOfOthers(value['apiVersion']))
    return { subject: { source, kind }, findings: [header], mayBeStack: false };
  const readFile = withRefusalOfSecretFiles(context.readFile, context.secrets);
  const { own, paths: toolPaths } = withoutToolFields(value);
  const filled = fillInFiles(kind, withoutOptionalNulls(kind, own), (path) => readFile(source.text.file, path));
  const inFields = [...filled.findings, ...listFieldFindings({ kind, value: filled.value, source })];
  const findings = header === undefined ? inFields : [header];
  const document = createManifestDocument(kind, filled.value, { source, isValid: findings.length === 0 });
  const subject = { source, kind, address: document.address };
  return { subject, findings, mayBeStack: false, toolPaths, ...(kind !== 'List' && { document }) };
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
