import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { createUndiciTransport } from '../../src/client/undici-transport.ts';
import { NetworkError, TimeoutError } from '../../src/model/errors.ts';
import { type Transport, toTransport } from '../../src/model/transport.ts';
import { type FaultLogEntry, listen, parseServerFaults, type Server, withFaults } from '../../src/server/index.ts';
import { createHeaders } from '../by-hand.ts';
import { selectFirst } from '../cases.ts';
import { type Call, getList, getObject, getText } from './caller.ts';
import { BASE_URL, createTestServer } from './test-server.ts';

const HEADERS = createHeaders('admin');

/** A server with faults, its transport, and an undisturbed caller. */
interface FaultyServer {
  readonly send: (method: string, path: string, body?: string) => Promise<Response>;
  /** A caller without faults. */
  readonly call: Call;
  readonly slept: number[];
  readonly faults: FaultLogEntry[];
}

type Reach = (
  server: Server,
  patienceMs: number,
) => Promise<{ readonly transport: Transport; readonly baseUrl: string }>;

const inMemory: Reach = async (server) => ({ transport: server.handle, baseUrl: BASE_URL });

const overSocket: Reach = async (server, headersTimeoutMs) => {
  const listener = await listen(server, { port: 0 });
  const transport = createUndiciTransport({ headersTimeoutMs });
  onTestFinished(async () => {
    await transport.close();
    await listener.close();
  });
  return { transport: toTransport(transport.send), baseUrl: listener.url };
};

/** The longest time of a response on a busy machine, in milliseconds. */
const PATIENCE_MS = 20_000;

async function createFaultyServer(reach: Reach, text: string, patienceMs = PATIENCE_MS): Promise<FaultyServer> {
  const { server, call } = createTestServer();
  const [slept, faults]: [number[], FaultLogEntry[]] = [[], []];
  const faulty = withFaults(server, parseServerFaults(text), {
    ...(reach === inMemory && { sleep: async (ms) => void slept.push(ms) }),
    onFault: (entry) => faults.push(entry),
  });
  const { transport, baseUrl } = await reach(faulty, patienceMs);
  const send = (method: string, path: string, body?: string): Promise<Response> =>
    transport(new Request(`${baseUrl}${path}`, { method, headers: HEADERS, ...(body !== undefined && { body }) }));
  return { send, call, slept, faults };
}

/** Sends a request that meets the faults. Returns the object in its response. */
async function send(trouble: FaultyServer, line: string, body: object) {
  const [method = '', path = ''] = line.split(' ');
  return getObject(JSON.parse(await (await trouble.send(method, path, JSON.stringify(body))).text()));
}

async function countEdges({ call }: FaultyServer): Promise<number> {
  return getList((await call('GET', '/edges/tcp')).body['tcp_edges']).length;
}

const REACHES: readonly (readonly [string, Reach])[] = [
  ['in memory', inMemory],
  ['over a socket', overSocket],
];

// Over a socket, the client waits for seconds until it gives up.
it.each(selectFirst(REACHES))(
  'faults %s never respond, before or after a write took effect, until the client gives up',
  async (_, reach) => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: "POST *", nth: 1, fault: hang }, { on: "POST *", fault: hang, when: after, ms: 60000 }] }',
      1000,
    );
    await expect(trouble.send('POST', '/edges/tcp', '{}')).rejects.toThrow(TimeoutError);
    expect(await countEdges(trouble)).toBe(0);
    await expect(trouble.send('POST', '/edges/tcp', '{}')).rejects.toThrow(TimeoutError);
    expect(await countEdges(trouble)).toBe(1);
    expect(trouble.slept).toEqual(reach === inMemory ? [120_000, 60_000] : []);
  },
);

