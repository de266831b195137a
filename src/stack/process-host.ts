import { createRequire } from 'node:module';
import process from 'node:process';
import { getCACertificates } from 'node:tls';
import { createUndiciTransport } from '../client/undici-transport.ts';
import { readStream } from '../files/read-input.ts';
import { isJsonObject } from '../model/json.ts';
import { sleepFor } from '../model/sleep.ts';
import type { Host, OpenedTransport, TransportSettings } from './host.ts';

export function createProcessHost(): Omit<Host, 'rehearse'> {
  return {
    env: process.env,
    cwd: process.cwd(),
    uid: process.getuid?.(),
    now: () => new Date(),
    sleep: sleepFor,
    readStdin: () => readStream(process.stdin),
    openTransport: async (settings) => openTransport(settings),
  };
}

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

export function readVersion(): string {
  const packageJson: unknown = createRequire(import.meta.url)('edgewise/package.json');
  return isJsonObject(packageJson) ? String(packageJson['version']) : '';
}
