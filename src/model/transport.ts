import { type HttpRequest, type HttpResponse, MAX_BODY_BYTES, type Send, tooLarge } from './http.ts';

/**
 * The way of the web to send a request: what `fetch`, msw and most servers understand. Inside of edgewise requests travel as plain values (`Send`); this
 * file is the only one that turns one into the other.
 */
export type Transport = (request: Request) => Promise<Response>;

/** Sends plain values over a function of the web. Redirects are not followed, since a key would go with them. */
export function toSend(transport: Transport, maxBytes = MAX_BODY_BYTES): Send {
  return async (request) => {
    const { method, url, headers, body, signal = null } = request;
    const response = await transport(
      new Request(url, { method, headers, signal, redirect: 'manual', ...(body !== null && { body }) }),
    );
    const { chunks, isWhole } = await readAtMost(response.body, maxBytes);
    if (!isWhole) throw tooLarge(request, chunks, maxBytes);
    return {
      status: response.status,
      statusText: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: Buffer.concat(chunks),
    };
  };
}

/** What becomes of the bodies of requests of the web. */
interface RequestBounds {
  /** A longer body is cut behind this. */
  readonly maxBytes?: number;
  /** The answer to a request whose body broke off; without it that is thrown. */
  readonly onBroken?: (request: Pick<HttpRequest, 'method' | 'url'>, error: unknown) => HttpResponse;
}

/** A function of the web that is answered by plain values. */
export function toTransport(
  send: Send,
  { maxBytes = MAX_BODY_BYTES, onBroken = rethrow }: RequestBounds = {},
): Transport {
  return async (request) => {
    const { method, url, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const read = await readAtMost(toStream(request), maxBytes).catch((error: unknown) => ({ error }));
    if ('error' in read) return toResponse(onBroken({ method, url }, read.error));
    const body = read.chunks.length === 0 && !request.body ? null : Buffer.concat(read.chunks);
    return toResponse(await send({ method, url, headers, body, signal }));
  };
}

/** Firefox knows no `body` of a request: there, all of it is read at once. */
function toStream(request: Request): AsyncIterable<Uint8Array<ArrayBuffer>> | null {
  return request.body === undefined ? readWhole(request) : request.body;
}

async function* readWhole(request: Request) {
  const bytes = new Uint8Array(await request.arrayBuffer());
  if (bytes.length > 0) yield bytes;
}

function rethrow(_request: unknown, error: unknown): never {
  throw error;
}

function toResponse({ status, headers, body }: HttpResponse): Response {
  return new Response(body.length === 0 ? null : body, { status, headers });
}

/** The parts of a body, up to the one that makes it too long. */
async function readAtMost(body: AsyncIterable<Uint8Array<ArrayBuffer>> | null, maxBytes: number) {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  let length = 0;
  for await (const chunk of body ?? []) {
    chunks.push(chunk);
    length += chunk.length;
    if (length > maxBytes) return { chunks, isWhole: false };
  }
  return { chunks, isWhole: true };
}
