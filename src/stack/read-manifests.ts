import { dirname, resolve } from 'node:path';
import { BOUNDARY_REMEDY, findRoots, placeForWriting, placeWithin } from '../files/boundary.ts';
import { toBuffer } from '../files/read-input.ts';
import { type DeepFormatChecks, listCloserFormats, loadDeepFormatChecks } from '../kinds/deep-format-checks.ts';
import { findKind, MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { hasExpressions, lintManifests } from '../lint/lint.ts';
import { toEnvironment } from '../manifest/environment.ts';
import {
  createFieldFileReader,
  createStackBudget,
  encodeSource,
  type LoadedManifests,
  loadManifests,
  type ManifestBytes,
  type ManifestSource,
} from '../manifest/load.ts';
import type { StackSetting } from '../manifest/stack-settings.ts';
import { type ValidatedManifests, validateManifests } from '../manifest/validate.ts';
import { type Diagnostic, hasErrors, type Locate, type SourcePlace } from '../model/diagnostic.ts';
import { formatPath, parsePath } from '../model/field-path.ts';
import type { PolicyDocument, PolicyDocuments, PolicyTestResult } from '../model/policy.ts';
import type { SinkSettings, TokenSettings } from '../model/stack.ts';
import type { DesiredResource, DesiredState, FieldPath } from '../model/state.ts';
import { keepFewWarnings } from '../plan/create-plan.ts';
import type { Policy } from '../policy/evaluate.ts';
import { type Host, InvalidManifests, type RunSubject, StackError } from './host.ts';
import { loadStack, refuseOtherTools } from './load-stack.ts';
import { getEmbeddedFile, isEmbedded } from './settings.ts';

/** What the manifests of a run say. `state` is absent when they are not valid. */
interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The rules of one's own that were asked for. */
  readonly policies: readonly Policy[];
  /** Number of files read. */
  readonly files: number;
  /** What they are about, as far as that can be read. */
  readonly subject: RunSubject & Required<Pick<RunSubject, 'locate'>>;
  /** The settings of the Stack; empty: there is none. Only of valid manifests. */
  readonly listSettings: () => readonly StackSetting[];
}

/** How manifests are read. */
interface ReadOptions {
  /** Whether the lack of a `Stack` is an error. Default: true. */
  readonly requireStack?: boolean;
  /** What lint is to say of them: everything, or what a plan does not say itself. Left out: nothing. */
  readonly lint?: 'all' | 'for-plan';
  /** Manifests that are no files, read after the paths. */
  readonly manifests?: readonly ManifestSource[];
  /** Whether policies are wanted, and where there are some besides those of the manifests and their Stack. Left out: they are not. */
  readonly policies?: readonly string[] | undefined;
  /** False: of a stack with `spec.render`, the file of the Stack is enough. Default: true. */
  readonly isRendered?: boolean;
}

