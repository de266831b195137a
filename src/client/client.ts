import { FORMATS } from '../kinds/formats.ts';
import type { Kind } from '../kinds/kind.ts';
import { ObservedResponseFields } from '../kinds/observed-response-fields.ts';
import { KINDS } from '../kinds/tables/registry.ts';
import type { ClockSkew } from '../model/clock.ts';
import { ApiError, assertDefined, InvariantError, NetworkError } from '../model/errors.ts';
import { type HttpRequest, type HttpResponse, isSuccess, SERVICE_API_VERSION, type Send } from '../model/http.ts';
import { findMember, isJsonArray, isJsonObject, type Json, type JsonObject, toJsonText } from '../model/json.ts';
import {
  createKeyRedactor,
  createSecretRegistry,
  NO_OP_SECRET_REDACTOR,
  type SecretRedactor,
} from '../model/secrets.ts';
import { sleepFor } from '../model/sleep.ts';
import type { RateLimit } from '../model/stack.ts';
import { createApiError, createSendOnce, formatPathAndQuery, type Redactor } from './api-error.ts';
import { expectObject } from './parse-response.ts';
import { ReadIds } from './read-ids.ts';
import { isRefusedCursor, readPages } from './read-pages.ts';
import { RecentStates } from './recent-states.ts';
import {
  type ConcurrencyLimiter,
  createConcurrencyLimiter,
  createRequestLimiter,
  type WaitNotice,
} from './request-limiter.ts';
import { type AttemptNotice, withAttemptNotices } from './request-notice.ts';
import {
  type ReadBeforeWrite,
  type RetryNotice,
  type RetryOptions,
  type SendWithRetries,
  withRetries,
} from './retry.ts';
import { ServiceClock } from './service-clock.ts';

/**
 * Typed calls to the service. Each request is counted, waits for the rate limit, and is retried if that is safe. Not
 * here: how to interpret responses (`kinds`), and which writes to send (`apply`).
 */

/** The service to call, limits on requests, and callbacks that report requests. */
export interface ClientOptions extends RetryOptions {
  /** The transport, such as `createUndiciTransport().send`. */
  readonly send: Send;
  /** An `http` or `https` URL. May have a path, with or without a trailing slash. */
  readonly baseUrl: string;
  readonly apiKey: string;
  /**
   * Secrets to redact in responses and errors. The client adds the API key to this object, and rejects a request whose
   * URL or body contains a secret. Absent: the API key is the only secret, and no live
   * value is hidden.
   */
  readonly secrets?: SecretRedactor | undefined;
  readonly versionHeader: string;
  /** Resources per list request. */
  readonly pageSize: number;
  /**
   * Maximum number of concurrent requests, and of concurrent tasks in `Client.limit`. After a 429, the client sends
   * fewer requests at once for a while.
   */
  readonly concurrency: number;
  /** The rate limit of the service. Absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** The local clock, with which the clock of the service is compared. Default: the system's clock. */
  readonly date?: (() => Date) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
  /** Called when a request is sent, and when it ends. */
  readonly onRequest?: ((notice: AttemptNotice) => void) | undefined;
  /** Called before a request waits for the rate limit, or for the end of a pause after a 429. */
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
  /** Called when a list, a module or a resource is read. `reading` ends when the read does. */
  readonly onRead?: ((reading: Promise<unknown>) => void) | undefined;
}

/**
 * Calls to one service that only read. A call may reject with `ApiError`, `NetworkError` or `TimeoutError`, or with the
 * reason of an aborted signal. Several reads may share one `stop`: the first read that fails aborts it, and then none of
 * these reads sends another request.
 */
