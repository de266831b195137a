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
import { getRequestListener, RequestError } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import { InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';
import { findAnswering } from './ask.ts';
import { toConnectionFailure } from './connection-failure.ts';
import { findCut } from './cut-response.ts';
import { answerDirectly } from './direct.ts';
import { Failure } from './failure.ts';
import type { Server } from './server.ts';

/** A server that can be reached over a socket. */
export interface Listener {
  readonly url: string;
  /** Takes no new requests, and resolves when those under way are answered, or have had five seconds. */
  readonly close: () => Promise<void>;
}

/** Opens a socket for a server. Port 0 picks a free one. Rejects when the port cannot be had. */
export async function listen(
  server: Server,
  options: { readonly port: number; readonly host?: string },
): Promise<Listener> {
  const { port, host = '127.0.0.1' } = options;
  const http = createHttpServer(server);
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, () => resolve());
  });
  return { url: toUrl(http.address()), close: () => close(http) };
}

function toUrl(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new InvariantError('A server that listens has an address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

const POLL_MS = 10;
const GRACE_MS = 5_000;

/** A connection that is kept open would hold up the end, so each is closed once it is idle, and all of them after a while. */
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

interface Exchange {
  readonly incoming: IncomingMessage;
  readonly outgoing: ServerResponse;
}

/** The HTTP server in front of a bundled one. What is no request that it can read gets an error body as well, and the connection is closed. */
function createHttpServer(server: Server): HttpServer {
  const latest = new WeakMap<Duplex, Exchange>();
  const answer = (exchange: Exchange, handle: Server['handle']): void => {
    const { incoming, outgoing } = exchange;
    latest.set(incoming.socket, exchange);
    const answering = findAnswering(handle);
    if (answering !== undefined && answerDirectly(answering, incoming, outgoing)) return;
    const errorHandler = (error: unknown): Response | undefined =>
      error instanceof NetworkError ? breakOff(exchange, error) : refuse(server, toRequestFailure(error), incoming);
    const listener = getRequestListener(async (request) => sendCut(await handle(request), exchange), {
      overrideGlobalObjects: false,
      errorHandler,
    });
    listener(incoming, outgoing).catch(() => outgoing.destroy());
  };
  const http = createServer({ requireHostHeader: false }, (incoming, outgoing) =>
    answer({ incoming, outgoing }, server.handle),
  );
  http.on('checkExpectation', (incoming: IncomingMessage, outgoing: ServerResponse) => {
    const failure = new Failure('The only supported expectation is 100-continue', { code: 'expectation_failed' });
    answer({ incoming, outgoing }, async () => refuse(server, failure, incoming));
  });
  http.on('connect', (incoming, socket) => {
    endWith(socket, refuse(server, new Failure('This server is not a proxy', { code: 'bad_request' }), incoming));
  });
  const refused = new WeakSet<Duplex>();
  http.on('clientError', (error, socket) => {
    if (refused.has(socket)) return;
    refused.add(socket);
    refuseBytes(server, error, { socket, exchange: latest.get(socket) });
  });
  return http;
}

/** A request to which no answer comes: its connection is reset, or closed after all that time. */
function breakOff({ incoming: { socket } }: Exchange, error: NetworkError): undefined {
  if (error instanceof TimeoutError) socket.destroy();
  else socket.resetAndDestroy();
}

/** Sends the part that there is of a response that breaks off, and closes the connection. A whole response is left to others. */
function sendCut(response: Response, { outgoing }: Exchange): Response {
  const cut = findCut(response);
  if (cut === undefined) return response;
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  outgoing.flushHeaders();
  outgoing.write(cut.part, () => outgoing.destroy());
  return RESPONSE_ALREADY_SENT;
}

function toRequestFailure(error: unknown): Failure {
  if (error instanceof RequestError)
    return new Failure(`The request has no valid URL and host: ${error.message}`, { code: 'bad_request' });
  return new Failure('This is a bug in the server', { code: 'internal_error', cause: error });
}

/** Refuses input that is no valid request. An answer that is being prepared is sent first; after one that has begun, nothing can follow. */
function refuseBytes(
  server: Server,
  error: Error,
  { socket, exchange }: { readonly socket: Duplex; readonly exchange: Exchange | undefined },
): void {
  const failure = toConnectionFailure(error);
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
  const end = (): void => endWith(socket, refuse(server, failure, isItsBody ? incoming : undefined));
  if (outgoing === undefined || isItsBody || outgoing.writableFinished) end();
  else outgoing.once('finish', end);
}

function refuse(server: Server, failure: Failure, incoming: IncomingMessage | undefined): Response {
  return server.refuse(failure, { method: incoming?.method ?? '', path: incoming?.url ?? '' });
}

/** How long a refused client may go on sending. Cutting the connection at once could lose the answer. */
const LINGER_MS = 500;

/** Sends a response as the last on a connection, and closes it. */
function endWith(socket: Duplex, response: Response): void {
  if (!socket.writable) return;
  const late = setTimeout(() => socket.destroy(), LINGER_MS).unref();
  socket.once('close', () => clearTimeout(late));
  socket.once('error', () => socket.destroy());
  response.text().then(
    (body) => socket.end(renderResponse(response, body)),
    () => socket.destroy(),
  );
}

function renderResponse({ status, headers }: Response, body: string): string {
  const lines = [...headers].map(([name, value]) => `${name}: ${value}`);
  const length = `content-length: ${Buffer.byteLength(body)}`;
  return [`HTTP/1.1 ${status} ${STATUS_CODES[status]}`, ...lines, length, '', body].join('\r\n');
}
