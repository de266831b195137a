import { isJsonObject, type JsonObject, parseJson } from '../src/model/json.ts';
import type { Transport } from '../src/model/transport.ts';

/** The key and the place of a service. Default: `dev`, and `https://api.test`. */
interface ServiceAccess {
  readonly key?: string;
  readonly baseUrl?: string;
}

/** What answers a request: a bundled server, or a workspace with one. */
export interface ServiceByHand extends ServiceAccess {
  readonly server: { readonly handle: Transport };
}

/** The headers of a request with an API key. */
export function createHeaders(key = 'dev'): Record<string, string> {
  return { authorization: `Bearer ${key}`, 'service-version': '2', 'content-type': 'application/json' };
}

/** Creates a request of a user without manifests. */
export function createRequest(
  method: string,
  path: string,
  body?: object,
  { key, baseUrl = 'https://api.test' }: ServiceAccess = {},
): Request {
  const content = body === undefined ? {} : { body: JSON.stringify(body) };
  return new Request(`${baseUrl}${path}`, { method, headers: createHeaders(key), ...content });
}

/** Sends a request as a user without manifests. Returns the body, or `{}` if it is no object. Rejects if the request is rejected. */
export async function sendByHand(
  service: ServiceByHand,
  method: string,
  path: string,
  body?: object,
): Promise<JsonObject> {
  const response = await service.server.handle(createRequest(method, path, body, service));
  const text = await response.text();
  if (!response.ok) throw new Error(`${method} ${path} got ${response.status}: ${text}`);
  const found = parseJson(text);
  return isJsonObject(found) ? found : {};
}

/** The service at a URL. */
export function atUrl(baseUrl: string, key?: string): ServiceByHand {
  return { server: { handle: (request) => fetch(request) }, baseUrl, ...(key !== undefined && { key }) };
}
