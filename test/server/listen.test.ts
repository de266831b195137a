import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, type Listener, listen, parseApiKey } from '../../src/server/index.ts';
import { createHeaders } from '../by-hand.ts';
import { selectFirst } from '../cases.ts';
import { requireOrSkip } from '../needs.ts';
import { LONG } from '../tries.ts';
import { createCaller, getList, getText } from './caller.ts';
import { createTestServer } from './test-server.ts';

const HEADERS = createHeaders('admin');

async function open(host?: string): Promise<Listener> {
  const { server } = createTestServer();
  const listener = await listen(server, { port: 0, ...(host !== undefined && { host }) });
  onTestFinished(() => listener.close().catch(() => undefined));
  return listener;
}

describe('a server on a socket', () => {
  it('listens on 127.0.0.1 by default', async () => {
    const { url } = await open();
    expect(url).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    const call = createCaller({ transport: fetch, baseUrl: url, key: 'admin', versionHeader: 'Service-Version' });
    const created = await call('POST', '/edges/tcp', { body: { description: 'é' } });
    expect([created.status, created.body['description']]).toEqual([201, 'é']);
    expect(getText(created.body['uri'])).toBe(`${url}/edges/tcp/${getText(created.body['id'])}`);
    expect(getList((await call('GET', '/edges/tcp')).body['tcp_edges'])).toHaveLength(1);
    expect((await call('DELETE', `/edges/tcp/${getText(created.body['id'])}`)).status).toBe(204);
  });

  it.each(['::1', '[::1]'])('has a URL with brackets on IPv6: %s', async (host) => {
    const listener = await open(host).catch((error: Error & { code?: string }) => error);
    const isMissing = listener instanceof Error && ['EADDRNOTAVAIL', 'EAFNOSUPPORT'].includes(listener.code ?? '');
    requireOrSkip('IPv6 on the loopback device', !isMissing);
    expect(listener).toHaveProperty('url', expect.stringMatching(/^http:\/\/\[::1\]:\d+$/));
  });

  it('responds with 413 to a body that is too large, however it is sent', async () => {
    const { url } = await open();
    const large = new Uint8Array(2 * 1024 * 1024).fill(32);
    for (const body of [large, new Blob([large]).stream()]) {
      const init: RequestInit = { method: 'POST', headers: HEADERS, body, duplex: 'half' };
      expect((await fetch(`${url}/edges/tcp`, init)).status).toBe(413);
    }
  });

  it('finishes running requests when it is closed, and accepts no new ones', async () => {
    const { url, close } = await open();
    const socket = connect(Number(new URL(url).port), '127.0.0.1');
    await once(socket, 'connect');
    const lines = Object.entries(HEADERS).map(([name, value]) => `${name}: ${value}`);
    socket.write(
      ['POST /credentials HTTP/1.1', 'host: localhost', 'content-length: 2', ...lines, '', '{'].join('\r\n'),
    );
    await fetch(`${url}/edges/tcp`, { headers: HEADERS });
    const closed = close();
    await expect(fetch(`${url}/edges/tcp`, { headers: HEADERS })).rejects.toThrow();
    socket.write('}');
    const [chunk] = await once(socket, 'data');
    expect(String(chunk)).toMatch(/^HTTP\/1\.1 201 /);
    await closed;
  });

  it('rejects if the port is in use', async () => {
    const { url } = await open();
    const { server } = createTestServer();
    await expect(listen(server, { port: Number(new URL(url).port) })).rejects.toThrow('EADDRINUSE');
  });
});

describe('clients at once', () => {
  it.each(selectFirst([10, 50]))(
    'find what each of them wrote, once, and leave nothing behind: %d',
    LONG,
    async (count) => {
      const server = createServer({ apiKeys: [parseApiKey('admin:admin')] });
      const { url, close } = await listen(server, { port: 0 });
      onTestFinished(() => close());
      const call = createCaller({ transport: fetch, baseUrl: url, key: 'admin', versionHeader: 'Service-Version' });
      const live = async (client: number): Promise<void> => {
        for (let round = 0; round < 4; round += 1) {
          const description = `${client}-${round}`;
          const hostports = [`${description}.tcp.example.net:5432`];
          const { id } = (await call('POST', '/edges/tcp', { body: { description, hostports } })).body;
          const path = `/edges/tcp/${getText(id)}`;
          const changed = `${description}, changed`;
          expect((await call('PATCH', path, { body: { description: changed } })).status).toBe(200);
          expect((await call('GET', path)).body['description']).toBe(changed);
          const listed = getList((await call('GET', '/edges/tcp?limit=100')).body['tcp_edges']);
          expect(listed.filter((edge) => edge['id'] === id)).toHaveLength(1);
          expect((await call('DELETE', path)).status).toBe(204);
          expect((await call('GET', path)).status).toBe(404);
        }
      };
      await Promise.all(Array.from({ length: count }, (_, client) => live(client)));
      expect(server.snapshot().resources['TCPEdge'] ?? []).toEqual([]);
    },
  );
});
