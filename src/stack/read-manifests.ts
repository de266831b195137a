import { dirname, resolve } from 'node:path';
import type { AcceptInput } from '../accept/accept-drift.ts';
import { BOUNDARY_REMEDY, listRootsOfPaths, resolvePathWithin, resolveWritePath } from '../files/boundary.ts';
import { lintManifests } from '../lint/lint.ts';
import { createManifestEnvironment } from '../manifest/environment.ts';
import { createFieldFileReader, createStackBudget, type LoadedSources, readManifestFiles } from '../manifest/load.ts';
import { createUnusedPatternWarning, type SkipPatternInFolder } from '../manifest/skip-files.ts';
import { type ManifestContent, type Source, toSource } from '../manifest/source.ts';
import { type ValidatedManifests, validateManifests } from '../manifest/validate.ts';
import { type Diagnostic, hasErrors, limitWarningsPerLintRule } from '../model/diagnostic.ts';
import { formatPath } from '../model/field-path.ts';
import type { Locate } from '../model/place.ts';
import type { PolicyDocument, PolicyDocuments, PolicyTestResults } from '../model/policy.ts';
import type { SinkSettings, TokenSettings } from '../model/stack.ts';
import type { DesiredResource, DesiredState, FieldPath, SkippedInput } from '../model/state.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import { checkManifests } from '../policy/check-plan.ts';
import type { Policy } from '../policy/evaluate.ts';
import { compilePolicies, type ReadPolicies } from '../policy/read-policies.ts';
import { runPolicyCases } from '../policy/run-cases.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../settings/base-url.ts';
import { getDocumentSetting } from '../settings/resolve.ts';
import type { Host, StackNameAndLocator } from './host.ts';
import { loadStackManifestSources, nameStackAround, refuseOnlyFilesOfOtherTools } from './load-stack.ts';
import { isUnusedInput, isUnusedSkipPattern } from './unused-patterns.ts';

/** The result of reading and validating manifests. `state` is `undefined` if the manifests are invalid. */
interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  readonly policies: readonly Policy[];
  readonly files: number;
  /** What is among the manifests and belongs to other tools. */
  readonly skipped: SkippedInput;
  /** The stack and the positions in its manifests, as far as they could be read. */
  readonly subject: StackNameAndLocator & Required<Pick<StackNameAndLocator, 'locate'>>;
  readonly validateEdited: ValidateEdited;
}

/** Validates the manifests with other texts of some files. */
export type ValidateEdited = AcceptInput['validate'];

interface ReadOptions {
  /** Whether a missing `Stack` is an error. Default: true. */
  readonly requireStack?: boolean;
  /** `all` runs every lint rule, `for-plan` only the rules that a plan does not check itself. Absent: no rule runs. */
  readonly lint?: 'all' | 'for-plan' | undefined;
  /** Manifests in memory, read after the paths. */
  readonly manifests?: readonly ManifestContent[];
  /** Manifests that are about to be written below the path. They are read as if they were there. */
  readonly planned?: readonly ManifestContent[];
  /**
   * Paths of policies that are loaded in addition to the policies of the manifests and their Stack. Absent: no policies
   * are loaded at all.
   */
  readonly policies?: readonly string[] | undefined;
}

