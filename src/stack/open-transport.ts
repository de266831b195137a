import { getCACertificates } from 'node:tls';
import { createUndiciTransport } from '../client/undici-transport.ts';
import type { OpenedTransport, TransportSettings } from './host.ts';

export function openTransport({ connections, timeouts, authorities, proxy }: TransportSettings): OpenedTransport {
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
