import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { expect, it, onTestFinished } from 'vitest';
import { createUndiciTransport } from '../../src/client/undici-transport.ts';
import { decodeBodyText } from '../../src/model/http.ts';

/** A server in its own thread, which closes connections while this thread is busy. */
const SERVER = `
  const { createServer } = require('node:net');
  const { parentPort } = require('node:worker_threads');
  const server = createServer((socket) => {
    let timer;
    socket.on('data', (text) => {
      const method = String(text).split(' ')[0];
      socket.write('HTTP/1.1 200 OK\\r\\ncontent-length: ' + method.length + '\\r\\n\\r\\n' + method);
      clearTimeout(timer);
      timer = setTimeout(() => socket.end(), 100);
    });
    socket.on('error', () => undefined);
  });
  server.listen(0, '127.0.0.1', () => parentPort.postMessage(server.address().port));
`;
const BUSY_MS = 1200;

it('sends no request over a connection that the server closed while the process was busy', async () => {
  const worker = new Worker(SERVER, { eval: true });
  onTestFinished(async () => void (await worker.terminate()));
  const [port] = await once(worker, 'message');
  const transport = createUndiciTransport();
  onTestFinished(() => transport.close());
  const send = async (method: string) =>
    decodeBodyText((await transport.send({ method, url: `http://127.0.0.1:${port}/`, headers: {}, body: null })).body);
  for (const round of ['first', 'second', 'third']) {
    expect(await send('GET'), round).toBe('GET');
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_MS);
    expect(await send('POST'), round).toBe('POST');
  }
});
