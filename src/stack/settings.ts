import { resolve } from 'node:path';
import { isPipePath, readInput } from '../files/read-input.ts';
import { DURATION_SYNTAX, parseDurationMs } from '../kinds/duration.ts';
import {
  isAllowedKeyVariable,
  isForgeTokenVariable,
  isKeyOrKeyFileVariable,
  KEY_VARIABLE,
  toKeyFileVariable,
} from '../model/api-key.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { getErrorMessage } from '../model/errors.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../model/http.ts';
import type { RequestSettings } from '../model/plan.ts';
import { createSecretRegistry, type SecretRedactor } from '../model/secrets.ts';
import {
  type ApiSettings,
  formatRateLimit,
  parseRateLimit,
  RATE_LIMIT_DESCRIPTION,
  type RequestTimeouts,
  type TrustRequiringApiSetting,
} from '../model/stack.ts';
import { type Host, InvalidManifests, StackError } from './host.ts';

/** Settings for reaching the service, from flags or from the options of a program. */
export interface ServiceSettingOverrides {
  readonly baseUrl?: string | undefined;
  readonly versionHeader?: string | undefined;
  readonly pageSize?: number | undefined;
  readonly concurrency?: number | undefined;
  /** A limit such as `120/60s`, or `none`. */
  readonly rateLimit?: string | undefined;
  readonly timeouts?: { readonly [Part in keyof RequestTimeouts]?: number | undefined };
  readonly caFile?: string | undefined;
  readonly keyEnv?: string | undefined;
}

/** Settings for reaching the service in this run, resolved from flags, environment, `Stack` and defaults. */
export interface ServiceSettings extends RequestSettings {
  readonly baseUrl: string;
  readonly timeouts: RequestTimeouts;
  readonly caFile: string | undefined;
  /** The environment variable that contains the API key. `undefined`: EDGEWISE_API_KEY. */
  readonly keyEnv: string | undefined;
}

/** Settings from the Stack or from a plan file. */
type StoredSettings = { readonly [Name in keyof ServiceSettings]?: ServiceSettings[Name] | undefined };

function toStoredSettings({ rateLimit, given: _, ...api }: ApiSettings): StoredSettings {
  const text = rateLimit === undefined || rateLimit === 'none' ? rateLimit : formatRateLimit(rateLimit);
  return { ...api, rateLimit: text };
}

/**
 * Resolves each setting. The value in `given` takes precedence over the environment, the environment over `stored`, and
 * `stored` over the default. Throws `StackError` if there is no base URL, or if a value is invalid.
 */
export function resolveServiceSettings(
  given: ServiceSettingOverrides,
  env: Host['env'],
  stored: StoredSettings,
): ServiceSettings {
  const baseUrl = given.baseUrl ?? withoutEmpty(env['EDGEWISE_BASE_URL']) ?? stored.baseUrl;
  if (baseUrl === undefined || baseUrl === '') {
    const remedy =
      'Use --base-url URL, EDGEWISE_BASE_URL, or spec.api.base_url in the Stack. `embedded:` is the bundled server.';
    throw new StackError('No base URL of the service is set.', { reason: 'invalid', remedy });
  }
  return {
    baseUrl: normalizeUrl(baseUrl),
    versionHeader:
      given.versionHeader ??
      withoutEmpty(env['EDGEWISE_VERSION_HEADER']) ??
      stored.versionHeader ??
      DEFAULT_VERSION_HEADER_NAME,
    pageSize: checkCount({ name: 'page size', max: 100 }, given.pageSize) ?? stored.pageSize ?? 100,
    concurrency: checkCount({ name: 'concurrency', max: 64 }, given.concurrency) ?? stored.concurrency ?? 8,
    rateLimit:
      parseRateLimitText(given.rateLimit ?? env['EDGEWISE_RATE_LIMIT']) ??
      stored.rateLimit ??
      getDefaultRateLimit(baseUrl),
    timeouts: resolveTimeouts(given.timeouts, env, stored.timeouts),
    caFile: withoutEmpty(given.caFile) ?? withoutEmpty(env['EDGEWISE_CA_FILE']) ?? stored.caFile,
    keyEnv: checkKeyVariable(withoutEmpty(given.keyEnv) ?? withoutEmpty(env['EDGEWISE_KEY_ENV']) ?? stored.keyEnv),
  };
}

/**
 * Returns the variable that contains the API key; `undefined` means EDGEWISE_API_KEY. Throws if the variable's name
 * does not mark it as a key, because only variables with such names are treated as secrets.
 */
