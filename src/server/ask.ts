import { createHeaders } from '../model/create-headers.ts';
import type { JsonObject } from '../model/json.ts';
import type { PlainRequest, PlainResponse, PlainTransport, Send, Transport } from '../model/transport.ts';

/**
 * A request and its answer as the server knows them: plain values, so that who has a socket need not make a `Request` and a `Response`
 * of what comes and goes.
 */

/** A request, however it came. */
export interface Ask {
  readonly method: string;
  /** Absolute. */
  readonly url: string;
  /** The value of a header by its name in any case; null: it has none. */
  readonly header: (name: string) => string | null;
  /** The whole body, as a text if it never was anything else; `undefined`: it has more than that many bytes. Rejects when it breaks off. */
  readonly readBody: (maxBytes: number) => Promise<Buffer | string | undefined>;
}

/** What is answered. */
export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  /** An object becomes its JSON when it is sent. */
  readonly body: JsonObject | string | null;
}

/** Answers a request to any origin. Never rejects. */
export type Answering = (ask: Ask) => Promise<Answer>;

const ANSWERING = new WeakMap<Transport, Answering>();

/** The transport that answers in this way, also to plain values. */
export function toTransport(answering: Answering): PlainTransport {
  const plain: Send = async (request) => toPlainResponse(await answering(toPlainAsk(request)));
  const transport: Transport = async (request) => toResponse(await answering(toAsk(request)));
  ANSWERING.set(transport, answering);
  return Object.assign(transport, { plain });
}

/** How a transport answers, if it does nothing else: not one that was made of such a transport. */
export function findAnswering(transport: Transport): Answering | undefined {
  return ANSWERING.get(transport);
}

function toAsk(request: Request): Ask {
  return {
    method: request.method,
    url: request.url,
    header: (name) => request.headers.get(name),
    readBody: (maxBytes) => readRequest(request, maxBytes),
  };
}

function toPlainAsk({ method, url, headers, body }: PlainRequest): Ask {
  return {
    method,
    url,
    header: (name) => headers[name.toLowerCase()] ?? null,
    readBody: async (maxBytes) => {
      const bytes = Buffer.from(body ?? '');
      return bytes.length > maxBytes ? undefined : bytes;
    },
  };
}

/** The body of an answer as it is sent. */
export function toBodyText(body: Answer['body']): string | null {
  return typeof body === 'object' && body !== null ? JSON.stringify(body) : body;
}

/** An answer as clients read it. */
export function toPlainResponse({ status, headers, body }: Answer): PlainResponse {
  const text = toBodyText(body);
  return {
    ok: status >= 200 && status < 300,
    status,
    statusText: '',
    headers: createHeaders(headers),
    body: text === null ? null : [Buffer.from(text)],
  };
}

/** An answer as others take it. */
export function toResponse({ status, headers, body }: Answer): Response {
  return new Response(toBodyText(body), { status, headers });
}

async function readRequest(request: Request, maxBytes: number): Promise<Buffer | undefined> {
  const length = request.headers.get('content-length');
  if (length === null) return readStream(request, maxBytes);
  const bytes = Number(length) > maxBytes ? undefined : Buffer.from(await request.arrayBuffer());
  return bytes === undefined || bytes.length > maxBytes ? undefined : bytes;
}

/** A body that does not say how long it is. */
async function readStream(request: Request, maxBytes: number): Promise<Buffer | undefined> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.length;
    if (size > maxBytes) return undefined;
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
