import { getCACertificates } from 'node:tls';
import { createUndiciTransport } from '../client/undici-transport.ts';
import type { OpenTransport, TransportSettings } from './surroundings.ts';

/** A transport over sockets, with the settings of a run. */
export function openTransport({ connections, timeouts, authorities, proxy }: TransportSettings): OpenTransport {
  return createUndiciTransport({
    connections,
    connectTimeoutMs: timeouts.connectMs,
    headersTimeoutMs: timeouts.headersMs,
    bodyTimeoutMs: timeouts.bodyMs,
    requestTimeoutMs: timeouts.requestMs,
    ...(authorities !== undefined && { authorities: [...getCACertificates('default'), authorities] }),
    proxy,
  });
}
