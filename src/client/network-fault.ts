import { InvariantError, NetworkError, TimeoutError } from '../model/errors.ts';
import type { PlainRequest } from '../model/transport.ts';

/** What is known about a fault from its code. */
interface Fault {
  readonly sentence: string;
  readonly isTimeout?: true;
  /** There was no connection, so the request was not sent. */
  readonly isUnsent?: true;
}

const FAULTS: Readonly<Record<string, Fault>> = {
  ECONNREFUSED: { sentence: 'the connection was refused', isUnsent: true },
  ECONNRESET: { sentence: 'the connection was lost' },
  EPIPE: { sentence: 'the connection was lost' },
  UND_ERR_SOCKET: { sentence: 'the connection was lost' },
  ENOTFOUND: { sentence: 'the host name does not exist', isUnsent: true },
  EAI_AGAIN: { sentence: 'the host name could not be resolved', isUnsent: true },
  ETIMEDOUT: { sentence: 'could not connect in time', isTimeout: true },
  UND_ERR_CONNECT_TIMEOUT: { sentence: 'could not connect in time', isTimeout: true, isUnsent: true },
  UND_ERR_HEADERS_TIMEOUT: { sentence: 'no response in time', isTimeout: true },
  UND_ERR_BODY_TIMEOUT: { sentence: 'the response stopped before its end', isTimeout: true },
  TimeoutError: { sentence: 'no response in time', isTimeout: true },
};

/**
 * What to throw when a request brought no response: a `NetworkError` or `TimeoutError` that says where it went.
 * Errors that are already of these classes, bugs, and the reason of an aborted request are returned unchanged.
 */
export function toNetworkFault(error: unknown, request: Pick<PlainRequest, 'method' | 'url' | 'signal'>): unknown {
  if (request.signal?.aborted) return request.signal.reason;
  if (error instanceof NetworkError || error instanceof InvariantError) return error;
  const chain = listCauses(error);
  const fault = chain.map(({ code, name }) => FAULTS[code] ?? FAULTS[name]).find((found) => found !== undefined);
  const detail = chain.find(({ message }) => message !== '' && message !== 'fetch failed')?.message;
  const said = [fault?.sentence ?? 'the request failed', ...(detail === undefined ? [] : [`(${detail})`])].join(' ');
  const Type = fault?.isTimeout ? TimeoutError : NetworkError;
  return new Type(`${request.method} ${request.url}: ${said}`, { cause: error, isUnsent: fault?.isUnsent ?? false });
}

interface CauseFacts {
  readonly code: string;
  readonly name: string;
  readonly message: string;
}

/** The error and its causes, outermost first. Several failed addresses of one host are causes too. */
function listCauses(error: unknown): readonly CauseFacts[] {
  if (!(error instanceof Error)) return [];
  const code = 'code' in error && typeof error.code === 'string' ? error.code : '';
  const parts = error instanceof AggregateError ? error.errors : [];
  return [{ code, name: error.name, message: error.message }, ...[error.cause, ...parts].flatMap(listCauses)];
}
