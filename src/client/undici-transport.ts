import { setImmediate } from 'node:timers/promises';
import { promisify } from 'node:util';
import { brotliDecompress, constants, gunzip, inflate, type ZlibOptions } from 'node:zlib';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { getElapsedMs } from '../model/elapsed.ts';
import { NetworkError } from '../model/errors.ts';
import { type HttpRequest, type HttpResponse, MAX_BODY_BYTES, type Send, tooLarge } from '../model/http.ts';
import type { Transport } from '../model/transport.ts';
import { classifyNetworkError } from './api-error.ts';

/** Time limits, the way to the service, and how many connections there may be. */
export interface UndiciTransportOptions {
  /** Connections to one origin at once; without it as many as there are requests under way. */
  readonly connections?: number;
  readonly connectTimeoutMs?: number;
  /** Until the head of the response is there. */
  readonly headersTimeoutMs?: number;
  /** Between two parts of the body. */
  readonly bodyTimeoutMs?: number;
  /** For a request as a whole, from when it is sent until its response is read. */
  readonly requestTimeoutMs?: number;
  /** Certificates of authorities to trust, in PEM, instead of those that the platform trusts. */
  readonly authorities?: readonly string[];
  readonly proxy?: ProxyOptions;
}

/** Proxies by the scheme of the requests, as URLs; a proxy's password is sent to it and shown nowhere. */
export interface ProxyOptions {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /** Hosts that are reached directly: names, `.suffix`, `*`, each with an optional port, between commas. */
  readonly except?: string | undefined;
}

/** A transport over connections that are kept open; `close` ends them, and aborts requests under way. */
export interface ClosableTransport {
  readonly send: Send;
  readonly close: () => Promise<void>;
}

/**
 * Sends over real sockets: by undici's dispatcher, since its `fetch` takes several times as long. Connections are kept and reused. HTTP/1.1 only, where a
 * request that failed is known to be the one that its connection carried. Redirects are not followed.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): ClosableTransport {
  const dispatcher = createDispatcher(options);
  const { requestTimeoutMs = 120_000 } = options;
  let usedMs = getElapsedMs();
  const send: Send = async (request) => {
    try {
      const now = getElapsedMs();
      if (now - usedMs > IDLE_MS) await noticeClosed();
      usedMs = now;
      request.signal?.throwIfAborted();
      const response = await dispatch(dispatcher, request, requestTimeoutMs);
      return await decode(response, request);
    } catch (error) {
      throw classifyNetworkError(error, request);
    }
  };
  return { send, close: () => dispatcher.destroy() };
}

/** Servers close connections that are idle for a few seconds. */
const IDLE_MS = 1000;

/**
 * Lets Node see which connections were closed while the process was busy with something else: a request on one of those would be lost, and nobody
 * could tell whether it took effect. The second turn of the event loop has the sockets read before it.
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
  // Empty texts keep undici from looking in the environment.
  const { http: httpProxy = '', https: httpsProxy = '', except: noProxy = '' } = proxy;
  return new EnvHttpProxyAgent({ ...agent, httpProxy, httpsProxy, noProxy, requestTls: tls, proxyTls: tls });
}

/** A response as it came. */
type Received = HttpResponse & { readonly body: Buffer<ArrayBuffer> };

function dispatch(dispatcher: Dispatcher, request: HttpRequest, requestTimeoutMs: number): Promise<Received> {
  return new Promise((resolve, reject) => {
    const gathering = gather(request, {
      resolve: (response) => {
        clearTimeout(timer);
        resolve(response);
      },
      reject: (error) => {
        clearTimeout(timer);
        reject(error);
      },
    });
    const giveUp = () => gathering.abort(new DOMException('the request took too long', 'TimeoutError'));
    const timer = setTimeout(giveUp, requestTimeoutMs);
    dispatcher.dispatch(toDispatchOptions(request), gathering.handler);
  });
}

function toDispatchOptions({ method, url, headers, body }: HttpRequest): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search, method, headers: { ...headers, 'accept-encoding': 'gzip' }, body };
}

/** What gathers one response. */
interface Gathering {
  readonly handler: Dispatcher.DispatchHandler;
  /** Aborts the request, even before there was a connection. */
  readonly abort: (reason: unknown) => void;
}

