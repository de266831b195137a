import { NetworkError } from '../model/errors.ts';
import { isJsonObject, type Json, type JsonObject, parseJson } from '../model/json.ts';
import { API_VERSION, type Transport } from '../model/transport.ts';
import { toApiError } from './api-error.ts';
import { toExcerpt } from './printable.ts';
import { createStrike, type Strike, strikeError } from './strike-key.ts';
import { toPath } from './target.ts';
import { readText } from './whole-body.ts';

/** One call to the service. */
export interface Call {
  readonly method: 'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE';
  readonly url: URL;
  readonly body?: JsonObject | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Makes a call: the JSON of a response of success, `undefined` for an empty body and for a DELETE; else throws. */
export type Exchange = (call: Call) => Promise<Json | undefined>;

interface ExchangeOptions {
  readonly transport: Transport;
  readonly apiKey: string;
  readonly versionHeader: string;
}

/** The way from calls to values or errors. The key goes into each request and is struck out of each error. */
export function createExchange({ transport, apiKey, versionHeader }: ExchangeOptions): Exchange {
  const strike = createStrike(apiKey);
  const headers = {
    accept: 'application/json',
    authorization: `Bearer ${apiKey}`,
    'user-agent': 'edgewise',
    [versionHeader]: API_VERSION,
  };
  const withBody = { ...headers, 'content-type': 'application/json' };
  return async (call) => {
    try {
      const request = toRequest(call, call.body === undefined ? headers : withBody);
      const response = await transport(request);
      const body = await readText(response, request);
      const path = toPath(call.url);
      if (!response.ok) throw toApiError({ method: call.method, path, response, body }, strike);
      const isNothing = call.method === 'DELETE' || body.trim() === '';
      return isNothing ? undefined : toJson(call, body, strike);
    } catch (error) {
      throw strikeError(error, strike);
    }
  };
}

/** The object that an answer to a call must be. Throws `NetworkError` when it is something else, or nothing. */
export function toAnsweredObject(call: Pick<Call, 'method' | 'url'>, json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
  throw new NetworkError(`${call.method} ${toPath(call.url)}: the answer is not a JSON object`);
}

/** Redirects are not followed, since the key would go with them. */
function toRequest({ method, url, body, signal }: Call, headers: Record<string, string>): Request {
  return new Request(url, {
    method,
    headers,
    redirect: 'manual',
    ...(body !== undefined && { body: JSON.stringify(body) }),
    ...(signal !== undefined && { signal }),
  });
}

/** The body of an answer to a write is never shown: it may hold a token. */
function toJson({ method, url }: Call, body: string, strike: Strike): Json {
  const json = parseJson(body);
  if (json !== undefined) return json;
  const shown = method === 'GET' ? `: ${toExcerpt(body, strike)}` : '';
  throw new NetworkError(`${method} ${toPath(url)}: the answer is not JSON${shown}`);
}
