import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, type Answering, type Ask, toBodyText } from './ask.ts';

/**
 * The short way from a socket to the server and back, for requests as clients send them. It makes no `Request` and no `Response`, which cost
 * more than all else of a small request. Whatever is unusual about a request (its target, its host, a header twice, how its
 * body is sent) is left to those who know every rule of HTTP.
 */

/** Answers a request that came over a socket; false: it is none for this way, and nothing was done. */
export function answerDirectly(answering: Answering, incoming: IncomingMessage, outgoing: ServerResponse): boolean {
  const ask = toAsk(incoming);
  if (ask === undefined) return false;
  answering(ask).then(
    (answer) => send(answer, outgoing),
    () => outgoing.destroy(),
  );
  return true;
}

const METHODS: ReadonlySet<string | undefined> = new Set(['GET', 'POST', 'PATCH', 'PUT', 'DELETE']);

/** No escapes, no empty or dotted steps: the path is the same however it is read. */
const PLAIN_TARGET = /^(?:\/[\w-][\w.~-]*)+(?:\?[\w=&.~-]*)?$/;
const PLAIN_HOST = /^[a-z0-9][a-z0-9.-]*(?::(?:[1-5]\d{3,4}|6[0-4]\d{3}|[6-9]\d{3}))?$/;

/** A length that is read at once, and refused by others if it is too much. */
const PLAIN_LENGTH = /^\d{1,6}$/;

function toAsk(incoming: IncomingMessage): Ask | undefined {
  const { method = '', url = '' } = incoming;
  if (!METHODS.has(method) || !PLAIN_TARGET.test(url)) return undefined;
  const headers = toHeaders(incoming.rawHeaders);
  const host = headers?.get('host');
  if (headers === undefined || host === undefined || !PLAIN_HOST.test(host)) return undefined;
  if (headers.has('transfer-encoding') || headers.has('expect')) return undefined;
  const length = headers.get('content-length') ?? '0';
  if (!PLAIN_LENGTH.test(length)) return undefined;
  return {
    method,
    url: `http://${host}${url}`,
    header: (name) => headers.get(name) ?? headers.get(name.toLowerCase()) ?? null,
    readBody: (maxBytes) => readIncoming(incoming, maxBytes),
  };
}

/** Headers by their names in lower case; `undefined`: one stands there twice. */
function toHeaders(raw: readonly string[]): ReadonlyMap<string, string> | undefined {
  const headers = new Map<string, string>();
  for (let index = 0; index + 1 < raw.length; index += 2)
    headers.set((raw[index] ?? '').toLowerCase(), raw[index + 1] ?? '');
  return headers.size * 2 === raw.length ? headers : undefined;
}

function readIncoming(incoming: IncomingMessage, maxBytes: number): Promise<Buffer | undefined> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    incoming.on('data', (chunk: Buffer) => {
      size += chunk.length;
      if (size <= maxBytes) chunks.push(chunk);
    });
    incoming.once('end', () => resolve(size > maxBytes ? undefined : toOne(chunks)));
    incoming.once('close', () => {
      if (!incoming.complete) reject(new Error('The connection was closed'));
    });
    incoming.once('error', reject);
  });
}

function toOne(chunks: readonly Buffer[]): Buffer {
  const [first, second] = chunks;
  return first !== undefined && second === undefined ? first : Buffer.concat(chunks);
}

function send({ status, headers, body }: Answer, outgoing: ServerResponse): void {
  const text = toBodyText(body);
  const length = text === null ? {} : { 'content-length': Buffer.byteLength(text) };
  outgoing.writeHead(status, { ...headers, ...length });
  outgoing.end(text ?? undefined);
}
