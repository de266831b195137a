import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';

/** A real HTTP server on a loopback port. */
export interface RawServer {
  readonly origin: string;
  /** The number of connections so far. */
  readonly connections: () => number;
  readonly close: () => Promise<void>;
}

export async function startRawServer(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<RawServer> {
  const server = createServer(handle);
  const sockets: Socket[] = [];
  server.on('connection', (socket) => sockets.push(socket));
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    origin: `http://127.0.0.1:${getPort(server.address())}`,
    connections: () => sockets.length,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** A port without a listener. */
export async function findClosedPort(): Promise<number> {
  const server = await startRawServer(() => {});
  await server.close();
  return Number(new URL(server.origin).port);
}

function getPort(address: AddressInfo | string | null): number {
  if (address === null || typeof address === 'string') throw new Error('No port');
  return address.port;
}
