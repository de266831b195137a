import { hash } from 'node:crypto';
import type { CloserChecks } from '../kinds/closer-checks.ts';
import type { Kind } from '../kinds/kind.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Address, isResourceName } from '../model/address.ts';
import { type Diagnostic, hasErrors, type ManifestStart, type SourcePlace } from '../model/diagnostic.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { PolicyDocuments } from '../model/policy.ts';
import type { DesiredResource, DesiredState, ManifestInput, ResourceLifecycle, Spec } from '../model/state.ts';
import { toAddedTexts } from './added-texts.ts';
import { listDoubleClaims, listDuplicates, listStandingNames } from './claims.ts';
import { createTally, cutAlike, toMore } from './cut.ts';
import { decodeSource } from './decode.ts';
import { type ReadContext, type ReadDocuments, readDocuments } from './documents.ts';
import type { Environment } from './environment.ts';
import { NO_FIELD_FILES, type ReadFieldFile, toManifestPath } from './field-files.ts';
import { createAllowance } from './lex.ts';
import { type ManifestBytes, type ManifestSource, toBytes } from './load.ts';
import { createLocator, type Locator, type Position } from './locate.ts';
import { findMetadataProblem } from './metadata.ts';
import { toPolicyDocuments } from './policies.ts';
import { type DocumentProblem, type ManifestDocument, toDiagnostic, toPlace } from './problem.ts';
import { type ResolvedReferences, resolveReferences } from './references.ts';
import type { Span } from './source-text.ts';
import {
  listDescribedReleases,
  listSurplusStacks,
  listUnusedKinds,
  NO_STACK,
  toStackSettings,
} from './stack-settings.ts';

/**
 * From the bytes of manifest files to the desired state. Pure and synchronous; never throws, whatever the bytes are. Reports
 * every mistake at once. What a field may hold is in its kind's table, not here.
 */

