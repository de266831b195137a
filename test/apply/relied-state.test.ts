import { describe, expect, it } from 'vitest';
import { PlanReliances } from '../../src/apply/relied-state.ts';
import type { JsonObject } from '../../src/model/json.ts';
import type { ApplyResult } from '../../src/model/outcome.ts';
import type { Transport } from '../../src/model/transport.ts';
import { isDelete } from '../../src/model/write.ts';
import { listExternalIds } from '../laws/known-ids.ts';
import type { TestResource, TestStack } from '../laws/stack.ts';
import { listTouched, World, type WorldOptions } from '../laws/world.ts';

const BLUE = 'bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
const GREEN = 'bkdhr_2k9XLQdTnSXvQJzqDPzZxhCBmHm';
const LIFECYCLE = { protect: false, ignore: [], settings: {} } as const;

const POOL: TestResource = {
  kind: 'WeightedBackend',
  name: 'pool',
  spec: { description: 'v1', metadata: { canary: 'old' }, backends: { [BLUE]: 90, [GREEN]: 10 } },
  lifecycle: { ...LIFECYCLE, ignore: ['backends', 'metadata'] },
};
const POOL_V2: TestResource = { ...POOL, spec: { ...POOL.spec, description: 'v2' } };

const EDGE: TestResource = {
  kind: 'TCPEdge',
  name: 'edge',
  spec: { description: 'v1', hostports: ['1.tcp.example.net:20001'] },
  lifecycle: LIFECYCLE,
};

const CREDENTIAL: TestResource = { kind: 'Credential', name: 'agent', spec: {}, lifecycle: LIFECYCLE };

/** A world whose client uses the clock of the test. */
function createTimedWorld(options: WorldOptions = {}) {
  const clock = { now: 0 };
  const world = new World({
    clientNow: () => clock.now,
    sleep: async (ms) => {
      clock.now += ms;
    },
    ...options,
  });
  return { world, clock, client: world.connect() };
}

/** The requests, without the list with which an apply ends if it deleted something. */
function listSent(world: World): readonly string[] {
  const sent = world.takeRequests().filter(({ method, path }) => method !== 'GET' || !path.startsWith('/edges/tcp?'));
  return sent.map(({ method, path }) => `${method} ${path.replace(/_[^/?]+/, '_…')}`);
}

function formatOutcomes({ outcomes }: ApplyResult): readonly string[] {
  return outcomes.map((one) => {
    const message = 'message' in one ? `: ${one.message}` : '';
    return `${one.write.id.replace(/@.*/, '')}: ${one.outcome}${message}`;
  });
}

/** Returns the only live resource of a kind. */
function getOnlyResource(world: World, kind: string): JsonObject {
  const [one] = world.resources()[kind] ?? [];
  return one ?? {};
}

/** Changes the only live edge, as another client would. */
async function changeEdge(world: World, body: JsonObject): Promise<void> {
  await world.call('PATCH', `/edges/tcp/${getOnlyResource(world, 'TCPEdge')['id']}`, body);
}

async function planDelete({ world, client }: ReturnType<typeof createTimedWorld>, more: TestStack = []) {
  await world.migrate([EDGE]);
  const plan = await world.plan(more, { client });
  world.takeRequests();
  return plan;
}

