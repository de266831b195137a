import { Agent, type Dispatcher } from 'undici';
import type { Transport } from '../model/transport.ts';
import { toNetworkFault } from './network-fault.ts';
import { MAX_BODY_BYTES } from './whole-body.ts';

/** Time limits, and how many connections there may be. */
export interface UndiciTransportOptions {
  /** Connections to one origin at once; without it as many as there are requests under way. */
  readonly connections?: number;
  readonly connectTimeoutMs?: number;
  /** Until the head of the response is there. */
  readonly headersTimeoutMs?: number;
  /** Between two parts of the body. */
  readonly bodyTimeoutMs?: number;
}

/** A transport that holds connections open; `close` ends them, and breaks off what is still under way. */
export type ClosableTransport = Transport & { readonly close: () => Promise<void> };

/**
 * The transport over real sockets: undici's dispatcher and a response made by hand, since its `fetch` takes several times as long.
 * Connections are kept and reused. HTTP/1.1 only, where a request that failed is known to be the one that its connection carried.
 * Redirects are not followed.
 */
export function createUndiciTransport(options: UndiciTransportOptions = {}): ClosableTransport {
  const agent = new Agent({
    allowH2: false,
    connections: options.connections ?? null,
    connectTimeout: options.connectTimeoutMs ?? 10_000,
    headersTimeout: options.headersTimeoutMs ?? 30_000,
    bodyTimeout: options.bodyTimeoutMs ?? 30_000,
    maxResponseSize: MAX_BODY_BYTES,
  });
  const transport: Transport = async (request) => {
    try {
      request.signal.throwIfAborted();
      const body = request.body === null ? null : Buffer.from(await request.arrayBuffer());
      return toResponse(await dispatch(agent, request, body));
    } catch (error) {
      throw toNetworkFault(error, request);
    }
  };
  return Object.assign(transport, { close: () => agent.destroy() });
}

interface Answer {
  readonly status: number;
  readonly headers: [name: string, value: string][];
  readonly body: Buffer<ArrayBuffer>;
}

function dispatch(agent: Agent, request: Request, body: Buffer | null): Promise<Answer> {
  return new Promise((resolve, reject) => {
    agent.dispatch(toDispatchOptions(request, body), createHandler(request.signal, resolve, reject));
  });
}

function toDispatchOptions(request: Request, body: Buffer | null): Dispatcher.DispatchOptions {
  const { origin, pathname, search } = new URL(request.url);
  const headers = Object.fromEntries(request.headers);
  return { origin, path: pathname + search, method: request.method, headers, body };
}

/** Gathers one response. Aborting the signal breaks it off. */
function createHandler(
  signal: AbortSignal,
  resolve: (answer: Answer) => void,
  reject: (error: unknown) => void,
): Dispatcher.DispatchHandler {
  let head: Pick<Answer, 'status' | 'headers'> = { status: 0, headers: [] };
  let breakOff = () => {};
  const chunks: Buffer[] = [];
  return {
    onRequestStart(controller) {
      breakOff = () => controller.abort(signal.reason);
      if (signal.aborted) breakOff();
      else signal.addEventListener('abort', breakOff);
    },
    onResponseStart(_controller, status, headers) {
      head = { status, headers: listHeaders(headers) };
    },
    onResponseData(_controller, chunk) {
      chunks.push(chunk);
    },
    onResponseEnd() {
      signal.removeEventListener('abort', breakOff);
      resolve({ ...head, body: Buffer.concat(chunks) });
    },
    onResponseError(_controller, error) {
      signal.removeEventListener('abort', breakOff);
      reject(error);
    },
  };
}

function listHeaders(headers: Readonly<Record<string, string | string[] | undefined>>): Answer['headers'] {
  return Object.entries(headers).flatMap(([name, value]) =>
    [value ?? []].flat().map((single): [string, string] => [name, single]),
  );
}

const STATUSES_WITHOUT_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

function toResponse({ status, headers, body }: Answer): Response {
  return new Response(STATUSES_WITHOUT_BODY.has(status) ? null : body, { status, headers });
}
