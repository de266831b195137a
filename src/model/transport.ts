/**
 * The one function type that joins client and server. The client takes one, the bundled server is one;
 * retry and concurrency are decorators of it; undici, node:http and msw are adapters.
 * It rejects with `NetworkError` or `TimeoutError` when no response came.
 */
export type Transport = (request: Request) => Promise<Response>;

/**
 * A transport that also takes and gives plain values, at `plain`: to load the `Request` and `Response` of Node takes longer than the rest of a
 * short run.
 */
export type PlainTransport = Transport & { readonly plain: Send };

/** As a transport, over plain values. */
export type Send = (request: PlainRequest) => Promise<PlainResponse>;

/** A request as a plain value. Names of headers are in lower case. */
export interface PlainRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array<ArrayBuffer> | null;
  /** Aborted: the response is not wanted any more. */
  readonly signal?: AbortSignal | undefined;
}

/** What a client reads of a response. A `Response` is one. */
export interface PlainResponse {
  readonly ok: boolean;
  readonly status: number;
  readonly statusText: string;
  readonly headers: PlainHeaders;
  readonly body: AsyncIterable<Uint8Array<ArrayBuffer>> | Iterable<Uint8Array<ArrayBuffer>> | null;
}

/** Headers by name, in lower case; one that was sent several times has one value. */
export interface PlainHeaders extends Iterable<[name: string, value: string]> {
  readonly get: (name: string) => string | null;
}

/** Sends plain values over a transport, whether it takes them or not. Redirects are not followed, since a key would go with them. */
export function toSend(transport: Transport): Send {
  if (isPlain(transport)) return transport.plain;
  return ({ url, body, signal = null, ...rest }) =>
    transport(new Request(url, { ...rest, signal, redirect: 'manual', ...(body !== null && { body }) }));
}

/** The transport that does something before each request. What it does may throw. */
export function doBefore(transport: Transport, act: (request: Pick<Request, 'method'>) => void): Transport {
  const plain = toSend(transport);
  const acting: Transport = async (request) => {
    act(request);
    return transport(request);
  };
  if (!isPlain(transport)) return acting;
  const actingPlain: Send = async (request) => {
    act(request);
    return plain(request);
  };
  return Object.assign(acting, { plain: actingPlain });
}

function isPlain(transport: Transport): transport is PlainTransport {
  return 'plain' in transport;
}

/** The value of the version header, whatever that header is called. Source: section 9 of the interface. */
export const API_VERSION = '2';

/** What the version header is called unless a setting says otherwise. Source: section 9 of the interface. */
export const DEFAULT_VERSION_HEADER = 'Service-Version';
