import { FORMATS } from '../kinds/formats.ts';
import type { Kind } from '../kinds/kind.ts';
import { ShownFields } from '../kinds/read-response.ts';
import { getElapsedMs, sleepFor } from '../model/elapsed.ts';
import { ApiError, assertDefined, InvariantError, NetworkError } from '../model/errors.ts';
import { type HttpRequest, isSuccess, SERVICE_API_VERSION, type Send } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createRedactor, createSecrets, type Secrets } from '../model/secrets.ts';
import type { RateLimit } from '../model/stack.ts';
import {
  createApiError,
  createAttempt,
  formatBodyExcerpt,
  formatUrlPath,
  type Redactor,
  redactError,
} from './api-error.ts';
import { type ListedResource, parseListedResource } from './conform.ts';
import {
  type ConcurrencyLimit,
  createConcurrencyLimit,
  createRequestLimiter,
  type WaitNotice,
} from './request-limiter.ts';
import { type RequestNotice, withNotices } from './request-notice.ts';
import { type RetryNotice, type RetryOptions, type SendWithRetries, withRetries } from './retry.ts';

/**
 * The service as typed calls. Each request is counted, waits for the rate limit, and is retried where that is safe.
 * Deliberately absent: what a response means (kinds), and what to write (apply).
 */

/** What a client is made of. */
export interface ClientOptions extends RetryOptions {
  /** What carries requests. */
  readonly send: Send;
  /** May have a path, with or without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Redacted in each response, in addition to the key, and in no request but for the header with the key. Absent: the key alone. */
  readonly secrets?: Secrets | undefined;
  readonly versionHeader: string;
  /** Resources asked for in one list request. */
  readonly pageSize: number;
  /** Tasks under way at once, and requests; fewer when the service is busy. */
  readonly concurrency: number;
  /** How many requests the service allows in how much time; absent: any number. */
  readonly rateLimit?: RateLimit | undefined;
  /** Milliseconds since some moment, for the rate limit. */
  readonly now?: () => number;
  readonly onRetry?: (notice: RetryNotice) => void;
  /** Called for each request: when it is sent, and when it ends. */
  readonly onRequest?: ((notice: RequestNotice) => void) | undefined;
  /** Called for each wait for the rate limit, and for a service that asked for a pause. */
  readonly onWait?: (notice: WaitNotice) => void;
}

/**
 * Calls to one service. All reject with `ApiError`, `NetworkError` or `TimeoutError`, or with the reason of an aborted signal.
 * Reads with the same `stop` end together: the first one that fails aborts it, and then none of them sends another request.
 */
export interface Client {
  /**
   * Every resource of an owned kind as the service shows it, newest first; complete, or an error. Uses the limiter. After an abort of `waitSignal` no request
   * waits for its turn or for a retry.
   */
  readonly list: (kind: Kind, stop?: AbortController, waitSignal?: AbortSignal) => Promise<readonly JsonObject[]>;
  /** A module by its path; null: not set. Uses the limiter. */
  readonly readModule: (path: string, stop?: AbortController) => Promise<JsonObject | null>;
  /**
   * A write. Retried if it is idempotent; a POST only if it was certainly not processed. Resolves with the object in the answer; null if there is
   * none, and for a DELETE. Rejects with the reason of `waitSignal` if that is aborted before anything was sent that may have taken effect.
   */
  readonly send: (
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: JsonObject,
    more?: { readonly waitSignal?: AbortSignal | undefined },
  ) => Promise<JsonObject | null>;
  /** One object by its path. */
  readonly get: (path: string, signal?: AbortSignal) => Promise<JsonObject>;
  /** The beginning of a response for messages: without the key, on one line. */
  readonly excerpt: (json: Json) => string;
  /** Runs a task once fewer than `concurrency` are under way. `list` and `readModule` wait in it: never call them inside. */
  readonly limit: ConcurrencyLimit;
  /** What its answers showed, for those who read them. */
  readonly shown: ShownFields;
  /** Requests sent so far, retries included. */
  readonly requestCount: () => number;
}