describe('a delete', () => {
  it('is sent without another read for five seconds after a list showed the resource', async () => {
    const timed = createTimedWorld();
    const plan = await planDelete(timed);
    timed.clock.now += 5_000;
    await timed.world.apply(plan, timed.client);
    expect(listSent(timed.world)).toEqual(['DELETE /edges/tcp/edgtcp_…']);
  });

  it('is sent after another read if the resource was shown more than five seconds ago', async () => {
    const timed = createTimedWorld();
    const plan = await planDelete(timed);
    timed.clock.now += 5_001;
    await timed.world.apply(plan, timed.client);
    expect(listSent(timed.world)).toEqual(['GET /edges/tcp/edgtcp_…', 'DELETE /edges/tcp/edgtcp_…']);
  });

  it('is sent after another read if the clock was set back', async () => {
    const timed = createTimedWorld();
    const plan = await planDelete(timed);
    timed.clock.now -= 1;
    await timed.world.apply(plan, timed.client);
    expect(listSent(timed.world)).toEqual(['GET /edges/tcp/edgtcp_…', 'DELETE /edges/tcp/edgtcp_…']);
  });

  it.each<[string, JsonObject, string]>([
    ['a field', { description: 'in use again' }, 'description was "v1" and is "in use again" now'],
    ['the mark', { metadata: '{"edgewise":{"stack":"another","name":"edge"}}' }, 'its mark was changed'],
    [
      'the protection',
      { metadata: '{"edgewise":{"stack":"stack.under_test","name":"edge","protect":true}}' },
      'it is protected now',
    ],
  ])('is not sent if %s changed since the plan', async (_, body, why) => {
    const timed = createTimedWorld();
    const { world, client, clock } = timed;
    const plan = await planDelete(timed);
    await changeEdge(world, body);
    clock.now += 10_000;
    world.takeRequests();
    const result = await world.apply(plan, client);
    expect(formatOutcomes(result)).toEqual([
      `delete TCPEdge/edge: failed: not sent, because ${why}. The plan is stale`,
    ]);
    expect(result.outcomes).toMatchObject([{ isStale: true, isUnknown: false, isAuthentication: false }]);
    expect(listSent(world)).toEqual(['GET /edges/tcp/edgtcp_…']);
    expect(world.resources()['TCPEdge']).toHaveLength(1);
  });

  it('skips the writes that depend on it if it is not sent', async () => {
    const timed = createTimedWorld();
    const { world, client, clock } = timed;
    const plan = await planDelete(timed, [{ ...EDGE, name: 'successor' }]);
    await changeEdge(world, { description: 'in use again' });
    clock.now += 10_000;
    const result = await world.apply(plan, client);
    expect(formatOutcomes(result).map((one) => one.replace(/: not sent.*/, ''))).toEqual([
      'delete TCPEdge/edge: failed',
      expect.stringMatching(/^create TCPEdge\/successor: skipped: depends on delete TCPEdge\/edge/),
    ]);
  });

  it('is sent although the token of the credential was delivered since the plan, and the new token is delivered after it', async () => {
    const { world, client } = createTimedWorld();
    const mark = { stack: 'stack.under_test', name: 'agent' };
    const { id } = await world.call('POST', '/credentials', { metadata: JSON.stringify({ edgewise: mark }) });
    const plan = await world.plan([CREDENTIAL], { client });
    const delivered = { ...mark, delivered: true, id: String(id) };
    const metadata = JSON.stringify({ edgewise: delivered });
    const shown = await world.call('PATCH', `/credentials/${id}`, { metadata });
    const write = plan.writes.find(isDelete);
    const reliance = write && new PlanReliances(plan, client.shown).find(write, new Map());
    expect(reliance?.check(shown)).toBe(write);

    const credentials: number[] = [];
    const startDelivery = async () => void credentials.push(world.resources()['Credential']?.length ?? 0);
    const result = await world.apply(plan, client, { startDelivery });
    expect(formatOutcomes(result)).toEqual([
      'create Credential/agent: applied',
      'delete Credential/agent: applied',
      'deliver Credential/agent: applied',
    ]);
    // When the only delivery starts, the old credential is gone.
    expect(credentials).toEqual([1]);
    expect(listTouched(await world.plan([CREDENTIAL]))).toEqual([]);
  });

  it('counts as applied without a second request if the resource is gone', async () => {
    const timed = createTimedWorld();
    const { world, client, clock } = timed;
    const plan = await planDelete(timed);
    await world.call('DELETE', `/edges/tcp/${getOnlyResource(world, 'TCPEdge')['id']}`);
    clock.now += 10_000;
    world.takeRequests();
    const result = await world.apply(plan, client);
    expect(formatOutcomes(result)).toEqual(['delete TCPEdge/edge: applied']);
    expect(listSent(world)).toEqual(['GET /edges/tcp/edgtcp_…']);
  });

  it('reads again before a retry after more than five seconds', async () => {
    const timed = createTimedWorld();
    const plan = await planDelete(timed);
    const { world, clock } = timed;
    world.interpose(withFirstRequestFailing('DELETE', 503, () => (clock.now += 6_000)));
    await world.apply(plan, timed.client);
    expect(listSent(world)).toEqual(['GET /edges/tcp/edgtcp_…', 'DELETE /edges/tcp/edgtcp_…']);
  });

  it('waits for the rate limit before its read, not between the read and the delete', async () => {
    const timed = createTimedWorld({ rateLimit: { requests: 8, windowMs: 60_000 }, concurrency: 4 });
    const { world, client, clock } = timed;
    const at: [string, number][] = [];
    world.interpose((inner) => (request) => {
      at.push([request.method, clock.now]);
      return inner(request);
    });
    await world.migrate([EDGE]);
    const plan = await world.plan([], { client });
    at.length = 0;
    await client.get('/edges/tcp');
    clock.now += 50_000;
    await world.apply(plan, client);
    const [read, remove, check] = at.slice(-3);
    expect([read?.[0], remove?.[0], check?.[0]]).toEqual(['GET', 'DELETE', 'GET']);
    expect((remove?.[1] ?? 0) - (read?.[1] ?? 0)).toBeLessThan(1);
  });

  it('fails if the rate limit allows less than one request in five seconds', async () => {
    const timed = createTimedWorld({ rateLimit: { requests: 1, windowMs: 6_000 } });
    const plan = await planDelete(timed);
    const result = await timed.world.apply(plan, timed.client);
    expect(formatOutcomes(result)).toEqual([
      expect.stringMatching(
        /: \/edges\/tcp\/edgtcp_\w+: not written, because the rate limit let more than five seconds pass after it was read$/,
      ),
    ]);
    expect(listSent(timed.world).filter((one) => one.startsWith('DELETE'))).toEqual([]);
  });

  it('is not sent after a read that a cache answered', async () => {
    const timed = createTimedWorld();
    const { world, client, clock } = timed;
    const plan = await planDelete(timed);
    clock.now += 10_000;
    world.interpose((inner) => async (request) => {
      const response = await inner(request);
      const headers = new Headers(response.headers);
      headers.set('age', '30');
      return new Response(response.body, { status: response.status, headers });
    });
    const result = await world.apply(plan, client);
    expect(formatOutcomes(result)).toEqual([
      expect.stringMatching(/: GET \/edges\/tcp\/edgtcp_\w+: the response comes from a cache/),
    ]);
    expect(listSent(world).filter((one) => one.startsWith('DELETE'))).toEqual([]);
  });
});

