import { inspect } from 'node:util';
import { ApiError, InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';

/** Takes the API key out of a text. Services and proxies echo it. */
export type Strike = (text: string) => string;

const STANDS_FOR_KEY = '[key]';
/** A shorter key, such as `dev`, is a part of ordinary words: it is struck out only where it stands alone. */
const LEAST_UNMISTAKABLE_LENGTH = 12;

/** A function that removes the key from texts, URL-encoded forms included. */
export function createStrike(apiKey: string): Strike {
  const forms = [...new Set([apiKey, encodeURIComponent(apiKey)])].map((form) => form.replace(/\W/g, '\\$&'));
  const key = `(?:${forms.join('|')})`;
  const pattern = apiKey.length < LEAST_UNMISTAKABLE_LENGTH ? `(?<![A-Za-z0-9])${key}(?![A-Za-z0-9])` : key;
  const matcher = new RegExp(pattern, 'g');
  return (text) => text.replace(matcher, STANDS_FOR_KEY);
}

/** The error itself, or one like it when the key stands anywhere in it or in its causes. An `ApiError` is made of texts without it. */
export function strikeError(error: unknown, strike: Strike): unknown {
  if (!(error instanceof Error) || error instanceof ApiError) return error;
  const shown = inspect(error, { depth: 8 });
  if (strike(shown) === shown) return error;
  const Type = [TimeoutError, NetworkError, InvariantError].find((type) => error instanceof type) ?? Error;
  const isUnsent = error instanceof NetworkError && error.isUnsent;
  return new Type(strike(error.message), { cause: strikeError(error.cause, strike), isUnsent });
}
