import { BOUNDARY_REMEDY } from '../files/boundary.ts';
import { type DeepFormatChecks, listCloserFindings } from '../kinds/deep-format-checks.ts';
import type { TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { type Kind, type SpecFinding, toHyphenated } from '../kinds/kind.ts';
import { withoutNulls } from '../kinds/normalize.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { checkPrintable } from '../model/printable.ts';
import type { Secrets } from '../model/secrets.ts';
import { DOCUMENT_KINDS, findDocumentSchema, LIST_API_VERSIONS, MANIFEST_API_VERSION } from '../schemas/document.ts';
import { eachFinding } from '../schemas/findings.ts';
import { type DiagnosticCounter, describeOmitted, limitPerCode, type YamlAllowance } from './bounded-yaml.ts';
import type { Environment, FieldFile, ReadFieldFile } from './environment.ts';
import {
  createDiagnostic,
  type DiagnosticSubject,
  type Finding,
  type Locator,
  locateDiagnostic,
  type ManifestDocument,
  type Position,
  toFinding,
} from './finding.ts';
import { type ParsedDocument, parseDocuments, type SyntaxFinding } from './parse.ts';
import { findSecretInDocument, withoutSecretFiles } from './secrets.ts';
import type { SourceText } from './source-text.ts';
import { suggest } from './suggest.ts';

/** The documents of some files, and the findings of each by itself. */
export interface ReadDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
  /** One of them may be meant as a `Stack` but cannot be read. */
  readonly mayHideStack: boolean;
}

/** The context of reading documents. */
export interface ReadContext {
  readonly env: Environment;
  readonly secrets: Pick<Secrets, 'redact' | 'find'>;
  readonly locator: Locator;
  readonly readFile: ReadFieldFile;
  readonly closerChecks: DeepFormatChecks;
  /** The remaining limits on reading and on diagnostics. */
  readonly allowance: YamlAllowance;
  readonly tally: DiagnosticCounter;
}

/** Reads every document of a file, those inside of a `List` too; or its Defaults alone. */
export function readDocuments(
  source: SourceText,
  context: ReadContext,
  { onlyDefaults = false }: { readonly onlyDefaults?: boolean | undefined } = {},
): ReadDocuments {
  const { env, locator } = context;
  const documents: ManifestDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  let mayHideStack = false;
  for (const parsed of parseDocuments(source.text, env, context.allowance)) {
    if (parsed.tree !== undefined) locator.offer({ source, span: parsed.span }, parsed.tree);
    const candidates = unfold(parsed, { source, span: parsed.span, base: [] }, parsed.value);
    const meant = onlyDefaults ? candidates.filter(mayBeDefaults) : candidates;
    if (onlyDefaults && meant.length === 0) continue;
    const read = meant.map((candidate) => inspect(candidate, context));
    for (const { document } of read) if (document !== undefined) documents.push(document);
    diagnostics.push(...toDiagnostics(parsed, read, { source, locator, tally: context.tally }));
    mayHideStack ||= read.some(({ maybeStack }) => maybeStack);
  }
  return { documents, diagnostics, mayHideStack };
}

/** Leaves out findings at the place of a syntax error, which causes them. */
function toDiagnostics(
  parsed: ParsedDocument,
  read: readonly Inspected[],
  { source, locator, tally }: Pick<ReadContext, 'locator' | 'tally'> & { readonly source: SourceText },
): readonly Diagnostic[] {
  if (parsed.findings.length === 0 && read.every(({ findings }) => findings.length === 0)) return [];
  const [only] = read;
  const subject = read.length === 1 ? only?.subject : undefined;
  const syntax = parsed.findings
    // Always report that a file was not read to its end.
    .filter(({ code }) => parsed.tree === undefined || tally.admit(code))
    .map((finding) => toSyntaxDiagnostic(source, finding, subject));
  const values = parsed.findings.map(({ span, within = span }) => source.toPlace(within));
  const places = new Set(values.map(({ line, column }) => `${line}:${column}`));
  const found = read.flatMap(({ subject, findings }) =>
    findings.filter(({ code }) => tally.admit(code)).map((finding) => locateDiagnostic(subject, finding, locator)),
  );
  return [...syntax, ...found.filter(({ place }) => !places.has(`${place?.line}:${place?.column}`))];
}

