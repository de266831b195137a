import type { Kind } from '../kinds/kind.ts';
import { NetworkError } from '../model/errors.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import { type ListedResource, toListedResource } from './conform.ts';
import { toAnsweredObject } from './exchange.ts';
import { toPath } from './target.ts';

/** Where the pages of a kind's list come from. */
export interface PageSource {
  readonly kind: Kind;
  /** The key of the list in a page. */
  readonly listKey: string;
  readonly firstUrl: URL;
  readonly readPage: (url: URL) => Promise<Json | undefined>;
  /** How JSON begins, fit to be shown. */
  readonly excerpt: (json: Json) => string;
}

interface Page {
  readonly url: URL;
  readonly resources: readonly ListedResource[];
  readonly nextUrl: URL | undefined;
}

/** After more pages than this in a row without a new resource, the list counts as endless. */
const MAX_BARREN_PAGES = 100;

/**
 * Reads a list to its end: every resource once, in the order served. Throws `NetworkError` instead of returning a partial
 * list: for a malformed page, a link to another origin, and a link back to a page already read.
 */
export async function readPages(source: PageSource): Promise<readonly JsonObject[]> {
  const found = new Map<string, JsonObject>();
  const seen = new Set<string>();
  let barren = 0;
  for (let url: URL | undefined = source.firstUrl; url !== undefined; ) {
    seen.add(url.href);
    const page: Page = parsePage(source, url, await source.readPage(url));
    const isNew = addNew(found, page.resources);
    barren = isNew ? 0 : barren + 1;
    if (barren > MAX_BARREN_PAGES) throw fault(url, `${barren} pages in a row contain nothing new`);
    url = toUnreadUrl(page, seen);
  }
  return [...found.values()];
}

/** A resource that appears again, because others were created meanwhile, is kept as it was first. */
function addNew(found: Map<string, JsonObject>, resources: readonly ListedResource[]): boolean {
  const before = found.size;
  for (const { id, json } of resources) if (!found.has(id)) found.set(id, json);
  return found.size > before;
}

/** The next page to read. After a link back to a page that was read, the rest of the list is unknown. */
function toUnreadUrl({ url, nextUrl }: Page, seen: ReadonlySet<string>): URL | undefined {
  if (nextUrl === undefined || !seen.has(nextUrl.href)) return nextUrl;
  throw fault(url, `next_page_uri leads back to ${toPath(nextUrl)}, so the list cannot be read to its end`);
}

function parsePage({ kind, listKey, firstUrl, excerpt }: PageSource, url: URL, json: Json | undefined): Page {
  const page = toAnsweredObject({ method: 'GET', url }, json);
  const list = page[listKey];
  if (!isJsonArray(list)) throw fault(url, `${listKey} is not a list: ${excerpt(page)}`);
  const place = `GET ${toPath(url)}: ${listKey}`;
  const resources = list.map((member, index) =>
    toListedResource(kind, member, { place: `${place}[${index}]`, excerpt }),
  );
  return { url, resources, nextUrl: parseNextUrl(page['next_page_uri'], url, firstUrl.origin) };
}

/** The next page, on the origin that the key is for; nothing when this was the last. */
function parseNextUrl(next: Json | undefined, url: URL, origin: string): URL | undefined {
  if (next === undefined || next === null || next === '') return undefined;
  const nextUrl = typeof next === 'string' ? URL.parse(next, url) : null;
  if (nextUrl === null || nextUrl.username !== '' || nextUrl.password !== '')
    throw fault(url, 'next_page_uri is not a valid URL');
  if (nextUrl.origin !== origin)
    throw fault(url, `next_page_uri leads to ${nextUrl.origin}, but the key is only for ${origin}`);
  nextUrl.hash = '';
  return nextUrl;
}

function fault(url: URL, message: string): NetworkError {
  return new NetworkError(`GET ${toPath(url)}: ${message}`);
}
