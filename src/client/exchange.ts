import { NetworkError } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { API_VERSION, type PlainRequest } from '../model/transport.ts';
import { toApiError } from './api-error.ts';
import type { Persistence } from './retry.ts';
import { type Strike, strikeError } from './strike-key.ts';
import { toPath } from './target.ts';

/** One call to the service. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly body?: JsonObject | undefined;
  /** Aborted: the answer is not wanted any more, even if the request is under way. */
  readonly signal?: AbortSignal | undefined;
  /** Aborted: the call waits for nothing, and a write is not sent any more; one that is under way ends. */
  readonly patience?: AbortSignal | undefined;
}

/** Makes a call: the JSON of a response of success, `undefined` for an empty body and for a DELETE; else throws. */
export type Exchange = (call: Call) => Promise<Json | undefined>;

interface ExchangeOptions {
  readonly persist: Persistence;
  readonly apiKey: string;
  readonly versionHeader: string;
  readonly strike: Strike;
}

/** The way from calls to values or errors. The key goes into each request and is struck out of each error. */
export function createExchange({ persist, apiKey, versionHeader, strike }: ExchangeOptions): Exchange {
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'edgewise',
    [versionHeader.toLowerCase()]: API_VERSION,
  };
  const withBody = { ...headers, 'content-type': 'application/json' };
  return async (call) => {
    try {
      const create = () => toRequest(call, call.body === undefined ? headers : withBody);
      const { response, body, json } = await persist(create, call.patience);
      if (response.ok) return json;
      throw toApiError({ method: call.method, path: toPath(call.url), response, body }, strike);
    } catch (error) {
      throw strikeError(error, strike);
    }
  };
}

/** The object that an answer to a call must be. Throws `NetworkError` when it is something else, or nothing. */
export function toAnsweredObject(call: Pick<Call, 'method' | 'url'>, json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
  throw new NetworkError(`${call.method} ${toPath(call.url)}: the response is not a JSON object`);
}

function toRequest({ method, url, body, signal }: Call, headers: PlainRequest['headers']): PlainRequest {
  return {
    method,
    url: url.href,
    headers,
    body: body === undefined ? null : JSON.stringify(body),
    signal,
  };
}
