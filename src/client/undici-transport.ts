import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { Agent, type Dispatcher, EnvHttpProxyAgent, request as requestWithUndici } from 'undici';
import { NetworkError } from '../model/errors.ts';
import { createTooLargeError, type HttpRequest, type HttpResponse, MAX_BODY_BYTES, type Send } from '../model/http.ts';
import type { Transport } from '../model/transport.ts';
import { toThrownNetworkError } from './api-error.ts';

/** Time limits, proxies, certificate authorities, and the number of connections. */
export interface UndiciTransportOptions {
  /** Maximum number of connections to one origin. Absent: as many as there are concurrent requests. */
  readonly connections?: number;
  readonly connectTimeoutMs?: number;
  /** Maximum time until the response headers arrive. Default: 30 seconds. */
  readonly headersTimeoutMs?: number;
  /** Maximum time between two chunks of the body. Default: 30 seconds. */
  readonly bodyTimeoutMs?: number;
  /** Maximum time until the whole response is there, unless the request has its own. Default: two minutes. */
  readonly requestTimeoutMs?: number;
  /** Trusted certificate authorities, in PEM. They replace the authorities of the platform. */
  readonly authorities?: readonly string[] | undefined;
  readonly proxy?: ProxyOptions;
}

/** URLs of proxies, by the scheme of the request. A password in a proxy URL is sent to the proxy and never shown. */
export interface ProxyOptions {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /** Hosts to reach without a proxy, separated by commas: names, `.suffix` or `*`, each with an optional port. */
  readonly except?: string | undefined;
}

/** A transport that keeps connections open. `close` closes them and aborts requests under way. */
export interface ClosableTransport {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/**
 * Creates a transport. Unlike `fetch`, it sends each request once whatever the status, and does not follow redirects.
 * Reuses connections. Uses HTTP/1.1 only: a connection then carries one request at a time, so a lost connection
 * affects one known request.
 * @example
 * const { send, close } = createUndiciTransport();
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): ClosableTransport {
  const dispatcher = createDispatcher(options);
  const { requestTimeoutMs = 120_000 } = options;
  let usedMs = performance.now();
  const send: Send = async (request) => {
    try {
      const now = performance.now();
      if (now - usedMs > IDLE_MS) await noticeClosed();
      usedMs = now;
      request.signal?.throwIfAborted();
      const response = await dispatch(dispatcher, request, request.timeoutMs ?? requestTimeoutMs);
      return await decodeContent(response, request);
    } catch (error) {
      throw toThrownNetworkError(error, request);
    }
  };
  return { send, close: () => dispatcher.destroy() };
}

/**
 * If no request was sent for this long, the transport looks for closed connections before it sends the next request.
 * Servers close connections that are idle for a few seconds: Node's after five. One second is well below that, and long
 * enough that a run that keeps sending never waits.
 */
const IDLE_MS = 1000;

/**
 * Lets Node notice connections that the server closed while the process was busy. A request on such a connection would
 * be lost, and it would be unknown whether the request took effect. Waits for two turns of the event loop, because Node
 * reads sockets between them.
 */
async function noticeClosed(): Promise<void> {
  await setImmediate();
  await setImmediate();
}

function createDispatcher(options: UndiciTransportOptions): Dispatcher {
  const { authorities, proxy, connectTimeoutMs = 10_000 } = options;
  const tls = authorities === undefined ? {} : { ca: [...authorities] };
  const agent = {
    allowH2: false,
    connections: options.connections ?? null,
    connectTimeout: connectTimeoutMs,
    headersTimeout: options.headersTimeoutMs ?? 30_000,
    bodyTimeout: options.bodyTimeoutMs ?? 30_000,
    connect: { timeout: connectTimeoutMs, ...tls },
  };
  if (proxy?.http === undefined && proxy?.https === undefined) return new Agent(agent);
  // If these were undefined, undici would read proxies from environment variables.
  const { http: httpProxy = '', https: httpsProxy = '', except: noProxy = '' } = proxy;
  return new EnvHttpProxyAgent({ ...agent, httpProxy, httpsProxy, noProxy, requestTls: tls, proxyTls: tls });
}

/** A response before decompression. */
type Received = HttpResponse & { readonly body: Buffer<ArrayBuffer> };

async function dispatch(dispatcher: Dispatcher, request: HttpRequest, requestTimeoutMs: number): Promise<Received> {
  const { method, url, headers, body, signal } = request;
  const timeout = AbortSignal.timeout(requestTimeoutMs);
  const response = await requestWithUndici(url, {
    dispatcher,
    method,
    headers: { ...headers, 'accept-encoding': 'gzip' },
    body: body ?? null,
    signal: signal === undefined ? timeout : AbortSignal.any([signal, timeout]),
  });
  return {
    status: response.statusCode,
    headers: joinHeaders(response.headers),
    body: await readResponseBody(response.body, request),
  };
}

/** Reads a body to its end. Rejects with `NetworkError`, and closes the connection, if the body is too large. */
async function readResponseBody(body: AsyncIterable<Buffer>, request: HttpRequest): Promise<Buffer<ArrayBuffer>> {
  const chunks: Buffer[] = [];
  let length = 0;
  for await (const chunk of body) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > MAX_BODY_BYTES) throw createTooLargeError(request, chunks);
  }
  return Buffer.concat(chunks);
}

