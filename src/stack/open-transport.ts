import { getCACertificates } from 'node:tls';
import { createUndiciTransport } from '../client/undici-transport.ts';
import type { OpenedTransport, TransportSettings } from './host.ts';

export function openTransport({ settings, authorities, proxy }: TransportSettings): OpenedTransport {
  return createUndiciTransport({
    connections: settings.concurrency,
    connectTimeoutMs: settings.connectTimeout,
    headersTimeoutMs: settings.headersTimeout,
    bodyTimeoutMs: settings.bodyTimeout,
    requestTimeoutMs: settings.timeout,
    authorities: authorities === undefined ? undefined : [...getCACertificates('default'), authorities],
    proxy,
  });
}