/** Loads and checks manifests; no path means the current folder. Sends no request. */
export async function readManifests(
  paths: readonly string[],
  context: Host,
  { requireStack = true, lint, manifests = [], policies, isRendered = true }: ReadOptions = {},
): Promise<ReadManifests> {
  const { cwd, onInput = () => undefined } = context;
  const roots = findRoots([...paths, ...manifests.map(({ file }) => dirname(file))], context);
  const budget = createStackBudget(context.budget);
  const given = paths.length + manifests.length === 0 ? ['.'] : paths;
  const found = await loadStack(given, { ...context, budget }, { isRendered });
  const loaded = withManifests(found, manifests);
  const isLoaded = loaded.diagnostics.every(({ severity }) => severity !== 'error');
  if (isLoaded) refuseOtherTools(given, loaded.sources, context);
  for (const file of [...given, ...loaded.sources.map((source) => source.file)]) onInput(file);
  const validated = validateManifests(loaded.sources, {
    env: toEnvironment(context),
    ...(context.secrets !== undefined && { secrets: context.secrets }),
    // A file that could not be read may hold the Stack, so a missing Stack is not reported.
    requireStack: requireStack && isLoaded,
    readFile: createFieldFileReader({ cwd, onInput, roots, budget }),
    closerChecks: await loadChecks(loaded.sources),
  });
  const refused = validated.state === undefined ? [] : findRefused(validated, roots, context);
  const state = isLoaded && refused.length === 0 ? withRoots(validated.state, roots, given) : undefined;
  const subject = toSubject(validated, loaded.sources[0]?.file ?? paths[0] ?? '.');
  context.onSubject?.(subject);
  const rules = await findPolicies({ ...validated, state, sources: loaded.sources }, policies, context);
  const remarks = state === undefined || lint === undefined ? [] : await findLint(state, lint, context);
  const judged = state === undefined || lint !== 'all' ? [] : await checkPolicies(state, rules, context);
  return {
    state,
    diagnostics: [
      ...loaded.diagnostics,
      ...validated.diagnostics,
      ...refused,
      ...rules.diagnostics,
      ...remarks,
      ...judged,
    ],
    policies: rules.policies,
    files: loaded.sources.length,
    subject,
    listSettings: () => validated.stack?.listSettings() ?? [],
  };
}

/** What manifests name may be known to be refused before anything of it is read. */
function findRefused(
  { state, stack }: ValidatedManifests,
  roots: readonly string[],
  { cwd }: Host,
): readonly Diagnostic[] {
  const locateInStack = (path: FieldPath) => stack?.locate(path);
  return state === undefined ? [] : listRefusedPaths(state, { cwd, roots, locateInStack });
}

function withRoots(
  state: DesiredState | undefined,
  roots: readonly string[],
  paths: readonly string[],
): DesiredState | undefined {
  if (state === undefined) return undefined;
  const { stack } = state;
  return {
    ...state,
    roots,
    ...(paths.length > 0 && { paths }),
    stack: { ...stack, tokens: withinRoots(stack.tokens, roots) },
  };
}

/** Token folders are checked again when a token is written. */
function withinRoots({ default: all, credentials }: TokenSettings, roots: readonly string[]): TokenSettings {
  const toWithin = (sink: SinkSettings): SinkSettings => ('directory' in sink ? { ...sink, within: roots } : sink);
  const own = Object.entries(credentials).map(([name, sink]) => [name, toWithin(sink)] as const);
  return { default: all && toWithin(all), credentials: Object.fromEntries(own) };
}

function withManifests(loaded: LoadedManifests, manifests: readonly ManifestSource[]): LoadedManifests {
  return { ...loaded, sources: [...loaded.sources, ...manifests.map(encodeSource)] };
}

/** The closer checks, loaded only for kinds that some manifest may be of: they cost more than the rest of the start. */
function loadChecks(sources: readonly ManifestBytes[]): Promise<DeepFormatChecks> {
  const isMentioned = (name: string): boolean => sources.some(({ bytes }) => toBuffer(bytes).includes(name));
  const candidates = MANIFEST_KINDS.filter((kind) => listCloserFormats(kind).length > 0);
  return loadDeepFormatChecks(candidates.filter(({ name }) => isMentioned(name)));
}

/** What lint has against manifests. CEL is loaded only where a manifest has some. */
async function findLint(
  state: DesiredState,
  scope: NonNullable<ReadOptions['lint']>,
  { now }: Host,
): Promise<readonly Diagnostic[]> {
  const readCel = hasExpressions(state) ? (await import('../expressions/read-cel.ts')).readCel : () => ({ names: [] });
  return lintManifests(state, { now: now(), readCel, isForPlan: scope === 'for-plan' });
}

/** The policies of a run, when it asks for them. */
async function findPolicies(
  { rules, state, sources }: Pick<ValidatedManifests, 'rules' | 'state'> & Pick<LoadedManifests, 'sources'>,
  paths: readonly string[] | undefined,
  context: Host,
): Promise<LoadedPolicies> {
  if (paths === undefined) return { policies: [], diagnostics: [] };
  const named = { paths: state?.stack.policies ?? [], roots: state?.roots ?? [] };
  return loadPolicies({ documents: rules.policies, sources, named, paths }, context);
}

