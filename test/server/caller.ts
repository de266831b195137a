import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';

/** A service under test: the bundled server, or another one with the same API. */
export interface Target {
  readonly transport: Transport;
  readonly baseUrl: string;
  readonly key: string;
  readonly versionHeader: string;
}

/** A response. `body` is empty if there is none. */
export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly body: JsonObject;
}

export interface CallOptions {
  /** JSON, or a text that is sent unchanged. */
  readonly body?: Json;
  /** Headers in addition to, or in place of, those of every request. `undefined` removes one. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
}

/** Sends one request: `call('POST', '/edges/tcp', { body: {} })`. Accepts an absolute URL too. */
export type Call = (method: string, path: string, options?: CallOptions) => Promise<Answer>;

/** Creates a caller with the key and the version of a target. */
export function createCaller({ transport, baseUrl, key, versionHeader }: Target): Call {
  return async (method, path, { body, headers = {} } = {}) => {
    const standard = { authorization: `Bearer ${key}`, [versionHeader]: '2', 'content-type': 'application/json' };
    const given = Object.entries({ ...standard, ...headers }).flatMap(([name, value]): [string, string][] =>
      value === undefined ? [] : [[name, value]],
    );
    const url = path.startsWith('/') ? `${baseUrl}${path}` : path;
    const text = typeof body === 'string' ? body : JSON.stringify(body);
    const response = await transport(
      new Request(url, { method, headers: given, ...(body !== undefined && { body: text }) }),
    );
    const answer: unknown = response.status === 204 ? {} : await response.json();
    if (!isJsonObject(answer)) throw new Error(`${method} ${path} did not return an object`);
    return { status: response.status, headers: response.headers, body: answer };
  };
}

/** Returns a text in a body. Throws if it is not one. */
export function getText(value: Json | undefined): string {
  if (typeof value !== 'string') throw new Error(`Not a text: ${JSON.stringify(value)}`);
  return value;
}

/** Returns an object in a body. Throws if it is not one. */
export function getObject(value: Json | undefined): JsonObject {
  if (!isJsonObject(value)) throw new Error(`Not an object: ${JSON.stringify(value)}`);
  return value;
}

/** Returns a list of objects in a body. Throws if it is not one. */
export function getList(value: Json | undefined): readonly JsonObject[] {
  if (!Array.isArray(value)) throw new Error(`Not a list: ${JSON.stringify(value)}`);
  return value.map(getObject);
}
