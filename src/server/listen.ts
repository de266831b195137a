import {
  createServer,
  type Server as HttpServer,
  type IncomingMessage,
  type ServerResponse,
  STATUS_CODES,
} from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Duplex } from 'node:stream';
import { promisify } from 'node:util';
import { InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';
import { type HttpRequest, type HttpResponse, isLoopbackHost } from '../model/http.ts';
import { RequestError } from './failure.ts';
import { findCutResponse } from './fault-effects.ts';
import { MAX_REQUEST_BYTES } from './routes.ts';
import { createIncompleteBodyError, type Server } from './server.ts';

/** A server that can be reached over a socket. */
export interface Listener {
  readonly url: string;
  /**
   * Stops accepting requests. Resolves when all running requests have got a response, at the latest after five seconds.
   */
  readonly close: () => Promise<void>;
}

/** A server, or several accounts. */
type ListeningServer = Pick<Server, 'send' | 'reject' | 'hasAdmin'>;

/** Options of `listen`. */
export interface ListenOptions {
  /** 0 means any free port. */
  readonly port: number;
  /** The address to listen on. Default: 127.0.0.1. */
  readonly host?: string;
  /**
   * Names of hosts, without a port, to which the server answers in addition to loopback names. On another address than a
   * loopback one, an empty list means every name. Default: none.
   */
  readonly allowedHosts?: readonly string[];
}

/**
 * Makes a server reachable over a socket. On a loopback address, it answers only requests for a loopback name or an
 * allowed host: a web page whose own name resolves to this machine could otherwise send any request, and read the
 * response. Rejects if the port is not available, and with `RangeError` for a server with paths for admins on another
 * address than a loopback one.
 */
export async function listen(server: ListeningServer, options: ListenOptions): Promise<Listener> {
  const { port, host = '127.0.0.1', allowedHosts = [] } = options;
  if (server.hasAdmin && !isLoopbackHost(host))
    throw new RangeError('A server with paths for admins listens on a loopback address only');
  const allowed = allowedHosts.map(normalizeHostHeader);
  const isOpen = (): boolean => allowed.length === 0 && !isLoopbackHost(getAddress(http).address);
  const http = createHttpServer(
    server,
    (name) => isLoopbackHost(name) || allowed.includes(normalizeHostHeader(name)) || isOpen(),
  );
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    // A URL has an address of IPv6 in brackets, and a socket does not.
    http.listen(port, host.replace(/^\[(.*)\]$/, '$1'), () => resolve());
  });
  return { url: formatUrl(getAddress(http)), close: () => close(http) };
}

function getAddress(http: HttpServer): AddressInfo {
  const address = http.address();
  if (address !== null && typeof address !== 'string') return address;
  throw new InvariantError('The server is listening but has no address');
}

function formatUrl({ family, address, port }: AddressInfo): string {
  return `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
}

/** Returns one form for all spellings of a host: in lower case, IPv6 in brackets, without a dot at the end. */
function normalizeHostHeader(host: string): string {
  const name = host.includes(':') && !host.startsWith('[') ? `[${host}]` : host;
  return (URL.parse(`http://${name}`)?.hostname ?? name.toLowerCase()).replace(/\.$/, '');
}

/**
 * An idle connection delays the end by at most POLL_MS, too short to be noticed. GRACE_MS lets responses end that are
 * under way: most take milliseconds.
 */
const POLL_MS = 10;
const GRACE_MS = 5_000;

/**
 * Closes each connection as soon as it is idle, because an idle connection keeps the server open. After `GRACE_MS`,
 * closes all connections.
 */
