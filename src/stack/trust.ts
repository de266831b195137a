import { type Host, StackError } from './host.ts';

/**
 * Decisions of the user who starts edgewise, which manifests cannot make: whether they are trusted, and which variables they may read. The settings that
 * manifests without trust do not decide are in `stack/settings.ts`.
 */

/** What flags or options say of it. */
export interface TrustFlags {
  readonly untrusted?: boolean;
  /** Names of variables, and prefixes that end in `*`. */
  readonly env?: readonly string[];
  /** The folder below which everything must lie that manifests name. */
  readonly root?: string;
}

/** What an offer looks like: a name, or a prefix with a `*` at its end. */
const OFFER = /^[A-Za-z_][A-Za-z0-9_]*\*?$/;

/** From flags, else from EDGEWISE_UNTRUSTED, EDGEWISE_ENV and EDGEWISE_ROOT. */
export function readTrust(
  { untrusted, env: names = [], root }: TrustFlags,
  { env }: Pick<Host, 'env'>,
): Required<Pick<Host, 'isUntrusted' | 'offered'>> & Pick<Host, 'root'> {
  const offered = listOffered({ env: names }, env);
  const wrong = offered.find((name) => !OFFER.test(name));
  if (wrong !== undefined)
    throw new StackError(`${JSON.stringify(wrong)} is not the name of a variable that can be offered to manifests.`, {
      reason: 'invalid',
      remedy: 'Name a variable, such as DEPLOY_REGION, or a prefix, such as DEPLOY_*.',
    });
  const below = root ?? (env['EDGEWISE_ROOT'] || undefined);
  return { isUntrusted: untrusted ?? isOn(env['EDGEWISE_UNTRUSTED']), offered, root: below };
}

/** The names that flags give, else those of EDGEWISE_ENV. */
export function listOffered({ env: names = [] }: TrustFlags, env: Host['env']): readonly string[] {
  return names.length > 0 ? names : (env['EDGEWISE_ENV'] ?? '').split(/[\s,]+/).filter((name) => name !== '');
}

/** Any value except a known "no" means yes: in doubt the manifests are not trusted. */
function isOn(text = ''): boolean {
  return !['', '0', 'false'].includes(text.toLowerCase());
}

/** Refuses to write for manifests that are not trusted. */
export function refuseUntrusted({ isUntrusted = false }: Pick<Host, 'isUntrusted'>): void {
  if (!isUntrusted) return;
  throw new StackError('The manifests are not trusted, so they cannot be applied.', {
    reason: 'refused',
    remedy: 'Plan them. Apply after the merge, without --untrusted and without EDGEWISE_UNTRUSTED.',
  });
}

/** Refuses to run commands of manifests that are not trusted. */
export function refuseUntrustedRender({ isUntrusted = false }: Pick<Host, 'isUntrusted'>): void {
  if (!isUntrusted) return;
  throw new StackError('--render runs commands of the manifests, which are not trusted.', {
    reason: 'invalid',
    remedy:
      'Leave out --render. Print the manifests in a step without keys, and give them on standard input, with `-`.',
  });
}