function checkKeyVariable(name: string | undefined): string | undefined {
  if (name === undefined || name === KEY_VARIABLE) return undefined;
  if (isAllowedKeyVariable(name)) return name;
  throw new StackError(`${JSON.stringify(name)} cannot be the variable that holds the API key.`, {
    reason: 'invalid',
    remedy: `Use ${KEY_VARIABLE}, or a name that starts with ${KEY_VARIABLE}_ and does not end with _FILE.`,
  });
}

/** The default limit: that of the real service, or `none` for the bundled server in this process. */
export function getDefaultRateLimit(baseUrl: string): string {
  return baseUrl.startsWith('embedded:') ? 'none' : '120/60s';
}

function parseRateLimitText(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'none') return withoutEmpty(text);
  const limit = parseRateLimit(text);
  if (limit !== undefined) return formatRateLimit(limit);
  const message = `The rate limit is ${JSON.stringify(text)}, and must be ${RATE_LIMIT_DESCRIPTION}, or none.`;
  throw new StackError(message, { reason: 'invalid' });
}

/** Far longer than usual responses take: after a write that timed out, it is unknown whether it took effect. */
const TIMEOUTS: RequestTimeouts = {
  connectMs: 10_000,
  headersMs: 30_000,
  bodyMs: 30_000,
  requestMs: 120_000,
  conflictMs: 60_000,
};

function resolveTimeouts(
  given: ServiceSettingOverrides['timeouts'],
  env: Host['env'],
  stored: RequestTimeouts = TIMEOUTS,
): RequestTimeouts {
  return {
    connectMs: given?.connectMs ?? stored.connectMs,
    headersMs: given?.headersMs ?? stored.headersMs,
    bodyMs: given?.bodyMs ?? stored.bodyMs,
    requestMs: given?.requestMs ?? parseTimeoutMs('request', env['EDGEWISE_TIMEOUT']) ?? stored.requestMs,
    conflictMs: given?.conflictMs ?? stored.conflictMs,
  };
}

type TimeoutPart = 'connect' | 'headers' | 'body' | 'request' | 'conflict';

/**
 * Parses a time limit such as `30s`. Returns `undefined` if the text is absent or empty. Throws `StackError` if it is
 * invalid.
 */
export function parseTimeoutMs(part: TimeoutPart, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const ms = parseDurationMs(text);
  if (ms !== undefined) return ms;
  const message = `The ${part} timeout is ${JSON.stringify(text)}, and must be ${DURATION_SYNTAX}.`;
  throw new StackError(message, { reason: 'invalid' });
}

function withoutEmpty(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/**
 * Normalizes a URL: scheme and host in lower case, no default port, no slash at the end. Does not change `embedded:`
 * URLs.
 */
export function normalizeUrl(baseUrl: string): string {
  if (!/^https?:/i.test(baseUrl)) return baseUrl;
  const normal = URL.canParse(baseUrl) ? new URL(baseUrl).href : baseUrl;
  let end = normal.length;
  while (normal[end - 1] === '/') end -= 1;
  return normal.slice(0, end);
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
    const why = getErrorMessage(error);
    throw new StackError(`The API key file cannot be read: ${why}`, {
      reason: 'authentication',
      remedy,
      cause: error,
    });
  }
  throw new StackError(`The API key file ${file} is empty.`, { reason: 'authentication', remedy });
}

interface Count {
  readonly name: string;
  readonly max: number;
}

/** Returns the count. Throws if it is out of range, because a program can pass any number. */
function checkCount({ name, max }: Count, count: number | undefined): number | undefined {
  if (count === undefined || (Number.isInteger(count) && count >= 1 && count <= max)) return count;
  throw new StackError(`The ${name} must be a whole number from 1 to ${max}, not ${count}.`, {
    reason: 'invalid',
  });
}

/**
 * Resolves the settings of a run from manifests. If the manifests are not trusted, each of their settings that decides
 * where the key is sent must be confirmed by a flag or variable with the same value. Throws `InvalidManifests` with one
 * error for each unconfirmed setting.
 */
