import { isIdOf } from '../kinds/paths.ts';
import { type HttpRequest, SERVICE_API_VERSION } from '../model/http.ts';
import type { RateLimit } from '../model/stack.ts';
import { RequestError } from './failure.ts';

/** Settings of the checks on every request: API key, API version and rate limit. */
export interface AdmissionSettings {
  readonly keyring: ReadonlyMap<string, ApiKey>;
  readonly versionHeader: string;
  /** Counts a request. Returns the seconds to wait if the request exceeds the rate limit, otherwise `undefined`. */
  readonly countRequest: () => number | undefined;
}

/**
 * Returns the API key of the caller. Throws `RequestError` if the key is missing or unknown, the API version is not the
 * supported one, or the rate limit is exceeded.
 */
export function authenticateAndCountRequest(admission: AdmissionSettings, headers: HttpRequest['headers']): ApiKey {
  const { keyring, versionHeader, countRequest } = admission;
  const caller = getAuthenticatedApiKey(keyring, headers['authorization']);
  if (headers[versionHeader.toLowerCase()] !== SERVICE_API_VERSION)
    throw new RequestError(`The request needs the header \`${versionHeader}: ${SERVICE_API_VERSION}\``, {
      code: 'bad_version',
    });
  const waitSeconds = countRequest();
  if (waitSeconds === undefined) return caller;
  const message = `Too many requests: wait ${waitSeconds} s`;
  throw new RequestError(message, { code: 'rate_limited', headers: { 'retry-after': String(waitSeconds) } });
}

/** An API key that the server accepts, its user, and its rights. */
export interface ApiKey {
  readonly key: string;
  /** The user or bot to which the key belongs. */
  readonly userId: string;
  /** Whether the user may create credentials for other users. */
  readonly isAdmin: boolean;
  readonly mayReportAbuse: boolean;
}

/** The user of an API key that was given without a user id. */
export const DEFAULT_USER_ID = 'usr_000000000000000000000000000';

const USER = { prefixes: ['usr', 'bot'] };

/**
 * Parses an API key: `KEY`, optionally followed by any of `:admin`, `:abuse` and `:usr_…` (or `:bot_…`). An admin may
 * report abuse. Throws `RangeError` for any other text; the message does not quote the text.
 */
export function parseApiKey(text: string): ApiKey {
  const [key = '', ...rights] = text.split(':');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new RangeError('An API key must not be empty, or contain white space or characters outside ASCII');
  const bad = rights.findIndex((right) => right !== 'admin' && right !== 'abuse' && !isIdOf(USER, right));
  if (bad >= 0) {
    const which = `part ${bad + 2} of this one is invalid`;
    throw new RangeError(`An API key is KEY, optionally with the suffixes :admin, :abuse and :usr_…; ${which}`);
  }
  const users = rights.filter((right) => isIdOf(USER, right));
  if (users.length > 1) throw new RangeError('An API key belongs to one user; this one names several');
  const isAdmin = rights.includes('admin');
  return { key, userId: users[0] ?? DEFAULT_USER_ID, isAdmin, mayReportAbuse: isAdmin || rights.includes('abuse') };
}

/** Maps the text of each API key to the key. Throws `RangeError` for duplicates. */
export function indexApiKeys(apiKeys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> {
  const keyring = new Map(apiKeys.map((apiKey) => [apiKey.key, apiKey]));
  if (keyring.size < apiKeys.length) throw new RangeError('Two API keys are the same');
  return keyring;
}

/** Returns the key in an Authorization header. `undefined` if there is none. */
export function findBearerKey(header: string | null | undefined): string | undefined {
  return /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
}

/** Returns the API key of an Authorization header. Throws `RequestError` if the key is missing or unknown. */
export function getAuthenticatedApiKey(keyring: ReadonlyMap<string, ApiKey>, header: string | undefined): ApiKey {
  const key = findBearerKey(header);
  const apiKey = key === undefined ? undefined : keyring.get(key);
  if (apiKey !== undefined) return apiKey;
  const message =
    key === undefined ? 'The request needs the header `Authorization: Bearer <API key>`' : 'The API key is unknown';
  throw new RequestError(message, { code: 'unauthenticated', headers: { 'www-authenticate': 'Bearer' } });
}

/**
 * Returns a function that counts a request in a rolling window, and returns the seconds to wait if the request exceeds
 * the limit, otherwise `undefined`. Requests over the limit do not count. Throws `RangeError` for a limit that would
 * allow no request.
 */
export function createRateLimit({ requests, windowMs }: RateLimit): (now: Date) => number | undefined {
  if (!Number.isInteger(requests) || requests < 1) throw new RangeError('A rate limit must allow at least one request');
  if (!(windowMs > 0)) throw new RangeError('The window of a rate limit must be longer than zero');
  let times: number[] = [];
  let oldest = 0;
  return (now) => {
    const time = now.getTime();
    while (oldest < times.length && (times[oldest] ?? time) <= time - windowMs) oldest += 1;
    if (times.length - oldest >= requests) {
      return Math.max(1, Math.ceil(((times[oldest] ?? time) + windowMs - time) / 1000));
    }
    if (oldest > requests) {
      times = times.slice(oldest);
      oldest = 0;
    }
    times.push(time);
    return undefined;
  };
}
