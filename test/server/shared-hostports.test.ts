import { expect, it } from 'vitest';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { createCaller } from './caller.ts';

const TAKEN = 'one.example.net:443';

/** Two edges with the same hostport, as another service may allow. */
function createServerWithSharedHostport() {
  const existing = ['a', 'b'].map((letter) => ({
    kind: 'TCPEdge',
    id: `edgtcp_${letter.repeat(27)}`,
    createdAt: '2026-01-01T00:00:00Z',
    spec: { hostports: [TAKEN] },
    computed: {},
  }));
  const server = createServer({ apiKeys: [parseApiKey('admin:admin')], existing });
  const call = createCaller({
    transport: server.handle,
    baseUrl: 'http://x.test',
    key: 'admin',
    versionHeader: 'Service-Version',
  });
  const [first, second] = existing.map(({ id }) => `/edges/tcp/${id}`);
  return { call, first: String(first), second: String(second) };
}

it('accepts an update without the value that two resources have, and refuses one with it', async () => {
  const { call, first } = createServerWithSharedHostport();
  expect((await call('PATCH', first, { body: { description: 'Mine' } })).status).toBe(200);
  expect((await call('PATCH', first, { body: { hostports: [TAKEN] } })).status).toBe(409);
});

it.each(['first', 'second'] as const)(
  'frees a value after the %s of two resources and then the other one free it',
  async (which) => {
    const { call, first, second } = createServerWithSharedHostport();
    expect((await call('POST', '/edges/tcp', { body: { hostports: [TAKEN] } })).status).toBe(409);
    const [one, other] = which === 'first' ? [first, second] : [second, first];
    expect((await call('PATCH', one, { body: { hostports: [] } })).status).toBe(200);
    expect((await call('POST', '/edges/tcp', { body: { hostports: [TAKEN] } })).status).toBe(409);
    expect((await call('DELETE', other)).status).toBe(204);
    expect((await call('POST', '/edges/tcp', { body: { hostports: [TAKEN] } })).status).toBe(201);
  },
);