function joinHeaders(sent: Readonly<Record<string, string | readonly string[] | undefined>>): HttpResponse['headers'] {
  return Object.fromEntries(Object.entries(sent).map(([name, value = '']) => [name, [value].flat().join(', ')]));
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Decompresses the body of a response, and removes the headers about its encoding and length. */
async function decodeContent(response: Received, request: HttpRequest): Promise<HttpResponse> {
  const { status, headers, body } = response;
  const { 'content-encoding': encoding, 'content-length': _length, ...others } = headers;
  if (STATUSES_WITHOUT_BODY.has(status)) return { status, headers, body: '' };
  if (encoding === undefined || body.length === 0) return response;
  return { status, headers: others, body: await decodeBody(body, encoding, request) };
}

const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: (body, options) => promisify(gunzip)(body, options),
  'x-gzip': (body, options) => promisify(gunzip)(body, options),
  deflate: (body, options) => promisify(inflate)(body, options),
  br: (body, options) => promisify(brotliDecompress)(body, options),
};

type Decode = (body: Buffer<ArrayBuffer>, options: ZlibOptions) => Promise<Buffer<ArrayBuffer>>;

/** Decompresses a body. Rejects with `NetworkError` if decompression fails, or if the result exceeds MAX_BODY_BYTES. */
async function decodeBody(
  body: Buffer<ArrayBuffer>,
  encoding: string,
  request: Pick<HttpRequest, 'method' | 'url'>,
): Promise<Buffer<ArrayBuffer>> {
  const decode = DECODERS[encoding.trim().toLowerCase()];
  const createRefusal = (what: string, cause?: unknown) =>
    new NetworkError(`${request.method} ${request.url}: the response ${what}`, { cause });
  if (encoding.trim().toLowerCase() === 'identity') return body;
  if (decode === undefined) throw createRefusal('has an encoding that was not requested');
  try {
    return await decode(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw createTooLargeError(request, [await decodeHead(body, decode)]);
    throw createRefusal('cannot be decompressed', error);
  }
}

/** This many compressed bytes decompress to about one megabyte at most. */
const COMPRESSED_HEAD_BYTES = 1024;

/** Decompresses the beginning of a body that is too large. Returns an empty buffer if decompression fails. */
async function decodeHead(body: Buffer<ArrayBuffer>, decode: Decode): Promise<Buffer<ArrayBuffer>> {
  const options = { maxOutputLength: MAX_BODY_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return await decode(body.subarray(0, COMPRESSED_HEAD_BYTES), options);
  } catch {
    return Buffer.alloc(0);
  }
}

/** The time limit of `createFetchTransport`. */
export interface FetchTransportOptions {
  /** Maximum time until the whole response is read. Default: 30 seconds. */
  readonly timeoutMs?: number;
}

/**
 * Creates a transport for platforms other than Node, and for tests and tracing that wrap `fetch`. Looks up the global
 * `fetch` on each call. Follows redirects only if the request says so.
 * @example
 * const stack = await openStack({ paths: ['manifests'], transport: createFetchTransport({ timeoutMs: 10_000 }) });
 */
export function createFetchTransport({ timeoutMs = 30_000 }: FetchTransportOptions = {}): Transport {
  return async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await fetch(request, { signal });
    } catch (error) {
      throw toThrownNetworkError(error, request);
    }
  };
}
