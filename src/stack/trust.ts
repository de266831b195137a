import { type Host, StackError } from './host.ts';

/**
 * Decisions of the user who starts edgewise, which manifests cannot make: whether the manifests are trusted, and which
 * variables they may read. `stack/settings.ts` contains the settings that untrusted manifests cannot change.
 */

export interface TrustFlags {
  readonly untrusted?: boolean;
  /** Names of environment variables that manifests may read, and prefixes that end in `*`. */
  readonly env?: readonly string[];
  /** The folder that must contain every file that manifests name. */
  readonly root?: string;
}

/** Matches the name of a variable, or a prefix that ends in `*`. */
const OFFER = /^[A-Za-z_][A-Za-z0-9_]*\*?$/;

/** Reads the decisions from flags, else from EDGEWISE_UNTRUSTED, EDGEWISE_ENV and EDGEWISE_ROOT. */
export function readManifestTrust(
  { untrusted, env: names = [], root }: TrustFlags,
  { env }: Pick<Host, 'env'>,
): Required<Pick<Host, 'isUntrusted' | 'offered'>> & Pick<Host, 'root'> {
  const offered = listVariablesAllowedInManifests({ env: names }, env);
  const wrong = offered.find((name) => !OFFER.test(name));
  if (wrong !== undefined)
    throw new StackError(`${JSON.stringify(wrong)} is not the name of a variable that can be offered to manifests.`, {
      reason: 'invalid',
      remedy: 'Name a variable, such as DEPLOY_REGION, or a prefix, such as DEPLOY_*.',
    });
  const below = root ?? (env['EDGEWISE_ROOT'] || undefined);
  return { isUntrusted: untrusted ?? isOn(env['EDGEWISE_UNTRUSTED']), offered, root: below };
}

/** Returns the names from flags, else the names from EDGEWISE_ENV. */
export function listVariablesAllowedInManifests({ env: names = [] }: TrustFlags, env: Host['env']): readonly string[] {
  return names.length > 0 ? names : (env['EDGEWISE_ENV'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
}

/** Any value except a known "no" means yes, so that a typing mistake does not make manifests trusted. */
function isOn(text = ''): boolean {
  return !['', '0', 'false'].includes(text.toLowerCase());
}

/** Throws if the manifests are not trusted. Called before anything is written. */
export function refuseToWriteUntrusted({ isUntrusted = false }: Pick<Host, 'isUntrusted'>): void {
  if (!isUntrusted) return;
  throw new StackError('The manifests are not trusted, so they cannot be applied.', {
    reason: 'refused',
    remedy: 'Plan them. Apply after the merge, without --untrusted and without EDGEWISE_UNTRUSTED.',
  });
}

/** Throws if the manifests are not trusted. Called before a command of a manifest runs. */
export function refuseUntrustedRender({ isUntrusted = false }: Pick<Host, 'isUntrusted'>): void {
  if (!isUntrusted) return;
  throw new StackError('--render runs commands of the manifests, which are not trusted.', {
    reason: 'invalid',
    remedy:
      'Leave out --render. Run the command of spec.render yourself, in an earlier step without API keys, and pass its output on standard input, with `-`.',
  });
}
