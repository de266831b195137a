import { resolve } from 'node:path';
import { describeFileError, isPipePath, readInput } from '../files/read-input.ts';
import { isForgeTokenVariable, isKeyOrKeyFileVariable, KEY_VARIABLE, toKeyFileVariable } from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { createSecretRegistry, type SecretRedactor } from '../model/secrets.ts';
import type { SettingsLayer } from '../model/stack.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import { resolveOffers } from '../settings/offers.ts';
import { findKeySource, findSetting, resolveSetting, type SettingSources } from '../settings/resolve.ts';
import { findRetiredVariable, formatRetiredRemedy } from '../settings/retired.ts';
import {
  NAMED_SETTINGS,
  SERVICE_SETTING_NAMES,
  type ServiceSettings,
  type SettingName,
  type SettingValue,
} from '../settings/table.ts';
import type { Host } from './host.ts';

/** Resolves how to reach the service. Throws `StackError` if there is no base URL, or if a value is invalid. */
export function resolveServiceSettings(sources: SettingSources): ServiceSettings {
  const baseUrl = readSetting('baseUrl', sources);
  if (baseUrl === undefined) {
    const remedy =
      'Use --base-url URL, EDGEWISE_BASE_URL, or spec.api.base_url in the Stack. `embedded:` is the bundled server.';
    throw new StackError('No base URL of the service is set.', { reason: 'invalid', remedy });
  }
  const values = SERVICE_SETTING_NAMES.map((name) => [name, readSetting(name, sources, baseUrl)] as const);
  const settings = Object.fromEntries(values) as ServiceSettings; // each name has a value, or none, as its type says
  return { ...settings, keyEnv: settings.keyEnv === KEY_VARIABLE ? undefined : settings.keyEnv };
}

/** Says which host the requests go to, and what sets it and the API key. Empty for the bundled server. */
export function describeServiceOrigin(sources: SettingSources): string | undefined {
  const found = findSetting('baseUrl', sources);
  const url = URL.parse(String(found?.value));
  if (found === undefined || url === null || url.host === '') return undefined;
  const place = found.layer?.locate(['spec', 'api', 'base_url']);
  const line = place === undefined ? '' : ` (${place.file}:${place.line})`;
  const { variable, from = variable } = findKeySource(sources);
  return `The host ${url.host} is set by ${found.by}${line}, and the API key by ${from}.`;
}

/** Resolves a setting. `undefined`: it has neither a value nor a default. Throws `StackError` if the value is invalid. */
export function readSetting<Name extends SettingName>(
  name: Name,
  sources: SettingSources,
  baseUrl?: string,
): SettingValue<Name> | undefined {
  const resolved = resolveSetting(name, sources, baseUrl);
  if ('message' in resolved) throw new StackError(resolved.message, { reason: 'invalid' });
  return resolved.value;
}

/**
 * Reads the API key from EDGEWISE_API_KEY, or from the file that EDGEWISE_API_KEY_FILE names. If the Stack names
 * another variable, reads only that variable or its `_FILE` variable: EDGEWISE_API_KEY may be the key of another
 * account, in which a plan would then create every resource.
 */
export function readApiKey(
  { env, cwd, secrets }: Pick<Host, 'env' | 'cwd' | 'secrets'>,
  { keyEnv: variable = KEY_VARIABLE }: Pick<ServiceSettings, 'keyEnv'>,
): string {
  const [key, file] = [env[variable], env[toKeyFileVariable(variable)]];
  if (key !== undefined && key !== '') return key;
  const remedy = `Set ${variable}, or ${toKeyFileVariable(variable)} to the path of a file that holds it.`;
  if (file === undefined || file === '') {
    const why = variable === KEY_VARIABLE ? '' : `: ${variable}, which spec.api.key_env or --key-env names, is not set`;
    throw new StackError(`There is no API key${why}.`, { reason: 'authentication', remedy });
  }
  try {
    const text = readInput(resolve(cwd, file), { maxBytes: MAX_KEY_FILE_BYTES }).toString('utf8').trim();
    secrets?.add('the API key', text);
    if (text !== '') return text;
  } catch (error) {
    throw new StackError(`The API key file ${file} ${describeFileError(error)}.`, {
      reason: 'authentication',
      remedy,
      cause: error,
    });
  }
  throw new StackError(`The API key file ${file} is empty.`, { reason: 'authentication', remedy });
}

/**
 * Resolves the settings of a run from manifests. If the manifests are not trusted, each of their settings that decides
 * where the key is sent must be confirmed by a flag or variable with the same value. Throws `InvalidManifests` with one
 * error for each unconfirmed setting.
 */
export function resolveSettingsFromManifests(
  given: Pick<SettingSources, 'flags' | 'options'>,
  { env, cwd, isUntrusted = false }: Pick<Host, 'env' | 'cwd' | 'isUntrusted'>,
  layers: readonly SettingsLayer[],
): ServiceSettings {
  const sources = { ...given, env, layers, isUntrusted };
  const wrong = isUntrusted ? listUnconfirmedSettings(sources, cwd) : [];
  if (wrong.length > 0) throw new InvalidManifests(wrong);
  return resolveServiceSettings(sources);
}

const TRUSTED = NAMED_SETTINGS.filter(({ needsTrust }) => needsTrust);