/** Loads and checks manifests. An empty list of paths means the working folder. Sends no request. */
export async function readManifests(
  paths: readonly string[],
  context: Host,
  { requireStack = true, lint, manifests = [], planned = [], policies }: ReadOptions = {},
): Promise<ReadManifests> {
  const { cwd, uid, onInput = () => undefined } = context;
  const roots = listRootsOfPaths([...paths, ...manifests.map(({ file }) => dirname(file))], context);
  const budget = createStackBudget(context.budget);
  const given = paths.length + manifests.length === 0 ? ['.'] : paths;
  const fromPaths = await loadStackManifestSources(given, { ...context, budget }, planned.map(toSource));
  const loaded = { ...fromPaths, sources: [...fromPaths.sources, ...manifests.map(toSource)] };
  const isLoaded = loaded.diagnostics.every(({ severity }) => severity !== 'error');
  if (isLoaded) refuseOnlyFilesOfOtherTools(given, loaded.sources, context);
  for (const file of [...given, ...loaded.sources.map((source) => source.file)]) onInput(file);
  const validation = {
    env: createManifestEnvironment(context),
    secrets: context.secrets,
    // If a file could not be read, do not report a missing Stack, because that file may contain it.
    requireStack: requireStack && isLoaded,
    readFile: createFieldFileReader({ cwd, uid, onInput, roots, budget }),
  };
  const validated = validateManifests(loaded.sources, { ...validation, quoted: context.quoted });
  const refused = listRefusedPaths(validated, roots, context);
  const skipped: SkippedInput = { documents: validated.ofOthers, files: fromPaths.skipped };
  const valid = isLoaded && refused.length === 0 ? addRootsAndPaths(validated.state, roots, given) : undefined;
  const state = valid && { ...valid, skipped };
  const subject = createSubject(validated, loaded.sources[0]?.file ?? paths[0] ?? '.');
  context.onSubject?.(subject);
  const rules = await loadRunPolicies({ ...validated, state, sources: loaded.sources }, policies, context);
  const lintFindings =
    state === undefined || lint === undefined
      ? []
      : lintManifests(state, { now: context.now(), isForPlan: lint === 'for-plan' });
  const unused =
    lint === 'all' ? listUnusedPatternWarnings(state, validated, { ...context, skip: fromPaths.ownSkipPatterns }) : [];
  const colliding = lint === 'all' ? await listCollidingNameWarnings(given, context) : [];
  // Policies for manifests need no live state.
  const policyFindings =
    state === undefined || lint !== 'all' ? [] : checkManifests(state, rules.policies, context.now());
  return {
    state,
    diagnostics: [
      ...loaded.diagnostics,
      ...validated.diagnostics.map((one) => (one.code === 'no-stack' ? nameStackAround(one, given, context) : one)),
      ...refused,
      ...unused,
      ...colliding,
      ...rules.diagnostics,
      ...lintFindings,
      ...policyFindings,
    ],
    policies: rules.policies,
    files: loaded.sources.length,
    skipped,
    subject,
    validateEdited: (edited) => {
      const after = new Map(edited.map((one) => [one.file, one.after]));
      const sources = loaded.sources.flatMap((source): readonly ManifestContent[] => {
        const text = after.get(source.file);
        if (text !== undefined) return [{ file: source.file, text }];
        return after.has(source.file) ? [] : [source];
      });
      return validateManifests(sources, validation);
    },
  };
}

/** Warns of patterns of the Stack that match no file: `--changed-since` would never select the stack for such an input. */
function listUnusedPatternWarnings(
  state: DesiredState | undefined,
  { stack }: ValidatedManifests,
  { cwd, skip }: Pick<Host, 'cwd'> & { readonly skip: readonly SkipPatternInFolder[] },
): readonly Diagnostic[] {
  const [top] = state?.roots ?? [];
  const inputs = (state?.stack.inputs ?? []).map((text, index) => ({ text, path: ['spec', 'inputs', index] }));
  return [
    ...inputs
      .filter(({ text }) => top !== undefined && isUnusedInput(text, { cwd, top }))
      .map(({ text, path }) => createUnusedPatternWarning('inputs', text, stack?.locate(path))),
    ...skip
      .filter((pattern) => isUnusedSkipPattern(pattern, cwd))
      .map(({ text, place }) => createUnusedPatternWarning('skip_files', text, place)),
  ];
}

/** Warns of tracked manifests of which a checkout on macOS or Windows has only one. */
async function listCollidingNameWarnings(paths: readonly string[], context: Host): Promise<readonly Diagnostic[]> {
  const groups = (await context.listCollidingNames?.(paths, context)) ?? [];
  return groups.map((files) => ({
    code: 'colliding-names',
    severity: 'warning',
    message: `these tracked files have names that differ only in case or in the form of Unicode: ${files.join(', ')}`,
    remedy:
      'Rename all but one. A checkout on macOS or Windows has only one of them, and what the others describe would be deleted.',
  }));
}

function addRootsAndPaths(
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
    stack: { ...stack, tokens: addTokenRoots(stack.tokens, roots) },
  };
}

/** Adds the roots to each token folder. The folder is checked against the roots again when a token is written. */
function addTokenRoots({ default: all, credentials }: TokenSettings, roots: readonly string[]): TokenSettings {
  const addRoots = (sink: SinkSettings): SinkSettings => ('directory' in sink ? { ...sink, within: roots } : sink);
  const own = Object.entries(credentials).map(([name, sink]) => [name, addRoots(sink)] as const);
  return { default: all && addRoots(all), credentials: Object.fromEntries(own) };
}

/** Loads the policies of a run. `paths`: further policies from the user. `undefined`: no policies are loaded at all. */
async function loadRunPolicies(
  { rules, state, sources }: Pick<ValidatedManifests, 'rules' | 'state'> & Pick<LoadedSources, 'sources'>,
  paths: readonly string[] | undefined,
  context: Host,
): Promise<ReadPolicies> {
  if (paths === undefined) return { policies: [], diagnostics: [] };
  const named = { paths: state?.stack.policies ?? [], roots: state?.roots ?? [] };
  return loadPolicies({ documents: rules.policies, sources, named, paths }, context);
}

