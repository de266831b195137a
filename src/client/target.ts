import { FORMATS } from '../kinds/formats.ts';
import { InvariantError } from '../model/errors.ts';

/** What is wrong with a base URL; `undefined`: nothing. */
export function checkBaseUrl(text: string): string | undefined {
  const url = URL.parse(text);
  const shown = `The base URL ${JSON.stringify(withoutSecrets(text))}`;
  const example = 'write it like https://api.example.com';
  if (url === null) return `${shown} is not an absolute URL: ${example}`;
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    return `${shown} is neither an https nor an http URL: ${example}`;
  if (url.username !== '' || url.password !== '') return `${shown} contains a user name or a password: remove them`;
  if (url.search !== '' || url.hash !== '') return `${shown} has a query or a fragment: remove it`;
  return undefined;
}

/** What stands before an @, and behind a question mark or a #, may be a password or a token. */
function withoutSecrets(url: string): string {
  return url.replace(/[^/]*@/, '…@').replace(/[?#].*/s, (rest) => `${rest.charAt(0)}…`);
}

/** What is wrong with an API key; `undefined`: nothing. Never quotes it. */
export function checkApiKey(text: string): string | undefined {
  if (text === '') return 'The API key is empty';
  return /^[\x21-\x7e]+$/.test(text) ? undefined : 'The API key contains white space or characters outside ASCII';
}

/** What is wrong with the name of the version header; `undefined`: nothing. */
export function checkVersionHeader(name: string): string | undefined {
  return FORMATS['header-name'].check(name) === undefined ? undefined : `\`${name}\` is not a valid header name`;
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