/** A client. Throws `TypeError` for a base URL, key or version header that cannot be used. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, versionHeader, pageSize } = options;
  const wrong = checkBaseUrl(baseUrl) ?? checkApiKey(apiKey) ?? checkVersionHeader(versionHeader);
  if (wrong !== undefined) throw new TypeError(wrong);
  let count = 0;
  const counted: Send = (request) => {
    count += 1;
    return options.send(request);
  };
  const { secrets = createSecrets() } = options;
  secrets.add('the API key', apiKey);
  const redact = createFullStrike(apiKey, secrets);
  const { sleep = sleepFor, now = getElapsedMs } = options;
  const limiter = createRequestLimiter({ ...options, sleep, now });
  const { onRequest } = options;
  const bare = createAttempt(counted, { redact, secrets });
  const attempt = onRequest === undefined ? bare : withNotices(bare, { now, redact, onRequest });
  const persist = withRetries(attempt, limiter, { ...options, onRetry: withoutKey(options, redact) });
  const exchange = createExchange({ persist, apiKey, versionHeader, redact, secrets });
  const excerpt = (json: Json) => formatBodyExcerpt(JSON.stringify(json), redact);
  const limit = createConcurrencyLimit(options.concurrency);
  return {
    ...createReads({ exchange, limit, baseUrl, pageSize, excerpt }),
    excerpt,
    send: async (method, path, body, { waitSignal } = {}) => {
      const call = { method, url: toUrl(baseUrl, path), body, waitSignal };
      const json = await exchange(call);
      return json === undefined ? null : toAnsweredObject(call, json);
    },
    limit,
    shown: new ShownFields(),
    requestCount: () => count,
  };
}

interface ReadOptions {
  readonly exchange: Exchange;
  readonly limit: ConcurrencyLimit;
  readonly baseUrl: string;
  readonly pageSize: number;
  readonly excerpt: Client['excerpt'];
}

/** The signals that abort a read. */
interface Ends {
  readonly stop?: AbortController | undefined;
  readonly waitSignal?: AbortSignal | undefined;
}

function createReads({
  exchange,
  limit,
  baseUrl,
  pageSize,
  excerpt,
}: ReadOptions): Pick<Client, 'list' | 'readModule' | 'get'> {
  const read = <T>(via: (call: Call) => Promise<T>, url: URL, { stop, waitSignal }: Ends) =>
    limit(() => stopOnFailure(stop, () => via({ method: 'GET', url, signal: stop?.signal, waitSignal })));
  return {
    list: async (kind, stop, waitSignal) =>
      readPages({
        kind,
        listKey: assertDefined(kind.listKey, `list key of ${kind.name}`),
        firstUrl: toUrl(baseUrl, `${kind.path}?limit=${pageSize}`),
        readPage: (url) => read(exchange, url, { stop, waitSignal }),
        readNextPage: (url) => read(withRefusedCursor(exchange), url, { stop, waitSignal }),
        excerpt,
      }),
    readModule: async (path, stop) => {
      const url = toUrl(baseUrl, path);
      const json = await read(withoutMissing(exchange), url, { stop });
      return isUnset(json) ? null : toAnsweredObject({ method: 'GET', url }, json);
    },
    get: async (path, signal) => {
      const url = toUrl(baseUrl, path);
      return toAnsweredObject({ method: 'GET', url }, await exchange({ method: 'GET', url, signal }));
    },
  };
}

/** Aborts before its place in the limit is given to another. */
async function stopOnFailure<T>(stop: AbortController | undefined, run: () => Promise<T>): Promise<T> {
  try {
    stop?.signal.throwIfAborted();
    return await run();
  } catch (error) {
    stop?.abort(error);
    throw error;
  }
}

/** Returns the error when the service rejects the cursor of a list. The read does not fail: it starts again. */
function withRefusedCursor(exchange: Exchange): (call: Call) => Promise<Json | undefined | ApiError> {
  return async (call) => {
    try {
      return await exchange(call);
    } catch (error) {
      if (isRefusedCursor(error)) return error;
      throw error;
    }
  };
}

/** Gives null where there is nothing: one of the four ways in which services say that a module is not set. */
function withoutMissing(exchange: Exchange): Exchange {
  return async (call) => {
    try {
      return await exchange(call);
    } catch (error) {
      if (error instanceof ApiError && error.response.status === 404) return null;
      throw error;
    }
  };
}

function isUnset(json: Json | undefined): boolean {
  if (json === undefined || json === null) return true;
  return typeof json === 'object' && !Array.isArray(json) && Object.values(json).every((member) => member === null);
}