function toSyntaxDiagnostic(
  source: SourceText,
  finding: SyntaxFinding,
  subject: DiagnosticSubject | undefined,
): Diagnostic {
  const { span, related } = finding;
  return createDiagnostic(subject ?? {}, {
    ...finding,
    place: source.toPlace(span),
    related: related === undefined ? [] : [{ message: related.message, place: source.toPlace(related.span) }],
  });
}

/** A document, or a member of a `List`, that is to be inspected. */
interface Candidate {
  readonly position: Position;
  readonly value: Json;
  readonly isBroken: boolean;
}

/** The documents that a document is or holds. */
function unfold(parsed: ParsedDocument, position: Position, value: Json): readonly Candidate[] {
  if (value === null && position.base.length === 0 && !parsed.isBroken) return [];
  const origin = findKustomizeOrigin(value);
  const own = origin === undefined ? position : { ...position, origin };
  const candidate = { position: own, value, isBroken: parsed.isBroken };
  if (!isJsonObject(value) || value['kind'] !== 'List' || !isJsonArray(value['items'])) return [candidate];
  const members = value['items'].flatMap((item, index) =>
    unfold(parsed, { ...position, base: [...position.base, 'items', index] }, item),
  );
  return [{ ...candidate, value: { ...value, items: [] } }, ...members];
}

/** Whether a document above a stack is one of its Defaults, or may be one that cannot be read. Another tool may have a kind of that name. */
function mayBeDefaults({ value, isBroken }: Candidate): boolean {
  if (!isJsonObject(value)) return isBroken;
  const { apiVersion = '', kind } = value;
  if (kind === undefined) return isBroken;
  return kind === 'Defaults' && typeof apiVersion === 'string' && /^(?:edgewise\/|$)/.test(apiVersion);
}

/** What a document turned out to be. */
interface Inspected {
  readonly subject: DiagnosticSubject;
  readonly document?: ManifestDocument;
  readonly findings: readonly Finding[];
  /** Its kind cannot be told, and may be `Stack`. */
  readonly maybeStack: boolean;
}

function inspect(candidate: Candidate, context: ReadContext): Inspected {
  // A broken value may be a bomb of aliases, and only its address is used.
  const held = candidate.isBroken ? undefined : findSecretInDocument(candidate.value, context.secrets);
  if (held === undefined) return inspectValue(candidate, context);
  const { value, path, message, remedy } = held;
  const inspected = inspectValue({ ...candidate, value }, context);
  const { subject, document, maybeStack } = inspected;
  const finding: Finding = { code: 'secret-in-manifest', message, remedy, path, target: 'value' };
  return {
    subject,
    findings: [finding],
    maybeStack,
    ...(document !== undefined && { document: { ...document, isValid: false } }),
  };
}

function inspectValue(candidate: Candidate, context: ReadContext): Inspected {
  const { position, value, isBroken } = candidate;
  if (!isJsonObject(value)) {
    const message = 'a document must be a mapping with apiVersion, kind, metadata and spec';
    const finding = { ...atRoot('wrong-type', message), remedy: ADD_HEADER };
    return { subject: { position }, findings: isBroken ? [] : [finding], maybeStack: isBroken };
  }
  const { kind } = value;
  if (typeof kind === 'string' && DOCUMENT_KINDS.includes(kind))
    return inspectKind(kind, { ...candidate, value }, context);
  const header = isBroken ? undefined : findHeaderFinding(value);
  const maybeStack = typeof kind === 'string' ? suggest(kind, DOCUMENT_KINDS) === 'Stack' : isBroken;
  return { subject: { position }, findings: header === undefined ? [] : [header], maybeStack };
}

/** A broken document is only asked for its address, so that references to it are not called dangling. */
function inspectKind(
  kind: string,
  { position, value, isBroken }: Candidate & { readonly value: JsonObject },
  context: ReadContext,
): Inspected {
  if (isBroken) {
    const document = toDocument(kind, { metadata: value['metadata'] ?? null }, { position, isValid: false });
    return { subject: { position, kind, address: document.address }, document, findings: [], maybeStack: false };
  }
  const header = findHeaderFinding(value);
  const readFile = withoutSecretFiles(context.readFile, context.secrets);
  const filled = fillInFiles(kind, toStated(kind, value), (path) => readFile(position.source.file, path));
  const found = [...filled.findings, ...listFieldFindings({ kind, value: filled.value, position }, context)];
  const findings = header === undefined ? found : [header];
  const document = toDocument(kind, filled.value, { position, isValid: findings.length === 0 });
  const subject = { position, kind, address: document.address };
  return { subject, findings, maybeStack: false, ...(kind !== 'List' && { document }) };
}

