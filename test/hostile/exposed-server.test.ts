import { once } from 'node:events';
import { connect } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { createServer, type ListenOptions, listen } from '../../src/server/index.ts';
import { runCommand } from '../cli/fake-context.ts';

/** Starts a server if that is allowed, and stops it at once. */
function startAndStop(words: readonly string[]) {
  return runCommand(['serve', '--port', '0', ...words], { cwd: '.', onListen: (interrupt) => setImmediate(interrupt) });
}

describe('a bundled server that other machines can reach', () => {
  it.each(['0.0.0.0', '::', '192.0.2.7', '[::]', '0', '', '::ffff:192.0.2.7', '127.0.0.1.example.com', 'host.lan'])(
    'does not start with the well-known key: --host "%s"',
    async (host) => {
      for (const key of [[], ['--api-key', 'dev'], ['--api-key', 'my-own-key', '--api-key', 'dev:abuse']]) {
        const { exitCode, stdout, stderr } = await startAndStop([`--host=${host}`, ...key]);
        expect({ exitCode, stdout }, stderr).toEqual({ exitCode: 3, stdout: '' });
        expect(stderr).toContain('everyone knows the API key `dev`');
        expect(stderr).toContain('Name a key of your own with --api-key');
      }
    },
  );

  it('starts with a key of its own', async () => {
    const { exitCode, stdout, stderr } = await startAndStop(['--host', '0.0.0.0', '--api-key', 'my-own-key:admin']);
    expect(exitCode, stderr).toBe(0);
    expect(stdout).toContain('edgewise server listening on http://');
  });

  it.each(['127.0.0.1', '127.0.0.2', 'localhost'])(
    'starts without one if only this machine reaches it: %s',
    async (host) => {
      const { exitCode, stderr } = await startAndStop(['--host', host]);
      expect(exitCode, stderr).toBe(0);
    },
  );
});

/** Sends bytes, and returns the status line and the whole response. */
async function send(url: string, lines: readonly string[], body = ''): Promise<{ status: number; received: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname.replace(/^\[|\]$/g, ''));
  onTestFinished(() => void socket.destroy());
  let received = '';
  socket.on('data', (chunk) => {
    received += String(chunk);
  });
  socket.write([...lines, ...ADMITTED, 'connection: close', `content-length: ${body.length}`, '', body].join('\r\n'));
  await once(socket, 'close');
  return { status: Number(received.split(' ')[1]), received };
}

/** The headers of a page that knows the key. */
const ADMITTED = ['authorization: Bearer dev', 'service-version: 2', 'content-type: application/json'];

async function open(options: Partial<ListenOptions> = {}) {
  const server = createServer();
  const listener = await listen(server, { port: 0, ...options });
  onTestFinished(() => listener.close());
  return { server, url: listener.url, port: new URL(listener.url).port };
}

const GET = 'GET /backends/weighted HTTP/1.1';

