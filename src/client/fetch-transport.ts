import type { Transport } from '../model/transport.ts';
import { toNetworkFault } from './network-fault.ts';

/** How to use the platform's `fetch`. */
export interface FetchTransportOptions {
  /** Until the response has been read to its end. */
  readonly timeoutMs?: number;
}

/**
 * A transport over the global `fetch` at the time of the call: for platforms other than Node, and where tests or tracing wrap `fetch`.
 * Several times slower than `createUndiciTransport`. Redirects are followed only when the request says so.
 */
export function createFetchTransport({ timeoutMs = 30_000 }: FetchTransportOptions = {}): Transport {
  return async (request) => {
    const signal = AbortSignal.any([request.signal, AbortSignal.timeout(timeoutMs)]);
    try {
      return await fetch(request, { signal });
    } catch (error) {
      throw toNetworkFault(error, request);
    }
  };
}
