import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import { createServer as createSecureServer } from 'node:https';
import { type AddressInfo, connect as connectTo, type Server } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { createUndiciTransport, type UndiciTransportOptions } from '../../src/client/undici-transport.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { toTransport } from '../../src/model/transport.ts';
import { catchError } from './fake-service.ts';

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

async function startListening(server: Server & { closeAllConnections?: () => void }): Promise<number> {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  closing.push(() => {
    server.closeAllConnections?.();
    return new Promise((done) => server.close(done));
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  return port;
}

function createTransport(options: UndiciTransportOptions) {
  const transport = createUndiciTransport(options);
  closing.push(() => transport.close());
  return toTransport(transport.send);
}

const respond: RequestListener = (request, response) => {
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify({ url: request.url, authorization: request.headers.authorization }));
};

/** A proxy that opens tunnels and forwards other requests, and records both. */
async function startProxy(): Promise<{ readonly url: string; readonly log: string[] }> {
  const log: string[] = [];
  const proxy = createServer((request, response) => {
    log.push(`${request.method} ${request.url} ${request.headers['proxy-authorization'] ?? ''}`.trim());
    respond(request, response);
  });
  proxy.on('connect', (request, socket) => {
    log.push(`CONNECT ${request.headers['proxy-authorization'] ?? ''}`.trim());
    const upstream = connectTo(Number(String(request.url).split(':')[1]), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      upstream.pipe(socket).pipe(upstream);
    });
    for (const end of [socket, upstream]) end.on('error', () => undefined);
    closing.push(
      () => upstream.destroy(),
      () => socket.destroy(),
    );
  });
  return { url: `http://127.0.0.1:${await startListening(proxy)}`, log };
}

describe('a service with a certificate of its own', () => {
  let folder: string;
  let certificate: string;
  let key: string;

  beforeAll(() => {
    folder = mkdtempSync(join(tmpdir(), 'edgewise-tls-'));
    const [keyFile, file] = [join(folder, 'key.pem'), join(folder, 'certificate.pem')];
    const words = ['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'];
    const about = ['-subj', '/CN=localhost', '-addext', 'subjectAltName=DNS:localhost,IP:127.0.0.1'];
    execFileSync('openssl', [...words, ...about, '-keyout', keyFile, '-out', file], { stdio: 'ignore' });
    [key, certificate] = [readFileSync(keyFile, 'utf8'), readFileSync(file, 'utf8')];
  });

  afterAll(() => rmSync(folder, { recursive: true }));

  it('is reached with its CA file, and not without', async () => {
    const port = await startListening(createSecureServer({ key, cert: certificate }, respond));
    const request = () => new Request(`https://localhost:${port}/x`);
    const response = await createTransport({ authorities: [certificate] })(request());
    expect(await response.json()).toMatchObject({ url: '/x' });
    const refused = await catchError(createTransport({})(request()));
    expect(refused).toBeInstanceOf(NetworkError);
    expect(refused).toHaveProperty('message', expect.stringContaining('self-signed certificate'));
  });

  it('is reached through the tunnel of a proxy, which sees neither path nor key', async () => {
    const port = await startListening(createSecureServer({ key, cert: certificate }, respond));
    const proxy = await startProxy();
    const transport = createTransport({
      authorities: [certificate],
      proxy: { https: proxy.url.replace('//', '//user:secret@') },
    });
    const headers = { authorization: 'Bearer k' };
    const response = await transport(new Request(`https://localhost:${port}/x`, { headers }));
    expect(await response.json()).toEqual({ url: '/x', authorization: 'Bearer k' });
    expect(proxy.log).toEqual([`CONNECT Basic ${Buffer.from('user:secret').toString('base64')}`]);
  });
});

describe('a service without TLS', () => {
  it('is reached through its proxy', async () => {
    const proxy = await startProxy();
    const response = await createTransport({ proxy: { http: proxy.url } })(new Request('http://service.test/x?a=1'));
    expect(response.status).toBe(200);
    expect(proxy.log).toEqual(['GET http://service.test/x?a=1']);
  });

  it('is reached directly if it is an exception of the proxy', async () => {
    const proxy = await startProxy();
    const port = await startListening(createServer(respond));
    const transport = createTransport({ proxy: { http: proxy.url, except: 'other.test, 127.0.0.1' } });
    expect((await transport(new Request(`http://127.0.0.1:${port}/x`))).status).toBe(200);
    expect(proxy.log).toEqual([]);
  });

  it('fails without the password of the proxy', async () => {
    const transport = createTransport({ proxy: { http: 'http://user:hunter2@127.0.0.1:1' } });
    const error = await catchError(transport(new Request('http://service.test/x')));
    expect(error).toBeInstanceOf(NetworkError);
    expect(String(error)).not.toContain('hunter2');
  });
});

describe('a compressed response', () => {
  async function serve(body: Buffer, encoding = 'gzip'): Promise<string> {
    const port = await startListening(
      createServer((request, response) => {
        const headers = { 'content-type': 'application/json', 'content-encoding': encoding };
        response.writeHead(200, { ...headers, 'x-accepted': String(request.headers['accept-encoding']) }).end(body);
      }),
    );
    return `http://127.0.0.1:${port}/x`;
  }

  it('is requested and read', async () => {
    const response = await createTransport({})(new Request(await serve(gzipSync('{"a":"é"}'))));
    expect([response.headers.get('x-accepted'), await response.json()]).toEqual(['gzip', { a: 'é' }]);
  });

  it('above the size limit keeps its first bytes, as an uncompressed one does', async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024, 'and so on '));
    const error = await catchError(createTransport({})(new Request(await serve(bomb))));
    expect(error).toHaveProperty('head', expect.stringMatching(/^and so on and so on /));
  });

  it('fails if it is too large, damaged, or compressed in another way', async () => {
    const bomb = gzipSync(Buffer.alloc(33 * 1024 * 1024));
    expect(bomb.length).toBeLessThan(100_000);
    const broken = gzipSync('{"a":1}').subarray(0, 12);
    const messages = ['is larger than 33554432 bytes', 'cannot be decompressed', 'was not requested'];
    const urls = [await serve(bomb), await serve(broken), await serve(Buffer.from('x'), 'zstd')];
    for (const [index, url] of urls.entries()) {
      const error = await catchError(createTransport({})(new Request(url)));
      expect(error).toBeInstanceOf(NetworkError);
      expect(String(error)).toContain(messages[index]);
    }
  });
});

it('ends a request at its time limit, however often bytes arrive', async () => {
  const port = await startListening(
    createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'application/json' });
      const drip = setInterval(() => response.write(' '), 10);
      response.on('close', () => clearInterval(drip));
    }),
  );
  const error = await catchError(
    createTransport({ requestTimeoutMs: 1000 })(new Request(`http://127.0.0.1:${port}/x`)),
  );
  expect(error).toBeInstanceOf(TimeoutError);
  expect(error).toMatchObject({ isUnsent: false });
});
