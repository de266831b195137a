import type { IncomingMessage, ServerResponse } from 'node:http';
import { text } from 'node:stream/consumers';
import { afterEach, describe, expect, it } from 'vitest';
import { createUndiciTransport, type UndiciTransportOptions } from '../../src/client/undici-transport.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { type Transport, toTransport } from '../../src/model/transport.ts';
import { catchError } from './fake-service.ts';
import { findClosedPort, type RawServer, startRawServer } from './raw-server.ts';

const running: { close: () => Promise<void> }[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((each) => each.close()));
});

async function startServer(
  handle: (request: IncomingMessage, response: ServerResponse) => unknown,
): Promise<RawServer> {
  const server = await startRawServer(handle);
  running.push(server);
  return server;
}

function connect(options?: UndiciTransportOptions): Transport {
  const transport = createUndiciTransport(options);
  running.push(transport);
  return toTransport(transport.send);
}

/** Responds with the request that it received. */
async function respondWithRequest(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { method, url, headers } = request;
  response.writeHead(201, { 'content-type': 'application/json', 'set-cookie': ['a=1', 'b=2'] });
  response.end(JSON.stringify({ method, url, headers, body: await text(request) }));
}

describe('the transport over sockets', () => {
  it('sends method, path, query, headers and body, and returns status, headers and body', async () => {
    const { origin } = await startServer(respondWithRequest);
    const request = new Request(`${origin}/edges/tcp?limit=2`, {
      method: 'PATCH',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json' },
      body: '{"description":"é"}',
    });
    const response = await connect()(request);
    expect(response.status).toBe(201);
    expect(response.headers.get('content-type')).toBe('application/json');
    expect(response.headers.get('set-cookie')).toBe('a=1, b=2');
    expect(await response.json()).toMatchObject({
      method: 'PATCH',
      url: '/edges/tcp?limit=2',
      headers: { authorization: 'Bearer k', 'content-type': 'application/json', 'content-length': '20' },
      body: '{"description":"é"}',
    });
  });

  it('sends a GET and a DELETE without a body', async () => {
    const { origin } = await startServer(respondWithRequest);
    for (const method of ['GET', 'DELETE']) {
      const received = await (await connect()(new Request(origin, { method }))).json();
      expect(received).toMatchObject({ method, body: '' });
      expect(received).not.toHaveProperty('headers.transfer-encoding');
    }
  });

  it('accepts a response without a body', async () => {
    const { origin } = await startServer((_, response) => response.writeHead(204).end());
    const response = await connect()(new Request(origin, { method: 'DELETE' }));
    expect(response.status).toBe(204);
    expect(response.body).toBeNull();
  });

  it('returns a redirect instead of following it with the key', async () => {
    const { origin } = await startServer((_, response) =>
      response.writeHead(307, { location: 'http://evil.test/' }).end(),
    );
    const response = await connect()(new Request(origin));
    expect(response.status).toBe(307);
    expect(response.headers.get('location')).toBe('http://evil.test/');
  });

  it('keeps its connections and opens no more than allowed', async () => {
    const server = await startServer((_, response) => response.end('x'));
    const transport = connect({ connections: 2 });
    for (let index = 0; index < 5; index += 1) await (await transport(new Request(server.origin))).text();
    await Promise.all(Array.from({ length: 10 }, () => transport(new Request(server.origin))));
    expect(server.connections()).toBeLessThanOrEqual(2);
  });

  it('sends a large body whole', async () => {
    const large = 'ä'.repeat(1_000_000);
    const { origin } = await startServer((_, response) => response.end(large));
    expect(await (await connect()(new Request(origin))).text()).toBe(large);
  });
});

describe('the transport over sockets without a response', () => {
  it('reports a refused connection, with its address', async () => {
    const url = `http://127.0.0.1:${await findClosedPort()}/edges/tcp`;
    const error = await catchError(connect()(new Request(url)));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).not.toBeInstanceOf(TimeoutError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining(`GET ${url}: the connection was refused (connect ECONNREFUSED`),
    );
    expect(error).toHaveProperty('cause.code', 'ECONNREFUSED');
  });

  it.each([
    ['before it answers', (response: ServerResponse) => response.destroy()],
    [
      'in the middle of its answer',
      (response: ServerResponse) => {
        response.writeHead(200, { 'content-length': '100' });
        response.write('{"half":', () => response.destroy());
      },
    ],
    [
      'in the middle of an answer of unknown length',
      (response: ServerResponse) => response.write('{"half":', () => response.destroy()),
    ],
  ])('reports a lost connection if the server closes it %s', async (_, hangUp) => {
    const { origin } = await startServer((__, response) => hangUp(response));
    const error = await catchError(connect()(new Request(origin)));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', expect.stringContaining(`GET ${origin}/: the connection was lost (`));
  });

  it.each([
    ['answer', (response: ServerResponse) => response, { headersTimeoutMs: 100 }, 'no response in time'],
    [
      'go on with its answer',
      (response: ServerResponse) => response.write('{"half":'),
      { bodyTimeoutMs: 100 },
      'the response stopped before its end',
    ],
  ])('reports a timeout if the server does not %s', async (_, stall, timeouts, message) => {
    const { origin } = await startServer((__, response) => stall(response));
    const transport = connect(timeouts);
    const error = await catchError(transport(new Request(origin)));
    expect(error).toBeInstanceOf(TimeoutError);
    expect(error).toHaveProperty('message', expect.stringContaining(message));
  });

  it('reports a response that is not HTTP', async () => {
    const { origin } = await startServer((_, response) => response.socket?.end('garbage\r\n\r\n'));
    expect(await catchError(connect()(new Request(origin)))).toHaveProperty(
      'message',
      expect.stringContaining(`GET ${origin}/: the request failed (`),
    );
  });

  it('refuses a body above the size limit, without reading it to its end', async () => {
    const chunk = Buffer.alloc(1024 * 1024);
    const { origin } = await startServer((_, response) => {
      const more = () => {
        while (!response.destroyed && response.write(chunk));
      };
      response.on('drain', more);
      more();
    });
    const error = await catchError(connect()(new Request(origin)));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty(
      'message',
      expect.stringContaining('the response is larger than 33554432 bytes, the limit'),
    );
  });

  it('ends an aborted request with its reason', async () => {
    const stop = new AbortController();
    const reason = new Error('interrupted');
    const { origin } = await startServer(() => stop.abort(reason));
    expect(await catchError(connect()(new Request(origin, { signal: stop.signal })))).toBe(reason);
  });

  it('sends nothing for a request that is aborted before', async () => {
    const reason = new Error('interrupted');
    const server = await startServer((_, response) => response.end());
    const request = new Request(server.origin, { signal: AbortSignal.abort(reason) });
    expect(await catchError(connect()(request))).toBe(reason);
    expect(server.connections()).toBe(0);
  });

  it('ends running requests when it is closed', async () => {
    const transport = createUndiciTransport();
    const { origin } = await startServer(() => transport.close());
    expect(await catchError(toTransport(transport.send)(new Request(origin)))).toBeInstanceOf(NetworkError);
  });
});