describe.each(REACHES)('faults %s', (_, reach) => {
  it('respond with 429, with the time to wait if a rule has one', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: "*", nth: 1, fault: throttle }, { on: "*", nth: 2, fault: throttle, retry_after: 7 }] }',
    );
    const answers = [await trouble.send('GET', '/edges/tcp'), await trouble.send('GET', '/edges/tcp')];
    expect(answers.map(({ status, headers }) => [status, headers.get('retry-after')])).toEqual([
      [429, null],
      [429, '7'],
    ]);
    expect((await trouble.send('GET', '/edges/tcp')).status).toBe(200);
  });

  it.each([500, 502, 503, 504])('respond with %i before or after a write took effect', async (code) => {
    const trouble = await createFaultyServer(
      reach,
      `{ rules: [{ on: "POST *", nth: 1, fault: status, code: ${code} }, { on: "POST *", fault: status, code: ${code}, when: after }] }`,
    );
    expect((await trouble.send('POST', '/edges/tcp', '{}')).status).toBe(code);
    expect(await countEdges(trouble)).toBe(0);
    expect((await trouble.send('POST', '/edges/tcp', '{}')).status).toBe(code);
    expect(await countEdges(trouble)).toBe(1);
  });

  it('reset the connection before or after a write took effect', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: "POST *", nth: 1, fault: reset }, { on: "POST *", fault: reset, when: after }] }',
    );
    await expect(trouble.send('POST', '/edges/tcp', '{}')).rejects.toThrow(NetworkError);
    expect(await countEdges(trouble)).toBe(0);
    await expect(trouble.send('POST', '/edges/tcp', '{}')).rejects.toThrow('was lost');
    expect(await countEdges(trouble)).toBe(1);
  });

  it('cut a response in the middle of its body, after the write took effect', async () => {
    const trouble = await createFaultyServer(reach, '{ rules: [{ on: "*", fault: cut }] }');
    const answer = trouble.send('POST', '/edges/tcp', '{}').then((response) => response.text());
    await expect(answer).rejects.toThrow(/was lost/);
    expect(await countEdges(trouble)).toBe(1);
  });

  it('respond with half of a JSON text, as if it were whole', async () => {
    const trouble = await createFaultyServer(reach, '{ rules: [{ on: "*", fault: broken_json }] }');
    const response = await trouble.send('GET', '/edges/tcp');
    expect(response.status).toBe(200);
    await expect(response.json()).rejects.toThrow(SyntaxError);
    expect((await trouble.send('POST', '/edges/tcp', '{}')).status).toBe(201);
    expect(await countEdges(trouble)).toBe(1);
  });

  it('respond with an HTML page before or after a write took effect', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: "POST *", nth: 1, fault: content_type }, { on: "POST *", fault: content_type, when: after }] }',
    );
    const response = await trouble.send('POST', '/edges/tcp', '{}');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/html; charset=utf-8']);
    expect(await response.text()).toContain('<h1>');
    expect(await countEdges(trouble)).toBe(0);
    await trouble.send('POST', '/edges/tcp', '{}');
    expect(await countEdges(trouble)).toBe(1);
  });

  it('leave resources out of a page that claims to be complete', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: GET /edges/tcp, nth: 1, fault: missing }, { on: GET /edges/tcp, fault: missing, resources: 2 }] }',
    );
    for (const _ of [1, 2, 3]) await trouble.call('POST', '/edges/tcp', { body: {} });
    const [first, second] = [await read(trouble, '/edges/tcp'), await read(trouble, '/edges/tcp')];
    expect([first.edges, first.next, second.edges, second.next]).toEqual([2, null, 1, null]);
  });

  it.each([400, 404])('refuse with %i to continue a list at a deleted resource', async (code) => {
    const trouble = await createFaultyServer(
      reach,
      `{ rules: [{ on: GET /edges/tcp, fault: gone_cursor, code: ${code} }] }`,
    );
    for (let count = 0; count < 3; count += 1) await trouble.call('POST', '/edges/tcp', { body: {} });
    const first = (await trouble.call('GET', '/edges/tcp?limit=1')).body;
    const cursor = getText(getObject(getList(first['tcp_edges'])[0])['id']);
    const next = `/edges/tcp?limit=1&before_id=${cursor}`;
    expect((await trouble.send('GET', next)).status).toBe(200);
    await trouble.call('DELETE', `/edges/tcp/${cursor}`);
    expect((await trouble.send('GET', next)).status).toBe(code);
    expect((await trouble.send('GET', '/edges/tcp?limit=1')).status).toBe(200);
    expect((await trouble.call('GET', next)).status).toBe(200);
  });

  it('lose the link to the next page', async () => {
    const trouble = await createFaultyServer(reach, '{ rules: [{ on: "GET *", nth: 2, fault: no_next }] }');
    for (const _ of [1, 2, 3]) await trouble.call('POST', '/edges/tcp', { body: {} });
    expect((await read(trouble, '/edges/tcp?limit=2')).next).not.toBe(null);
    expect(await read(trouble, '/edges/tcp?limit=2')).toMatchObject({ edges: 2, next: null });
  });

  it('count a removed use for a while, and reject what conflicts with it', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: "DELETE /edges/tcp/{id}", fault: late_release, ms: 400 }] }',
    );
    const backend = (await trouble.call('POST', '/backends/weighted', { body: {} })).body;
    const body = { hostports: ['1.tcp.example.net:20001'], backend: { backend_id: String(backend['id']) } };
    const edge = (await trouble.call('POST', '/edges/tcp', { body })).body;
    expect((await trouble.send('DELETE', `/edges/tcp/${edge['id']}`)).status).toBe(204);
    const again = JSON.stringify({ hostports: body.hostports });
    expect((await trouble.send('POST', '/edges/tcp', again)).status).toBe(409);
    expect((await trouble.send('DELETE', `/backends/weighted/${backend['id']}`)).status).toBe(409);
    expect(await countEdges(trouble)).toBe(0);
    await vi.waitUntil(async () => (await trouble.send('POST', '/edges/tcp', again)).status === 201, PATIENCE_MS);
    expect((await trouble.send('DELETE', `/backends/weighted/${backend['id']}`)).status).toBe(204);
  });

  it('store the beginning of metadata, or none of it', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: POST *, fault: cut_metadata, bytes: 4 }, { on: PATCH *, fault: cut_metadata }] }',
    );
    const body = await send(trouble, 'POST /edges/tcp', { metadata: 'metadata' });
    expect(body['metadata']).toBe('meta');
    const path = `/edges/tcp/${body['id']}`;
    expect((await send(trouble, `PATCH ${path}`, { description: 'a' }))['metadata']).toBe('meta');
    expect((await send(trouble, `PATCH ${path}`, { metadata: 'other' }))['metadata']).toBe('');
  });

  it('answer a creation with another resource, before or after it takes effect', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: POST *, nth: "1-2", fault: cached }, { on: POST *, nth: 3, fault: cached, when: after }] }',
    );
    const create = async () => send(trouble, 'POST /credentials', {});
    const list = async () => (await trouble.call('GET', '/credentials')).body['credentials'];
    const first = await create();
    expect(first['token']).toEqual(expect.any(String));
    expect(await create()).toEqual({ ...first, token: null });
    expect(await list()).toHaveLength(1);
    await create();
    expect(await list()).toHaveLength(2);
  });

  it('answer a change or a delete with success, without an effect', async () => {
    const trouble = await createFaultyServer(reach, '{ rules: [{ on: "*", fault: no_effect }] }');
    const body = await send(trouble, 'POST /edges/tcp', { description: 'a' });
    const path = `/edges/tcp/${body['id']}`;
    expect((await send(trouble, `PATCH ${path}`, { description: 'b' }))['description']).toBe('b');
    expect((await trouble.send('DELETE', path)).status).toBe(204);
    expect((await trouble.call('GET', path)).body).toMatchObject({ description: 'a' });
  });

  it('list the state of some changes ago', async () => {
    const trouble = await createFaultyServer(
      reach,
      '{ rules: [{ on: GET /edges/tcp, nth: 1, fault: stale, changes: 2 }, { on: GET /edges/tcp, nth: 2, fault: stale }] }',
    );
    for (const _ of [1, 2, 3]) await trouble.send('POST', '/edges/tcp', '{}');
    await trouble.send('POST', '/edges/tcp', '{"hostports":"wrong"}');
    for (const _ of [1, 2]) await trouble.send('GET', '/credentials');
    const seen = [
      await read(trouble, '/edges/tcp'),
      await read(trouble, '/edges/tcp'),
      await read(trouble, '/edges/tcp'),
    ];
    expect(seen.map(({ edges }) => edges)).toEqual([1, 2, 3]);
  });

  it('list the state of some requests ago, with changed and deleted resources', async () => {
    const trouble = await createFaultyServer(reach, '{ rules: [{ on: GET /edges/tcp, fault: stale, requests: 2 }] }');
    const created = getObject(
      JSON.parse(await (await trouble.send('POST', '/edges/tcp', '{"description":"first"}')).text()),
    );
    const id = getText(created['id']);
    await trouble.send('PATCH', `/edges/tcp/${id}`, '{"description":"second"}');
    await trouble.send('DELETE', `/edges/tcp/${id}`);
    const seen = [
      await read(trouble, '/edges/tcp'),
      await read(trouble, '/edges/tcp'),
      await read(trouble, '/edges/tcp'),
    ];
    expect(seen.map(({ descriptions }) => descriptions)).toEqual([['first'], ['second'], []]);
  });
});

