import type { Kind } from '../kinds/kind.ts';
import { toElapsedMs } from '../model/elapsed.ts';
import { ApiError, assertDefined } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import { onceInARow } from '../model/once.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { type Send, type Transport, toSend } from '../model/transport.ts';
import { createAttempt } from './attempt.ts';
import { createExchange, type Exchange, toAnsweredObject } from './exchange.ts';
import { createGovernor, type WaitNotice } from './governor.ts';
import { createLimit, type Limit } from './limit.ts';
import { readPages } from './pages.ts';
import { toExcerpt } from './printable.ts';
import { type RequestNotice, withNotices } from './request-notice.ts';
import { type RetryNotice, type RetryOptions, withRetries } from './retry.ts';
import { sleepFor } from './sleep.ts';
import { createStrike } from './strike-key.ts';
import { checkApiKey, checkBaseUrl, checkVersionHeader, toUrl } from './target.ts';

/**
 * The service as typed calls. Each request is counted, waits for the rate limit, and is retried where that is safe.
 * Deliberately absent: what a response means (kinds), and what to write (apply).
 */

/** What a client is made of. */
export interface ClientOptions extends RetryOptions {
  readonly transport: Transport;
  /** May have a path, with or without a slash at its end. */
  readonly baseUrl: string;
  readonly apiKey: string;
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
  /** Tells of each request: when it is sent, and what came of it. */
  readonly onRequest?: ((notice: RequestNotice) => void) | undefined;
  /** Tells of each wait for the rate limit, and for a service that asked for a pause. */
  readonly onWait?: (notice: WaitNotice) => void;
}

/**
 * Calls to one service. All reject with `ApiError`, `NetworkError` or `TimeoutError`, or with the reason of an aborted signal.
 * Reads with the same `stop` end together: the first one that fails aborts it, and then none of them sends another request.
 */
export interface Client {
  /**
   * Every resource of an owned kind as the service shows it, newest first; complete, or an error. Goes through the limit. After an abort of
   * `patience` no request waits for its turn or for a retry.
   */
  readonly list: (kind: Kind, stop?: AbortController, patience?: AbortSignal) => Promise<readonly JsonObject[]>;
  /** A module by its path; null: not set. Goes through the limit. */
  readonly readModule: (path: string, stop?: AbortController) => Promise<JsonObject | null>;
  /**
   * A write. Retried if it is idempotent; a POST only if it was certainly not processed. Resolves with the object in the answer; null if there is
   * none, and for a DELETE. Rejects with the reason of `patience` if that is aborted before anything was sent that may have taken effect.
   */
  readonly send: (
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: JsonObject,
    more?: { readonly patience?: AbortSignal | undefined },
  ) => Promise<JsonObject | null>;
  /** One object by its path. */
  readonly get: (path: string, signal?: AbortSignal) => Promise<JsonObject>;
  /** How what was answered begins, fit to be shown: without the key, on one line. */
  readonly excerpt: (json: Json) => string;
  /** Runs a task once fewer than `concurrency` are under way. `list` and `readModule` wait in it: never call them inside. */
  readonly limit: Limit;
  /** Requests sent so far, retries included. */
  readonly requestCount: () => number;
}

/** A client. Throws `TypeError` for a base URL, key or version header that cannot be used. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, versionHeader, pageSize } = options;
  const wrong = checkBaseUrl(baseUrl) ?? checkApiKey(apiKey) ?? checkVersionHeader(versionHeader);
  if (wrong !== undefined) throw new TypeError(wrong);
  let count = 0;
  const sendPlain = toSend(options.transport);
  const counted: Send = (request) => {
    count += 1;
    return sendPlain(request);
  };
  const strike = createStrike(apiKey);
  const { sleep = sleepFor, now = toElapsedMs } = options;
  const governor = createGovernor({ ...options, sleep, now });
  const { onRequest } = options;
  const bare = createAttempt(counted, strike);
  const attempt = onRequest === undefined ? bare : withNotices(bare, { now, strike, onRequest });
  const persist = withRetries(attempt, governor, { ...options, onRetry: withoutKey(options) });
  const exchange = createExchange({ persist, apiKey, versionHeader, strike });
  const excerpt = (json: Json) => toExcerpt(JSON.stringify(json), strike);
  const limit = createLimit(options.concurrency);
  // Of creations the path is mostly the same.
  const toSendUrl = onceInARow((path: string) => toUrl(baseUrl, path));
  return {
    ...createReads({ exchange, limit, baseUrl, pageSize, excerpt }),
    excerpt,
    send: async (method, path, body, { patience } = {}) => {
      const call = { method, url: toSendUrl(path), body, patience };
      const json = await exchange(call);
      return json === undefined ? null : toAnsweredObject(call, json);
    },
    limit,
    requestCount: () => count,
  };
}

interface ReadOptions {
  readonly exchange: Exchange;
  readonly limit: Limit;
  readonly baseUrl: string;
  readonly pageSize: number;
  readonly excerpt: Client['excerpt'];
}

/** The signals that abort a read. */
interface Ends {
  readonly stop?: AbortController | undefined;
  readonly patience?: AbortSignal | undefined;
}

function createReads({
  exchange,
  limit,
  baseUrl,
  pageSize,
  excerpt,
}: ReadOptions): Pick<Client, 'list' | 'readModule' | 'get'> {
  const read = (via: Exchange, url: URL, { stop, patience }: Ends) =>
    limit(() => stopOnFailure(stop, () => via({ method: 'GET', url, signal: stop?.signal, patience })));
  return {
    list: async (kind, stop, patience) =>
      readPages({
        kind,
        listKey: assertDefined(kind.listKey, `list key of ${kind.name}`),
        firstUrl: toUrl(baseUrl, `${kind.path}?limit=${pageSize}`),
        readPage: (url) => read(exchange, url, { stop, patience }),
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

function withoutKey({ apiKey, onRetry }: ClientOptions): (notice: RetryNotice) => void {
  const strike = createStrike(apiKey);
  return (notice) => onRetry?.({ ...notice, path: strike(notice.path), cause: strike(notice.cause) });
}
