import type { IncomingMessage } from 'node:http';
import type { Transport } from '../../src/model/transport.ts';
import { startRawServer } from '../client/raw-server.ts';

/** A transport that processes reach over a socket. */
export interface SocketServer {
  readonly url: string;
  /** Accepts no more requests, and resolves when the received ones have ended. */
  readonly close: () => Promise<void>;
}

/** Called with a request when the last byte of its response is sent. */
export type OnAnswered = (request: Request) => void;

/** Listens on a free port. If the transport rejects, the request gets no response. */
export async function startSocketServer(
  transport: Transport,
  onAnswered: OnAnswered = () => undefined,
): Promise<SocketServer> {
  const underWay = new Set<Promise<void>>();
  const { origin, close } = await startRawServer(async (incoming, outgoing) => {
    const request = await toRequest(incoming);
    const dealing = transport(request).then(
      async (response) => {
        outgoing.writeHead(response.status, Object.fromEntries(response.headers));
        outgoing.end(Buffer.from(await response.arrayBuffer()), () => onAnswered(request));
      },
      () => void outgoing.destroy(),
    );
    underWay.add(dealing);
    await dealing;
    underWay.delete(dealing);
  });
  return {
    url: origin,
    close: async () => {
      await close();
      await Promise.all(underWay);
    },
  };
}

async function toRequest(incoming: IncomingMessage): Promise<Request> {
  const parts: Buffer[] = [];
  for await (const part of incoming) parts.push(part);
  const { method = 'GET', url = '/', headers } = incoming;
  const given = Object.entries(headers).filter((entry): entry is [string, string] => typeof entry[1] === 'string');
  return new Request(`http://${headers.host}${url}`, {
    method,
    headers: given,
    ...(parts.length > 0 && { body: Buffer.concat(parts) }),
  });
}
