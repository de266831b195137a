import { createServer, type Server as NetServer } from 'node:net';
import fc from 'fast-check';
import { describe, expect, it, onTestFinished } from 'vitest';
import { toTransport } from '../../src/model/transport.ts';
import { openTransport } from '../../src/stack/open-transport.ts';
import { holds } from '../laws/properties.ts';
import { LONG } from '../tries.ts';
import { createEverything, runWithInput } from './fuzzing.ts';
import { anyBytes, mutatedText } from './mutations.ts';

const PAGE = '{"tcp_edges":[],"uri":"/edges/tcp","next_page_uri":null}';
const HEAD = ['HTTP/1.1 200 OK', 'content-type: application/json', `content-length: ${PAGE.length}`];
const CHUNKED = ['HTTP/1.1 200 OK', 'content-type: application/json', 'transfer-encoding: chunked'];
const ANSWERS = [
  [...HEAD, '', PAGE].join('\r\n'),
  [...HEAD, 'content-encoding: gzip', '', PAGE].join('\r\n'),
  [...CHUNKED, '', PAGE.length.toString(16), PAGE, '0', '', ''].join('\r\n'),
  ['HTTP/1.1 429 Too Many Requests', 'retry-after: 1', 'content-length: 2', '', '{}'].join('\r\n'),
  ['HTTP/1.1 302 Found', 'location: http://elsewhere.example.net/', 'content-length: 0', '', ''].join('\r\n'),
];

describe('bytes that are no HTTP response', () => {
  it('end a run with a network error, and nothing is written', LONG, async () => {
    const { folder } = createEverything();
    const bytes = fc.oneof(anyBytes, ...ANSWERS.map(mutatedText));
    let answer: Uint8Array = Buffer.from('');
    const origin = await listenWithBytes(() => answer);
    const timeouts = { connectTimeout: 1_000, headersTimeout: 1_000, bodyTimeout: 1_000, timeout: 2_000 };
    const property = fc.asyncProperty(bytes, async (fed) => {
      answer = fed;
      const transport = openTransport({ settings: { concurrency: 8, ...timeouts }, authorities: undefined, proxy: {} });
      try {
        const argv = ['apply', 'manifests.yaml', '--yes', '--token-directory', 'tokens', '--base-url', origin];
        const { exitCode, writes, stdout, stderr } = await runWithInput(argv, {
          folder,
          fed,
          transport: toTransport(transport.send),
        });
        expect([1, 4], stderr).toContain(exitCode);
        expect(writes, `${stdout}${stderr}`).toBe(0);
      } finally {
        await transport.close();
      }
    });
    await holds(property, 150);
  });
});

/** Sends the same bytes as the response to each request, and closes the connection. */
async function listenWithBytes(toBytes: () => Uint8Array): Promise<string> {
  const server: NetServer = createServer((socket) => {
    socket.on('error', () => socket.destroy());
    socket.once('data', () => socket.end(toBytes()));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  if (address === null || typeof address === 'string') throw new Error('There is no port');
  return `http://127.0.0.1:${address.port}`;
}