describe('a delete of a module', () => {
  const IDS = { edge_id: 'edghts_2k9XLPDYGXNLtxcTVgVsKTFzfRt', id: 'edghtsrt_2k9XLQdTnSXvQJzqDPzZxhCBmHm' };
  const FILTER = `/edges/https/${IDS.edge_id}/routes/${IDS.id}/user_agent_filter`;
  const toRoute = (spec: JsonObject): TestResource => ({
    kind: 'HTTPSEdgeRoute',
    name: 'route',
    spec: { ...IDS, ...spec },
    lifecycle: LIFECYCLE,
  });

  it('is not sent if the module of a route changed since the plan', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([toRoute({ user_agent_filter: { deny: ['bad'] } })]);
    const plan = await world.plan([toRoute({})], { client });
    expect(plan.requests.readAgain).toBe(1);
    await world.call('PUT', FILTER, { deny: ['bad', 'worse'] });
    clock.now += 6_000;
    world.takeRequests();
    const [outcome = ''] = formatOutcomes(await world.apply(plan, client));
    expect(outcome).toContain('user_agent_filter');
    expect(outcome).toContain('The plan is stale');
    expect(listSent(world).filter((one) => one.startsWith('DELETE'))).toEqual([]);
    expect(await world.call('GET', FILTER)).toMatchObject({ deny: ['bad', 'worse'] });
  });

  it('is not sent if the module of an edge changed since the plan', async () => {
    const { world, clock, client } = createTimedWorld();
    const withBackend = { ...EDGE, spec: { ...EDGE.spec, backend: { backend_id: BLUE } } };
    await world.migrate([withBackend]);
    const plan = await world.plan([EDGE], { client });
    const { id } = getOnlyResource(world, 'TCPEdge');
    await world.call('PUT', `/edges/tcp/${id}/backend`, { backend_id: GREEN });
    clock.now += 6_000;
    world.takeRequests();
    const [outcome = ''] = formatOutcomes(await world.apply(plan, client));
    expect(outcome).toContain('The plan is stale');
    expect(listSent(world)).toEqual(['GET /edges/tcp/edgtcp_…']);
    expect(getOnlyResource(world, 'TCPEdge')).toMatchObject({ backend: { backend_id: GREEN } });
  });

  it('is sent although a later write to its edge waits for the id of a resource that could not be created', async () => {
    const { world, client } = createTimedWorld();
    const [policy = ''] = listExternalIds('ipp');
    await world.migrate([{ ...EDGE, spec: { ...EDGE.spec, ip_restriction: { ip_policy_ids: [policy] } } }]);
    const spec = { ...EDGE.spec, backend: { backend_id: 'WeightedBackend/pool' } };
    const plan = await world.plan(
      [
        { ...POOL, lifecycle: LIFECYCLE },
        { ...EDGE, spec },
      ],
      { client },
    );
    world.interpose(withFirstRequestFailing('POST', 403, () => undefined));
    expect(
      formatOutcomes(await world.apply(plan, client)).map((one) => one.replace(/: (POST|depends) .*/, '')),
    ).toEqual([
      'remove ip_restriction of TCPEdge/edge: applied',
      'create WeightedBackend/pool: failed',
      'update TCPEdge/edge: skipped',
    ]);
  });

  it('is not sent if the module that was read again is none of the API', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([toRoute({ user_agent_filter: { deny: ['bad'] } })]);
    const plan = await world.plan([toRoute({})], { client });
    clock.now += 6_000;
    world.interpose(
      (inner) => async (request) =>
        request.method === 'GET' ? Response.json({ deny: [{ bad: true }] }) : inner(request),
    );
    const [outcome = ''] = formatOutcomes(await world.apply(plan, client));
    expect(outcome).toContain(`GET ${FILTER}: the module does not match the API: deny: `);
  });
});

