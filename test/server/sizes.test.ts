import { afterAll, beforeAll, expect, it } from 'vitest';
import { StepCounter } from '../count-steps.ts';
import { describeLong } from '../effort.ts';
import { createCaller, listOf, textOf } from './caller.ts';

/** The same requests take the same steps, however much the server holds: counted by the engine, for every block of its code. */

const [FEW, MANY] = [500, 10_000];

const counter = new StepCounter();

beforeAll(() => counter.start());

afterAll(() => counter.stop());

async function createServerWith(count: number) {
  const { createServer, parseApiKey } = await import('../../src/server/index.ts');
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

/** One of each request, and of each refusal that looks for something. */
async function sendAll({ call, existing }: World, turn: number): Promise<void> {
  const [oldest, middle, newest] = [existing[0], existing[existing.length >> 1], existing.at(-turn)].map(
    (one) => one?.id ?? '',
  );
  const first = await call('GET', '/edges/tcp');
  expect(listOf(first.body['tcp_edges'])).toHaveLength(100);
  expect((await call('GET', `/edges/tcp?limit=10&before_id=${middle}`)).status).toBe(200);
  expect((await call('GET', `/edges/tcp/${oldest}`)).status).toBe(200);
  const pool = await call('POST', '/backends/weighted', { body: {} });
  const poolId = textOf(pool.body['id']);
  const made = await call('POST', '/edges/tcp', {
    body: { hostports: ['new.example.net:443'], backend: { backend_id: poolId } },
  });
  const id = textOf(made.body['id']);
  expect((await call('POST', '/edges/tcp', { body: { hostports: ['e5.example.net:443'] } })).status).toBe(409);
  expect((await call('POST', '/edges/tcp', { body: { backend: { backend_id: 'bkdwd_nobody' } } })).status).toBe(400);
  expect((await call('DELETE', `/backends/weighted/${poolId}`)).status).toBe(409);
  expect((await call('PATCH', `/edges/tcp/${id}`, { body: { hostports: ['e7.example.net:443'] } })).status).toBe(409);
  expect((await call('PATCH', `/edges/tcp/${id}`, { body: { hostports: ['other.example.net:443'] } })).status).toBe(
    200,
  );
  expect((await call('DELETE', `/edges/tcp/${id}/backend`)).status).toBe(204);
  expect((await call('DELETE', `/edges/tcp/${id}`)).status).toBe(204);
  expect((await call('DELETE', `/edges/tcp/${newest}`)).status).toBe(204);
  expect((await call('GET', `/edges/tcp?before_id=${newest}`)).status).toBe(200);
}

/** How often the block of the sources ran that ran most often. What the first requests do once is not counted. */
async function measure(world: World): Promise<number> {
  await sendAll(world, 1);
  return Math.max(...(await counter.count(() => sendAll(world, 2))).values());
}

describeLong('a request', () => {
  it('takes no more steps on many resources than on few', async () => {
    const few = await measure(await createServerWith(FEW));
    const many = await measure(await createServerWith(MANY));
    expect(few).toBeGreaterThan(100);
    expect(many).toBeLessThan(few * 2);
  });

  it('does not go past what is gone', async () => {
    const world = await createServerWith(MANY);
    for (const { id } of world.existing.slice(MANY * 0.55, -2)) await world.call('DELETE', `/edges/tcp/${id}`);
    const few = await measure(await createServerWith(FEW));
    expect(await measure(world)).toBeLessThan(few * 2);
  });
});
