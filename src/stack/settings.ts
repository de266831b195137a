import { resolve } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { DURATION_EXPECTED, toDurationMs } from '../kinds/duration.ts';
import { KEY_VARIABLE, toKeyFileVariable } from '../model/api-key.ts';
import { toReason } from '../model/errors.ts';
import type { ConnectionSettings } from '../model/plan.ts';
import { parseRateLimit, RATE_LIMIT_EXPECTED, toRateLimitText } from '../model/rate-limit.ts';
import type { ApiSettings, Timeouts } from '../model/stack.ts';
import { DEFAULT_VERSION_HEADER } from '../model/transport.ts';
import { StackError } from './stack-error.ts';
import type { Surroundings } from './surroundings.ts';

/** Flags that say how to reach the service. */
export interface ConnectionFlags {
  readonly baseUrl?: string;
  readonly versionHeader?: string;
  readonly pageSize?: string;
  readonly concurrency?: string;
  readonly rateLimit?: string;
  readonly connectTimeout?: string;
  readonly headersTimeout?: string;
  readonly bodyTimeout?: string;
  readonly requestTimeout?: string;
  readonly caFile?: string;
}

/** How a run reaches the service. */
export interface RunSettings extends ConnectionSettings {
  readonly baseUrl: string;
  readonly timeouts: Timeouts;
  readonly caFile: string | undefined;
  /** The variable that holds the API key, where the Stack names one. */
  readonly keyEnv: string | undefined;
}

/** What the Stack, or a plan file, says. */
export type StoredSettings = { readonly [Name in keyof RunSettings]?: RunSettings[Name] | undefined };

/** What a Stack says of the way to the service, as settings of a run. */
export function toStoredSettings({ rateLimit, ...api }: ApiSettings): StoredSettings {
  const text = rateLimit === undefined || rateLimit === 'none' ? rateLimit : toRateLimitText(rateLimit);
  return { ...api, rateLimit: text };
}

/** Each setting from its flag, else from the environment, else as stored, else its default. */
export function resolveSettings(flags: ConnectionFlags, env: Surroundings['env'], stored: StoredSettings): RunSettings {
  const baseUrl = flags.baseUrl ?? toText(env['EDGEWISE_BASE_URL']) ?? stored.baseUrl;
  if (baseUrl === undefined || baseUrl === '') {
    const remedy =
      'Use --base-url URL, EDGEWISE_BASE_URL, or spec.api.base_url in the Stack. `embedded:` is the bundled server.';
    throw new StackError('No base URL says where the service is.', { reason: 'invalid', remedy });
  }
  return {
    baseUrl: toNormalUrl(baseUrl),
    versionHeader:
      flags.versionHeader ?? toText(env['EDGEWISE_VERSION_HEADER']) ?? stored.versionHeader ?? DEFAULT_VERSION_HEADER,
    pageSize: toCount('page size', flags.pageSize ?? env['EDGEWISE_PAGE_SIZE'], 100) ?? stored.pageSize ?? 100,
    concurrency:
      toCount('concurrency', flags.concurrency ?? env['EDGEWISE_CONCURRENCY'], 64) ?? stored.concurrency ?? 8,
    rateLimit: toRateLimit(flags.rateLimit ?? env['EDGEWISE_RATE_LIMIT']) ?? stored.rateLimit ?? toUsualLimit(baseUrl),
    timeouts: resolveTimeouts(flags, env, stored.timeouts),
    caFile: toText(flags.caFile) ?? toText(env['EDGEWISE_CA_FILE']) ?? stored.caFile,
    keyEnv: stored.keyEnv,
  };
}

/** What services allow. The bundled server inside of the process has no limit. */
function toUsualLimit(baseUrl: string): string {
  return baseUrl.startsWith('embedded:') ? 'none' : '120/60s';
}

function toRateLimit(text: string | undefined): string | undefined {
  if (text === undefined || text === '' || text === 'none') return toText(text);
  const limit = parseRateLimit(text);
  if (limit !== undefined) return toRateLimitText(limit);
  const message = `The rate limit is ${JSON.stringify(text)}, and must be ${RATE_LIMIT_EXPECTED}, or none.`;
  throw new StackError(message, { reason: 'invalid' });
}

const TIMEOUTS: Timeouts = { connectMs: 10_000, headersMs: 30_000, bodyMs: 30_000, requestMs: 120_000 };

function resolveTimeouts(flags: ConnectionFlags, env: Surroundings['env'], stored = TIMEOUTS): Timeouts {
  const read = (part: 'connect' | 'headers' | 'body' | 'request') =>
    toTimeoutMs(part, flags[`${part}Timeout`] ?? env[`EDGEWISE_${part.toUpperCase()}_TIMEOUT`]) ?? stored[`${part}Ms`];
  return { connectMs: read('connect'), headersMs: read('headers'), bodyMs: read('body'), requestMs: read('request') };
}

function toTimeoutMs(part: string, text: string | undefined): number | undefined {
  if (text === undefined || text === '') return undefined;
  const ms = toDurationMs(text);
  if (ms !== undefined) return ms;
  const message = `The ${part} timeout is ${JSON.stringify(text)}, and must be ${DURATION_EXPECTED}.`;
  throw new StackError(message, { reason: 'invalid' });
}

function toText(text: string | undefined): string | undefined {
  return text === '' ? undefined : text;
}

/** A slash at the end makes no difference. What follows `embedded:` is no URL. */
export function toNormalUrl(baseUrl: string): string {
  return /^https?:/i.test(baseUrl) ? baseUrl.replace(/\/+$/, '') : baseUrl;
}

/** A key is one line; a larger file is the wrong one. */
const MAX_KEY_FILE_BYTES = 65_536;

/**
 * The API key, from EDGEWISE_API_KEY or the file that EDGEWISE_API_KEY_FILE names. Where the Stack names another variable, from that one or
 * from its file, and from nowhere else: with the key of another account, a plan would create everything there.
 */
export function readApiKey(
  { env, cwd }: Pick<Surroundings, 'env' | 'cwd'>,
  { keyEnv: variable = KEY_VARIABLE }: Pick<RunSettings, 'keyEnv'>,
): string {
  const [key, file] = [env[variable], env[toKeyFileVariable(variable)]];
  if (key !== undefined && key !== '') return key;
  const remedy = `Set ${variable}, or ${toKeyFileVariable(variable)} to the path of a file that holds it.`;
  if (file === undefined || file === '') {
    const why = variable === KEY_VARIABLE ? '' : `: ${variable}, which spec.api.key_env of the Stack names, is not set`;
    throw new StackError(`There is no API key${why}.`, { reason: 'authentication', remedy });
  }
  try {
    const text = readInput(resolve(cwd, file), { maxBytes: MAX_KEY_FILE_BYTES }).toString('utf8').trim();
    if (text !== '') return text;
  } catch (error) {
    const why = toReason(error);
    throw new StackError(`The API key file cannot be read: ${why}`, {
      reason: 'authentication',
      remedy,
      cause: error,
    });
  }
  throw new StackError(`The API key file ${file} is empty.`, { reason: 'authentication', remedy });
}

function toCount(name: string, text: string | undefined, max: number): number | undefined {
  if (text === undefined || text === '') return undefined;
  const count = /^\d{1,4}$/.test(text) ? Number(text) : 0;
  if (count >= 1 && count <= max) return count;
  throw new StackError(`The ${name} must be a whole number from 1 to ${max}, not ${JSON.stringify(text)}.`, {
    reason: 'invalid',
  });
}
