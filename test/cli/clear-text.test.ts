import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

async function listWarnings(command: string, env: Readonly<Record<string, string>>): Promise<readonly string[]> {
  const { edgewise } = await createWorkspace({ 'stack.yaml': `${STACK}${toEdge('a', 20001)}` });
  const { stderr, exitCode } = await edgewise(command, { env });
  expect(exitCode, stderr).toBe(0);
  return stderr.split('\n').filter((line) => line.startsWith('Warning: '));
}

describe('the API key in clear text', () => {
  it.each([
    ['http://api.example.com', {}, 'requests to http://api.example.com are not encrypted'],
    ['http://api.example.com:8080/', {}, 'requests to http://api.example.com:8080 are not encrypted'],
    ['HTTP://10.0.0.7', {}, 'requests to http://10.0.0.7 are not encrypted'],
    ['http://localhost.example.com', {}, 'requests to http://localhost.example.com are not encrypted'],
    ['http://127.example.com', {}, 'requests to http://127.example.com are not encrypted'],
    ['http://[2001:db8::1]', {}, 'requests to http://[2001:db8::1] are not encrypted'],
    ['http://api.example.com', { http_proxy: 'http://127.0.0.1:3128' }, 'requests to http://api.example.com are not'],
    [
      'http://localhost:4750',
      { http_proxy: 'http://u:hunter2@proxy.example.net:3128' },
      'the proxy proxy.example.net:3128',
    ],
    [
      'http://localhost:4750',
      { ALL_PROXY: 'proxy.example.net', NO_PROXY: 'localhost:80' },
      'the proxy proxy.example.net',
    ],
    ['http://127.0.0.1:4750', { http_proxy: 'http://10.1.1.1:3128', NO_PROXY: 'localhost' }, 'the proxy 10.1.1.1:3128'],
  ])('causes one warning: %s %o', async (baseUrl, env, text) => {
    for (const command of ['plan', 'apply --yes', 'export']) {
      const warnings = await listWarnings(command, { EDGEWISE_BASE_URL: baseUrl, ...env });
      expect(warnings).toHaveLength(1);
      expect(warnings[0]).toContain(text);
      expect(warnings[0]).not.toContain('hunter2');
    }
  });

  it.each([
    ['https://api.example.com', { HTTPS_PROXY: 'http://proxy.example.net:3128' }],
    ['https://api.example.com', { http_proxy: 'http://proxy.example.net:3128' }],
    ['http://localhost:4750', {}],
    ['http://api.localhost', {}],
    ['http://127.0.0.1:4750', {}],
    ['http://127.9.9.9', {}],
    ['http://[::1]:4750', {}],
    ['http://localhost:4750', { http_proxy: 'http://127.0.0.1:3128' }],
    ['http://localhost:4750', { http_proxy: 'http://proxy.example.net:3128', NO_PROXY: '.example.com, localhost' }],
    ['http://localhost:4750', { http_proxy: 'http://proxy.example.net:3128', NO_PROXY: 'localhost:4750' }],
    ['http://[::1]:4750', { http_proxy: 'http://proxy.example.net:3128', NO_PROXY: '[::1]' }],
    ['http://api.localhost', { http_proxy: 'http://proxy.example.net:3128', NO_PROXY: '*' }],
    ['http://localhost:4750', { HTTP_PROXY: 'http://proxy.example.net:3128' }],
    ['embedded:', {}],
  ])('causes no warning: %s %o', async (baseUrl, env) => {
    expect(await listWarnings('plan', { EDGEWISE_BASE_URL: baseUrl, ...env })).toEqual([]);
  });
});
