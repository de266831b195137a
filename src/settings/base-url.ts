import { isLoopbackHost } from '../model/http.ts';

/** Base URLs of services: `https://…`, `http://…`, and `embedded:` for the bundled server inside the process. */

const EMBEDDED = 'embedded:';

export function isEmbedded(baseUrl: string): boolean {
  return baseUrl.startsWith(EMBEDDED);
}

/** Whether the service is on this machine: the embedded server, or one on a loopback address. */
export function isOnThisMachine(baseUrl: string): boolean {
  return isEmbedded(baseUrl) || isLoopbackHost(URL.parse(baseUrl)?.hostname ?? '');
}

/** Returns the file in which the bundled server saves its data. Empty if the server saves nothing. */
export function parseEmbeddedDataFile(baseUrl: string): string {
  return baseUrl.slice(EMBEDDED.length);
}

/** Whether a text is a base URL. Credentials, a query and a fragment are not allowed in it. */
export function isBaseUrl(text: string): boolean {
  if (isEmbedded(text)) return true;
  const url = URL.parse(text);
  if (url === null || !['http:', 'https:'].includes(url.protocol)) return false;
  return [url.username, url.password, url.search, url.hash].every((part) => part === '');
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