async function close(http: HttpServer): Promise<void> {
  const idle = setInterval(() => http.closeIdleConnections(), POLL_MS);
  const late = setTimeout(() => http.closeAllConnections(), GRACE_MS);
  try {
    await promisify(http.close.bind(http))();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}

/** Whether the server answers requests for this host. */
type IsAllowedHost = (host: string) => boolean;

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/**
 * Creates the HTTP server that passes requests to the bundled server. If bytes are not a valid request, the client gets
 * an error response, and the connection is closed.
 */
function createHttpServer(server: ListeningServer, isAllowedHost: IsAllowedHost): HttpServer {
  const latest = new WeakMap<Duplex, Exchange>();
  const http = createServer({ requireHostHeader: false }, (incoming, outgoing) => {
    latest.set(incoming.socket, { incoming, outgoing });
    answerIncoming(server, { incoming, outgoing }, isAllowedHost).catch(() => outgoing.destroy());
  });
  http.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    latest.set(incoming.socket, { incoming, outgoing });
    const failure = new RequestError('The only supported expectation is 100-continue', { code: 'expectation_failed' });
    sendResponse(rejectIncoming(server, failure, incoming), outgoing);
  });
  http.on('connect', (incoming, socket) => {
    endWith(
      socket,
      rejectIncoming(server, new RequestError('This server is not a proxy', { code: 'bad_request' }), incoming),
    );
  });
  const refused = new WeakSet<Duplex>();
  http.on('clientError', (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    refuseBytes(server, error, { socket, exchange: latest.get(socket) });
  });
  return http;
}

async function answerIncoming(
  server: ListeningServer,
  { incoming, outgoing }: Exchange,
  isAllowedHost: IsAllowedHost,
): Promise<void> {
  const gone = new AbortController();
  outgoing.once('close', () => gone.abort());
  try {
    const request = await readRequest(incoming, isAllowedHost);
    sendResponse(await server.send({ ...request, signal: gone.signal }), outgoing);
  } catch (error) {
    if (!(error instanceof NetworkError)) {
      sendResponse(rejectIncoming(server, toRequestFailure(error), incoming), outgoing);
      return;
    }
    const cut = findCutResponse(error);
    if (cut === undefined) breakOff(incoming, error);
    else sendHalf(cut, outgoing);
  }
}

/** Reads a request from a socket. Ignores the body unless the method is POST, PUT or PATCH. */
async function readRequest(incoming: IncomingMessage, isAllowedHost: IsAllowedHost): Promise<HttpRequest> {
  const { method = '', headersDistinct } = incoming;
  const url = parseRequestUrl(incoming, isAllowedHost);
  const headers = Object.entries(headersDistinct).map(([name, values = []]) => [name, values.join(', ')] as const);
  const body = ['POST', 'PUT', 'PATCH'].includes(method) ? await readIncomingBody(incoming) : null;
  return { method, url, headers: Object.fromEntries(headers), body };
}

/**
 * Parses the URL of a request, which may be a path or an absolute URL. Throws `RequestError` for an invalid URL, unless
 * there is exactly one valid Host header, and if the server does not answer for the host of the header or of the URL.
 * Headers of proxies such as X-Forwarded-Host decide nothing.
 */
function parseRequestUrl({ url = '', headersDistinct }: IncomingMessage, isAllowedHost: IsAllowedHost): string {
  const [host = '', ...others] = headersDistinct['host'] ?? [];
  const [path = ''] = url.split('?');
  const isValid = others.length === 0 && /^[^\s/?#@\\]+$/.test(host) && !path.includes('\\');
  const named = isValid ? URL.parse(`http://${host}`) : null;
  const parsed = URL.parse(url.startsWith('/') ? `http://${host}${url}` : url);
  if (named === null || (parsed?.protocol !== 'http:' && parsed?.protocol !== 'https:'))
    throw new RequestError('The request has no valid URL and host', { code: 'bad_request' });
  const notAllowed = [named, parsed].find(({ hostname }) => !isAllowedHost(hostname));
  if (notAllowed === undefined) return parsed.href;
  throw new RequestError(
    `This server does not answer for ${notAllowed.hostname}. To add a name, start it with --allow-host`,
    { code: 'misdirected' },
  );
}

/**
 * Reads the body of a request. Stops as soon as the body is longer than MAX_REQUEST_BYTES, because a later check
 * rejects such a body. Rejects if the body is incomplete.
 */
function readIncomingBody(incoming: IncomingMessage): Promise<Buffer<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const fail = (cause: Error): void => reject(createIncompleteBodyError(cause));
    incoming.on('data', (chunk: Buffer) => {
      if (length > MAX_REQUEST_BYTES) return;
      chunks.push(chunk);
      length += chunk.length;
      if (length <= MAX_REQUEST_BYTES) return;
      cutOff(incoming.socket);
      resolve(Buffer.concat(chunks));
    });
    incoming.once('end', () => resolve(Buffer.concat(chunks)));
    incoming.once('error', fail);
  });
}