async function read(trouble: FaultyServer, path: string) {
  const page = getObject(JSON.parse(await (await trouble.send('GET', path)).text()));
  const edges = getList(page['tcp_edges']);
  return {
    edges: edges.length,
    descriptions: edges.map(({ description }) => description),
    next: page['next_page_uri'],
  };
}

describe('a faults document', () => {
  const choose = async (text: string, requests: readonly (readonly [method: string, path: string])[]) => {
    const trouble = await createFaultyServer(inMemory, text);
    const statuses = [];
    for (const [method, path] of requests) statuses.push((await trouble.send(method, path)).status);
    return { ...trouble, statuses };
  };
  const lists = (count: number) => Array.from({ length: count }, () => ['GET', '/edges/tcp'] as const);

  it('selects the requests of a fault, and how often at most', async () => {
    const { statuses } = await choose(
      '{ rules: [{ on: "GET *", nth: [1, "3-4", "7-"], times: 4, fault: throttle }] }',
      lists(9),
    );
    expect(statuses).toEqual([429, 200, 429, 429, 200, 200, 429, 200, 200]);
  });

  it('matches a method, a path, a part of a path, or a query', async () => {
    const requests = [
      ['GET', '/edges/tcp'],
      ['DELETE', '/edges/tcp/edgtcp_a'],
      ['GET', '/credentials?limit=5'],
      ['GET', '/credentials'],
    ] as const;
    const meets = async (on: string) =>
      (await choose(`{ rules: [{ on: "${on}", fault: throttle }] }`, requests)).faults.length;
    expect(await meets('*')).toBe(4);
    expect(await meets('GET *')).toBe(3);
    expect(await meets('* /edges/*')).toBe(2);
    expect(await meets('DELETE /edges/tcp/{id}')).toBe(1);
    expect(await meets('GET /edges/{id}')).toBe(1);
    expect(await meets('GET /credentials')).toBe(2);
    expect(await meets('GET /credentials?limit=*')).toBe(1);
    expect(await meets('PUT *')).toBe(0);
  });

  it('derives what a rate decides from its seed', async () => {
    const roll = async (seed: number) =>
      (await choose(`{ seed: ${seed}, rules: [{ on: "*", rate: 0.3, fault: throttle }] }`, lists(200))).statuses.join();
    expect(await roll(1)).toBe(await roll(1));
    expect(await roll(1)).not.toBe(await roll(2));
    const hits = (await roll(1)).split(',').filter((status) => status === '429');
    expect(hits.length).toBeGreaterThan(30);
    expect(hits.length).toBeLessThan(90);
  });

  it('delays responses, also those with another fault, by a time or a range', async () => {
    const { slept, statuses } = await choose(
      '{ rules: [{ on: "*", nth: 1, fault: latency, ms: 5 }, { on: "*", fault: latency, ms: "20-200" }, { on: "*", fault: throttle }] }',
      lists(20),
    );
    expect(slept[0]).toBe(5);
    expect(slept.slice(1).every((ms) => ms >= 20 && ms <= 200)).toBe(true);
    expect(new Set(slept).size).toBeGreaterThan(5);
    expect(new Set(statuses)).toEqual(new Set([429]));
  });

  it('matches paths below the base URL of the request', async () => {
    const { server } = createTestServer();
    const faulty = withFaults(server, parseServerFaults('{ rules: [{ on: GET /edges/tcp, fault: throttle }] }'));
    const answer = await faulty.mountAt(`${BASE_URL}/v2`)(
      new Request(`${BASE_URL}/v2/edges/tcp`, { headers: HEADERS }),
    );
    expect(answer.status).toBe(429);
  });

  it.each([
    '*',
    '* *',
    'GET /*s',
    'GET /openapi.json',
    'DELETE /edges/tcp/edgtcp_1',
    'PATCH /edges/tcp/edgtcp_*',
    'PUT /*{id}/circuit_breaker',
    'GET /edges/{any}/{id}/*',
    'GET /*?limit=*',
  ])('accepts a pattern that an operation can match: %s', (on) => {
    expect(withFaults(createTestServer().server, { rules: [{ on, fault: 'throttle' }] })).toBeDefined();
  });

  it('changes nothing without rules', async () => {
    const { statuses, faults } = await choose('rules: []', lists(3));
    expect([statuses, faults]).toEqual([[200, 200, 200], []]);
  });

  it.each([
    ['', 'It is empty'],
    ['{ rules: [', 'It is not YAML'],
    ['rules: []\n---\nrules: []', 'more than one document'],
    ['{}', 'rules is missing'],
    ['{ rule: [] }', 'It has a member other than `seed`, `rules`'],
    [
      '{ rules: [{ on: "*", fault: cut }, { on: GET *, fault: rest }] }',
      'rules[1].fault (GET *) is `rest`, but must be one of `latency`',
    ],
    ['{ rules: [{ on: GET * }] }', 'rules[0].fault (GET *) is missing'],
    [
      '{ rules: [{ on: GET /edge/tcp, fault: cut }] }',
      'rules[0].on (GET /edge/tcp) matches no operation: did you mean `GET /edges/tcp`?',
    ],
    [
      '{ rules: [{ on: GET /edges/tcp/, fault: cut }] }',
      'rules[0].on (GET /edges/tcp/) matches no operation: did you mean `GET /edges/tcp`?',
    ],
    [
      '{ rules: [{ on: "GET /x/*", fault: cut }] }',
      'rules[0].on (GET /x/*) matches no operation: `GET /openapi.json` lists the paths',
    ],
    [
      '{ rules: [{ on: "*", fault: cut }, { on: "POST /backends/weighted/{id}", fault: status }] }',
      'rules[1].on (POST /backends/weighted/{id}) matches no operation: this path has GET, PATCH, DELETE',
    ],
    [
      '{ rules: [{ on: "POST /credentials?limit=*", fault: cut }] }',
      'rules[0].on (POST /credentials?limit=*) matches no operation: only lists have a query',
    ],
    [
      '{ rules: [{ on: POST *, fault: missing }] }',
      'rules[0].fault (POST *) is never possible here: `missing` is for lists',
    ],
    [
      '{ rules: [{ on: "GET /edges/tcp/{id}", fault: no_next }] }',
      'rules[0].fault (GET /edges/tcp/{id}) is never possible here: `no_next` is for lists',
    ],
    [
      '{ rules: [{ on: DELETE *, fault: broken_json }] }',
      'rules[0].fault (DELETE *) is never possible here: `broken_json` is for responses with a body',
    ],
    ['{ rules: [{ on: GET *, fault: cached }] }', '`cached` is for requests that create'],
    ['{ rules: [{ on: PUT *, fault: cut_metadata }] }', '`cut_metadata` is for requests that create or change'],
    ['{ rules: [{ on: POST *, fault: late_release, ms: 5 }] }', '`late_release` is for requests that change or delete'],
    [
      '{ rules: [{ on: GET *, fault: left_out, fields: [uri, hostport] }] }',
      'rules[0].fields[1] (GET *) is no field of these responses: did you mean `hostports`?',
    ],
    ['{ rules: [{ on: get *, fault: cut }] }', 'rules[0].on (get *) must be `*`, or a method and a path'],
    ['{ rules: [{ on: "*", fault: cut, nth: 0 }] }', 'rules[0].nth (*) is 0, but must be at least 1'],
    ['{ rules: [{ on: "*", fault: cut, nth: "5-3" }] }', 'rules[0].nth (*) ends before it starts'],
    ['{ rules: [{ on: "*", fault: cut, nth: soon }] }', 'rules[0].nth (*) must be a number'],
    ['{ rules: [{ on: "*", fault: cut, rate: 2 }] }', 'rules[0].rate (*) is 2, but must be at most 1'],
    ['{ rules: [{ on: "*", fault: cut, rate: 0.5, nth: 2 }] }', 'rules[0].rate (*) and `nth` are mutually exclusive'],
    ['{ rules: [{ on: "*", fault: latency }] }', 'rules[0].ms (*) is missing'],
    ['{ rules: [{ on: "*", fault: latency, ms: "9-1" }] }', 'rules[0].ms (*) ends before it starts'],
    ['{ rules: [{ on: "*", fault: cut, when: after }] }', 'rules[0].when (*) is not a known field'],
    [
      '{ rules: [{ on: "*", fault: stale, changes: 1, requests: 1 }] }',
      'rules[0].requests (*) and `changes` are mutually exclusive',
    ],
  ])('is refused with the wrong rule: %j', (text, message) => {
    expect(() => parseServerFaults(text)).toThrow(RangeError);
    expect(() => parseServerFaults(text)).toThrow(message);
  });
});

it('sends half of the promised body for a cut over a socket', async () => {
  const { server } = createTestServer();
  const listener = await listen(withFaults(server, parseServerFaults('{ rules: [{ on: "*", fault: cut }] }')), {
    port: 0,
  });
  onTestFinished(() => listener.close());
  const response = await fetch(`${listener.url}/edges/tcp`, { headers: HEADERS });
  const length = Number(response.headers.get('content-length'));
  const received: Uint8Array[] = [];
  const reading = (async () => {
    for await (const chunk of response.body ?? []) received.push(chunk);
  })();
  await expect(reading).rejects.toThrow('terminated');
  expect(length).toBeGreaterThan(0);
  expect(Buffer.concat(received).length).toBe(length >> 1);
  expect(getText(String(Buffer.concat(received)))).toMatch(/^\{/);
});
