import { NetworkError } from '../model/errors.ts';
import { type Json, parseJson } from '../model/json.ts';
import type { PlainRequest, PlainResponse, Send } from '../model/transport.ts';
import { toNetworkFault } from './network-fault.ts';
import { toExcerpt } from './printable.ts';
import type { Strike } from './strike-key.ts';
import { toPath } from './target.ts';
import { readText } from './whole-body.ts';

/** A response that was read to its end. */
export interface Answer {
  readonly response: PlainResponse;
  readonly body: string;
  /** Of a response of success; `undefined` for an empty body and for a DELETE. */
  readonly json: Json | undefined;
}

/** Sends a request once; `attempt` counts from 1. Rejects with `NetworkError` or `TimeoutError` when there is no usable answer. */
export type Attempt = (request: PlainRequest, count: number) => Promise<Answer>;

/** One attempt to send it. Its response counts only if it is complete and, on success, JSON. */
export function createAttempt(send: Send, strike: Strike): Attempt {
  return async (request) => {
    const { response, body } = await receive(send, request, strike);
    const isNothing = !response.ok || request.method === 'DELETE' || body.trim() === '';
    return { response, body, json: isNothing ? undefined : toJson({ request, response, body }, strike) };
  };
}

async function receive(send: Send, request: PlainRequest, strike: Strike): Promise<Pick<Answer, 'response' | 'body'>> {
  try {
    const response = await send(request);
    return { response, body: await readText(response, request) };
  } catch (error) {
    const fault = toNetworkFault(error, request);
    if (!(fault instanceof NetworkError) || fault.head === undefined || request.method !== 'GET') throw fault;
    const head = toExcerpt(fault.head, strike);
    throw new NetworkError(`${fault.message}: ${head}`, { cause: error, head });
  }
}

interface Received {
  readonly request: PlainRequest;
  readonly response: PlainResponse;
  readonly body: string;
}

const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/i;

function toJson(received: Received, strike: Strike): Json {
  const type = received.response.headers.get('content-type') ?? '';
  if (type !== '' && !JSON_TYPE.test(type)) throw toFault(received, `is ${toExcerpt(type, strike)}, not JSON`, strike);
  const json = parseJson(received.body);
  if (json !== undefined) return json;
  throw toFault(received, 'is not JSON', strike);
}

/** The body of an answer to a write is never shown: it may hold a token. */
function toFault({ request: { method, url }, body }: Received, what: string, strike: Strike): NetworkError {
  const shown = method === 'GET' ? `: ${toExcerpt(body, strike)}` : ` (${Buffer.byteLength(body)} bytes)`;
  return new NetworkError(`${method} ${toPath(new URL(url))}: the response ${what}${shown}`);
}