/** What validation takes besides the files. */
export interface ValidateOptions {
  /** Fills in `${env:NAME}`. */
  readonly env: Environment;
  /** Whether the lack of a `Stack` is an error, as it is where something will be compared or written. Default: true. */
  readonly requireStack?: boolean;
  /** Reads the files that fields name; left out: such a field is an error. */
  readonly readFile?: ReadFieldFile;
  /** What looks closer at texts whose form is right: `loadCloserChecks`. Left out: only the form is checked. */
  readonly closerChecks?: CloserChecks;
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

/** What is known of a `Stack` that may be invalid. */
export interface FoundStack {
  /** Absent: it has none, or one that cannot be a name. */
  readonly name?: string;
  /** Where its document starts. Parses it again. */
  readonly locate: () => SourcePlace;
}

/** Validates manifests. */
export function validateManifests(given: readonly ManifestSource[], options: ValidateOptions): ValidatedManifests {
  const sources = given.map(toBytes);
  const locator = createLocator();
  const tally = createTally();
  const { documents, diagnostics, mayHideStack } = readAll(sources, options, { locator, tally });
  const stacks = documents.filter(({ kind }) => kind === 'Stack');
  const index = toIndex(documents);
  const references = resolveReferences(documents, index);
  const duplicates = listDuplicates(documents, index);
  const problems = [
    ...listSurplusStacks(stacks),
    ...listUnusedKinds(documents, stacks[0]),
    ...listDescribedReleases(index, stacks[0]),
    ...duplicates,
    ...listStandingNames(documents, index),
    ...references.problems,
    ...listDoubleClaims(without(references.specs, duplicates)),
    ...listMetadataProblems(documents, references, stacks[0]?.name ?? ''),
  ];
  const all = [
    ...diagnostics,
    ...cutProblems(problems)
      .filter(({ problem }) => tally.admit(problem.code))
      .map(({ document, problem }) => toDiagnostic(document, problem, locator)),
    ...(stacks.length === 0 && !mayHideStack && options.requireStack !== false ? [NO_STACK] : []),
    ...tally.listRest(),
  ];
  locator.forget();
  const state = hasErrors(all) ? undefined : toState(sources, { documents, references, locator });
  const [stack] = stacks;
  return {
    state,
    diagnostics: sortByPlace(all, sources),
    rules: toPolicyDocuments(documents, locator),
    ...(stack !== undefined && { stack: toFoundStack(stack, locator) }),
  };
}

function toFoundStack({ name, position }: ManifestDocument, locator: Locator): FoundStack {
  return {
    ...(isResourceName(name) && { name }),
    locate: () => toPlace({ position, path: [], target: 'value' }, locator),
  };
}

/** The diagnostics of each document, cut to a number that somebody reads. */
function cutProblems(problems: readonly DocumentProblem[]): readonly DocumentProblem[] {
  return [...Map.groupBy(problems, ({ document }) => document)].flatMap(([document, group]) => {
    const { told, more } = cutAlike(group.map(({ problem }) => problem));
    const rest = more.map(({ first, count }) => ({ ...first, ...toMore(first.code, count), related: [] }));
    return [...told, ...rest].map((problem) => ({ document, problem }));
  });
}

function readAll(
  sources: readonly ManifestBytes[],
  options: ValidateOptions,
  { locator, tally }: Pick<ReadContext, 'locator' | 'tally'>,
): ReadDocuments {
  const allowance = createAllowance();
  const { env, readFile = NO_FIELD_FILES, closerChecks = new Map() } = options;
  const documents: ManifestDocument[] = [];
  const diagnostics: Diagnostic[] = [];
  let mayHideStack = false;
  // Gathered at once: lists of its own for each of ten thousand files take more than the files.
  for (const source of sources) {
    const text = decodeSource(source);
    if ('code' in text) {
      diagnostics.push(text);
      mayHideStack = true;
      continue;
    }
    const read = readDocuments(text, { env, locator, readFile, closerChecks, allowance, tally });
    for (const document of read.documents) documents.push(document);
    for (const diagnostic of read.diagnostics) diagnostics.push(diagnostic);
    mayHideStack ||= read.mayHideStack;
  }
  return { documents, diagnostics, mayHideStack };
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
  duplicates: readonly DocumentProblem[],
): ResolvedReferences['specs'] {
  if (duplicates.length === 0) return specs;
  const copies = new Set(duplicates.map(({ document }) => document));
  return new Map([...specs].filter(([document]) => !copies.has(document)));
}

function listMetadataProblems(
  documents: readonly ManifestDocument[],
  { specs }: ResolvedReferences,
  stack: string,
): readonly DocumentProblem[] {
  return documents.flatMap((document): DocumentProblem[] => {
    const kind = findKind(document.kind);
    if (kind === undefined) return [];
    const { name, isValid } = document;
    const spec = specs.get(document) ?? {};
    if (spec['metadata'] === undefined) return [];
    const problem = findMetadataProblem({ kind, stack, name, spec, lifecycle: toLifecycle(document), isValid });
    return problem === undefined ? [] : [{ document, problem }];
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
    return [[name, isPath ? toManifestPath(file, value) : value]];
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
    stack: toStackSettings(stack),
    resources: new Map(resources),
    externals: references.externals,
    ...(references.foreign.size > 0 && { foreign: references.foreign }),
    inputs: sources.map((source) => new Input(source)),
  };
}

/**
 * The digest is made when it is asked for: a plan file says it, and few reports. All inputs share one getter, because an object with a getter of its own takes ten
 * times as much memory.
 */
class Input implements ManifestInput {
  readonly file: string;
  declare readonly digest: string;
  readonly #bytes: Uint8Array;

  constructor({ file, bytes }: ManifestBytes) {
    this.file = file;
    this.#bytes = bytes;
    Object.defineProperty(this, 'digest', Input.#DIGEST);
  }

  static readonly #DIGEST: PropertyDescriptor & ThisType<Input> = {
    enumerable: true,
    get() {
      return hash('sha256', this.#bytes, 'hex');
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
    ...toAddedTexts(value),
    allow: toAllow(value),
    findStart: () => findStart(position, locator),
    locate: (path = [], part = undefined) => toPlace({ position, path, target: 'value' }, locator, part),
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