function listUnconfirmedSettings(sources: SettingSources, cwd: string): readonly Diagnostic[] {
  const baseUrl = readSetting('baseUrl', sources);
  return TRUSTED.flatMap(({ name, stack = '', flag = '', variables = [] }): readonly Diagnostic[] => {
    const layer = findSetting(name, { layers: sources.layers })?.layer;
    if (layer === undefined) return [];
    const normalize = (value: unknown): string => normalizeSetting(name, String(value), cwd);
    const says = String(readSetting(name, { layers: [layer] }));
    const used = readSetting(name, sources, baseUrl);
    if (normalize(says) === normalize(used)) return [];
    const but = used === undefined ? 'and no flag or variable sets it' : `and this run uses ${String(used)}`;
    const option = `${flag.split(' ')[0]}${/^[\w@%+=:,./-]+$/.test(says) ? ` ${says}` : ''}`;
    return [
      {
        code: 'untrusted-setting',
        severity: 'error',
        message: `spec.${stack} is ${says}, ${but}: in this run only a flag or a variable can set it`,
        remedy: `Remove the line. Or, if you trust the value, start edgewise with \`${option}\` or ${variables[0]}.`,
        place: layer.locate(['spec', ...stack.split('.')]),
      },
    ];
  });
}

/** Returns the same text for values of a setting with the same meaning. */
function normalizeSetting(name: SettingName, text: string, cwd: string): string {
  if (name === 'caFile') return resolve(cwd, text);
  return name === 'versionHeader' ? text.toLowerCase() : text;
}

/** Secrets from the environment, collected before any other input is read. */
interface CollectedSecrets {
  readonly secrets: SecretRedactor;
  /**
   * The environment. An API key that was read from a pipe is added as a variable, because a pipe can be read only once.
   */
  readonly env: Host['env'];
}

/**
 * Collects the secrets in environment variables, and in the key files that environment variables name. Ignores a file
 * that cannot be read, because `readApiKey` reports the error.
 */
export function readSecretsNamedInEnvironment({ env, cwd }: Pick<Host, 'env' | 'cwd'>): CollectedSecrets {
  const secrets = createSecretRegistry();
  const piped: [string, string][] = [];
  for (const [name, value = ''] of Object.entries(env)) {
    if (value === '') continue;
    if (isForgeTokenVariable(name)) secrets.add('a token of the forge', value);
    else if (isKeyOrKeyFileVariable(name) && !name.toUpperCase().endsWith(FILE_SUFFIX))
      secrets.add('the API key', value);
    else if (isKeyOrKeyFileVariable(name)) {
      const { text, isPipe } = readKeyFile(resolve(cwd, value));
      secrets.add('the API key', text);
      const variable = name.slice(0, -FILE_SUFFIX.length);
      if (isPipe && text.trim() !== '' && (env[variable] ?? '') === '') piped.push([variable, text.trim()]);
    }
  }
  return { secrets, env: piped.length === 0 ? env : { ...env, ...Object.fromEntries(piped) } };
}

/** The suffix of the name of a variable that contains the path of a key file. */
const FILE_SUFFIX = '_FILE';

interface KeyFile {
  readonly text: string;
  readonly isPipe: boolean;
}

function readKeyFile(file: string): KeyFile {
  try {
    return { isPipe: isPipePath(file), text: readInput(file, { maxBytes: MAX_KEY_FILE_BYTES }).toString('utf8') };
  } catch (error) {
    if (error instanceof Error) return { text: '', isPipe: false };
    throw error;
  }
}

/** A larger file is not a key: a key is one line, and servers limit request headers to about this size. */
const MAX_KEY_FILE_BYTES = 8_192;

/**
 * Decisions of the user who starts edgewise, which manifests cannot make: whether the manifests are trusted, which
 * variables they may read and send, and which folder must contain every file that they name.
 */
export interface ManifestTrustFlags {
  readonly untrusted?: boolean | undefined;
  readonly env?: readonly string[] | undefined;
  readonly secret?: readonly string[] | undefined;
  readonly root?: string | undefined;
}

/**
 * Reads the decisions from flags, else from the environment. Throws `StackError` for a variable that was retired, and
 * for one that must not be offered.
 */
export function readManifestTrust(
  flags: ManifestTrustFlags,
  { env }: Pick<Host, 'env'>,
): Required<Pick<Host, 'isUntrusted' | 'offered' | 'offeredSecrets'>> & Pick<Host, 'root'> {
  refuseRetiredVariables(env);
  const sources = { flags, env };
  const offers = resolveOffers(sources);
  if ('message' in offers) throw new StackError(offers.message, { reason: 'invalid', remedy: offers.remedy });
  return {
    isUntrusted: readSetting('untrusted', sources) ?? false,
    ...offers,
    root: readSetting('root', sources),
  };
}

/** An ignored variable could do harm: jobs that each apply a share of the stacks would each apply all. */
function refuseRetiredVariables(env: Host['env']): void {
  const ignored = findRetiredVariable(env);
  if (ignored === undefined) return;
  throw new StackError(`${ignored.name} is set, but edgewise no longer reads it.`, {
    reason: 'invalid',
    remedy: `Unset it. ${formatRetiredRemedy(ignored.retired)}`,
  });
}

/** Throws if the manifests are not trusted (`--untrusted`). Called by each command that writes, before it reads anything. */
export function refuseUntrustedManifests({ isUntrusted = false }: Pick<Host, 'isUntrusted'>): void {
  if (!isUntrusted) return;
  throw new StackError('The manifests are not trusted, so they cannot be applied.', {
    reason: 'refused',
    remedy: 'Plan them. Apply after the merge, without --untrusted and without EDGEWISE_UNTRUSTED.',
  });
}
