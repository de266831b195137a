import type { Kind } from '../kinds/kind.ts';
import { ApiError, NetworkError } from '../model/errors.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import { formatPathAndQuery } from './api-error.ts';
import { expectObject, type ListedResource, parseListedResource } from './parse-response.ts';

/** How to read the pages of a kind's list. */
interface PageSource {
  readonly kind: Kind;
  /** The key of the array in the JSON of a page. */
  readonly listKey: string;
  readonly firstUrl: URL;
  readonly readPage: (url: URL) => Promise<Json | undefined>;
  /** Reads a page after the first. Resolves with the error if the service rejects the cursor. */
  readonly readNextPage: (url: URL) => Promise<Json | undefined | ApiError>;
}

interface Page {
  readonly url: URL;
  readonly resources: readonly ListedResource[];
  readonly nextUrl: URL | undefined;
}

/**
 * Maximum number of consecutive pages without a new resource. With more, the list may be endless, so reading fails.
 * The usual rate limit of 120 requests a minute admits them at once, so the user gets the error soon.
 */
const MAX_BARREN_PAGES = 100;

/**
 * Maximum number of attempts to read a list. An attempt fails if the list changes while it is read. A run that deletes
 * many resources may change a list several times while it reads the list in small pages. Five restarts allow for that; a
 * service that rejects every cursor is reported after twelve requests.
 */
const MAX_READINGS = 6;

/**
 * Reads a list to its end: every resource once, in the order of the service. Starts again at the first page if the
 * service rejects a cursor, because the resource that the cursor names was probably deleted. Rejects rather than return
 * a partial list: with `NetworkError` for a malformed page, a link to another origin, a link back to a page already
 * read, or an endless list; with `ApiError` if the service rejects the cursor in every attempt.
 */
export async function readPages(source: PageSource): Promise<readonly JsonObject[]> {
  for (let reading = 1; ; reading += 1) {
    const list = await readOnce(source);
    if (!(list instanceof ApiError)) return list;
    if (reading === MAX_READINGS) throw createRejectionError(list);
  }
}

/** Whether the service rejected the cursor of a list. It does so if the resource that the cursor names was deleted. */
export function isRefusedCursor(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.response.status === 400 || error.response.status === 404);
}

function createRejectionError({ message, response }: ApiError): ApiError {
  const times = `The list was read from its start ${MAX_READINGS} times, and each time the service rejected the next page`;
  return new ApiError(`${message}. ${times}`, response);
}

/** Reads a list once. Resolves with the error if the service rejects a cursor. */
async function readOnce(source: PageSource): Promise<readonly JsonObject[] | ApiError> {
  const found = new Map<string, JsonObject>();
  const seen = new Set<string>();
  let barren = 0;
  for (let url: URL | undefined = source.firstUrl; url !== undefined; ) {
    const json: Json | undefined | ApiError = await (seen.size === 0 ? source.readPage(url) : source.readNextPage(url));
    if (json instanceof ApiError) return json;
    seen.add(url.href);
    const page: Page = parsePage(source, url, json);
    const isNew = addNewResources(found, page.resources);
    barren = isNew ? 0 : barren + 1;
    if (barren > MAX_BARREN_PAGES) throw createPageError(url, `${barren} pages in a row contain nothing new`);
    url = findUnreadUrl(page, seen);
  }
  return [...found.values()];
}

/**
 * Adds resources that `found` does not contain yet, and returns whether there were any. If a concurrent create shifts
 * the pages, a resource appears on two pages; its first version is kept.
 */
function addNewResources(found: Map<string, JsonObject>, resources: readonly ListedResource[]): boolean {
  const before = found.size;
  for (const { id, json } of resources) if (!found.has(id)) found.set(id, json);
  return found.size > before;
}

/**
 * Returns the next page to read, or `undefined` after the last page. Throws `NetworkError` if the link leads back to a
 * page already read, because the rest of the list then cannot be reached.
 */
function findUnreadUrl({ url, nextUrl }: Page, seen: ReadonlySet<string>): URL | undefined {
  if (nextUrl === undefined || !seen.has(nextUrl.href)) return nextUrl;
  throw createPageError(
    url,
    `next_page_uri leads back to ${formatPathAndQuery(nextUrl)}, so the list cannot be read to its end`,
  );
}

function parsePage({ kind, listKey, firstUrl }: PageSource, url: URL, json: Json | undefined): Page {
  const page = expectObject({ method: 'GET', url }, json);
  const list = page[listKey];
  if (!isJsonArray(list)) throw createPageError(url, `${listKey} is not a list`);
  const place = `GET ${formatPathAndQuery(url)}: ${listKey}`;
  const resources = list.map((member, index) => parseListedResource(kind, member, { place: `${place}[${index}]` }));
  return { url, resources, nextUrl: parseNextUrl(page['next_page_uri'], url, firstUrl.origin) };
}

/**
 * Parses the link to the next page. `undefined`: this page is the last. Throws `NetworkError` if the link is not a
 * valid URL, or if it leads to another origin, which must not get the API key.
 */
function parseNextUrl(next: Json | undefined, url: URL, origin: string): URL | undefined {
  if (next === undefined || next === null || next === '') return undefined;
  const nextUrl = typeof next === 'string' ? URL.parse(next, url) : null;
  if (nextUrl === null || nextUrl.username !== '' || nextUrl.password !== '')
    throw createPageError(url, 'next_page_uri is not a valid URL');
  if (nextUrl.origin !== origin)
    throw createPageError(url, `next_page_uri leads to ${nextUrl.origin}, but the key is only for ${origin}`);
  nextUrl.hash = '';
  return nextUrl;
}

function createPageError(url: URL, message: string): NetworkError {
  return new NetworkError(`GET ${formatPathAndQuery(url)}: ${message}`);
}