export interface ReadingClient {
  /**
   * Lists the JSON of every resource of an owned kind, newest first. Rejects rather than return a partial list. Takes a
   * slot of `limit` for each page. Once `waitSignal` is aborted, rejects if a request would have to wait for the rate
   * limit or a retry.
   */
  readonly list: (kind: Kind, stop?: AbortController, waitSignal?: AbortSignal) => Promise<readonly JsonObject[]>;
  /** Reads the module at a path. `null`: the module is not set. Takes a slot of `limit`. */
  readonly readModule: (path: string, stop?: AbortController) => Promise<JsonObject | null>;
  /** Reads the object at a path. Takes no slot of `limit`. */
  readonly get: (path: string, signal?: AbortSignal) => Promise<JsonObject>;
  /**
   * Runs a task as soon as fewer than `concurrency` tasks are running. Never call `list` or `readModule` inside a task:
   * they take a slot of this limit themselves, and could deadlock.
   */
  readonly limit: ConcurrencyLimiter;
  /**
   * The fields that responses have contained so far. If a response about a resource omits a field, the field is empty
   * if it is one of these, and unknown otherwise.
   */
  readonly shown: ObservedResponseFields;
  /** Returns the number of requests sent so far, including retries. */
  readonly requestCount: () => number;
  /** How far the clock of the service is ahead, as far as its responses have shown. */
  readonly clockSkew: () => ClockSkew;
  /** The ids that this client has read. */
  readonly readIds: ReadIds;
  /** The time by the `Date` of responses. `undefined`: they have none, or they contradict each other. */
  readonly serviceDate: () => Date | undefined;
  /** Returns a client that only reads, and whose `requestCount` counts its own requests. */
  readonly createReader: () => ReadingClient;
}

/** Calls to one service. They reject as those of `ReadingClient` do. */
export interface Client extends ReadingClient {
  /**
   * Sends a write. Retries a PATCH, PUT or DELETE; retries a POST only if the service certainly did not process it.
   * Resolves with the object in the response, or with `null` for an empty body or a DELETE. Once `waitSignal` is
   * aborted, sends nothing more and rejects: with the error of an earlier attempt that may have taken effect, otherwise
   * with the reason of the abort. With `reliesOn`, also rejects as its `prepare` does.
   */
  readonly send: (
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: JsonObject,
    more?: { readonly waitSignal?: AbortSignal | undefined; readonly reliesOn?: ReliedState | undefined },
  ) => Promise<JsonObject | null>;
}

/**
 * The state on which a write relies. It is read before each attempt of the write, unless a list, a read or the response
 * to a write has shown it within the last five seconds.
 */
export interface ReliedState {
  /** The URL path of the resource or module. */
  readonly path: string;
  /** True: a module that the path does not have is `null`. False: a resource that does not exist is an `ApiError`. */
  readonly isModule: boolean;
  /**
   * Called right before each attempt of the write, with the last state that the service has shown. Resolves with the
   * body to send. Rejects if the write must not be sent.
   */
  readonly prepare: (shown: JsonObject | null) => Promise<JsonObject | undefined>;
}

/**
 * Creates a client. Throws `TypeError` for an invalid base URL, API key or version header.
 * @example
 * const { send } = createUndiciTransport();
 * const client = createClient({ send, baseUrl, apiKey, versionHeader: 'Service-Version', pageSize: 100, concurrency: 8 });
 */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, versionHeader, pageSize } = options;
  const wrong = checkBaseUrl(baseUrl) ?? checkApiKey(apiKey) ?? checkVersionHeader(versionHeader);
  if (wrong !== undefined) throw new TypeError(wrong);
  let count = 0;
  const counted: Send = (request) => {
    count += 1;
    return options.send(request);
  };
  const { secrets = createSecretRegistry() } = options;
  secrets.add('the API key', apiKey);
  const redact = createFullRedactor(apiKey, secrets);
  const { sleep = sleepFor, now = () => performance.now(), date = () => new Date() } = options;
  const limiter = createRequestLimiter({ ...options, sleep, now });
  const { onRequest } = options;
  const bare = createSendOnce(counted, { redact, secrets, localMs: () => date().getTime() });
  const clock = new ServiceClock();
  const attempt = onRequest === undefined ? bare : withAttemptNotices(bare, { now, onRequest });
  const persist = withRetries(attempt, limiter, options);
  const exchange = createExchange({ persist, apiKey, versionHeader, secrets, clock });
  const states = new RecentStates(now);
  const readIds = new ReadIds();
  const limit = createConcurrencyLimiter(options.concurrency);
  const reads = { exchange, limit, baseUrl, pageSize, states, readIds, onRead: options.onRead };
  const common: Omit<ReadingClient, keyof Reads | 'requestCount'> = {
    limit,
    // Only the registry that manifests were read with knows which values they have in clear.
    shown: new ObservedResponseFields(options.secrets ?? NO_OP_SECRET_REDACTOR),
    clockSkew: () => clock.measure(),
    readIds,
    serviceDate: () => clock.findDate(date().getTime()),
    createReader: () => {
      let own = 0;
      const onSent = () => {
        own += 1;
      };
      const counting: Exchange = (call) => exchange({ ...call, onSent });
      return { ...common, ...createReads({ ...reads, exchange: counting }), requestCount: () => own };
    },
  };
  return {
    ...common,
    ...createReads(reads),
    requestCount: () => count,
    send: async (method, path, body, { waitSignal, reliesOn } = {}) => {
      const relied = reliesOn && { ...reliesOn, url: joinUrl(baseUrl, reliesOn.path), states };
      const onShown = (json: Json | undefined) => {
        for (const token of listTokens(json)) secrets.addToken(token);
        // The answer to a POST may be that to another one: it shows no state of what was read before.
        if (method !== 'POST' || !readIds.isAmong(toJsonText(findMember(json, 'id')), readIds.count))
          noteWritten(states, { method, path }, json);
      };
      const call = { method, url: joinUrl(baseUrl, path), body, waitSignal, relied, onShown };
      const json = await exchange(call);
      return json === undefined ? null : expectObject(call, json);
    },
  };
}