/** What policies say to manifests before anything live is read. */
async function checkPolicies(
  state: DesiredState,
  { policies }: LoadedPolicies,
  { now }: Host,
): Promise<readonly Diagnostic[]> {
  if (policies.length === 0) return [];
  const { checkManifests } = await import('../policy/check-plan.ts');
  return checkManifests(state, policies, now());
}

/** Manifests that a plan can be made from. Rejects with `InvalidManifests` when there are errors. */
export async function readValidManifests(
  paths: readonly string[],
  context: Host,
  options: Omit<ReadOptions, 'requireStack'> = {},
): Promise<ValidManifests> {
  const { state, diagnostics, policies, subject } = await readManifests(paths, context, options);
  if (state === undefined || hasErrors(diagnostics))
    throw new InvalidManifests(keepFewWarnings(diagnostics, state?.inputs ?? []));
  return { state, diagnostics, policies, locate: subject.locate };
}

/** A desired state, the warnings that come with it, and where its resources stand. */
export interface ValidManifests extends Pick<ReadManifests, 'diagnostics' | 'policies'> {
  readonly state: DesiredState;
  readonly locate: Locate;
}

/** Diagnostics without a manifest of their own point to the Stack or, without one, to the start of the first file. */
function toSubject({ stack, state }: ValidatedManifests, file: string): ReadManifests['subject'] {
  const byAddress: ReadonlyMap<string, DesiredResource> = state?.resources ?? new Map();
  const start = { file, line: 1, column: 1, excerpt: '' };
  return {
    ...(stack?.name !== undefined && { stack: stack.name }),
    locate: (address, field) => {
      if (address === undefined) return stack?.locate() ?? start;
      const path = field === undefined ? undefined : parsePath(field);
      const isBesideSpec = path?.[0] === 'lifecycle';
      return byAddress.get(address)?.locate(path === undefined || isBesideSpec ? path : ['spec', ...path]);
    },
  };
}

/** The manifests whose paths are checked. */
interface NamedPathsContext {
  readonly cwd: string;
  /** Folders below which everything must lie that they name. */
  readonly roots: readonly string[];
  /** The position of a field of the Stack. */
  readonly locateInStack: (path: FieldPath) => SourcePlace | undefined;
}

/** Paths in valid manifests, except those of field values, that may not be read or written: an error at each, which does not reveal what is there. */
function listRefusedPaths(state: DesiredState, context: NamedPathsContext): readonly Diagnostic[] {
  return [...listOfStack(state, context), ...listWritten(state, context)];
}

interface NamedPath {
  /** In the `Stack`. */
  readonly path: FieldPath;
  readonly named: string;
}

function listOfStack({ stack }: DesiredState, context: NamedPathsContext): readonly Diagnostic[] {
  const { api, policies, inputs = [], tokens } = stack;
  const { baseUrl = '', caFile } = api;
  const file = isEmbedded(baseUrl) ? getEmbeddedFile(baseUrl) : '';
  const named: readonly NamedPath[] = [
    ...(file === '' ? [] : [{ path: ['spec', 'api', 'base_url'], named: file }]),
    ...(caFile === undefined ? [] : [{ path: ['spec', 'api', 'ca_file'], named: caFile }]),
    ...policies.map((one, index) => ({ path: ['spec', 'policies', index], named: one })),
    ...inputs.map((one, index) => ({ path: ['spec', 'inputs', index], named: toFixedPart(one) })),
    ...listTokenFolders(tokens),
  ];
  return named.flatMap(({ path, named: one }): Diagnostic[] => {
    const place = placeWithin(resolve(context.cwd, one), context.roots);
    if (!('finding' in place)) return [];
    const at = context.locateInStack(path);
    const message = `${formatPath(path)} names ${one}, which ${place.finding}`;
    return [toRefused({ message, ...(at !== undefined && { place: at }) })];
  });
}

