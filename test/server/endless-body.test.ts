import { connect } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';

const CHUNK = Buffer.alloc(64 * 1024, 'x');

it('responds to an endless body with 413, and then closes the connection', { timeout: 180_000 }, async () => {
  const server = createServer({ apiKeys: [parseApiKey('dev:admin')] });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(close);
  const socket = connect(Number(new URL(url).port), '127.0.0.1');
  onTestFinished(() => void socket.destroy());
  let answer = '';
  socket.on('data', (data) => {
    answer += String(data);
  });
  socket.on('error', () => undefined);
  const head = ['POST /edges/tcp HTTP/1.1', 'host: localhost', 'authorization: Bearer dev', 'service-version: 2'];
  socket.write([...head, 'content-type: application/json', 'transfer-encoding: chunked', '', ''].join('\r\n'));
  const pour = setInterval(() => socket.write(`10000\r\n${CHUNK}\r\n`), 1);
  onTestFinished(() => clearInterval(pour));
  await new Promise((resolve) => socket.once('close', resolve));
  expect(answer).toMatch(/^HTTP\/1.1 413 /);
});
