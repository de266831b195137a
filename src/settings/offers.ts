import { isKeyOrKeyFileVariable } from '../model/api-key.ts';
import type { UncodedFinding } from '../model/finding.ts';
import { findTokenSystem } from '../model/system-tokens.ts';
import { findSetting, listMembers, resolveSetting, type SettingSources } from './resolve.ts';
import { findRetiredOfferRemedy } from './retired.ts';

/** The names of the variables that a run offers to its manifests. No name is on both lists. */
export interface Offers {
  /** For `${env:NAME}`. */
  readonly offered: readonly string[];
  /** For `${secret:NAME}`. */
  readonly offeredSecrets: readonly string[];
}

/** Resolves the offers of a run, or says what is wrong with them. */
export function resolveOffers(sources: SettingSources): Offers | UncodedFinding {
  const refused = findRefused('env', sources) ?? findRefused('secret', sources);
  if (refused !== undefined) return refused;
  const [variables, secrets] = [resolveSetting('env', sources), resolveSetting('secret', sources)];
  if ('message' in variables) return variables;
  if ('message' in secrets) return secrets;
  const [offered, offeredSecrets] = [variables.value ?? [], secrets.value ?? []];
  return findOnBoth(offered, offeredSecrets, sources) ?? { offered, offeredSecrets };
}

/** Finds a name that no run may offer: a retired pattern, the API key, or a token of the build system. */
function findRefused(setting: 'env' | 'secret', sources: SettingSources): UncodedFinding | undefined {
  const { value, by = '' } = findSetting(setting, sources) ?? {};
  for (const name of listMembers(value).map(String)) {
    const remedy = findRetiredOfferRemedy(name);
    if (remedy !== undefined)
      return { path: [], message: `${by} has the pattern ${name}, and takes only names.`, remedy };
    const what = isKeyOrKeyFileVariable(name) ? 'the API key' : describeToken(name);
    if (what !== undefined)
      return { path: [], message: `${by} offers ${name} to manifests, which is for ${what}.`, remedy: 'Remove it.' };
  }
  return undefined;
}

function describeToken(name: string): string | undefined {
  const system = findTokenSystem(name);
  return system && `a token of ${system}`;
}

/** Ignores case, because Windows does: there, both names are one variable. */
function findOnBoth(
  offered: readonly string[],
  offeredSecrets: readonly string[],
  sources: SettingSources,
): UncodedFinding | undefined {
  const shown = new Set(offered.map((name) => name.toUpperCase()));
  const both = offeredSecrets.find((name) => shown.has(name.toUpperCase()));
  if (both === undefined) return undefined;
  const [variables, secrets] = [findSetting('env', sources)?.by, findSetting('secret', sources)?.by];
  return {
    path: [],
    message: `${both} is offered as a variable by ${variables}, and as a secret by ${secrets}.`,
    remedy: 'Remove it from one of them. Plans show the values of variables, and nothing shows those of secrets.',
  };
}