/** Lists what a response shows only once: the token of a new credential. */
function listTokens(json: Json | undefined): readonly string[] {
  if (!isJsonObject(json)) return [];
  return ONE_TIME_FIELDS.map((field) => json[field]).filter((value) => typeof value === 'string');
}

const ONE_TIME_FIELDS = KINDS.flatMap(({ oneTimeFields }) => oneTimeFields);

/** Records the state that the response to a write shows. A response to a DELETE shows none. */
function noteWritten(
  states: RecentStates,
  { method, path }: { readonly method: string; readonly path: string },
  json: Json | undefined,
): void {
  if (!isJsonObject(json)) return;
  if (method === 'POST') noteListed(states, path, json);
  else states.note(path, json);
}

/** Records the state of a resource whose path is below the path of its kind. */
function noteListed(states: RecentStates, kindPath: string, json: Json): void {
  if (isJsonObject(json) && typeof json['id'] === 'string') states.note(`${kindPath}/${json['id']}`, json);
}

type Reads = Pick<ReadingClient, 'list' | 'readModule' | 'get'>;

interface ReadContext extends Pick<ClientOptions, 'onRead'> {
  readonly exchange: Exchange;
  readonly limit: ConcurrencyLimiter;
  readonly baseUrl: string;
  readonly pageSize: number;
  readonly states: RecentStates;
  readonly readIds: ReadIds;
}

function createReads({ exchange, limit, baseUrl, pageSize, states, readIds, onRead }: ReadContext): Reads {
  const exchangeRead: Exchange = async (call) => {
    const json = await exchange(call);
    readIds.note(json);
    return json;
  };
  const read = <T>(
    via: (call: Call) => Promise<T>,
    call: Pick<Call, 'url' | 'onShown' | 'waitSignal'>,
    stop?: AbortController,
  ) => limit(() => stopOnFailure(stop, () => via({ ...call, method: 'GET', signal: stop?.signal })));
  const noted = <T>(reading: Promise<T>): Promise<T> => {
    onRead?.(reading);
    return reading;
  };
  const reads: Reads = {
    list: async (kind, stop, waitSignal) => {
      const listKey = assertDefined(kind.listKey, `list key of ${kind.name}`);
      const onShown = (json: Json | undefined): void => {
        const list = isJsonObject(json) ? json[listKey] : undefined;
        if (isJsonArray(list)) for (const member of list) noteListed(states, kind.path, member);
      };
      return readPages({
        kind,
        listKey,
        firstUrl: joinUrl(baseUrl, `${kind.path}?limit=${pageSize}`),
        readPage: (url) => read(exchangeRead, { url, waitSignal, onShown }, stop),
        readNextPage: (url) => read(withRefusedCursor(exchangeRead), { url, waitSignal, onShown }, stop),
      });
    },
    readModule: async (path, stop) => {
      const url = joinUrl(baseUrl, path);
      const onShown = (json: Json | undefined) => states.note(path, toModule(url, json));
      return toModule(url, await read(withoutMissing(exchange), { url, onShown }, stop));
    },
    get: async (path, signal) => {
      const url = joinUrl(baseUrl, path);
      return expectObject({ method: 'GET', url }, await exchangeRead({ method: 'GET', url, signal }));
    },
  };
  return {
    list: (...read) => noted(reads.list(...read)),
    readModule: (...read) => noted(reads.readModule(...read)),
    get: (...read) => noted(reads.get(...read)),
  };
}

