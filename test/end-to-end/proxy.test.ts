import { once } from 'node:events';
import { createServer } from 'node:http';
import { expect, it, onTestFinished } from 'vitest';
import { createCheckout } from '../hostile/listener.ts';
import { STACK } from '../hostile/secret-values.ts';
import { runEdgewise } from './processes.ts';

/** The packed command loads only a part of the module that opens a tunnel: no needed part may be missing. */

it('reaches a service with HTTPS through a tunnel of the proxy, which does not see the key', async () => {
  const asked: string[] = [];
  const proxy = createServer().on('connect', ({ url, rawHeaders }, socket) => {
    asked.push([url, ...rawHeaders].join('\n'));
    // A rejected client may reset the connection instead of ending it.
    socket.on('error', () => undefined);
    socket.end('HTTP/1.1 403 Forbidden\r\n\r\n');
  });
  proxy.listen(0, '127.0.0.1');
  await once(proxy, 'listening');
  onTestFinished(() => {
    proxy.close();
  });
  const address = proxy.address();
  if (address === null || typeof address === 'string') throw new Error('It listens on no port');
  const folder = await createCheckout({ 'a.yaml': STACK });
  const key = 'k3y-of-the-pipeline-4711';
  const { exitCode, stderr } = await runEdgewise(['plan', folder], {
    EDGEWISE_BASE_URL: 'https://service.invalid',
    EDGEWISE_API_KEY: key,
    HTTPS_PROXY: `http://127.0.0.1:${address.port}`,
  });
  expect(exitCode).toBe(1);
  expect(stderr).toContain('Proxy response (403)');
  expect(asked[0]).toMatch(/^service\.invalid:443\n/);
  expect(asked.join('\n')).not.toContain(key);
});