/** A document without nulls where a member may be left out. */
function toStated(kind: string, value: JsonObject): JsonObject {
  const { spec } = value;
  if (spec === null && kind !== 'List') {
    const { spec: _, ...rest } = value;
    return rest;
  }
  const table = findKind(kind);
  const stated = table !== undefined && isJsonObject(spec) ? withoutNulls(table, spec) : spec;
  return stated === undefined || stated === spec ? value : { ...value, spec: stated };
}

function toDocument(
  kind: string,
  value: JsonObject,
  rest: Pick<ManifestDocument, 'position' | 'isValid'>,
): ManifestDocument {
  const metadata = value['metadata'];
  const name = isJsonObject(metadata) && typeof metadata['name'] === 'string' ? metadata['name'] : '';
  const address = kind !== 'Defaults' && isResourceName(name) ? toAddress(kind, name) : undefined;
  return { ...rest, kind, value, name, address };
}

function atRoot(code: Finding['code'], message: string): Finding {
  return { code, message, path: [], target: 'value' };
}

/** The error of `apiVersion` and `kind`: until both are valid, the fields mean nothing. */
function findHeaderFinding({ apiVersion, kind }: JsonObject): Finding | undefined {
  if (apiVersion === undefined && kind === undefined)
    return { ...atRoot('missing-field', 'apiVersion and kind are missing'), remedy: ADD_HEADER };
  return (
    findHeaderTextFinding('kind', kind) ?? findKindFinding(kind, apiVersion) ?? findVersionFinding(kind, apiVersion)
  );
}

const ADD_HEADER = `Start every document with apiVersion: ${MANIFEST_API_VERSION} and its kind. Move files that are not manifests to another folder.`;

function findHeaderTextFinding(name: string, value: Json | undefined): Finding | undefined {
  if (typeof value === 'string') return undefined;
  const remedy =
    name === 'kind' ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Write apiVersion: ${MANIFEST_API_VERSION}.`;
  if (value === undefined) return { ...atRoot('missing-field', `${name} is missing`), target: 'key', remedy };
  return { code: 'wrong-type', message: `${name} must be text`, path: [name], target: 'value', remedy };
}

function findKindFinding(kind: Json | undefined, apiVersion: Json | undefined): Finding | undefined {
  if (typeof kind !== 'string' || DOCUMENT_KINDS.includes(kind)) return undefined;
  const isForeign = typeof apiVersion === 'string' && apiVersion !== MANIFEST_API_VERSION;
  const what = isForeign ? `${kind} of ${apiVersion}` : kind;
  return {
    code: 'unknown-kind',
    message: `${what} is not a kind of edgewise`,
    remedy: toKindRemedy(kind),
    path: ['kind'],
    target: 'value',
  };
}

function toKindRemedy(kind: string): string {
  const { name, title } = findKind(kind) ?? {};
  if (name !== undefined) return `No manifest has ${title}s. Use edgewise ${toHyphenated(name)} submit.`;
  if (kind === 'Kustomization')
    return 'Build its folder and pass the output to edgewise: `kustomize build . | edgewise plan -`.';
  const nearest = suggest(kind, DOCUMENT_KINDS);
  return nearest === undefined ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Did you mean \`${nearest}\`?`;
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
    target: 'value',
  };
}

/** Findings of the kind's schema; without any, those of checks that concern several fields. */
function listFieldFindings(
  { kind, value, position }: Pick<ManifestDocument, 'kind' | 'value' | 'position'>,
  { closerChecks }: ReadContext,
): readonly Finding[] {
  const schema = findDocumentSchema(kind);
  const { told, more } = limitPerCode(schema === undefined ? [] : eachFinding(schema, value));
  if (told.length > 0)
    return [
      ...told.map((finding) => toFinding(finding, kind, position)),
      ...more.map(({ first, count }) => ({
        ...toFinding(first, kind, position),
        ...describeOmitted(first.code, count),
      })),
    ];
  const { spec, lifecycle } = value;
  if (!isJsonObject(spec)) return [];
  const settings = isJsonObject(lifecycle) ? lifecycle : {};
  const table = findKind(kind);
  if (table === undefined) return [];
  const inSpec = [...listCloserFindings(table, spec, closerChecks), ...table.check(spec)];
  return [
    ...inSpec.map((finding) => toSpecFinding('spec', finding)),
    ...table.checkLifecycle(settings, spec).map((finding) => toSpecFinding('lifecycle', finding)),
  ];
}