describe('a write that carries ignored values', () => {
  it('sends the ignored values as they are live, and keeps the metadata of others beside the mark', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([POOL]);
    const plan = await world.plan([POOL_V2], { client });
    const pool = getOnlyResource(world, 'WeightedBackend');
    const metadata = JSON.stringify({ ...JSON.parse(String(pool['metadata'])), canary: 'promoted' });
    await world.call('PATCH', `/backends/weighted/${pool['id']}`, { backends: { [BLUE]: 0, [GREEN]: 100 }, metadata });
    clock.now += 6_000;
    world.takeRequests();
    expect(formatOutcomes(await world.apply(plan, client))).toEqual(['update WeightedBackend/pool: applied']);
    expect(listSent(world)).toEqual(['GET /backends/weighted/bkdwd_…', 'PATCH /backends/weighted/bkdwd_…']);
    const after = getOnlyResource(world, 'WeightedBackend');
    expect(after).toMatchObject({ description: 'v2', backends: { [BLUE]: 0, [GREEN]: 100 } });
    expect(JSON.parse(String(after['metadata']))).toMatchObject({ canary: 'promoted' });
    expect(listTouched(await world.plan([POOL_V2]))).toEqual([]);
  });

  it('is not sent if a field of the plan changed', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([POOL]);
    const plan = await world.plan([POOL_V2], { client });
    const backends = { [BLUE]: 90, [GREEN]: 10 };
    await world.call('PATCH', `/backends/weighted/${getOnlyResource(world, 'WeightedBackend')['id']}`, {
      description: 'theirs',
      backends,
    });
    clock.now += 6_000;
    const why = 'description was "v1" and is "theirs" now';
    expect(formatOutcomes(await world.apply(plan, client))).toEqual([
      `update WeightedBackend/pool: failed: not sent, because ${why}. The plan is stale`,
    ]);
    expect(getOnlyResource(world, 'WeightedBackend')).toMatchObject({ description: 'theirs' });
  });

  it('is sent again after an attempt that took effect without a response', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([POOL]);
    const plan = await world.plan([POOL_V2], { client });
    world.interpose(withFirstResponseLost('PATCH', () => (clock.now += 6_000)));
    expect(formatOutcomes(await world.apply(plan, client))).toEqual(['update WeightedBackend/pool: applied']);
    expect(listTouched(await world.plan([POOL_V2]))).toEqual([]);
  });

  it('costs no read if nothing is ignored', async () => {
    const { world, clock, client } = createTimedWorld();
    await world.migrate([EDGE]);
    const plan = await world.plan([{ ...EDGE, spec: { ...EDGE.spec, description: 'v2' } }], { client });
    clock.now += 60_000;
    world.takeRequests();
    await world.apply(plan, client);
    expect(listSent(world)).toEqual(['PATCH /edges/tcp/edgtcp_…']);
    expect(plan.requests.readAgain).toBeUndefined();
  });
});