/** Reads manifests that can be planned. Rejects with `InvalidManifests` if there are errors. */
export async function readValidManifests(
  paths: readonly string[],
  context: Host,
  options: Omit<ReadOptions, 'requireStack'> = {},
): Promise<ValidManifests> {
  const { state, diagnostics, policies, subject, validateEdited } = await readManifests(paths, context, options);
  if (state === undefined || hasErrors(diagnostics))
    throw new InvalidManifests(limitWarningsPerLintRule(diagnostics, state?.inputs ?? []));
  return { state, diagnostics, policies, locate: subject.locate, validateEdited };
}

/** Manifests without errors. `diagnostics` has only warnings. */
export interface ValidManifests extends Pick<ReadManifests, 'diagnostics' | 'policies' | 'validateEdited'> {
  readonly state: DesiredState;
  readonly locate: Locate;
}

/**
 * Returns the stack's name and the positions in its manifests. A diagnostic without an address points to the Stack or,
 * if there is no Stack, to the start of the first file.
 */
function createSubject({ stack, state }: ValidatedManifests, file: string): ReadManifests['subject'] {
  const byAddress: ReadonlyMap<string, DesiredResource> = state?.resources ?? new Map();
  const start = { file, line: 1, column: 1 };
  return {
    stack: stack?.name,
    locate: (address, path, part) => {
      const document = address === undefined ? stack : byAddress.get(address);
      return document?.locate(path, part) ?? (address === undefined ? start : undefined);
    },
  };
}

interface NamedPath {
  /** The field of the `Stack` in which the path `named` is written. */
  readonly path: FieldPath;
  readonly named: string;
  /** What edgewise writes there. Absent: it only reads. */
  readonly written?: 'file' | 'folder';
}

/**
 * Lists an error for each path that valid manifests name but that must not be read or written. Called before any file at
 * these paths is read. Does not cover paths in field values of resources. The errors do not reveal file content.
 */