function toSpecFinding(part: 'spec' | 'lifecycle', { path, message }: SpecFinding): Finding {
  return { code: 'bad-value', message, path: [part, ...path], target: 'value' };
}

/**
 * The file from which a tool made a document, as kustomize's `originAnnotations` say; `undefined` for a document from another repository, whose
 * paths mean nothing here. Source: "Kustomize built-ins, buildMetadata".
 */
export function findKustomizeOrigin(document: Json): string | undefined {
  const metadata = isJsonObject(document) ? document['metadata'] : undefined;
  const annotations = isJsonObject(metadata) ? metadata['annotations'] : undefined;
  const text = isJsonObject(annotations) ? annotations[ANNOTATION] : undefined;
  if (typeof text !== 'string' || /^repo:/m.test(text)) return undefined;
  const [, path] = /^path: *(\S.*)$/m.exec(text) ?? /^configuredIn: *(\S.*)$/m.exec(text) ?? [];
  return path?.trimEnd().replace(/^(["'])(.*)\1$/, '$2');
}

const ANNOTATION = 'config.kubernetes.io/origin';

/**
 * A document with the texts of files where its kind lets a field be `{ file: path }`. The content of a file is never quoted, because a path
 * can lead to a secret.
 */
function fillInFiles(
  kind: string,
  value: JsonObject,
  read: (path: string) => FieldFile,
): { readonly value: JsonObject; readonly findings: readonly Finding[] } {
  const spec = value['spec'];
  const table = findKind(kind);
  if (table === undefined || !isJsonObject(spec)) return { value, findings: [] };
  const findings: Finding[] = [];
  const texts = listFileFields(table).flatMap(([name, type]): [string, Json][] => {
    const path = toFilePath(spec[name]);
    if (path === undefined) return [];
    const file = read(path);
    const finding = 'finding' in file ? file.finding : checkText(type, file.text);
    const isRefused = 'isRefused' in file;
    if (finding !== undefined)
      findings.push(isRefused ? toRefused(name, path, finding) : toFileFinding(name, path, finding));
    return 'finding' in file || finding !== undefined ? [] : [[name, file.text.trim()]];
  });
  if (texts.length === 0) return { value, findings };
  return { value: { ...value, spec: { ...spec, ...Object.fromEntries(texts) } }, findings };
}

/** The fields that can be the text of a file. */
function listFileFields(kind: Kind): readonly (readonly [name: string, type: TextType])[] {
  return kind.specFields.flatMap(([name, { type }]) =>
    type.type === 'text' && type.orFile ? [[name, type] as const] : [],
  );
}

function toFieldFinding(name: string, code: Finding['code'], finding: string): Finding {
  return { code, message: `spec.${name} ${finding}`, path: ['spec', name], target: 'value' };
}

function toFilePath(value: Json | undefined): string | undefined {
  if (value === undefined || !isJsonObject(value)) return undefined;
  const { file, ...rest } = value;
  return typeof file === 'string' && file !== '' && Object.keys(rest).length === 0 ? file : undefined;
}

function checkText({ format }: TextType, text: string): string | undefined {
  const finding = checkPrintable(text);
  if (finding !== undefined) return finding;
  if (format === undefined || FORMATS[format].check(text.trim()) === undefined) return undefined;
  return `does not hold ${FORMATS[format].expected}`;
}

function toRefused(name: string, path: string, finding: string): Finding {
  return { ...toFileFinding(name, path, finding), code: 'path-refused', remedy: BOUNDARY_REMEDY };
}

function toFileFinding(name: string, path: string, finding: string): Finding {
  return {
    ...toFieldFinding(name, 'file-unreadable', `names ${path}, which ${finding}`),
    remedy: 'The path is relative to the folder of this manifest.',
    path: ['spec', name, 'file'],
  };
}
