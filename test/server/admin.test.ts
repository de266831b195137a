import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { setupServer } from 'msw/node';
import { describe, expect, it, onTestFinished } from 'vitest';
import type { Json, JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import {
  type AdminServerOptions,
  createAccounts,
  createAdminServer,
  createServer,
  listen,
  parseApiKey,
} from '../../src/server/index.ts';
import { createMswHandlers } from '../../src/server/msw.ts';
import { isInstalled } from '../pipelines/tools.ts';
import { type Call, createCaller, getList, getObject, getText } from './caller.ts';
import { START } from './test-server.ts';

const BASE_URL = 'https://api.example.test';
const KEYS = ['admin:admin', 'member'].map(parseApiKey);

function createTested(options: Partial<AdminServerOptions> = {}) {
  return createAdminServer({ apiKeys: KEYS, now: () => new Date(START), ...options });
}

/** Calls the API and the paths of admins. */
function createCalls(transport: Transport, { baseUrl = BASE_URL, key = 'admin' } = {}): Call {
  return createCaller({ transport, baseUrl, key, versionHeader: 'Service-Version' });
}

const listDescriptions = async (call: Call): Promise<readonly string[]> =>
  getList((await call('GET', '/credentials')).body['credentials']).map(({ description }) => getText(description));

const listRequests = async (call: Call): Promise<readonly JsonObject[]> =>
  getList((await call('GET', '/_edgewise/requests')).body['requests']);

const create = (call: Call, description: string, more: JsonObject = {}) =>
  call('POST', '/credentials', { body: { description, ...more } });

/** The ways in which tests reach a server. */
const WAYS: readonly (readonly [string, (server: ReturnType<typeof createTested>) => Promise<Call> | Call])[] = [
  ['as a function', (server) => createCalls(server.handle)],
  [
    'over a socket',
    async (server) => {
      const { url, close } = await listen(server, { port: 0 });
      onTestFinished(close);
      return createCalls(fetch, { baseUrl: url });
    },
  ],
  [
    'through msw, below a base URL with a path',
    (server) => {
      const network = setupServer(...createMswHandlers(server, `${BASE_URL}/v2`));
      network.listen({ onUnhandledFrame: 'error' });
      onTestFinished(() => network.close());
      return createCalls(fetch, { baseUrl: `${BASE_URL}/v2` });
    },
  ],
];

describe.each(WAYS)('a server that tests drive, %s', (_, reach) => {
  it('goes back to its seed', async () => {
    const call = await reach(createTested({ seed: { resources: { Credential: [{ description: 'seeded' }] } } }));
    await create(call, 'new');
    const [newest = {}] = getList((await call('GET', '/credentials')).body['credentials']);
    await call('DELETE', `/credentials/${getText(newest['id'])}`);
    await create(call, 'newer');
    expect((await call('POST', '/_edgewise/reset')).status).toBe(204);
    expect(await listDescriptions(call)).toEqual(['seeded']);
    expect(await listRequests(call)).toHaveLength(1);
  });

  it('lists the requests that it received, also those that a fault answered', async () => {
    const call = await reach(createTested({ faults: { rules: [{ on: 'POST *', nth: 2, fault: 'throttle' }] } }));
    await create(call, 'a');
    await create(call, 'b');
    await call('GET', '/credentials?limit=1');
    expect(await listRequests(call)).toEqual([
      {
        method: 'POST',
        path: '/credentials',
        body: { description: 'a' },
        at: expect.any(String),
        status: 201,
        faults: [],
      },
      {
        method: 'POST',
        path: '/credentials',
        body: { description: 'b' },
        at: expect.any(String),
        status: 429,
        faults: ['throttle'],
      },
      { method: 'GET', path: '/credentials?limit=1', at: expect.any(String), status: 200, faults: [] },
    ]);
  });

  it('replaces its faults, and has the first ones again after a reset', async () => {
    const call = await reach(createTested({ faults: { rules: [{ on: 'POST *', nth: 1, fault: 'throttle' }] } }));
    expect((await create(call, 'a')).status).toBe(429);
    const rules = [{ on: 'POST *', fault: 'status', code: 503 }];
    expect((await call('PUT', '/_edgewise/faults', { body: { rules } })).status).toBe(204);
    expect((await create(call, 'a')).status).toBe(503);
    const wrong = await call('PUT', '/_edgewise/faults', { body: { rules: [{ on: 'GET /edge', fault: 'cut' }] } });
    expect([wrong.status, wrong.body['msg']]).toEqual([400, expect.stringMatching(/^rules\[0\]\.on \(GET \/edge\)/)]);
    expect((await create(call, 'a')).status).toBe(503);
    await call('POST', '/_edgewise/reset');
    expect([(await create(call, 'a')).status, (await create(call, 'a')).status]).toEqual([429, 201]);
  });

  it('moves its clock, which goes back at a reset', async () => {
    const call = await reach(createTested());
    const move = async (body: Json) => (await call('POST', '/_edgewise/clock', { body })).body['now'];
    expect(await move({ advance_seconds: 90 })).toBe('2026-01-31T12:01:30.000Z');
    expect((await create(call, 'a')).body['created_at']).toBe('2026-01-31T12:01:30Z');
    expect(await move({ now: '2030-01-01T00:00:00Z' })).toBe('2030-01-01T00:00:00.000Z');
    for (const body of [{}, { advance_seconds: '1' }, { now: 'soon' }, { advance_seconds: 1e12 }])
      expect((await call('POST', '/_edgewise/clock', { body })).status).toBe(400);
    await call('POST', '/_edgewise/reset');
    expect((await create(call, 'a')).body['created_at']).toBe(START);
  });

  it('has its snapshot in a response', async () => {
    const server = createTested();
    const call = await reach(server);
    await create(call, 'kept');
    const { status, body } = await call('GET', '/_edgewise/snapshot');
    expect([status, body]).toEqual([200, server.snapshot()]);
  });
});

describe('the paths of admins', () => {
  const PATHS = [
    ['POST', '/_edgewise/reset'],
    ['GET', '/_edgewise/requests'],
    ['PUT', '/_edgewise/faults'],
    ['POST', '/_edgewise/clock'],
    ['GET', '/_edgewise/snapshot'],
  ] as const;

  it.each(PATHS)('are for admins: %s %s', async (method, path) => {
    const { handle } = createTested();
    expect((await createCalls(handle, { key: 'member' })(method, path)).status).toBe(403);
    expect((await createCalls(handle, { key: 'wrong' })(method, path)).status).toBe(401);
    expect((await createCalls(handle)(method, path, { headers: { authorization: undefined } })).status).toBe(401);
  });

  it.each(PATHS)('are closed on other servers: %s %s', async (method, path) => {
    const { handle } = createServer({ apiKeys: KEYS });
    expect((await createCalls(handle)(method, path)).status).toBe(404);
  });

  it('name no others', async () => {
    const call = createCalls(createTested().handle);
    for (const [method, path] of [
      ['GET', '/_edgewise/reset'],
      ['GET', '/_edgewise/'],
      ['GET', '/_edgewise/files'],
    ] as const)
      expect(await call(method, path)).toMatchObject({ status: 404, body: { error_code: 'not_found' } });
  });

  it('need a key that is no secret of everyone, and an admin', () => {
    expect(() => createTested({ apiKeys: [parseApiKey('dev:admin')] })).toThrow('everyone knows the API key `dev`');
    expect(() => createTested({ apiKeys: [parseApiKey('a')] })).toThrow('no API key is that of an admin');
  });

  it('are on a loopback address only, whatever is around the server', async () => {
    const server = createTested().behind((send) => send);
    await expect(listen(server, { port: 0, host: '0.0.0.0' })).rejects.toThrow('on a loopback address only');
  });
});

describe('the health of a server', () => {
  it('is answered without a key, whatever its faults are, and for its own names only', async () => {
    const server = createTested({ faults: { rules: [{ on: '*', fault: 'reset' }] } });
    for (const one of [server, createServer()]) {
      const { url, close } = await listen(one, { port: 0 });
      onTestFinished(close);
      const healthy = await fetch(`${url}/_edgewise/health`);
      expect([healthy.status, await healthy.json()]).toEqual([200, { status: 'ok' }]);
      expect((await fetch(`${url}/_edgewise/health`, { method: 'HEAD' })).status).toBe(200);
      const { stdout } = await promisify(execFile)(process.execPath, ['--input-type=module', '-e', FOREIGN, url]);
      expect(stdout).toBe('421');
    }
    expect(server.listRequests()).toEqual([]);
  });
});

/** A program that asks for the health with another host in its header. */
const FOREIGN = `import { get } from 'node:http';
get(process.argv[1] + '/_edgewise/health', { headers: { host: 'evil.example' } }, ({ statusCode }) => process.stdout.write(String(statusCode)));`;

describe('the list of requests', () => {
  it('has no key and no secret', async () => {
    const server = createTested({ apiKeys: [parseApiKey('key-of-an-admin:admin')] });
    const call = createCalls(server.handle, { key: 'key-of-an-admin' });
    const policy = {
      inbound: [{ actions: [{ type: 'log', config: { api_token: 'hidden', metadata: { a: 'my key-of-an-admin' } } }] }],
    };
    await call('POST', '/edges/tcp', { body: { policy, metadata: '{"password":1}' } });
    await call('GET', '/edges/tcp?before_id=key-of-an-admin');
    await call('PUT', '/edges/https/edghts_1/routes/edghtsrt_1/request_headers', {
      body: { add: { Authorization: 'Bearer secret', 'x-plain': 'shown' } },
    });
    const text = JSON.stringify(server.listRequests());
    expect(text).not.toMatch(/of-an-admin|"hidden"|Bearer/);
    expect(text).toContain('"x-plain":"shown"');
    expect(text).toContain('"api_token":"(hidden)"');
  });

  it('keeps the last thousand', async () => {
    const server = createTested();
    const call = createCalls(server.handle);
    for (let index = 0; index < 1_001; index += 1) await call('GET', `/edges/tcp/edgtcp_${index}`);
    expect(server.listRequests()).toHaveLength(1_000);
    expect(server.listRequests()[0]?.path).toBe('/edges/tcp/edgtcp_1');
  });
});

describe('accounts', () => {
  it('are each of one key, with resources, requests, faults and a clock of their own', async () => {
    const accounts = createAccounts(['a:admin', 'b:admin'].map(parseApiKey), (apiKey) =>
      createTested({ apiKeys: [apiKey] }),
    );
    const { url, close } = await listen(accounts, { port: 0 });
    onTestFinished(close);
    const [a, b] = [createCalls(fetch, { baseUrl: url, key: 'a' }), createCalls(fetch, { baseUrl: url, key: 'b' })];
    await Promise.all([create(a, 'of a'), create(b, 'of b')]);
    await b('PUT', '/_edgewise/faults', { body: { rules: [{ on: 'POST *', fault: 'throttle' }] } });
    expect([(await create(a, 'again')).status, (await create(b, 'again')).status]).toEqual([201, 429]);
    expect((await listRequests(b)).map(({ body }) => getObject(body)['description'])).toEqual(['of b', 'again']);
    await a('POST', '/_edgewise/reset');
    expect([await listDescriptions(a), await listDescriptions(b)]).toEqual([[], ['of b']]);
    expect((await createCalls(fetch, { baseUrl: url, key: 'c' })('GET', '/credentials')).status).toBe(401);
    expect(accounts.find('b')?.snapshot().resources['Credential']).toHaveLength(1);
    const mounted = accounts.mountAt(`${BASE_URL}/v2`);
    expect(await listDescriptions(createCalls(mounted, { baseUrl: `${BASE_URL}/v2`, key: 'b' }))).toEqual(['of b']);
  });
});

it.skipIf(!isInstalled('curl'))('does what the page shows with curl', async () => {
  const page = readFileSync('docs/reference/server.md', 'utf8');
  const [, commands = ''] = /^```sh\nedgewise serve --admin --api-key tests:admin &\n(.*?)^```/ms.exec(page) ?? [];
  const server = createTested({ apiKeys: [parseApiKey('tests:admin')] });
  const { url, close } = await listen(server, { port: 0 });
  onTestFinished(close);
  const script = `set -e\n${commands.replaceAll('http://127.0.0.1:4750', url).replaceAll(/^(admin|curl) .*?(?= {2,}#|$)/gm, '$&; echo')}`;
  const { stdout } = await promisify(execFile)('bash', ['-c', script]);
  expect(stdout.split('\n')).toEqual([
    '',
    '{"requests":[]}',
    '',
    '{"now":"2026-01-31T13:00:00.000Z"}',
    JSON.stringify(server.snapshot()),
    '{"status":"ok"}',
    '',
  ]);
  expect((await create(createCalls(server.handle, { key: 'tests' }), 'a')).status).toBe(429);
});