/** Redacts the key even if it is too short to be searched for in other texts. */
function createFullStrike(apiKey: string, secrets: Secrets): Redactor {
  const strikeKey = createRedactor(apiKey);
  return (text) => strikeKey(secrets.redact(text));
}

function withoutKey({ onRetry }: ClientOptions, redact: Redactor): (notice: RetryNotice) => void {
  return (notice) => onRetry?.({ ...notice, path: redact(notice.path), cause: redact(notice.cause) });
}

/** Why a base URL is invalid; `undefined`: it is valid. */
function checkBaseUrl(text: string): string | undefined {
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

/** The text before an @, and after a question mark or a #, may be a password or a token. */
function withoutSecrets(url: string): string {
  return url.replace(/[^/]*@/, '…@').replace(/[?#].*/s, (rest) => `${rest.charAt(0)}…`);
}

/** Why an API key is invalid; `undefined`: it is valid. Never quotes it. */
function checkApiKey(text: string): string | undefined {
  if (text === '') return 'The API key is empty';
  return /^[\x21-\x7e]+$/.test(text) ? undefined : 'The API key contains white space or characters outside ASCII';
}

/** Why the name of the version header is invalid; `undefined`: it is valid. */
function checkVersionHeader(name: string): string | undefined {
  return FORMATS['header-name'].check(name) === undefined ? undefined : `\`${name}\` is not a valid header name`;
}

/** The URL of a path below the base URL. Throws `InvariantError` for a path that does not start with a slash. */
function toUrl(baseUrl: string, path: string): URL {
  if (!path.startsWith('/')) throw new InvariantError(`Not a path: ${path}`);
  return new URL(baseUrl.replace(/\/+$/, '') + path);
}

/** One call to the service. */
interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly body?: JsonObject | undefined;
  /** Aborted: the answer is not wanted any more, even if the request is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted: the call waits for nothing, and a write is not sent any more; one that is under way ends. */
  readonly waitSignal?: AbortSignal | undefined;
}

/** Makes a call: the JSON of a response of success, `undefined` for an empty body and for a DELETE; else throws. */
type Exchange = (call: Call) => Promise<Json | undefined>;

interface ExchangeOptions {
  readonly persist: SendWithRetries;
  readonly apiKey: string;
  readonly versionHeader: string;
  readonly redact: Redactor;
  readonly secrets: Secrets;
}

/** Creates the function that turns calls into values or errors. It adds the key to each request and redacts it in each error. */
function createExchange({ persist, apiKey, versionHeader, redact, secrets }: ExchangeOptions): Exchange {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'edgewise',
    [versionHeader.toLowerCase()]: SERVICE_API_VERSION,
  };
  const withBody = { ...headers, 'content-type': 'application/json' };
  return async (call) => {
    try {
      const create = () => toRequest(call, call.body === undefined ? headers : withBody);
      refuseSecrets(create(), secrets);
      const { response, body, json } = await persist(create, call.waitSignal);
      if (isSuccess(response)) return json;
      throw createApiError({ method: call.method, path: formatUrlPath(call.url), response, body }, redact);
    } catch (error) {
      throw redactError(error, redact);
    }
  };
}

/** The object that an answer to a call must be. Throws `NetworkError` when it is something else, or nothing. */
function toAnsweredObject(call: Pick<Call, 'method' | 'url'>, json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
  throw new NetworkError(`${call.method} ${formatUrlPath(call.url)}: the response is not a JSON object`);
}

/** No service is told of a secret but in the header that is for it. */
function refuseSecrets({ method, url, body }: HttpRequest, { find, redact }: Secrets): void {
  const found = find(url) ?? find(String(body ?? ''));
  if (found === undefined) return;
  const path = redact(formatUrlPath(new URL(url)));
  throw new NetworkError(`${method} ${path} was not sent, because it would contain ${found.name}`);
}

function toRequest({ method, url, body, signal }: Call, headers: HttpRequest['headers']): HttpRequest {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  };
}

