import { type CloserChecks, listCloserFormats, loadCloserChecks } from '../kinds/closer-checks.ts';
import { MANIFEST_KINDS } from '../kinds/tables/registry.ts';
import { hasExpressions, lintManifests } from '../lint/lint.ts';
import {
  createFieldFileReader,
  type LoadedManifests,
  loadManifests,
  type ManifestBytes,
  type ManifestSource,
  toBytes,
} from '../manifest/load.ts';
import { type ValidatedManifests, validateManifests } from '../manifest/validate.ts';
import { type Diagnostic, hasErrors, type Locate } from '../model/diagnostic.ts';
import { parsePath } from '../model/field-path.ts';
import type { DesiredResource, DesiredState } from '../model/state.ts';
import { InvalidManifests } from './stack-error.ts';
import type { RunSubject, Surroundings } from './surroundings.ts';

/** What the manifests of a run say. `state` is absent when they are not valid. */
export interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Number of files read. */
  readonly files: number;
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
}

/** Loads and checks manifests; no path means the current folder. Sends no request. */
export async function readManifests(
  paths: readonly string[],
  context: Surroundings,
  { requireStack = true, lint, manifests = [] }: ReadOptions = {},
): Promise<ReadManifests> {
  const { cwd, env, readStdin, onInput = () => undefined } = context;
  const given = paths.length + manifests.length === 0 ? ['.'] : paths;
  const loaded = withManifests(await loadManifests(given, { cwd, readStdin }), manifests);
  for (const file of [...given, ...loaded.sources.map((source) => source.file)]) onInput(file);
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
  const found = state === undefined || lint === undefined ? [] : await findLint(state, lint, context);
  return {
    state,
    diagnostics: [...loaded.diagnostics, ...validated.diagnostics, ...found],
    files: loaded.sources.length,
    subject,
  };
}

function withManifests(loaded: LoadedManifests, manifests: readonly ManifestSource[]): LoadedManifests {
  return { ...loaded, sources: [...loaded.sources, ...manifests.map(toBytes)] };
}

/** The closer checks, loaded only for kinds that some manifest may be of: they cost more than the rest of the start. */
function loadChecks(sources: readonly ManifestBytes[]): Promise<CloserChecks> {
  const texts = sources.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const isMentioned = (name: string): boolean => texts.some((text) => text.includes(name));
  const candidates = MANIFEST_KINDS.filter((kind) => listCloserFormats(kind).length > 0);
  return loadCloserChecks(candidates.filter(({ name }) => isMentioned(name)));
}

/** What lint has against manifests. CEL is loaded only where a manifest has some. */
async function findLint(
  state: DesiredState,
  scope: NonNullable<ReadOptions['lint']>,
  { now }: Surroundings,
): Promise<readonly Diagnostic[]> {
  const readCel = hasExpressions(state) ? (await import('../lint/cel.ts')).readCel : () => ({ names: [] });
  return lintManifests(state, { now: now(), readCel, isForPlan: scope === 'for-plan' });
}

/** Manifests that a plan can be made from. Rejects with `InvalidManifests` when there are errors. */
export async function readValidManifests(
  paths: readonly string[],
  context: Surroundings,
  options: Pick<ReadOptions, 'lint' | 'manifests'> = {},
): Promise<ValidManifests> {
  const { state, diagnostics, subject } = await readManifests(paths, context, options);
  if (state === undefined || hasErrors(diagnostics)) throw new InvalidManifests(diagnostics);
  return { state, diagnostics, locate: subject.locate };
}

/** A desired state, the warnings that come with it, and where its resources stand. */
export interface ValidManifests extends Pick<ReadManifests, 'diagnostics'> {
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
