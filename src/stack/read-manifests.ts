import { toBuffer } from '../files/read-input.ts';
import { type CloserChecks, listCloserFormats, loadCloserChecks } from '../kinds/closer-checks.ts';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { hasExpressions, lintManifests } from '../lint/lint.ts';
import {
  createFieldFileReader,
  type LoadedManifests,
  type ManifestBytes,
  type ManifestSource,
  toBytes,
} from '../manifest/load.ts';
import { type ValidatedManifests, validateManifests } from '../manifest/validate.ts';
import { type Diagnostic, hasErrors, type Locate } from '../model/diagnostic.ts';
import { parsePath } from '../model/field-path.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import type { Policy } from '../policy/policy.ts';
import { type LoadedPolicies, loadPolicies } from './load-policies.ts';
import { loadStack } from './load-stack.ts';
import { InvalidManifests } from './stack-error.ts';
import type { RunSubject, Surroundings } from './surroundings.ts';

/** What the manifests of a run say. `state` is absent when they are not valid. */
export interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** The rules of one's own that were asked for. */
  readonly policies: readonly Policy[];
  /** Number of files read. */
  readonly files: number;
  /** A command of `spec.render` would print the others, and was not to be run. */
  readonly isPartial: boolean;
  /** What they are about, as far as that can be read. */
  readonly subject: RunSubject & Required<Pick<RunSubject, 'locate'>>;
}

/** How manifests are read. */
export interface ReadOptions {
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
  context: Surroundings,
  { requireStack = true, lint, manifests = [], policies, isRendered = true }: ReadOptions = {},
): Promise<ReadManifests> {
  const { cwd, env, onInput = () => undefined } = context;
  const given = paths.length + manifests.length === 0 ? ['.'] : paths;
  const { isPartial, ...found } = await loadStack(
    given,
    { ...context, onRead: toTotal(context.onManifests) },
    { isRendered },
  );
  const loaded = withManifests(found, manifests);
  for (const file of [...given, ...loaded.sources.map((source) => source.file)]) onInput(file);
  context.onManifests?.(loaded.sources.reduce((sum, { bytes }) => sum + bytes.byteLength, 0));
  const isLoaded = loaded.diagnostics.every(({ severity }) => severity !== 'error');
  const validated = validateManifests(loaded.sources, {
    env,
    // A file that could not be read may hold the Stack, so a missing Stack is not reported.
    requireStack: requireStack && isLoaded,
    readFile: createFieldFileReader({ cwd, onInput }),
    closerChecks: await loadChecks(loaded.sources),
  });
  const state = isLoaded ? validated.state : undefined;
  const subject = toSubject(validated, loaded.sources[0]?.file ?? paths[0] ?? '.');
  context.onSubject?.(subject);
  const rules = await findPolicies({ ...validated, sources: loaded.sources }, policies, context);
  const remarks = state === undefined || lint === undefined ? [] : await findLint(state, lint, context);
  const refused = state === undefined || lint !== 'all' ? [] : await checkPolicies(state, rules, context);
  return {
    state,
    diagnostics: [...loaded.diagnostics, ...validated.diagnostics, ...rules.diagnostics, ...remarks, ...refused],
    policies: rules.policies,
    files: loaded.sources.length,
    isPartial,
    subject,
  };
}

/** Tells the sum of all sizes so far. */
function toTotal(tell: Surroundings['onManifests']): ((bytes: number) => void) | undefined {
  if (tell === undefined) return undefined;
  let total = 0;
  return (bytes) => {
    total += bytes;
    tell(total);
  };
}

function withManifests(loaded: LoadedManifests, manifests: readonly ManifestSource[]): LoadedManifests {
  return { ...loaded, sources: [...loaded.sources, ...manifests.map(toBytes)] };
}

/** The closer checks, loaded only for kinds that some manifest may be of: they cost more than the rest of the start. */
function loadChecks(sources: readonly ManifestBytes[]): Promise<CloserChecks> {
  const isMentioned = (name: string): boolean => sources.some(({ bytes }) => toBuffer(bytes).includes(name));
  const candidates = MANIFEST_KINDS.filter((kind) => listCloserFormats(kind).length > 0);
  return loadCloserChecks(candidates.filter(({ name }) => isMentioned(name)));
}

/** What lint has against manifests. CEL is loaded only where a manifest has some. */
async function findLint(
  state: DesiredState,
  scope: NonNullable<ReadOptions['lint']>,
  { now }: Surroundings,
): Promise<readonly Diagnostic[]> {
  const readCel = hasExpressions(state) ? (await import('../cel/read-cel.ts')).readCel : () => ({ names: [] });
  return lintManifests(state, { now: now(), readCel, isForPlan: scope === 'for-plan' });
}

/** The policies of a run, when it asks for them. */
async function findPolicies(
  { rules, state, sources }: Pick<ValidatedManifests, 'rules' | 'state'> & Pick<LoadedManifests, 'sources'>,
  paths: readonly string[] | undefined,
  context: Surroundings,
): Promise<LoadedPolicies> {
  if (paths === undefined) return { policies: [], diagnostics: [] };
  const all = [...(state?.stack.policies ?? []), ...paths];
  return loadPolicies({ documents: rules.policies, sources, paths: all }, context);
}

/** What policies say to manifests before anything live is read. */
async function checkPolicies(
  state: DesiredState,
  { policies }: LoadedPolicies,
  { now }: Surroundings,
): Promise<readonly Diagnostic[]> {
  if (policies.length === 0) return [];
  const { checkManifests } = await import('../policy/check-manifests.ts');
  return checkManifests(state, policies, now());
}

/** Manifests that a plan can be made from. Rejects with `InvalidManifests` when there are errors. */
export async function readValidManifests(
  paths: readonly string[],
  context: Surroundings,
  options: Omit<ReadOptions, 'requireStack'> = {},
): Promise<ValidManifests> {
  context.onReach?.();
  const { state, diagnostics, policies, isPartial, subject } = await readManifests(paths, context, options);
  if (state === undefined || hasErrors(diagnostics)) throw new InvalidManifests(diagnostics);
  return { state, diagnostics, policies, isPartial, locate: subject.locate };
}

/** A desired state, the warnings that come with it, and where its resources stand. */
export interface ValidManifests extends Pick<ReadManifests, 'diagnostics' | 'policies' | 'isPartial'> {
  readonly state: DesiredState;
  readonly locate: Locate;
}

/** What has no manifest of its own stands where the Stack does or, without one, at the start of the first file. */
function toSubject({ stack, state }: ValidatedManifests, file: string): ReadManifests['subject'] {
  const byAddress: ReadonlyMap<string, DesiredResource> = state?.resources ?? new Map();
  const start = { file, line: 1, column: 1, excerpt: '' };
  return {
    ...(stack?.name !== undefined && { stack: stack.name }),
    locate: (address, field) => {
      if (address === undefined) return stack?.locate() ?? start;
      const path = field === undefined ? undefined : parsePath(field);
      return byAddress.get(address)?.locate(path === undefined ? [] : ['spec', ...path]);
    },
  };
}
