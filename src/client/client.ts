import type { Kind } from '../kinds/kind.ts';
import { ApiError, assertDefined } from '../model/errors.ts';
import type { Json, JsonObject } from '../model/json.ts';
import type { Transport } from '../model/transport.ts';
import { createExchange, type Exchange, toAnsweredObject } from './exchange.ts';
import { createLimit, type Limit } from './limit.ts';
import { toNetworkFault } from './network-fault.ts';
import { readPages } from './pages.ts';
import { type RetryNotice, type RetryOptions, withRetries } from './retry.ts';
import { createStrike } from './strike-key.ts';
import { checkApiKey, checkBaseUrl, checkVersionHeader, toUrl } from './target.ts';

/**
 * The service as typed calls. Everything about sending is a decorator of the transport: counted, sent again.
 * What is absent on purpose: what a response means (kinds), and what to write (apply).
 */

/** What a client is made of. */
export interface ClientOptions extends RetryOptions {
  readonly transport: Transport;
  /** May have a path; a slash at its end doesn't matter. */
  readonly baseUrl: string;
  readonly apiKey: string;
  readonly versionHeader: string;
  /** Resources asked for in one list request. */
  readonly pageSize: number;
  /** Tasks under way at once. */
  readonly concurrency: number;
  readonly onRetry?: (notice: RetryNotice) => void;
}

/**
 * Calls to one service. All reject with `ApiError`, `NetworkError` or `TimeoutError`, or with the reason of an aborted signal.
 * Reads with the same `stop` end together: the first one that fails aborts it, and then none of them sends another request.
 */
export interface Client {
  /** Every resource of an owned kind as the service shows it, newest first; complete, or an error. Goes through the limit. */
  readonly list: (kind: Kind, stop?: AbortController) => Promise<readonly JsonObject[]>;
  /** A module by its path; null: not set. Goes through the limit. */
  readonly readModule: (path: string, stop?: AbortController) => Promise<JsonObject | null>;
  /** Sent once, never again. The object that was answered; null when there was none, and for a DELETE. */
  readonly send: (
    method: 'POST' | 'PATCH' | 'PUT' | 'DELETE',
    path: string,
    body?: JsonObject,
  ) => Promise<JsonObject | null>;
  /** One object by its path. */
  readonly get: (path: string, signal?: AbortSignal) => Promise<JsonObject>;
  /** Runs a task once fewer than `concurrency` are under way. `list` and `readModule` wait in it: never call them inside. */
  readonly limit: Limit;
  /** Requests sent so far, retries included. */
  readonly requestCount: () => number;
}

/** A client. Throws `TypeError` for a base URL, key or version header that can't be used. */
export function createClient(options: ClientOptions): Client {
  const { baseUrl, apiKey, versionHeader, pageSize } = options;
  const wrong = checkBaseUrl(baseUrl) ?? checkApiKey(apiKey) ?? checkVersionHeader(versionHeader);
  if (wrong !== undefined) throw new TypeError(wrong);
  let count = 0;
  const counted: Transport = async (request) => {
    count += 1;
    try {
      return await options.transport(request);
    } catch (error) {
      throw toNetworkFault(error, request);
    }
  };
  const transport = withRetries(counted, { ...options, onRetry: withoutKey(options) });
  const exchange = createExchange({ transport, apiKey, versionHeader });
  const limit = createLimit(options.concurrency);
  return {
    ...createReads({ exchange, limit, baseUrl, pageSize }),
    send: async (method, path, body) => send(exchange, { method, url: toUrl(baseUrl, path), body }),
    limit,
    requestCount: () => count,
  };
}

interface ReadOptions {
  readonly exchange: Exchange;
  readonly limit: Limit;
  readonly baseUrl: string;
  readonly pageSize: number;
}

function createReads({ exchange, limit, baseUrl, pageSize }: ReadOptions): Pick<Client, 'list' | 'readModule' | 'get'> {
  const read = (via: Exchange, url: URL, stop: AbortController | undefined) =>
    limit(() => stopOnFailure(stop, () => via({ method: 'GET', url, signal: stop?.signal })));
  return {
    list: async (kind, stop) =>
      readPages({
        kind,
        listKey: assertDefined(kind.listKey, `list key of ${kind.name}`),
        firstUrl: toUrl(baseUrl, `${kind.path}?limit=${pageSize}`),
        readPage: (url) => read(exchange, url, stop),
      }),
    readModule: async (path, stop) => {
      const url = toUrl(baseUrl, path);
      const json = await read(withoutMissing(exchange), url, stop);
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

async function send(exchange: Exchange, call: Parameters<Exchange>[0]): Promise<JsonObject | null> {
  const json = await exchange(call);
  return json === undefined ? null : toAnsweredObject(call, json);
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