/** Closes a connection whose client goes on sending, once the client had time to read the response. */
function cutOff(socket: Duplex): void {
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
}

function sendResponse({ status, headers, body }: HttpResponse, outgoing: ServerResponse): void {
  const length = status === 204 || outgoing.req.method === 'HEAD' ? {} : { 'content-length': Buffer.byteLength(body) };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.end(body);
}

/** Sends the headers and the first half of the body, then closes the connection. */
function sendHalf({ status, headers, body }: HttpResponse, outgoing: ServerResponse): void {
  const bytes = Buffer.from(body);
  outgoing.writeHead(status, { ...headers, 'content-length': bytes.length });
  outgoing.flushHeaders();
  outgoing.write(bytes.subarray(0, bytes.length >> 1), () => outgoing.destroy());
}

/** Ends a request without a response. If the error is a `TimeoutError`, closes the connection, otherwise resets it. */
function breakOff({ socket }: IncomingMessage, error: NetworkError): void {
  if (error instanceof TimeoutError) socket.destroy();
  else socket.resetAndDestroy();
}

function toRequestFailure(error: unknown): RequestError {
  if (error instanceof RequestError) return error;
  return new RequestError('This is a bug in the server', { code: 'internal_error', cause: error });
}

/**
 * Rejects bytes that are not a valid request. If the connection has an earlier request, the response to that request is
 * sent first. If the bytes belong to the body of a request whose response has already begun, only closes the
 * connection.
 */
function refuseBytes(
  server: ListeningServer,
  error: Error,
  { socket, exchange }: { readonly socket: Duplex; readonly exchange: Exchange | undefined },
): void {
  const failure = convertConnectionErrorToRequestError(error);
  if (failure === undefined || !socket.writable) {
    if (!socket.writableEnded) socket.destroy();
    return;
  }
  const { incoming, outgoing } = exchange ?? {};
  const isItsBody = incoming?.complete === false;
  if (isItsBody && outgoing?.headersSent) {
    socket.destroy();
    return;
  }
  const end = (): void => endWith(socket, rejectIncoming(server, failure, isItsBody ? incoming : undefined));
  if (outgoing === undefined || isItsBody || outgoing.writableFinished) end();
  else outgoing.once('finish', end);
}

function rejectIncoming(
  server: ListeningServer,
  failure: RequestError,
  incoming: IncomingMessage | undefined,
): HttpResponse {
  return server.reject(failure, { method: incoming?.method ?? '', path: incoming?.url ?? '' });
}

/**
 * How long a rejected client may continue to send. If the server closed the connection at once, the client could lose
 * the response. A client reads it within milliseconds; half a second allows for a busy machine, and a client that never
 * stops sending keeps the connection no longer.
 */
const LINGER_MS = 500;

/** Sends the last response on a connection, then closes the connection. */
function endWith(socket: Duplex, response: HttpResponse): void {
  if (!socket.writable) return;
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
  socket.once('error', () => socket.destroy());
  socket.end(renderResponse(response));
}

function renderResponse({ status, headers, body }: HttpResponse): string {
  const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, length, '', body].join('\r\n');
}

/**
 * Returns the failure to report for a connection error. `undefined`: the client has closed the connection, so no
 * response is possible.
 */
export function convertConnectionErrorToRequestError(error: Error): RequestError | undefined {
  const code = 'code' in error ? error.code : undefined;
  switch (code) {
    case 'ECONNRESET':
    case 'EPIPE':
      return undefined;
    case 'HPE_HEADER_OVERFLOW':
      return new RequestError('The headers of the request are too large', { code: 'headers_too_large' });
    case 'HPE_CHUNK_EXTENSIONS_OVERFLOW':
      return new RequestError('The chunk extensions of a body are too large', { code: 'body_too_large' });
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return new RequestError('The request took too long to arrive', { code: 'request_timeout' });
    default: {
      const reason = 'reason' in error && typeof error.reason === 'string' ? `: ${error.reason}` : '';
      return new RequestError(`This is not HTTP/1.1${reason}`, { code: 'bad_request' });
    }
  }
}
