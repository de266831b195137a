import { createTooLargeError, type HttpRequest, type HttpResponse, MAX_BODY_BYTES, type Send } from './http.ts';

/**
 * A function from a web `Request` to a web `Response`, as `fetch`, msw and most servers use it. Inside edgewise,
 * requests are plain values (`Send`). Only this file converts between the two.
 */
export type Transport = (request: Request) => Promise<Response>;

/**
 * Converts a `Transport` to a `Send`. Does not follow redirects, because the redirected request would carry the API
 * key. Rejects with `NetworkError` if the response body is longer than `maxBytes`.
 * @example
 * const send = toSend(fetch);
 */
export function toSend(transport: Transport, maxBytes = MAX_BODY_BYTES): Send {
  return async (request) => {
    const { method, url, headers, body, signal = null } = request;
    const response = await transport(
      new Request(url, { method, headers, signal, redirect: 'manual', ...(body !== null && { body }) }),
    );
    const { chunks, isWhole } = await readAtMost(response.body, maxBytes);
    if (!isWhole) throw createTooLargeError(request, chunks, maxBytes);
    return {
      status: response.status,
      statusText: response.statusText,
      headers: Object.fromEntries(response.headers),
      body: Buffer.concat(chunks),
    };
  };
}

/** How a server handles request bodies that are too long or truncated. */
interface RequestBodyOptions {
  /** A longer body is read only until its length exceeds this limit; the rest is dropped. */
  readonly maxBytes?: number;
  /** Creates the response to a request whose body is truncated. Default: throws the error. */
  readonly onBroken?: (request: Pick<HttpRequest, 'method' | 'url'>, error: unknown) => HttpResponse;
}

/**
 * Converts a `Send` to a `Transport`.
 * @example
 * const transport = toTransport(createUndiciTransport().send);
 */
export function toTransport(
  send: Send,
  { maxBytes = MAX_BODY_BYTES, onBroken = rethrow }: RequestBodyOptions = {},
): Transport {
  return async (request) => {
    const { method, url, signal } = request;
    const headers = Object.fromEntries(request.headers);
    const read = await readAtMost(openBodyStream(request), maxBytes).catch((error: unknown) => ({ error }));
    if ('error' in read) return toResponse(onBroken({ method, url }, read.error));
    const body = read.chunks.length === 0 && !request.body ? null : Buffer.concat(read.chunks);
    return toResponse(await send({ method, url, headers, body, signal }));
  };
}

/** Returns the body as a stream. Reads the whole body at once in Firefox, which has no `Request.body`. */
function openBodyStream(request: Request): AsyncIterable<Uint8Array<ArrayBuffer>> | null {
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

/** Reads a body until its length exceeds `maxBytes`. `isWhole` is false if the body is longer. */
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
