import type { Server as HttpServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { promisify } from 'node:util';
import { createAdaptorServer } from '@hono/node-server';
import { InvariantError } from '../model/errors.ts';
import type { Server } from './server.ts';

/** A server that can be reached over a socket. */
export interface Listener {
  readonly url: string;
  /** Takes no new requests, and resolves when those under way are answered, or have had five seconds. */
  readonly close: () => Promise<void>;
}

/** Opens a socket for a server. Port 0 picks a free one. Rejects when the port can't be had. */
export async function listen(
  server: Server,
  options: { readonly port: number; readonly host?: string },
): Promise<Listener> {
  const { port, host = '127.0.0.1' } = options;
  const http = createAdaptorServer({ fetch: server.handle, overrideGlobalObjects: false }) as HttpServer; // without options it makes a plain one
  await new Promise<void>((resolve, reject) => {
    http.once('error', reject);
    http.listen(port, host, () => resolve());
  });
  return { url: toUrl(http.address()), close: () => close(http) };
}

function toUrl(address: AddressInfo | string | null): string {
  if (address === null || typeof address === 'string') throw new InvariantError('A server that listens has an address');
  const host = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return `http://${host}:${address.port}`;
}

const POLL_MS = 10;
const GRACE_MS = 5_000;

/** A connection that is kept open would hold up the end, so each is closed once it is idle, and all of them after a while. */
async function close(http: HttpServer): Promise<void> {
  const idle = setInterval(() => http.closeIdleConnections(), POLL_MS);
  const late = setTimeout(() => http.closeAllConnections(), GRACE_MS);
  try {
    await promisify(http.close.bind(http))();
  } finally {
    clearInterval(idle);
    clearTimeout(late);
  }
}