/** Returns the module in the response to a GET of its path. `null`: the module is not set. */
function toModule(url: URL, json: Json | undefined): JsonObject | null {
  return isWithoutMembers(json) ? null : expectObject({ method: 'GET', url }, json);
}

/** Runs a read. If the read fails, aborts `stop` before `limit` starts another read in the freed slot. */
async function stopOnFailure<T>(stop: AbortController | undefined, run: () => Promise<T>): Promise<T> {
  try {
    stop?.signal.throwIfAborted();
    return await run();
  } catch (error) {
    stop?.abort(error);
    throw error;
  }
}

/**
 * If the service rejects the cursor of a list, resolves with the error instead of rejecting. So `stop` is not aborted,
 * and the caller can read the list again.
 */
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

/**
 * Resolves with `null` for a 404, one of the four ways in which services report that a module is not set. `isUnset`
 * recognizes the other three.
 */
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

function isWithoutMembers(json: Json | undefined): boolean {
  if (json === undefined || json === null) return true;
  return typeof json === 'object' && !Array.isArray(json) && Object.values(json).every((member) => member === null);
}

/**
 * Creates a redactor for all secrets. Redacts the API key separately, because `secrets` ignores a key that is too
 * short.
 */
function createFullRedactor(apiKey: string, secrets: SecretRedactor): Redactor {
  const redactKey = createKeyRedactor(apiKey);
  return (text) => redactKey(secrets.redact(text));
}

/** Returns why a base URL is invalid, or `undefined` if it is valid. */
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

/** Removes the text before an @, and the text after a ? or #: both may contain a password or a token. */
function withoutSecrets(url: string): string {
  return url.replace(/[^/]*@/, '…@').replace(/[?#].*/s, (rest) => `${rest.charAt(0)}…`);
}

/** Returns why an API key is invalid, without quoting the key. `undefined`: the key is valid. */
function checkApiKey(text: string): string | undefined {
  if (text === '') return 'The API key is empty';
  return /^[\x21-\x7e]+$/.test(text) ? undefined : 'The API key contains white space or characters outside ASCII';
}

/** Returns why the name of the version header is invalid, or `undefined` if it is valid. */
function checkVersionHeader(name: string): string | undefined {
  return FORMATS['header-name'].check(name) === undefined ? undefined : `\`${name}\` is not a valid header name`;
}

/** Joins the base URL and a path. Throws `InvariantError` for a path that does not start with a slash. */
function joinUrl(baseUrl: string, path: string): URL {
  if (!path.startsWith('/')) throw new InvariantError(`Not a path: ${path}`);
  return new URL(baseUrl.replace(/\/+$/, '') + path);
}

interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly body?: JsonObject | undefined;
  /** When aborted, the call rejects, even during a request. */
  readonly signal?: AbortSignal | undefined;
  /**
   * When aborted, the call no longer waits for the rate limit or a retry, and sends no further write. A request that
   * was already sent is completed.
   */
  readonly waitSignal?: AbortSignal | undefined;
  /** The state on which a write relies. */
  readonly relied?: (ReliedState & { readonly url: URL; readonly states: RecentStates }) | undefined;
  /** Called when a request of the call is sent, and when it is sent again. */
  readonly onSent?: (() => void) | undefined;
  /** Called with the JSON of a successful response that does not come from a cache. */
  readonly onShown?: ((json: Json | undefined) => void) | undefined;
}

/**
 * Makes a call. Resolves with the JSON of a successful response, or with `undefined` for an empty body or a DELETE.
 * Rejects with `ApiError` for a failed response.
 */
type Exchange = (call: Call) => Promise<Json | undefined>;

interface ExchangeOptions {
  readonly persist: SendWithRetries;
  readonly apiKey: string;
  readonly versionHeader: string;
  readonly secrets: SecretRedactor;
  readonly clock: ServiceClock;
}

/** Creates the function that makes calls. Adds the API key to each request. */
function createExchange({ persist, apiKey, versionHeader, secrets, clock }: ExchangeOptions): Exchange {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'edgewise',
    [versionHeader.toLowerCase()]: SERVICE_API_VERSION,
  };
  const withBody = { ...headers, 'content-type': 'application/json' };
  return async (call) => {
    let { body } = call;
    const create = () =>
      createRequest({ ...call, body: body && secrets.reveal(body) }, body === undefined ? headers : withBody);
    const setBody = (prepared: JsonObject | undefined): void => {
      body = prepared;
      checkSecrets(create(), secrets);
    };
    const { signal, waitSignal, relied } = call;
    const before = relied && createReadBeforeWrite(relied, { headers, setBody });
    checkSecrets(create(), secrets);
    const createToSend = () => {
      call.onSent?.();
      return create();
    };
    const sent = await persist({ create: createToSend, signal, waitSignal, before });
    const { request, response, body: text, json, times } = sent;
    if (!isSuccess(response)) {
      const { method, url } = request;
      throw createApiError({ method, path: formatPathAndQuery(new URL(url)), response, body: text });
    }
    if (isFromCache(response)) return json;
    clock.noteDate(response.headers['date'], times);
    if (call.method === 'POST') clock.noteCreation(findCreationTime(json), times);
    call.onShown?.(json);
    return json;
  };
}

