import assert from 'node:assert/strict';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { createCaller, getList, getText } from '../server/caller.ts';
import type { Prepare } from './steps/count.ts';

async function createServerWith(count: number) {
  const existing = Array.from({ length: count }, (_, index) => ({
    kind: 'TCPEdge',
    id: `edgtcp_${String(index).padStart(27, '0')}`,
    createdAt: '2026-01-01T00:00:00Z',
    spec: {
      description: `edge ${index}`,
      hostports: [`e${index}.example.net:443`],
      ip_restriction: { ip_policy_ids: ['ipp_1'] },
    },
    computed: {},
  }));
  const pools = Array.from({ length: count }, (_, index) => ({
    kind: 'WeightedBackend',
    id: `bkdwd_${String(index).padStart(27, '0')}`,
    createdAt: '2026-01-01T00:00:00Z',
    spec: { backends: {} },
    computed: {},
  }));
  const apiKeys = [parseApiKey('admin:admin')];
  const server = createServer({ apiKeys, idSeed: 'sizes', existing: [...existing, ...pools], now: () => new Date(0) });
  const call = createCaller({
    transport: server.handle,
    baseUrl: 'http://x.test',
    key: 'admin',
    versionHeader: 'Service-Version',
  });
  return { call, existing };
}

type World = Awaited<ReturnType<typeof createServerWith>>;

/** Sends one of each request, and of each request that is rejected after a search. */
async function sendAll({ call, existing }: World, turn: number): Promise<void> {
  const [oldest, middle, newest] = [existing[0], existing[existing.length >> 1], existing.at(-turn)].map(
    (one) => one?.id ?? '',
  );
  const first = await call('GET', '/edges/tcp');
  assert.equal(getList(first.body['tcp_edges']).length, 100);
  assert.equal((await call('GET', `/edges/tcp?limit=10&before_id=${middle}`)).status, 200);
  assert.equal((await call('GET', `/edges/tcp/${oldest}`)).status, 200);
  const pool = await call('POST', '/backends/weighted', { body: {} });
  const poolId = getText(pool.body['id']);
  const made = await call('POST', '/edges/tcp', {
    body: { hostports: ['new.example.net:443'], backend: { backend_id: poolId } },
  });
  const id = getText(made.body['id']);
  assert.equal((await call('POST', '/edges/tcp', { body: { hostports: ['e5.example.net:443'] } })).status, 409);
  assert.equal((await call('POST', '/edges/tcp', { body: { backend: { backend_id: 'bkdwd_nobody' } } })).status, 400);
  assert.equal((await call('DELETE', `/backends/weighted/${poolId}`)).status, 409);
  assert.equal((await call('PATCH', `/edges/tcp/${id}`, { body: { hostports: ['e7.example.net:443'] } })).status, 409);
  assert.equal(
    (await call('PATCH', `/edges/tcp/${id}`, { body: { hostports: ['other.example.net:443'] } })).status,
    200,
  );
  assert.equal((await call('DELETE', `/edges/tcp/${id}/backend`)).status, 204);
  assert.equal((await call('DELETE', `/edges/tcp/${id}`)).status, 204);
  assert.equal((await call('DELETE', `/edges/tcp/${newest}`)).status, 204);
  assert.equal((await call('GET', `/edges/tcp?before_id=${newest}`)).status, 200);
}

/** Prepares requests to a server with so many resources of two kinds. Work that only the first request does is not counted. */
export const prepareRequests: Prepare = async (count) => {
  const world = await createServerWith(count);
  await sendAll(world, 1);
  return () => sendAll(world, 2);
};

/** Prepares the same requests, after nearly half of the resources were deleted. */
export const prepareAfterDeletes: Prepare = async (count) => {
  const world = await createServerWith(count);
  for (const { id } of world.existing.slice(count * 0.55, -2)) await world.call('DELETE', `/edges/tcp/${id}`);
  await sendAll(world, 1);
  return () => sendAll(world, 2);
};
