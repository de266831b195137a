import { type CloserChecks, listCloserProblems } from '../kinds/closer-checks.ts';
import { type SpecProblem, toHyphenated } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { withoutNulls } from '../kinds/without-nulls.ts';
import { isResourceName, toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { API_VERSION, DOCUMENT_KINDS, findDocumentSchema, LIST_API_VERSIONS } from '../schemas/document.ts';
import { eachFinding } from '../schemas/findings.ts';
import { isSureToConform } from '../schemas/is-sure-to-conform.ts';
import { cutAlike, type Tally, toMore } from './cut.ts';
import type { Environment } from './environment.ts';
import type { ReadFieldFile } from './field-files.ts';
import { fillInFiles } from './fill-in-files.ts';
import type { YamlAllowance } from './lex.ts';
import type { Locator, Position } from './locate.ts';
import { findOrigin } from './origin.ts';
import { type ParsedDocument, parseDocuments } from './parse.ts';
import {
  createDiagnostic,
  type ManifestDocument,
  type Problem,
  type Subject,
  toDiagnostic,
  toProblem,
} from './problem.ts';
import type { SourceText } from './source-text.ts';
import { suggest } from './suggest.ts';
import type { Fault } from './yaml-value.ts';

/** The documents of some files, and the problems of each by itself. */
export interface ReadDocuments {
  readonly documents: readonly ManifestDocument[];
  readonly diagnostics: readonly Diagnostic[];
  /** One of them may be meant as a `Stack` but cannot be read. */
  readonly mayHideStack: boolean;
}

/** What reading documents needs besides them. */
export interface ReadContext {
  readonly env: Environment;
  readonly locator: Locator;
  readonly readFile: ReadFieldFile;
  readonly closerChecks: CloserChecks;
  /** What is left of the limits on reading and on diagnostics. */
  readonly allowance: YamlAllowance;
  readonly tally: Tally;
}

/** Reads every document of a file, those inside of a `List` too. */
export function readDocuments(source: SourceText, context: ReadContext): ReadDocuments {
  const { env, locator } = context;
  const documents: ManifestDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  let mayHideStack = false;
  for (const parsed of parseDocuments(source.text, env, context.allowance)) {
    if (parsed.tree !== undefined) locator.offer({ source, span: parsed.span }, parsed.tree);
    const read = unfold(parsed, { source, span: parsed.span, base: [] }, parsed.value).map((candidate) =>
      inspect(candidate, context),
    );
    for (const { document } of read) if (document !== undefined) documents.push(document);
    diagnostics.push(...toDiagnostics(parsed, read, { source, locator, tally: context.tally }));
    mayHideStack ||= read.some(({ maybeStack }) => maybeStack);
  }
  return { documents, diagnostics, mayHideStack };
}

/** Leaves out what is found at a place with a fault: the fault causes it. */
function toDiagnostics(
  parsed: ParsedDocument,
  read: readonly Inspected[],
  { source, locator, tally }: Pick<ReadContext, 'locator' | 'tally'> & { readonly source: SourceText },
): readonly Diagnostic[] {
  if (parsed.faults.length === 0 && read.every(({ problems }) => problems.length === 0)) return [];
  const [only] = read;
  const subject = read.length === 1 ? only?.subject : undefined;
  const faults = parsed.faults
    // Always report that a file was not read to its end.
    .filter(({ code }) => parsed.tree === undefined || tally.admit(code))
    .map((fault) => toFaultDiagnostic(source, fault, subject));
  const values = parsed.faults.map(({ span, within = span }) => source.toPlace(within));
  const places = new Set(values.map(({ line, column }) => `${line}:${column}`));
  const found = read.flatMap(({ subject, problems }) =>
    problems.filter(({ code }) => tally.admit(code)).map((problem) => toDiagnostic(subject, problem, locator)),
  );
  return [...faults, ...found.filter(({ place }) => !places.has(`${place?.line}:${place?.column}`))];
}

function toFaultDiagnostic(source: SourceText, fault: Fault, subject: Subject | undefined): Diagnostic {
  const { span, related } = fault;
  return createDiagnostic(subject ?? {}, {
    ...fault,
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
  const origin = findOrigin(value);
  const own = origin === undefined ? position : { ...position, origin };
  const candidate = { position: own, value, isBroken: parsed.isBroken };
  if (!isJsonObject(value) || value['kind'] !== 'List' || !isJsonArray(value['items'])) return [candidate];
  const members = value['items'].flatMap((item, index) =>
    unfold(parsed, { ...position, base: [...position.base, 'items', index] }, item),
  );
  return [{ ...candidate, value: { ...value, items: [] } }, ...members];
}

/** What a document turned out to be. */
interface Inspected {
  readonly subject: Subject;
  readonly document?: ManifestDocument;
  readonly problems: readonly Problem[];
  /** Its kind cannot be told, and may be `Stack`. */
  readonly maybeStack: boolean;
}

function inspect(candidate: Candidate, context: ReadContext): Inspected {
  const { position, value, isBroken } = candidate;
  if (!isJsonObject(value)) {
    const message = 'a document must be a mapping with apiVersion, kind, metadata and spec';
    const problem = { ...atRoot('wrong-type', message), remedy: ADD_HEADER };
    return { subject: { position }, problems: isBroken ? [] : [problem], maybeStack: isBroken };
  }
  const { kind } = value;
  if (typeof kind === 'string' && DOCUMENT_KINDS.includes(kind))
    return inspectKind(kind, { ...candidate, value }, context);
  const header = isBroken ? undefined : findHeaderProblem(value);
  const maybeStack = typeof kind === 'string' ? suggest(kind, DOCUMENT_KINDS) === 'Stack' : isBroken;
  return { subject: { position }, problems: header === undefined ? [] : [header], maybeStack };
}

/** A broken document is only asked for its address, so that references to it are not called dangling. */
function inspectKind(
  kind: string,
  { position, value, isBroken }: Candidate & { readonly value: JsonObject },
  context: ReadContext,
): Inspected {
  if (isBroken) {
    const document = toDocument(kind, { metadata: value['metadata'] ?? null }, { position, isValid: false });
    return { subject: { position, kind, address: document.address }, document, problems: [], maybeStack: false };
  }
  const header = findHeaderProblem(value);
  const filled = fillInFiles(kind, toStated(kind, value), (path) => context.readFile(position.source.file, path));
  const found = [...filled.problems, ...listFieldProblems({ kind, value: filled.value, position }, context)];
  const problems = header === undefined ? found : [header];
  const document = toDocument(kind, filled.value, { position, isValid: problems.length === 0 });
  const subject = { position, kind, address: document.address };
  return { subject, problems, maybeStack: false, ...(kind !== 'List' && { document }) };
}

/** A document without what is null where it may be left out. */
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
  return { ...rest, kind, value, name, address: isResourceName(name) ? toAddress(kind, name) : undefined };
}

function atRoot(code: Problem['code'], message: string): Problem {
  return { code, message, path: [], target: 'value' };
}

/** What is wrong with `apiVersion` and `kind`: while that is open, the fields mean nothing. */
function findHeaderProblem({ apiVersion, kind }: JsonObject): Problem | undefined {
  if (apiVersion === undefined && kind === undefined)
    return { ...atRoot('missing-field', 'apiVersion and kind are missing'), remedy: ADD_HEADER };
  return (
    findHeaderTextProblem('kind', kind) ?? findKindProblem(kind, apiVersion) ?? findVersionProblem(kind, apiVersion)
  );
}

const ADD_HEADER = `Start every document with apiVersion: ${API_VERSION} and its kind. Move files that are not manifests to another folder.`;

function findHeaderTextProblem(name: string, value: Json | undefined): Problem | undefined {
  if (typeof value === 'string') return undefined;
  const remedy = name === 'kind' ? `The kinds are ${DOCUMENT_KINDS.join(', ')}.` : `Write apiVersion: ${API_VERSION}.`;
  if (value === undefined) return { ...atRoot('missing-field', `${name} is missing`), target: 'key', remedy };
  return { code: 'wrong-type', message: `${name} must be text`, path: [name], target: 'value', remedy };
}

function findKindProblem(kind: Json | undefined, apiVersion: Json | undefined): Problem | undefined {
  if (typeof kind !== 'string' || DOCUMENT_KINDS.includes(kind)) return undefined;
  const isForeign = typeof apiVersion === 'string' && apiVersion !== API_VERSION;
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

function findVersionProblem(kind: Json | undefined, apiVersion: Json | undefined): Problem | undefined {
  const known: readonly string[] = kind === 'List' ? LIST_API_VERSIONS : [API_VERSION];
  if (typeof apiVersion !== 'string') return findHeaderTextProblem('apiVersion', apiVersion);
  if (known.includes(apiVersion)) return undefined;
  return {
    code: 'unknown-kind',
    message: `apiVersion is \`${apiVersion}\`, but this version of edgewise reads \`${API_VERSION}\``,
    remedy: `Write apiVersion: ${API_VERSION}, or use a version of edgewise that reads the other.`,
    path: ['apiVersion'],
    target: 'value',
  };
}

/** Findings of the kind's schema; without any, those of checks that concern several fields. */
function listFieldProblems(
  { kind, value, position }: Pick<ManifestDocument, 'kind' | 'value' | 'position'>,
  { closerChecks }: ReadContext,
): readonly Problem[] {
  if (!isSureToConform(kind, value)) {
    const schema = findDocumentSchema(kind);
    const { told, more } = cutAlike(schema === undefined ? [] : eachFinding(schema, value));
    if (told.length > 0)
      return [
        ...told.map((finding) => toProblem(finding, kind, position)),
        ...more.map(({ first, count }) => ({ ...toProblem(first, kind, position), ...toMore(first.code, count) })),
      ];
  }
  const { spec, lifecycle } = value;
  if (!isJsonObject(spec)) return [];
  const settings = isJsonObject(lifecycle) ? lifecycle : {};
  const table = findKind(kind);
  if (table === undefined) return [];
  const inSpec = [...listCloserProblems(table, spec, closerChecks), ...table.check(spec)];
  return [
    ...inSpec.map((problem) => toSpecProblem('spec', problem)),
    ...table.checkLifecycle(settings, spec).map((problem) => toSpecProblem('lifecycle', problem)),
  ];
}

function toSpecProblem(part: 'spec' | 'lifecycle', { path, message }: SpecProblem): Problem {
  return { code: 'bad-value', message, path: [part, ...path], target: 'value' };
}
