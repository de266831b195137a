import { describe, expect, it, vi } from 'vitest';
import { readLive } from '../../src/client/read-live.ts';
import type { AttachedModulesToRead } from '../../src/kinds/paths.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { ApiError, InvariantError, NetworkError } from '../../src/model/errors.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { type Answer, BASE_URL, catchError, createFakeService, toPage } from './fake-service.ts';

const ROUTE = '/edges/https/edghts_1/routes/edghtsrt_1';
const ATTACHED: AttachedModulesToRead = {
  address: 'HTTPSEdgeRoute/shop',
  kind: getKind('HTTPSEdgeRoute'),
  ids: { edge_id: 'edghts_1', id: 'edghtsrt_1' },
  modules: ['circuit_breaker', 'request_headers'],
};

/** An empty page for each owned kind. */
function createEmptyLists(): Record<string, readonly Answer[]> {
  return Object.fromEntries(
    OWNED_KINDS.map((kind) => [`GET ${kind.path}?limit=100`, [toPage(kind.listKey ?? '', [])]]),
  );
}

describe('readLive', () => {
  it('sends one request for each page of a kind and one for each module, and nothing else', async () => {
    const { client, log } = createFakeService({
      ...createEmptyLists(),
      'GET /credentials?limit=100': [toPage('credentials', [{ id: 'cr_2' }], `${BASE_URL}/credentials?p=2`)],
      'GET /credentials?p=2': [toPage('credentials', [{ id: 'cr_1' }])],
    });
    const live = await readLive(client, { kinds: OWNED_KINDS, attachments: [ATTACHED] });
    const modules = ['circuit_breaker', 'request_headers'].map((module) => `GET ${ROUTE}/${module}`);
    const expected = [...Object.keys(createEmptyLists()), 'GET /credentials?p=2', ...modules];
    expect([...log].sort()).toEqual(expected.sort());
    expect(live.requests).toBe(expected.length);
  });

  it('returns resources by kind, in the order of the service, in normal form and with their marks', async () => {
    const metadata = '{"team":"data","edgewise":{"stack":"production","name":"postgres"}}';
    const own = { id: 'edgtcp_2', created_at: '2026-01-31T12:00:00Z', metadata };
    const edge = { ...own, hostports: ['b:2', 'a:1'], backend: null };
    const { client } = createFakeService({
      'GET /edges/tcp?limit=100': [toPage('tcp_edges', [edge, { id: 'edgtcp_1', metadata: '{"edgewise":7}' }])],
    });
    const live = await readLive(client, { kinds: [getKind('TCPEdge')], attachments: [] });
    expect([...live.resources.keys()]).toEqual(['TCPEdge']);
    expect(live.resources.get('TCPEdge')).toMatchObject([
      {
        kind: 'TCPEdge',
        id: 'edgtcp_2',
        createdAt: '2026-01-31T12:00:00Z',
        spec: { hostports: ['a:1', 'b:2'], metadata: { team: 'data' }, backend: null },
        mark: { stack: 'production', name: 'postgres' },
      },
      { id: 'edgtcp_1', mark: undefined, markError: 'it is not an object' },
    ]);
  });

  const CERTIFICATES = 'GET /ssh_user_certificates?limit=100';

  async function readCertificates(...resources: readonly JsonObject[]) {
    const { client } = createFakeService({ [CERTIFICATES]: [toPage('ssh_user_certificates', resources)] });
    const live = await readLive(client, { kinds: [getKind('SSHUserCertificate')], attachments: [] });
    return live.resources.get('SSHUserCertificate')?.map(({ spec }) => spec);
  }

  it('treats a field as empty if the service leaves it out of one resource and shows it in another', async () => {
    const shown = { id: 'sucrt_1', extensions: null, critical_options: { 'force-command': 'x' }, principals: ['a'] };
    const empty = { description: '', metadata: '', extensions: {}, critical_options: {}, principals: [] };
    expect(await readCertificates(shown, { id: 'sucrt_2' })).toEqual([
      { ...empty, critical_options: { 'force-command': 'x' }, principals: ['a'] },
      empty,
    ]);
  });

  it('treats a field as unknown if the service shows it in no resource, unless it may leave out an empty one', async () => {
    expect(await readCertificates({ id: 'sucrt_1' }, { id: 'sucrt_2' })).toEqual([
      { description: '', metadata: '' },
      { description: '', metadata: '' },
    ]);
  });

  it('treats a field that always has a value as unknown if it is left out, also if others show it', async () => {
    const [, spec] =
      (await readCertificates({ id: 'sucrt_1', public_key: 'ssh-ed25519 AAAA' }, { id: 'sucrt_2' })) ?? [];
    expect(spec).toEqual({ description: '', metadata: '' });
  });

  it('returns attached modules by the address of their manifest, with null if they are not set', async () => {
    const { client } = createFakeService({ [`GET ${ROUTE}/request_headers`]: [{ enabled: true, remove: ['X-A'] }] });
    const live = await readLive(client, { kinds: [], attachments: [ATTACHED] });
    const route = live.attachments.get('HTTPSEdgeRoute/shop');
    expect(route).toMatchObject({ kind: 'HTTPSEdgeRoute', id: 'edghtsrt_1' });
    expect(route?.spec).toEqual({
      edge_id: 'edghts_1',
      id: 'edghtsrt_1',
      circuit_breaker: null,
      request_headers: { enabled: true, remove: ['x-a'] },
    });
  });

  it('never contains a token, even if the service shows it', async () => {
    const credential = { id: 'cr_1', token: '2abcSecret', acl: [] };
    const { client } = createFakeService({ 'GET /credentials?limit=100': [toPage('credentials', [credential])] });
    const live = await readLive(client, { kinds: [getKind('Credential')], attachments: [] });
    expect(live.resources.get('Credential')).toHaveLength(1);
    expect(JSON.stringify([...live.resources])).not.toContain('2abcSecret');
  });

  it('returns the same state in any order of the responses', async () => {
    const states = [];
    for (const slow of ['/edges/tcp', '/credentials']) {
      const late = async (request: Request) => {
        const { pathname } = new URL(request.url);
        if (pathname === slow) await new Promise((resolve) => setTimeout(resolve, 5));
        return toPage(pathname === '/credentials' ? 'credentials' : 'tcp_edges', [{ id: `x_${pathname.length}` }]);
      };
      const { client } = createFakeService({
        'GET /edges/tcp?limit=100': [late],
        'GET /credentials?limit=100': [late],
      });
      const kinds = [getKind('TCPEdge'), getKind('Credential')];
      states.push(JSON.stringify([...(await readLive(client, { kinds, attachments: [] })).resources]));
    }
    expect(states[0]).toBe(states[1]);
    expect(states[0]).toMatch(/^\[\["TCPEdge".*\["Credential"/);
  });

  it('counts only its own requests, with retries', async () => {
    const { client } = createFakeService({
      'GET /x': [{}],
      ...createEmptyLists(),
      'GET /credentials?limit=100': listFlakyAnswers(),
    });
    await client.get('/x');
    const live = await readLive(client, { kinds: [getKind('Credential')], attachments: [] });
    expect(live.requests).toBe(2);
  });
});

describe('readLive after a failure', () => {
  it('rejects, starts no further request, and leaves no unhandled rejection', async () => {
    const { client, log } = createFakeService(
      { ...createEmptyLists(), 'GET /edges/tcp?limit=100': [Response.json({ msg: 'no' }, { status: 403 })] },
      { concurrency: 1 },
    );
    const error = await catchError(readLive(client, { kinds: OWNED_KINDS, attachments: [ATTACHED] }));
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toHaveProperty('response.path', '/edges/tcp?limit=100');
    await new Promise(setImmediate);
    expect(log).toEqual(['GET /edges/tcp?limit=100']);
  });

  it('reads no further page and retries nothing', async () => {
    let fail = () => {};
    const failed = new Promise<void>((resolve) => {
      fail = resolve;
    });
    const { client, log } = createFakeService(
      {
        'GET /edges/tcp?limit=100': [async () => failed.then(() => Response.json({}, { status: 401 }))],
        'GET /credentials?limit=100': [async () => failed.then(() => toPage('credentials', [{ id: 'cr_1' }], '?p=2'))],
        'GET /ip_restrictions?limit=100': [Response.json({}, { status: 500 })],
      },
      {
        sleep: async () => {
          fail();
          await new Promise(setImmediate);
        },
      },
    );
    const kinds = ['TCPEdge', 'Credential', 'IPRestriction'].map(getKind);
    expect(await catchError(readLive(client, { kinds, attachments: [] }))).toHaveProperty('response.status', 401);
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(log).toHaveLength(3);
  });

  it('reports no attempts of requests that were given up', async () => {
    const onRetry = vi.fn();
    const whenAborted = async ({ signal }: Request) =>
      new Promise((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)));
    const { client, log } = createFakeService(
      {
        'GET /edges/tcp?limit=100': [toPage('tcp_edges', [], 'https://evil.example.test/')],
        'GET /credentials?limit=100': [whenAborted],
      },
      { onRetry },
    );
    const kinds = ['TCPEdge', 'Credential'].map(getKind);
    const error = await catchError(readLive(client, { kinds, attachments: [] }));
    expect(error).toHaveProperty('message', expect.stringContaining('next_page_uri leads to'));
    await new Promise((resolve) => setTimeout(resolve, 5));
    expect(onRetry).not.toHaveBeenCalled();
    expect(log).toHaveLength(2);
  });

  it('rejects for a module with an invalid body', async () => {
    const { client } = createFakeService({ [`GET ${ROUTE}/circuit_breaker`]: [{ enabled: true, num_buckets: 'ten' }] });
    const error = await catchError(readLive(client, { kinds: [], attachments: [ATTACHED] }));
    expect(error).toBeInstanceOf(NetworkError);
    expect(error).toHaveProperty(
      'message',
      `GET ${ROUTE}/circuit_breaker: the module does not match the API: num_buckets: Invalid input: expected number, received string`,
    );
  });

  it('rejects for a module that the kind does not have', async () => {
    const { client } = createFakeService({ [`GET ${ROUTE}/backend`]: [{ enabled: true }] });
    const attachment = { ...ATTACHED, modules: ['backend'] };
    expect(await catchError(readLive(client, { kinds: [], attachments: [attachment] }))).toBeInstanceOf(InvariantError);
  });

  it('ends when its caller aborts', async () => {
    const reason = new Error('interrupted');
    const { client, log } = createFakeService(createEmptyLists());
    const request = { kinds: OWNED_KINDS, attachments: [], signal: AbortSignal.abort(reason) };
    expect(await catchError(readLive(client, request))).toBe(reason);
    expect(log).toEqual([]);
  });

  it('reads no further page after an abort', async () => {
    const interrupt = new AbortController();
    const reason = new Error('interrupted');
    const { client, log } = createFakeService({
      'GET /credentials?limit=100': [
        () => {
          interrupt.abort(reason);
          return toPage('credentials', [{ id: 'cr_1' }], '?p=2');
        },
      ],
    });
    const request = { kinds: [getKind('Credential')], attachments: [], signal: interrupt.signal };
    expect(await catchError(readLive(client, request))).toBe(reason);
    expect(log).toHaveLength(1);
  });
});

function listFlakyAnswers(): readonly Answer[] {
  return [new Response('', { status: 503 }), toPage('credentials', [])];
}
