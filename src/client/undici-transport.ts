import { setImmediate } from 'node:timers/promises';
import { Agent, type Dispatcher, EnvHttpProxyAgent } from 'undici';
import { createHeaders } from '../model/create-headers.ts';
import { toElapsedMs } from '../model/elapsed.ts';
import { onceInARow } from '../model/once.ts';
import type { PlainRequest, PlainResponse, Send, Transport } from '../model/transport.ts';
import { decodeBody } from './decode-body.ts';
import { toNetworkFault } from './network-fault.ts';
import { MAX_BODY_BYTES, tooLarge } from './whole-body.ts';

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

/** Proxies by what goes through them, as URLs; the password of one is sent to it and shown nowhere. */
export interface ProxyOptions {
  readonly http?: string | undefined;
  readonly https?: string | undefined;
  /** Hosts that are reached directly: names, `.suffix`, `*`, each with an optional port, between commas. */
  readonly except?: string | undefined;
}

/** A transport that holds connections open; `close` ends them, and breaks off what is still under way. */
export type ClosableTransport = Transport & { readonly close: () => Promise<void> };

/**
 * The transport over real sockets: undici's dispatcher and a response made by hand, since its `fetch` takes several times as long.
 * Connections are kept and reused. HTTP/1.1 only, where a request that failed is known to be the one that its connection carried.
 * Redirects are not followed.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): ClosableTransport {
  const dispatcher = createDispatcher(options);
  const { requestTimeoutMs = 120_000 } = options;
  let usedMs = toElapsedMs();
  const exchange = async <T>(request: PlainRequest, make: (answer: Answer) => T): Promise<T> => {
    try {
      const now = toElapsedMs();
      if (now - usedMs > IDLE_MS) await noticeClosed();
      usedMs = now;
      request.signal?.throwIfAborted();
      const answer = await dispatch(dispatcher, request, requestTimeoutMs);
      const encoding = findEncoding(answer);
      return make(encoding === undefined ? answer : await decode(answer, encoding, request));
    } catch (error) {
      throw toNetworkFault(error, request);
    }
  };
  const plain: Send = (request) => exchange(request, toPlainResponse);
  const transport: Transport = async (request) => exchange(await toPlainRequest(request), toResponse);
  return Object.assign(transport, { plain, close: () => dispatcher.destroy() });
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

interface Answer {
  readonly status: number;
  /** Names are in lower case. */
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer<ArrayBuffer>;
}

async function toPlainRequest(request: Request): Promise<PlainRequest> {
  const { method, url, signal } = request;
  const headers = Object.fromEntries(request.headers);
  return {
    method,
    url,
    signal,
    headers,
    body: request.body === null ? null : new Uint8Array(await request.arrayBuffer()),
  };
}

function dispatch(dispatcher: Dispatcher, request: PlainRequest, requestTimeoutMs: number): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const gathering = gather(request, {
      resolve: (answer) => {
        clearTimeout(timer);
        resolve(answer);
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

function toDispatchOptions({ method, url, headers, body }: PlainRequest): Dispatcher.DispatchOptions {
  return { ...toTarget(url), method, headers: withEncoding(headers), body };
}

/** Of many requests in a row the target is the same, and so are the headers. */
const toTarget = onceInARow((url: string) => {
  const { origin, pathname, search } = new URL(url);
  return { origin, path: pathname + search };
});

const withEncoding = onceInARow((headers: PlainRequest['headers']) => ({ ...headers, 'accept-encoding': 'gzip' }));

/** What gathers one response. */
interface Gathering {
  readonly handler: Dispatcher.DispatchHandler;
  /** Breaks it off, also while there is no connection yet. */
  readonly abort: (reason: unknown) => void;
}

interface Settle {
  readonly resolve: (answer: Answer) => void;
  readonly reject: (error: unknown) => void;
}

/** Gathers one response. Aborting the request's signal breaks it off. */
function gather(request: PlainRequest, { resolve, reject }: Settle): Gathering {
  const { signal } = request;
  let head: Pick<Answer, 'status' | 'headers'> = { status: 0, headers: {} };
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
      head = { status, headers };
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

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** How the body of an answer is compressed; `undefined`: it is not. */
function findEncoding({ status, headers, body }: Answer): string | undefined {
  const encoding = headers['content-encoding'];
  if (encoding === undefined || body.length === 0 || STATUSES_WITHOUT_BODY.has(status)) return undefined;
  return typeof encoding === 'string' ? encoding : encoding[0];
}

/** The answer with its body decompressed. */
async function decode(answer: Answer, encoding: string, request: PlainRequest): Promise<Answer> {
  const { 'content-encoding': _encoding, 'content-length': _length, ...headers } = answer.headers;
  return { ...answer, body: await decodeBody(answer.body, encoding, request), headers };
}

function toResponse({ status, headers, body }: Answer): Response {
  const sent = Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((single): [string, string] => [name, single]),
  );
  return new Response(STATUSES_WITHOUT_BODY.has(status) ? null : body, { status, headers: sent });
}

function toPlainResponse({ status, headers, body }: Answer): PlainResponse {
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: '',
    headers: createHeaders(headers),
    body: STATUSES_WITHOUT_BODY.has(status) ? null : [body],
  };
}