describe('a bundled server that only this machine can reach', () => {
  it.each([
    'evil.example',
    'evil.example:PORT',
    'EVIL.example.:PORT',
    'localhost.evil.example',
    'localhost.evil.example:PORT',
    '127.0.0.1.evil.example',
    'evil.example,localhost',
    'localhost,evil.example',
    'notlocalhost:PORT',
    '0.0.0.0:PORT',
    '[::]:PORT',
    '192.0.2.7:PORT',
    '128.0.0.1',
    'xn--80ak6aa92e.com',
    'ⓛⓞⓒⓐⓛⓗⓞⓢⓣ.evil.example',
  ])('refuses requests for the host %s, with any key', async (host) => {
    const { server, url, port } = await open();
    const own = host.replace('PORT', port);
    const body = '{"backends":{"bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt":1}}';
    const lines = [`host: ${own}`, `origin: http://${own}`];
    for (const { status, received } of [
      await send(url, ['POST /backends/weighted HTTP/1.1', ...lines], body),
      await send(url, [GET, ...lines]),
      await send(url, [`GET http://${own}/backends/weighted HTTP/1.1`, `host: localhost:${port}`]),
      await send(url, [`GET http://localhost:${port}/backends/weighted HTTP/1.1`, ...lines]),
      await send(url, ['GET /openapi.json HTTP/1.1', ...lines]),
    ]) {
      expect([400, 421]).toContain(status);
      expect(received).not.toMatch(/access-control|weighted_backends|bkdwd_|"openapi"/i);
    }
    expect(Object.values(server.snapshot().resources).flat()).toEqual([]);
  });

  it.each([
    'localhost',
    'localhost:PORT',
    'LocalHost.:PORT',
    'app.localhost',
    '127.0.0.1:PORT',
    '127.0.0.1.',
    '127.8.9.1',
    '[::1]:PORT',
    '[0:0:0:0:0:0:0:1]',
    '[::ffff:127.0.0.1]:PORT',
    'localhost:1',
  ])('accepts requests for the loopback name %s', async (host) => {
    const { url, port } = await open();
    const own = host.replace('PORT', port);
    expect(await send(url, [GET, `host: ${own}`])).toMatchObject({ status: 200 });
    expect(await send(url, [`GET http://${own}/backends/weighted HTTP/1.1`, `host: ${own}`])).toMatchObject({
      status: 200,
    });
  });

  it.each([
    ['no Host header', [GET]],
    ['no Host header in HTTP/1.0', ['GET /backends/weighted HTTP/1.0']],
    ['no Host header beside an absolute URL', ['GET http://localhost/backends/weighted HTTP/1.1']],
    ['an empty Host header', [GET, 'host: ']],
    ['two Host headers', [GET, 'host: localhost', 'host: evil.example']],
    ['two Host headers, the foreign one first', [GET, 'host: evil.example', 'host: localhost']],
    ['two equal Host headers', [GET, 'host: localhost', 'Host: localhost']],
    ['a user in the Host header', [GET, 'host: localhost@evil.example']],
    ['a path in the Host header', [GET, 'host: localhost/evil.example']],
    ['a port that is none', [GET, 'host: localhost:99999']],
    ['a URL of another scheme', ['GET file:///etc/passwd HTTP/1.1', 'host: localhost']],
  ])('responds with 400 to %s', async (_, lines) => {
    const { url } = await open();
    expect(await send(url, lines)).toMatchObject({ status: 400 });
  });

  it.each(['x-forwarded-host', 'forwarded', 'x-host', 'x-original-host', 'x-http-host-override', ':authority'])(
    'reads no host from the header %s',
    async (name) => {
      const { url } = await open();
      const value = (host: string) => (name === 'forwarded' ? `host=${host}` : host);
      expect((await send(url, [GET, 'host: evil.example', `${name}: ${value('localhost')}`])).status).not.toBe(200);
      const { status, received } = await send(url, [
        'GET /edges/tcp HTTP/1.1',
        'host: localhost',
        `x-forwarded-host: ${value('evil.example')}`,
      ]);
      expect(status).toBe(200);
      expect(received).not.toContain('evil.example');
    },
  );

  it('lets no page of another origin read or change anything', async () => {
    const { url, port } = await open();
    const lines = [`host: 127.0.0.1:${port}`, 'origin: https://evil.example'];
    const preflight = ['access-control-request-method: POST', 'access-control-request-headers: authorization'];
    const { status, received } = await send(url, ['OPTIONS /backends/weighted HTTP/1.1', ...lines, ...preflight]);
    expect(status).toBeGreaterThanOrEqual(400);
    expect(received).not.toMatch(/access-control-allow/i);
    const simple = await fetch(`${url}/backends/weighted`, {
      method: 'POST',
      headers: { origin: 'https://evil.example', 'content-type': 'text/plain' },
      body: '{}',
    });
    expect(simple.status).toBe(401);
    expect(simple.headers.get('access-control-allow-origin')).toBeNull();
  });

  it('accepts the hosts that it is given, in any spelling', async () => {
    const { url, port } = await open({ allowedHosts: ['Edgewise.Test', '10.0.0.7', 'fd00::7'] });
    for (const host of ['edgewise.test', `EDGEWISE.test.:${port}`, '10.0.0.7:80', '[fd00:0::7]:4750', 'localhost'])
      expect(await send(url, [GET, `host: ${host}`]), host).toMatchObject({ status: 200 });
    for (const host of ['edgewise.test.evil.example', 'x.edgewise.test', '10.0.0.8', '[fd00::8]'])
      expect(await send(url, [GET, `host: ${host}`]), host).toMatchObject({ status: 421 });
  });

  it('applies the same rule to IPv6', async (context) => {
    const listener = await open({ host: '::1' }).catch((error: Error & { code?: string }) => error);
    if (listener instanceof Error) return context.skip(listener.code === 'EADDRNOTAVAIL', 'there is no IPv6 here');
    expect(await send(listener.url, [GET, `host: [::1]:${listener.port}`])).toMatchObject({ status: 200 });
    expect(await send(listener.url, [GET, 'host: evil.example'])).toMatchObject({ status: 421 });
  });

  it('names the flag that admits the host, in an API error', async () => {
    const { url } = await open();
    const { received } = await send(url, [GET, 'host: edgewise.test']);
    expect(JSON.parse(received.split('\r\n\r\n')[1] ?? '')).toMatchObject({
      error_code: 'misdirected',
      status_code: 421,
      msg: 'This server does not answer for edgewise.test. To add a name, start it with --allow-host',
    });
  });
});

describe('a bundled server on an address that other machines reach', () => {
  it('accepts every host, because a page does not know its key', async () => {
    const { url } = await open({ host: '0.0.0.0' });
    expect(await send(url, [GET, 'host: edgewise.internal:4750'])).toMatchObject({ status: 200 });
  });

  it('accepts only loopback names and the given hosts, once one is given', async () => {
    const { url } = await open({ host: '0.0.0.0', allowedHosts: ['edgewise.internal'] });
    expect(await send(url, [GET, 'host: edgewise.internal:4750'])).toMatchObject({ status: 200 });
    expect(await send(url, [GET, 'host: localhost'])).toMatchObject({ status: 200 });
    expect(await send(url, [GET, 'host: evil.example'])).toMatchObject({ status: 421 });
  });
});

describe('serve --allow-host', () => {
  it.each(['edgewise.test:4750', '[::1]:80', 'http://edgewise.test', 'a/b', 'a b', ''])(
    'refuses "%s"',
    async (host) => {
      const { exitCode, stderr } = await startAndStop([`--allow-host=${host}`]);
      expect({ exitCode, stderr }).toMatchObject({ exitCode: 3, stderr: expect.stringContaining('without a port') });
    },
  );

  it('accepts names and addresses, several times', async () => {
    const flags = ['--allow-host', 'edgewise.test', '--allow-host', 'fd00::7', '--allow-host', '[fd00::8]'];
    expect(await startAndStop(flags)).toMatchObject({ exitCode: 0 });
  });
});