/** The creation time in the response to a creation. `undefined` if it shows none. */
function findCreationTime(json: Json | undefined): string | undefined {
  const time = isJsonObject(json) ? json['created_at'] : undefined;
  return typeof time === 'string' ? time : undefined;
}

/** Whether a response comes from a cache, so that it shows an earlier state. */
function isFromCache({ headers }: Pick<HttpResponse, 'headers'>): boolean {
  return Number(headers['age'] ?? 0) > 0;
}

interface ReadBeforeWriteContext {
  readonly headers: HttpRequest['headers'];
  /** Called with the body of each attempt. Throws if it contains a secret. */
  readonly setBody: (body: JsonObject | undefined) => void;
}

function createReadBeforeWrite(
  { path, url, isModule, states, prepare }: NonNullable<Call['relied']>,
  { headers, setBody }: ReadBeforeWriteContext,
): ReadBeforeWrite {
  return {
    isNeeded: () => states.find(path) === undefined,
    create: () => createRequest({ method: 'GET', url }, { ...headers, 'cache-control': 'no-cache' }),
    accept: (received) => {
      const { response, json } = received;
      const isMissing = isModule && response.status === 404;
      const fail = (why: string) => new NetworkError(`GET ${formatPathAndQuery(url)}: the response ${why}`);
      if (!isMissing && !isSuccess(response)) return received;
      if (isFromCache(response)) return fail('comes from a cache, so it may be outdated');
      const shown = isMissing || (isModule && isWithoutMembers(json)) ? null : json;
      if (shown !== null && !isJsonObject(shown)) return fail('is not a JSON object');
      states.note(path, shown);
      return undefined;
    },
    prepare: async () => {
      const shown = states.find(path);
      if (shown === undefined)
        throw new NetworkError(
          `${formatPathAndQuery(url)}: not written, because the rate limit let more than five seconds pass after it was read`,
        );
      setBody(await prepare(shown));
    },
  };
}

/** Throws `NetworkError` if the URL or the body of a request contains a secret. Only a header may contain one. */
function checkSecrets({ method, url, body }: HttpRequest, { find, redact }: SecretRedactor): void {
  const found = find(url) ?? find(String(body ?? ''));
  if (found === undefined) return;
  const path = redact(formatPathAndQuery(new URL(url)));
  throw new NetworkError(`${method} ${path} was not sent, because it would contain ${found.name}`);
}

function createRequest({ method, url, body, signal }: Call, headers: HttpRequest['headers']): HttpRequest {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  };
}
