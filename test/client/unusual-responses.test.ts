import { createServer, type Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { createUndiciTransport } from '../../src/client/undici-transport.ts';
import { NetworkError } from '../../src/model/errors.ts';
import { decodeBodyText } from '../../src/model/http.ts';
import { catchError } from './fake-service.ts';

/** A service that writes to its sockets what no HTTP library writes. */
type Answer = (socket: Socket, method: string, count: number) => void;

const running: (() => unknown)[] = [];

afterEach(async () => {
  await Promise.all(running.splice(0).map((close) => close()));
});

/** Starts the service. Returns a function that sends a request and resolves with status and body. */
async function startService(answer: Answer) {
  let count = 0;
  const server = createServer((socket) => {
    let text = '';
    socket.on('error', () => undefined);
    socket.on('data', (data) => {
      text += String(data);
      // The bodies of this test are one word, so that a request is complete with it.
      while (/\r\n\r\n/.test(text) && (!/content-length: [1-9]/i.test(text) || text.endsWith('{}'))) {
        const method = text.split(' ')[0] ?? '';
        text = '';
        count += 1;
        answer(socket, method, count);
      }
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' ? address?.port : undefined;
  const transport = createUndiciTransport({ headersTimeoutMs: 5_000, bodyTimeoutMs: 5_000 });
  running.push(transport.close, () => server.close());
  return async (method: string): Promise<string> => {
    const hasBody = method !== 'GET' && method !== 'DELETE';
    const headers = hasBody ? { 'content-type': 'application/json' } : {};
    const url = `http://127.0.0.1:${port}/it`;
    const { status, body } = await transport.send({ method, url, headers, body: hasBody ? '{}' : null });
    return `${status} ${decodeBodyText(body)}`;
  };
}

const format = (method: string, status = '200 OK') =>
  `HTTP/1.1 ${status}\r\ncontent-type: application/json\r\ncontent-length: ${method.length + 2}\r\n\r\n"${method}"`;

const METHODS = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE'];

describe.each(METHODS)('a %s', (method) => {
  it.each(['102 Processing', '103 Early Hints', '199 Something'])('gets its response after %s', async (interim) => {
    const send = await startService((socket, said) => {
      socket.write(`HTTP/1.1 ${interim}\r\nlink: </a>\r\n\r\n`);
      setTimeout(() => socket.write(format(said)), 10);
    });
    expect(await send(method)).toBe(`200 "${method}"`);
    expect(await send(method)).toBe(`200 "${method}"`);
  });

  it.each([
    ['100 Continue', 'the service sent 100 Continue before its response'],
    ['101 Switching Protocols\r\nupgrade: h2c\r\nconnection: upgrade', 'the service sent 101 Switching Protocols'],
  ])('fails after %s with an error that names it', async (interim, said) => {
    const send = await startService((socket, verb) => socket.write(`HTTP/1.1 ${interim}\r\n\r\n${format(verb)}`));
    const error = await catchError(send(method));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty('message', expect.stringContaining(said));
    expect(error).toHaveProperty('isUnsent', false);
  });

  it('reads a response that arrives byte by byte', async () => {
    const send = await startService(async (socket, said) => {
      for (const byte of format(said)) {
        socket.write(byte);
        await new Promise((resolve) => setImmediate(resolve));
      }
    });
    expect(await send(method)).toBe(`200 "${method}"`);
  });

  it('opens a new connection if the service closed the idle one', async () => {
    const send = await startService((socket, said) => {
      socket.write(format(said));
      setTimeout(() => socket.end(), 1);
    });
    for (const pause of [0, 20, 20]) {
      await new Promise((resolve) => setTimeout(resolve, pause));
      expect(await send(method)).toBe(`200 "${method}"`);
    }
  });

  it.each([
    ['with its length', 'content-length: 8\r\n\r\n{"a":1}\n'],
    ['in chunks', 'transfer-encoding: chunked\r\n\r\n7\r\n{"a":1}\r\n0\r\n\r\n'],
    ['without a length', '\r\n{"a":1}'],
  ])('reads a 204 with a body %s as one without, and leaves nothing of it to the next', async (_, rest) => {
    const send = await startService((socket, said, count) =>
      socket.write(count % 2 === 1 ? `HTTP/1.1 204 No Content\r\n${rest}` : format(said)),
    );
    expect(await send(method)).toBe('204 ');
    await new Promise((resolve) => setTimeout(resolve, 20));
    expect(await send(method)).toBe(`200 "${method}"`);
  });

  it('fails if its response is cut off', async () => {
    const send = await startService((socket, said) => socket.end(format(said).slice(0, -2)));
    expect(await catchError(send(method))).toBeInstanceOf(NetworkError);
  });
});