interface Settle {
  readonly resolve: (response: Received) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers one response. Aborting the request's signal breaks it off. */
function gather(request: HttpRequest, { resolve, reject }: Settle): Gathering {
  const { signal } = request;
  let head: Pick<HttpResponse, 'status' | 'headers'> = { status: 0, headers: {} };
  let breakOff = reject;
  let length = 0;
  const chunks: Buffer[] = [];
  const abort = (reason: unknown): void => breakOff(reason);
  const onAbort = (): void => abort(signal?.reason);
  signal?.addEventListener('abort', onAbort);
  const handler: Dispatcher.DispatchHandler = {
    onRequestStart(controller) {
      breakOff = (reason) => controller.abort(reason instanceof Error ? reason : new Error(String(reason)));
      if (signal?.aborted) onAbort();
    },
    onResponseStart(_controller, status, headers) {
      head = { status, headers: toHeaders(headers) };
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_BODY_BYTES) abort(tooLarge(request, chunks));
    },
    onResponseEnd() {
      signal?.removeEventListener('abort', onAbort);
      resolve({ ...head, body: Buffer.concat(chunks) });
    },
    onResponseError(_controller, error) {
      signal?.removeEventListener('abort', onAbort);
      reject(error);
    },
  };
  return { handler, abort };
}

/** Several values of one header are one value with commas between them. */
function toHeaders(sent: Readonly<Record<string, string | readonly string[] | undefined>>): HttpResponse['headers'] {
  return Object.fromEntries(Object.entries(sent).map(([name, value = '']) => [name, [value].flat().join(', ')]));
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** The response with its body decompressed. */
async function decode(response: Received, request: HttpRequest): Promise<HttpResponse> {
  const { status, headers, body } = response;
  const { 'content-encoding': encoding, 'content-length': _length, ...others } = headers;
  if (STATUSES_WITHOUT_BODY.has(status)) return { status, headers, body: '' };
  if (encoding === undefined || body.length === 0) return response;
  return { status, headers: others, body: await decodeBody(body, encoding, request) };
}

/** Node's decompression is loaded by the first body that needs it. */
const DECODERS: Readonly<Record<string, Decode>> = {
  gzip: (body, options) => promisify(gunzip)(body, options),
  'x-gzip': (body, options) => promisify(gunzip)(body, options),
  deflate: (body, options) => promisify(inflate)(body, options),
  br: (body, options) => promisify(brotliDecompress)(body, options),
};

type Decode = (body: Buffer<ArrayBuffer>, options: ZlibOptions) => Promise<Buffer<ArrayBuffer>>;

/** Decompresses a body. Rejects with `NetworkError` when that fails or the result is above the size limit. */
async function decodeBody(
  body: Buffer<ArrayBuffer>,
  encoding: string,
  request: Pick<HttpRequest, 'method' | 'url'>,
): Promise<Buffer<ArrayBuffer>> {
  const decode = DECODERS[encoding.trim().toLowerCase()];
  const refuse = (what: string, cause?: unknown) =>
    new NetworkError(`${request.method} ${request.url}: the response ${what}`, { cause });
  if (encoding.trim().toLowerCase() === 'identity') return body;
  if (decode === undefined) throw refuse('has an encoding that was not requested');
  try {
    return await decode(body, { maxOutputLength: MAX_BODY_BYTES });
  } catch (error) {
    const isTooLarge = error instanceof Error && 'code' in error && error.code === 'ERR_BUFFER_TOO_LARGE';
    if (isTooLarge) throw tooLarge(request, [await decodeHead(body, decode)]);
    throw refuse('cannot be decompressed', error);
  }
}

/** This many compressed bytes decompress to at most about a megabyte. */
const COMPRESSED_HEAD_BYTES = 1024;

/** The beginning of a body that is refused for its size; empty where it cannot be decompressed. */
async function decodeHead(body: Buffer<ArrayBuffer>, decode: Decode): Promise<Buffer<ArrayBuffer>> {
  const options = { maxOutputLength: MAX_BODY_BYTES, finishFlush: constants.Z_SYNC_FLUSH };
  try {
    return await decode(body.subarray(0, COMPRESSED_HEAD_BYTES), options);
  } catch {
    return Buffer.alloc(0);
  }
}

/** How to use the platform's `fetch`. */
export interface FetchTransportOptions {
  /** Until the response has been read to its end. */
  readonly timeoutMs?: number;
}

/**
 * A transport over the global `fetch` at the time of the call: for platforms other than Node, and where tests or tracing wrap `fetch`.
 * Several times slower than `createUndiciTransport`. Redirects are followed only when the request says so.
 */
export function createFetchTransport({ timeoutMs = 30_000 }: FetchTransportOptions = {}): Transport {
  return async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await fetch(request, { signal });
    } catch (error) {
      throw classifyNetworkError(error, request);
    }
  };
}
