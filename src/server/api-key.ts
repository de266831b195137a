import { isIdOf } from '../kinds/ids.ts';
import { Failure } from './failure.ts';

/** Who may call the server, and what for. */
export interface ApiKey {
  readonly key: string;
  /** The user or bot that calls with it. */
  readonly userId: string;
  /** May name another owner of a credential than itself. */
  readonly isAdmin: boolean;
  readonly mayReportAbuse: boolean;
}

/** The user of every key that names none. */
export const DEFAULT_USER_ID = 'usr_000000000000000000000000000';

const USER = { prefixes: ['usr', 'bot'] };

/**
 * The API key that a text stands for: `KEY`, with any of `:admin`, `:abuse` and `:usr_…` behind it. An admin may report abuse.
 * Throws `RangeError`, without the text in its message, on anything else.
 */
export function parseApiKey(text: string): ApiKey {
  const [key = '', ...rights] = text.split(':');
  if (!/^[\x21-\x7e]+$/.test(key))
    throw new RangeError('An API key must not be empty, or contain white space or characters outside ASCII');
  const bad = rights.findIndex((right) => right !== 'admin' && right !== 'abuse' && !isIdOf(USER, right));
  if (bad >= 0) {
    const which = `part ${bad + 2} of this one is none of them`;
    throw new RangeError(`An API key is KEY, optionally with the suffixes :admin, :abuse and :usr_…; ${which}`);
  }
  const users = rights.filter((right) => isIdOf(USER, right));
  if (users.length > 1) throw new RangeError('An API key belongs to one user; this one names several');
  const isAdmin = rights.includes('admin');
  return { key, userId: users[0] ?? DEFAULT_USER_ID, isAdmin, mayReportAbuse: isAdmin || rights.includes('abuse') };
}

/** API keys by their text. Throws `RangeError` when one stands there twice. */
export function toKeyring(apiKeys: readonly ApiKey[]): ReadonlyMap<string, ApiKey> {
  const keyring = new Map(apiKeys.map((apiKey) => [apiKey.key, apiKey]));
  if (keyring.size < apiKeys.length) throw new RangeError('Two API keys are the same');
  return keyring;
}

/** The API key that an Authorization header carries. */
export function authenticate(keyring: ReadonlyMap<string, ApiKey>, header: string | null): ApiKey {
  const key = /^bearer +(\S+) *$/i.exec(header ?? '')?.[1];
  const apiKey = key === undefined ? undefined : keyring.get(key);
  if (apiKey !== undefined) return apiKey;
  const message =
    key === undefined ? 'The request needs the header `Authorization: Bearer <API key>`' : 'The API key is unknown';
  throw new Failure(message, { code: 'unauthenticated', headers: { 'www-authenticate': 'Bearer' } });
}