function listTokenFolders({ default: all, credentials }: TokenSettings): readonly NamedPath[] {
  const sinks = [
    [['default'], all] as const,
    ...Object.entries(credentials).map(([name, sink]) => [['credentials', name], sink] as const),
  ];
  return sinks.flatMap(([path, sink]) =>
    sink === undefined || !('directory' in sink)
      ? []
      : [{ path: ['spec', 'tokens', ...path, 'directory'], named: sink.directory }],
  );
}

/** Of a pattern, the folder in which it is looked for. */
function toFixedPart(pattern: string): string {
  const at = pattern.search(/[*?[\\]/);
  return at < 0 ? pattern : dirname(`${pattern.slice(0, at)}_`);
}

function listWritten({ resources }: DesiredState, { cwd, roots }: NamedPathsContext): readonly Diagnostic[] {
  return [...resources.values()].flatMap((resource) =>
    listWrittenPaths(resource).flatMap(({ name, path }): Diagnostic[] => {
      const place = placeForWriting(path, roots, { cwd });
      if (!('finding' in place)) return [];
      const { address } = resource;
      const message = `${address}: lifecycle.${name} names ${path}, which ${place.finding}`;
      return [toRefused({ message, address, place: resource.locate(['lifecycle', name]) })];
    }),
  );
}

/** What the lifecycle of a resource names as files, each with the setting that does. */
function listWrittenPaths({ kind, lifecycle }: DesiredResource): readonly {
  readonly name: string;
  readonly path: string;
}[] {
  return Object.entries(lifecycle.settings).flatMap(([name, path]) => {
    const type = findKind(kind)?.lifecycle[name]?.type;
    return type?.type === 'text' && type.isPath && typeof path === 'string' ? [{ name, path }] : [];
  });
}

function toRefused(diagnostic: Omit<Diagnostic, 'code' | 'severity'>): Diagnostic {
  return { code: 'path-refused', severity: 'error', remedy: BOUNDARY_REMEDY, ...diagnostic };
}

/** Policies that can be evaluated, and the diagnostics of the others. */
interface LoadedPolicies {
  readonly policies: readonly Policy[];
  readonly diagnostics: readonly Diagnostic[];
}

/** The policies among the manifests of a run, and where others are. */
interface PolicySources {
  readonly documents: readonly PolicyDocument[];
  /** The files that those were read from, which may be named a second time. */
  readonly sources: readonly ManifestBytes[];
  /** Paths of further policies from the user who started the run. */
  readonly paths: readonly string[];
  /** Where the Stack says that others are, and the folders below which those must lie. Absent: nowhere. */
  readonly named?: { readonly paths: readonly string[]; readonly roots: readonly string[] };
}

/** Reads policies, those among manifests and those kept apart. CEL is loaded only when there are any. */
export async function loadPolicies(
  { documents, sources, paths, named = { paths: [], roots: [] } }: PolicySources,
  context: Host,
): Promise<LoadedPolicies> {
  const seen = sources.map(({ file }) => file);
  const ofStack = await loadPolicyDocuments(named.paths, { context, seen, roots: named.roots });
  const apart = await loadPolicyDocuments(paths, { context, seen: [...seen, ...ofStack.files] });
  const all = [...documents, ...ofStack.rules.policies, ...apart.rules.policies];
  const found = [...ofStack.diagnostics, ...apart.diagnostics, ...listNamesakes(all)];
  if (all.length === 0) return { policies: [], diagnostics: found };
  const { readPolicies } = await import('../policy/read-policies.ts');
  const { policies, diagnostics } = readPolicies(all);
  return { policies, diagnostics: [...found, ...diagnostics] };
}

/** How documents of policies are read. */
interface DocumentOptions {
  readonly context: Host;
  /** Files that were read already. */
  readonly seen?: readonly string[];
  /** Other documents may stand among them. */
  readonly isMixed?: boolean;
  /** Manifests have named the paths: they must lie below one of these folders. */
  readonly roots?: readonly string[];
}

interface LoadedDocuments {
  readonly rules: PolicyDocuments;
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly string[];
}

/** The documents in files and folders of policies. A file that was read before is passed over, and a document of another kind is a mistake. */
async function loadPolicyDocuments(
  paths: readonly string[],
  { context, seen = [], isMixed = false, roots }: DocumentOptions,
): Promise<LoadedDocuments> {
  if (paths.length === 0) return { rules: { policies: [], tests: [] }, diagnostics: [], files: [] };
  const { cwd, onInput = () => undefined } = context;
  const budget = createStackBudget(context.budget);
  const loaded = await loadManifests(paths, { ...context, roots, budget });
  const before = new Set(seen.map((file) => resolve(cwd, file)));
  const sources = loaded.sources.filter(({ file }) => !before.has(resolve(cwd, file)));
  for (const file of [...paths, ...sources.map((source) => source.file)]) onInput(file);
  const readFile = createFieldFileReader({ cwd, onInput, roots: roots ?? findRoots(paths, context), budget });
  const { rules, diagnostics, state } = validateManifests(sources, {
    env: toEnvironment(context),
    ...(context.secrets !== undefined && { secrets: context.secrets }),
    requireStack: false,
    readFile,
  });
  const others = [...(state?.resources.values() ?? [])].map(
    ({ kind, address, locate }): Diagnostic => ({
      code: 'unknown-kind',
      severity: 'error',
      message: `${address}: ${kind} is not a kind of policies`,
      remedy: 'Move the document to the manifests. A path of policies has Policy and PolicyTest documents only.',
      address,
      place: locate(),
    }),
  );
  const found = [...loaded.diagnostics, ...diagnostics, ...(isMixed ? [] : others)];
  return { rules, diagnostics: found, files: sources.map(({ file }) => file) };
}

/** Policies of one name in different places: nobody could tell which of them a case, or a report, is about. */
function listNamesakes(documents: readonly PolicyDocument[]): readonly Diagnostic[] {
  const first = new Map<string, PolicyDocument>();
  return documents.flatMap((document): Diagnostic[] => {
    const before = first.get(document.name);
    if (before === undefined) first.set(document.name, document);
    if (before === undefined) return [];
    const address = `Policy/${document.name}`;
    return [
      {
        code: 'duplicate-address',
        severity: 'error',
        message: `${address}: two documents have this address`,
        remedy: 'Rename or remove one of them.',
        address,
        place: document.locate(['metadata', 'name']),
        related: [{ message: 'first defined here', place: before.locate(['metadata', 'name']) }],
      },
    ];
  });
}

/**
 * Runs the cases of the policies in files and folders; other documents are passed over. Sends nothing. Rejects with `InvalidManifests` for
 * policies and cases that cannot be read, and with `StackError` when there are no cases.
 */
export async function testPolicies(paths: readonly string[], context: Host): Promise<PolicyTestResult> {
  const { rules, diagnostics } = await loadPolicyDocuments(paths, { context, isMixed: true });
  const read = await loadPolicies({ documents: rules.policies, sources: [], paths: [] }, context);
  const found = [...diagnostics, ...read.diagnostics];
  if (hasErrors(found)) throw new InvalidManifests(found);
  if (rules.tests.length === 0)
    throw new StackError('There are no cases: no document is a PolicyTest.', {
      reason: 'invalid',
      remedy: 'Write cases beside the policies. edgewise explain PolicyTest shows their form.',
    });
  const { runPolicyCases } = await import('../policy/run-cases.ts');
  const { cases, untested, diagnostics: missing } = runPolicyCases(rules.tests, read.policies);
  if (missing.length > 0) throw new InvalidManifests(missing);
  return { cases, untested };
}
