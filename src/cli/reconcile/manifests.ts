import { type CloserChecks, listCloserFormats, loadCloserChecks } from '../../kinds/closer-checks.ts';
import { MANIFEST_KINDS } from '../../kinds/tables/registry.ts';
import { hasExpressions, lintManifests } from '../../lint/lint.ts';
import { createFieldFileReader, loadManifests, type ManifestSource } from '../../manifest/load.ts';
import { validateManifests } from '../../manifest/validate.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { parsePath } from '../../model/field-path.ts';
import type { DesiredResource, DesiredState } from '../../model/state.ts';
import type { Locate } from '../../report/report.ts';
import type { Context } from '../context.ts';
import { InvalidManifests } from '../exit-code.ts';

/** What the manifests of a run say. `state` is absent when they are not valid. */
export interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Number of files read. */
  readonly files: number;
}

/** How manifests are read. */
export interface ReadOptions {
  /** Whether the lack of a `Stack` is an error. Default: true. */
  readonly requireStack?: boolean;
  /** What lint is to say of them: everything, or what a plan does not say itself. Left out: nothing. */
  readonly lint?: 'all' | 'for-plan';
}

/** Loads and checks manifests; no path means the current folder. Sends no request. */
export async function readManifests(
  paths: readonly string[],
  context: Context,
  { requireStack = true, lint }: ReadOptions = {},
): Promise<ReadManifests> {
  const { cwd, env, readStdin } = context;
  const loaded = await loadManifests(paths.length === 0 ? ['.'] : paths, { cwd, readStdin });
  const isLoaded = loaded.diagnostics.every(({ severity }) => severity !== 'error');
  const validated = validateManifests(loaded.sources, {
    env,
    // What could not be read may hold the Stack: its lack is not the mistake.
    requireStack: requireStack && isLoaded,
    readFile: createFieldFileReader({ cwd }),
    closerChecks: await loadChecks(loaded.sources),
  });
  const state = isLoaded ? validated.state : undefined;
  const found = state === undefined || lint === undefined ? [] : await findLint(state, lint, context);
  return {
    state,
    diagnostics: [...loaded.diagnostics, ...validated.diagnostics, ...found],
    files: loaded.sources.length,
  };
}

/** The closer checks, loaded only for kinds that some manifest may be of: they cost more than the rest of the start. */
function loadChecks(sources: readonly ManifestSource[]): Promise<CloserChecks> {
  const texts = sources.map(({ bytes }) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength));
  const isMentioned = (name: string): boolean => texts.some((text) => text.includes(name));
  const candidates = MANIFEST_KINDS.filter((kind) => listCloserFormats(kind).length > 0);
  return loadCloserChecks(candidates.filter(({ name }) => isMentioned(name)));
}

/** What lint has against manifests. CEL is loaded only where a manifest has some. */
async function findLint(
  state: DesiredState,
  scope: NonNullable<ReadOptions['lint']>,
  { now }: Context,
): Promise<readonly Diagnostic[]> {
  const readCel = hasExpressions(state) ? (await import('../../lint/cel.ts')).readCel : () => ({ names: [] });
  return lintManifests(state, { now: now(), readCel, isForPlan: scope === 'for-plan' });
}

/** Manifests that a plan can be made from. Rejects with `InvalidManifests` when there are errors. */
export async function readValidManifests(
  paths: readonly string[],
  context: Context,
  options: Pick<ReadOptions, 'lint'> = {},
): Promise<ValidManifests> {
  const { state, diagnostics } = await readManifests(paths, context, options);
  if (state === undefined || hasErrors(diagnostics)) throw new InvalidManifests(diagnostics);
  return { state, diagnostics };
}

/** Where the manifest of an address starts, or where a field of its spec stands. */
export function toLocate({ resources }: DesiredState): Locate {
  const byAddress: ReadonlyMap<string, DesiredResource> = resources;
  return (address, field) => {
    const path = field === undefined ? undefined : parsePath(field);
    return byAddress.get(address)?.locate(path === undefined ? [] : ['spec', ...path]);
  };
}

/** A desired state and the warnings that come with it. */
export type ValidManifests = Required<Pick<ReadManifests, 'diagnostics'>> & { readonly state: DesiredState };
