import { SSH_USER_CERTIFICATE } from '../kinds/ssh-user-certificate.ts';
import { createFieldFileReader, loadManifests, type ManifestSource } from '../manifest/load.ts';
import { validateManifests } from '../manifest/validate.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { DesiredState } from '../model/state.ts';
import type { Context } from './context.ts';
import { InvalidManifests } from './exit-code.ts';

/** What the manifests of a run say. `state` is absent when there are errors. */
export interface ReadManifests {
  readonly state: DesiredState | undefined;
  readonly diagnostics: readonly Diagnostic[];
  /** Number of files read. */
  readonly files: number;
}

/** Loads and validates manifests; no path means the current folder. Sends no request. */
export async function readManifests(
  paths: readonly string[],
  context: Context,
  requireStack = true,
): Promise<ReadManifests> {
  const { cwd, env, readStdin } = context;
  const loaded = await loadManifests(paths.length === 0 ? ['.'] : paths, { cwd, readStdin });
  const isLoaded = loaded.diagnostics.every(({ severity }) => severity !== 'error');
  const validated = validateManifests(loaded.sources, {
    env,
    // What could not be read may hold the Stack: its lack is not the mistake.
    requireStack: requireStack && isLoaded,
    readFile: createFieldFileReader({ cwd }),
    checkPublicKey: await loadKeyCheck(loaded.sources),
  });
  return {
    state: isLoaded ? validated.state : undefined,
    diagnostics: [...loaded.diagnostics, ...validated.diagnostics],
    files: loaded.sources.length,
  };
}

/** The check of SSH public keys, which is loaded only where some manifest may have one: it costs more than the rest of the start. */
async function loadKeyCheck(sources: readonly ManifestSource[]): Promise<(text: string) => string | undefined> {
  const isNeeded = sources.some(({ bytes }) => Buffer.from(bytes).includes(SSH_USER_CERTIFICATE.name));
  if (!isNeeded) return () => undefined;
  const { findSshKeyFault } = await import('../kinds/ssh-key.ts');
  return findSshKeyFault;
}

/** Manifests that a plan can be made from. Rejects with `InvalidManifests` when there are errors. */
export async function readValidManifests(paths: readonly string[], context: Context): Promise<ValidManifests> {
  const { state, diagnostics } = await readManifests(paths, context);
  if (state === undefined) throw new InvalidManifests(diagnostics);
  return { state, diagnostics };
}

/** A desired state and the warnings that come with it. */
export type ValidManifests = Required<Pick<ReadManifests, 'diagnostics'>> & { readonly state: DesiredState };