function listRefusedPaths(
  { state, stack: document }: ValidatedManifests,
  roots: readonly string[],
  { cwd }: Host,
): readonly Diagnostic[] {
  if (state === undefined) return [];
  const { layers, policies, inputs = [], tokens } = state.stack;
  const [baseUrl = '', caFile] = [getDocumentSetting('baseUrl', layers), getDocumentSetting('caFile', layers)];
  const file = isEmbedded(baseUrl) ? parseEmbeddedDataFile(baseUrl) : '';
  const named: readonly NamedPath[] = [
    ...(file === '' ? [] : [{ path: ['spec', 'api', 'base_url'], named: file, written: 'file' as const }]),
    ...(caFile === undefined ? [] : [{ path: ['spec', 'api', 'ca_file'], named: caFile }]),
    ...policies.map((one, index) => ({ path: ['spec', 'policies', index], named: one })),
    ...inputs.map((one, index) => ({ path: ['spec', 'inputs', index], named: computeFixedFolder(one) })),
    ...listTokenFolders(tokens),
  ];
  return named.flatMap(({ path, named: one, written }): Diagnostic[] => {
    const place =
      written === undefined
        ? resolvePathWithin(resolve(cwd, one), roots)
        : resolveWritePath(one, { cwd, roots }, written);
    if (!('finding' in place)) return [];
    const message = `${formatPath(path)} names ${one}, which ${place.finding}`;
    return [
      { code: 'path-refused', severity: 'error', remedy: BOUNDARY_REMEDY, message, place: document?.locate(path) },
    ];
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
      : [{ path: ['spec', 'tokens', ...path, 'directory'], named: sink.directory, written: 'folder' as const }],
  );
}

/**
 * Returns the folder that a glob pattern names before its first wildcard. Returns a path without wildcards unchanged.
 */
function computeFixedFolder(pattern: string): string {
  const at = pattern.search(/[*?[\\]/);
  return at < 0 ? pattern : dirname(`${pattern.slice(0, at)}_`);
}

/** Policy documents in the manifests of a run, and paths of further policies. */
interface PolicySources {
  readonly documents: readonly PolicyDocument[];
  /** The files of `documents`. If `paths` name these files too, they are not read again. */
  readonly sources: readonly Source[];
  /** Paths of further policies from the user. */
  readonly paths: readonly string[];
  /**
   * Paths of further policies from the Stack, and the folders that must contain these paths. Absent: the Stack names no
   * policies.
   */
  readonly named?: { readonly paths: readonly string[]; readonly roots: readonly string[] };
}

/** Loads the policies from documents and paths. Loads CEL only if there is a policy. */
async function loadPolicies(
  { documents, sources, paths, named = { paths: [], roots: [] } }: PolicySources,
  context: Host,
): Promise<ReadPolicies> {
  const seen = sources.map(({ file }) => file);
  const ofStack = await loadPolicyDocuments(named.paths, { context, seen, roots: named.roots });
  const apart = await loadPolicyDocuments(paths, { context, seen: [...seen, ...ofStack.files] });
  const all = [...documents, ...ofStack.rules.policies, ...apart.rules.policies];
  const found = [...ofStack.diagnostics, ...apart.diagnostics, ...listDuplicateNames(all)];
  if (all.length === 0) return { policies: [], diagnostics: found };
  const { policies, diagnostics } = compilePolicies(all);
  return { policies, diagnostics: [...found, ...diagnostics] };
}

interface DocumentOptions {
  readonly context: Host;
  /** Files that were already read, and are skipped. */
  readonly seen?: readonly string[];
  /** If true, documents of other kinds are ignored instead of reported. Default: false. */
  readonly isMixed?: boolean;
  /** Folders that must contain the paths. Set if the paths are from manifests, not from the user. */
  readonly roots?: readonly string[];
}

interface LoadedDocuments {
  readonly rules: PolicyDocuments;
  readonly diagnostics: readonly Diagnostic[];
  readonly files: readonly string[];
}

/**
 * Loads the policy documents in files and folders. Skips files that were already read. Reports documents of other
 * kinds, unless `isMixed`.
 */
async function loadPolicyDocuments(
  paths: readonly string[],
  { context, seen = [], isMixed = false, roots }: DocumentOptions,
): Promise<LoadedDocuments> {
  if (paths.length === 0) return { rules: { policies: [], tests: [] }, diagnostics: [], files: [] };
  const { cwd, uid, onInput = () => undefined } = context;
  const budget = createStackBudget(context.budget);
  const loaded = await readManifestFiles(paths, { ...context, roots, budget });
  const before = new Set(seen.map((file) => resolve(cwd, file)));
  const sources = loaded.sources.filter(({ file }) => !before.has(resolve(cwd, file)));
  for (const file of [...paths, ...sources.map((source) => source.file)]) onInput(file);
  const readFile = createFieldFileReader({
    cwd,
    uid,
    onInput,
    roots: roots ?? listRootsOfPaths(paths, context),
    budget,
  });
  const { rules, diagnostics, state } = validateManifests(sources, {
    env: createManifestEnvironment(context),
    secrets: context.secrets,
    quoted: context.quoted,
    requireStack: false,
    readFile,
  });
  const others = [...(state?.resources.values() ?? [])].map(
    ({ kind, address, locate }): Diagnostic => ({
      code: 'unknown-kind',
      severity: 'error',
      message: `${address}: the kind ${kind} is not for policies`,
      remedy: 'Move the document to the manifests. A path of policies has Policy and PolicyTest documents only.',
      address,
      place: locate(),
    }),
  );
  const found = [...loaded.diagnostics, ...diagnostics, ...(isMixed ? [] : others)];
  return { rules, diagnostics: found, files: sources.map(({ file }) => file) };
}

/** Reports two policies with the same name, because test cases and reports refer to policies by name. */
function listDuplicateNames(documents: readonly PolicyDocument[]): readonly Diagnostic[] {
  const first = new Map<string, PolicyDocument>();
  return documents.flatMap((document): Diagnostic[] => {
    const before = first.get(document.name);
    if (before === undefined) first.set(document.name, document);
    if (before === undefined) return [];
    const address = `Policy/${document.name}`;
    return [
      {
        code: 'duplicate-claim',
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
 * Runs the test cases of the policies in files and folders, and ignores other documents. Sends nothing. Rejects with
 * `InvalidManifests` for invalid policies or cases, and with `StackError` if there are no cases.
 */
export async function testPolicies(paths: readonly string[], context: Host): Promise<PolicyTestResults> {
  const { rules, diagnostics } = await loadPolicyDocuments(paths, { context, isMixed: true });
  const read = await loadPolicies({ documents: rules.policies, sources: [], paths: [] }, context);
  const found = [...diagnostics, ...read.diagnostics];
  if (hasErrors(found)) throw new InvalidManifests(found);
  if (rules.tests.length === 0)
    throw new StackError('There are no test cases: no document is a PolicyTest.', {
      reason: 'invalid',
      remedy: 'Write test cases as a PolicyTest, next to the policies. edgewise explain PolicyTest shows its fields.',
    });
  const { cases, untested, diagnostics: missing } = runPolicyCases(rules.tests, read.policies);
  if (missing.length > 0) throw new InvalidManifests(missing);
  return { cases, untested };
}