export function resolveSettingsFromManifests(
  stated: ServiceSettingOverrides,
  { env, cwd, isUntrusted = false }: Pick<Host, 'env' | 'cwd' | 'isUntrusted'>,
  api: ApiSettings,
): ServiceSettings {
  const stored = toStoredSettings(api);
  if (!isUntrusted) return resolveServiceSettings(stated, env, stored);
  const { pageSize, concurrency, timeouts } = stored;
  const isPlaced = (stated.baseUrl ?? env['EDGEWISE_BASE_URL'] ?? '') !== '';
  const settings = resolveServiceSettings(isPlaced ? stated : { ...stated, baseUrl: 'https:' }, env, {
    pageSize,
    concurrency,
    timeouts,
  });
  const given = { ...settings, baseUrl: isPlaced ? settings.baseUrl : undefined };
  const wrong = (api.given ?? []).flatMap((one) => listDisagreements(one, { stored, given, cwd }));
  if (wrong.length > 0) throw new InvalidManifests(wrong);
  return isPlaced ? settings : resolveServiceSettings(stated, env, {});
}

/** The settings that decide where the API key is sent and how fast requests are sent. */
const TRUST_SETTINGS: Readonly<Record<TrustRequiringApiSetting['name'], TrustSetting>> = {
  base_url: { setting: 'baseUrl', flag: '--base-url', variable: 'EDGEWISE_BASE_URL' },
  ca_file: { setting: 'caFile', flag: '--ca-file', variable: 'EDGEWISE_CA_FILE' },
  version_header: { setting: 'versionHeader', flag: '--version-header', variable: 'EDGEWISE_VERSION_HEADER' },
  key_env: { setting: 'keyEnv', flag: '--key-env', variable: 'EDGEWISE_KEY_ENV' },
  rate_limit: { setting: 'rateLimit', flag: '--rate-limit', variable: 'EDGEWISE_RATE_LIMIT' },
};

interface TrustSetting {
  readonly setting: 'baseUrl' | 'caFile' | 'versionHeader' | 'keyEnv' | 'rateLimit';
  readonly flag: string;
  readonly variable: string;
}

interface ComparedSettings {
  readonly stored: Partial<Readonly<Record<TrustSetting['setting'], string | undefined>>>;
  readonly given: Partial<Readonly<Record<TrustSetting['setting'], string | undefined>>>;
  readonly cwd: string;
}

function listDisagreements(
  { name, locate }: TrustRequiringApiSetting,
  { stored, given, cwd }: ComparedSettings,
): readonly Diagnostic[] {
  const { setting, flag, variable } = TRUST_SETTINGS[name];
  const [says, is] = [stored[setting] ?? '', given[setting]];
  const normalize = (text = ''): string => {
    if (name === 'ca_file') return text === '' ? '' : resolve(cwd, text);
    if (name === 'base_url') return normalizeUrl(text);
    return name === 'version_header' ? text.toLowerCase() : text;
  };
  if (normalize(says) === normalize(is)) return [];
  const used = name === 'key_env' ? (is ?? KEY_VARIABLE) : is;
  const but = used === undefined ? 'and no flag or variable sets it' : `and this run uses ${used}`;
  const value = /^[\w@%+=:,./-]+$/.test(says) ? ` ${says}` : '';
  return [
    {
      code: 'untrusted-setting',
      severity: 'error',
      message: `spec.api.${name} is ${says}, ${but}: an untrusted Stack cannot set it`,
      remedy: `Remove the line. Or, if you trust the value, start edgewise with \`${flag}${value}\` or ${variable}.`,
      place: locate(),
    },
  ];
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
      const { text, isPipe } = readKey(resolve(cwd, value));
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

function readKey(file: string): KeyFile {
  try {
    return { isPipe: isPipePath(file), text: readInput(file, { maxBytes: MAX_KEY_FILE_BYTES }).toString('utf8') };
  } catch (error) {
    if (error instanceof Error) return { text: '', isPipe: false };
    throw error;
  }
}

/** A larger file is not a key: a key is one line, and servers limit request headers to about this size. */
const MAX_KEY_FILE_BYTES = 16_384;

const EMBEDDED = 'embedded:';

export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(EMBEDDED);
}

/** Returns the file in which the bundled server saves its data. Empty if the server saves nothing. */
export function parseEmbeddedDataFile(baseUrl: string): string {
  return baseUrl.slice(EMBEDDED.length);
}

/**
 * Decisions of the user who starts edgewise, which manifests cannot make: whether the manifests are trusted, and which
 * variables they may read. `stack/settings.ts` contains the settings that untrusted manifests cannot change.
 */
export interface ManifestTrustFlags {
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
  { untrusted, env: names = [], root }: ManifestTrustFlags,
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
export function listVariablesAllowedInManifests(
  { env: names = [] }: ManifestTrustFlags,
  env: Host['env'],
): readonly string[] {
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
