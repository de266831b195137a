import { FORMATS } from '../kinds/formats.ts';
import { InvariantError } from '../model/errors.ts';

/** What is wrong with a base URL; `undefined`: nothing. */
export function checkBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  if (url === null) return 'The base URL is not an absolute URL';
  if (url.protocol !== 'https:' && url.protocol !== 'http:') return 'The base URL is neither an https nor an http URL';
  if (url.username !== '' || url.password !== '') return 'The base URL holds a user name or a password';
  if (url.search !== '' || url.hash !== '') return 'The base URL has a query or a fragment';
  return undefined;
}

/** What is wrong with an API key; `undefined`: nothing. Never quotes it. */
export function checkApiKey(text: string): string | undefined {
  if (text === '') return 'The API key is empty';
  return /^[\x21-\x7e]+$/.test(text) ? undefined : 'The API key has white space or characters outside of ASCII in it';
}

/** What is wrong with the name of the version header; `undefined`: nothing. */
export function checkVersionHeader(name: string): string | undefined {
  return FORMATS['header-name'].check(name) === undefined ? undefined : `\`${name}\` is not the name of a header`;
}

/** The URL of a path below the base URL. Throws `InvariantError` for a path that does not start with a slash. */
export function toUrl(baseUrl: string, path: string): URL {
  if (!path.startsWith('/')) throw new InvariantError(`Not a path: ${path}`);
  return new URL(baseUrl.replace(/\/+$/, '') + path);
}

/** Path and query, as errors show where a request went. */
export function toPath(url: URL): string {
  return url.pathname + url.search;
}