describe('a release', () => {
  it('keeps metadata and members that others set after the plan', async () => {
    const { world, clock, client } = createTimedWorld();
    const pool = { ...POOL, lifecycle: LIFECYCLE };
    await world.migrate([pool]);
    const plan = await world.plan([], { client, mode: 'release', targets: ['WeightedBackend/pool'] });
    expect(plan.requests.readAgain).toBe(1);
    const live = getOnlyResource(world, 'WeightedBackend');
    const metadata = JSON.stringify({ ...JSON.parse(String(live['metadata'])), canary: 'promoted' });
    await world.call('PATCH', `/backends/weighted/${live['id']}`, { backends: { [BLUE]: 1, [GREEN]: 99 }, metadata });
    clock.now += 6_000;
    world.takeRequests();
    expect(formatOutcomes(await world.apply(plan, client))).toEqual(['release WeightedBackend/pool: applied']);
    expect(listSent(world)).toEqual(['GET /backends/weighted/bkdwd_…', 'PATCH /backends/weighted/bkdwd_…']);
    expect(getOnlyResource(world, 'WeightedBackend')).toMatchObject({
      backends: { [BLUE]: 1, [GREEN]: 99 },
      metadata: '{"canary":"promoted"}',
    });
  });
});

/** Fails the first request with a method, without sending it. */
function withFirstRequestFailing(method: string, status: number, then: () => void): (inner: Transport) => Transport {
  let isOver = false;
  return (inner) => async (request) => {
    if (isOver || request.method !== method) return inner(request);
    isOver = true;
    then();
    return Response.json({ msg: 'not now' }, { status });
  };
}

/** Sends the first request with a method, and loses its response. */
function withFirstResponseLost(method: string, then: () => void): (inner: Transport) => Transport {
  let isOver = false;
  return (inner) => async (request) => {
    const response = await inner(request);
    if (isOver || request.method !== method) return response;
    isOver = true;
    then();
    return Response.json({ msg: 'lost' }, { status: 502 });
  };
}