/** Where the pages of a kind's list come from. */
interface PageSource {
  readonly kind: Kind;
  /** The key of the list in a page. */
  readonly listKey: string;
  readonly firstUrl: URL;
  readonly readPage: (url: URL) => Promise<Json | undefined>;
  /** The same for a page that continues the list; the error when the service refuses to continue there. */
  readonly readNextPage: (url: URL) => Promise<Json | undefined | ApiError>;
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

/** How often a list is read that changes while it is read. With small pages, a run that deletes many resources moves its own list several times. */
const MAX_READINGS = 6;

/**
 * Reads a list to its end: every resource once, in the order served. A service may refuse to continue at a resource that is gone by now: then the
 * list is read again from its start. Throws instead of returning a partial list: `NetworkError` for a malformed page, a link to another origin, and a
 * link back to a page already read; `ApiError` if the service refuses to continue each time.
 */
async function readPages(source: PageSource): Promise<readonly JsonObject[]> {
  for (let reading = 1; ; reading += 1) {
    const list = await readOnce(source);
    if (!(list instanceof ApiError)) return list;
    if (reading === MAX_READINGS) throw toEndlessRefusal(list);
  }
}

/** Whether a service refuses to continue a list, because the resource at which the next page begins is gone. */
function isRefusedCursor(error: unknown): error is ApiError {
  return error instanceof ApiError && (error.response.status === 400 || error.response.status === 404);
}

function toEndlessRefusal({ message, response }: ApiError): ApiError {
  const times = `The list was read from its start ${MAX_READINGS} times, and each time the service refused to continue it`;
  return new ApiError(`${message}. ${times}`, response);
}

/** One reading; the error when the service refuses to continue the list. */
async function readOnce(source: PageSource): Promise<readonly JsonObject[] | ApiError> {
  const found = new Map<string, JsonObject>();
  const seen = new Set<string>();
  let barren = 0;
  for (let url: URL | undefined = source.firstUrl; url !== undefined; ) {
    const json: Json | undefined | ApiError = await (seen.size === 0 ? source.readPage(url) : source.readNextPage(url));
    if (json instanceof ApiError) return json;
    seen.add(url.href);
    const page: Page = parsePage(source, url, json);
    const isNew = addNew(found, page.resources);
    barren = isNew ? 0 : barren + 1;
    if (barren > MAX_BARREN_PAGES) throw toPageError(url, `${barren} pages in a row contain nothing new`);
    url = toUnreadUrl(page, seen);
  }
  return [...found.values()];
}

/** Keeps the first version of a resource that appears on a second page, because a concurrent creation moved the pages. */
function addNew(found: Map<string, JsonObject>, resources: readonly ListedResource[]): boolean {
  const before = found.size;
  for (const { id, json } of resources) if (!found.has(id)) found.set(id, json);
  return found.size > before;
}

/** The next page to read. After a link back to a page that was read, the rest of the list is unknown. */
function toUnreadUrl({ url, nextUrl }: Page, seen: ReadonlySet<string>): URL | undefined {
  if (nextUrl === undefined || !seen.has(nextUrl.href)) return nextUrl;
  throw toPageError(
    url,
    `next_page_uri leads back to ${formatUrlPath(nextUrl)}, so the list cannot be read to its end`,
  );
}

function parsePage({ kind, listKey, firstUrl, excerpt }: PageSource, url: URL, json: Json | undefined): Page {
  const page = toAnsweredObject({ method: 'GET', url }, json);
  const list = page[listKey];
  if (!isJsonArray(list)) throw toPageError(url, `${listKey} is not a list: ${excerpt(page)}`);
  const place = `GET ${formatUrlPath(url)}: ${listKey}`;
  const resources = list.map((member, index) =>
    parseListedResource(kind, member, { place: `${place}[${index}]`, excerpt }),
  );
  return { url, resources, nextUrl: parseNextUrl(page['next_page_uri'], url, firstUrl.origin) };
}

/** The next page, on the origin that the key is for; nothing when this was the last. */
function parseNextUrl(next: Json | undefined, url: URL, origin: string): URL | undefined {
  if (next === undefined || next === null || next === '') return undefined;
  const nextUrl = typeof next === 'string' ? URL.parse(next, url) : null;
  if (nextUrl === null || nextUrl.username !== '' || nextUrl.password !== '')
    throw toPageError(url, 'next_page_uri is not a valid URL');
  if (nextUrl.origin !== origin)
    throw toPageError(url, `next_page_uri leads to ${nextUrl.origin}, but the key is only for ${origin}`);
  nextUrl.hash = '';
  return nextUrl;
}

function toPageError(url: URL, message: string): NetworkError {
  return new NetworkError(`GET ${formatUrlPath(url)}: ${message}`);
}
