import { describe, expect, it } from 'vitest';
import { createServer, parseServerSeed, type ServerSeed } from '../../src/server/index.ts';
import { getList, getText } from './caller.ts';
import { ED25519_KEY } from './ssh-keys.ts';
import { createTestServer, START } from './test-server.ts';

/** One resource of each kind, as a person writes it. */
const ACCOUNT: ServerSeed = {
  resources: {
    TCPEdge: [
      { description: 'older', created_at: '2025-01-01T00:00:00+01:00', backend: { backend_id: 'bkdwd_pool' } },
      { id: 'edgtcp_newer', hostports: ['a.example.com:1'], policy: { inbound: { actions: { type: 'deny' } } } },
    ],
    WeightedBackend: [{ id: 'bkdwd_pool', backends: { bkdtg_1: 1 } }],
    IPRestriction: [{ type: 'api', enforced: true, ip_policy_ids: ['ipp_office'] }],
    AgentIngress: [
      { domain: 'agents.example.com', certificate_management_policy: {}, created_at: '2026-01-01T00:00:00Z' },
    ],
    Credential: [{ acl: ['bind:*'] }],
    SSHUserCertificate: [{ id: 'sucrt_1', public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1' }],
    HTTPSEdge: [{ id: 'edghts_1', mutual_tls: { certificate_authority_ids: ['ca_1'] } }],
    HTTPSEdgeRoute: [{ edge_id: 'edghts_1', id: 'edghtsrt_1', user_agent_filter: { deny: ['Bot'] } }],
    AbuseReport: [{ id: 'abrp_1', urls: ['https://phishing.example.com/'] }],
  },
};

const PATHS = [
  '/edges/tcp',
  '/backends/weighted',
  '/ip_restrictions',
  '/agent_ingresses',
  '/credentials',
  '/ssh_user_certificates',
  '/edges/https/edghts_1/mutual_tls',
  '/edges/https/edghts_1/routes/edghtsrt_1/user_agent_filter',
  '/abuse_reports/abrp_1',
];

async function readAll({ call }: ReturnType<typeof createTestServer>): Promise<unknown> {
  const answers = [];
  for (const path of PATHS) answers.push(await call('GET', path));
  return answers.map(({ status, body }) => ({ status, body }));
}

describe('a seed', () => {
  it('is the first state of the server, oldest first', async () => {
    const { call } = createTestServer({ seed: ACCOUNT });
    const { body } = await call('GET', '/edges/tcp');
    expect(getList(body['tcp_edges'])).toMatchObject([
      { id: 'edgtcp_newer', created_at: START, hostports: ['a.example.com:1'] },
      { description: 'older', created_at: '2024-12-31T23:00:00Z', backend: { backend: { id: 'bkdwd_pool' } } },
    ]);
  });

  it('gives ids that sort by creation time to resources without one', async () => {
    const days = ['2025-01-02', '2025-01-03', '2025-01-01'];
    const edges = days.map((day) => ({ created_at: `${day}T00:00:00Z` }));
    const { call } = createTestServer({ seed: { resources: { TCPEdge: edges } } });
    const { body } = await call('GET', '/edges/tcp');
    const listed = getList(body['tcp_edges']).map((edge) => String(edge['created_at']).slice(0, 10));
    expect(listed).toEqual(['2025-01-03', '2025-01-02', '2025-01-01']);
  });

  it('counts like requests: it is claimed, referred to, signed and provisioned', async () => {
    const { call } = createTestServer({ seed: ACCOUNT });
    expect((await call('POST', '/edges/tcp', { body: { hostports: ['a.example.com:1'] } })).status).toBe(409);
    expect((await call('DELETE', '/backends/weighted/bkdwd_pool')).status).toBe(409);
    const certificate = (await call('GET', '/ssh_user_certificates/sucrt_1')).body['certificate'];
    expect(getText(certificate)).toMatch(/^ssh-ed25519-cert-v01@openssh\.com /);
    const ingress = getList((await call('GET', '/agent_ingresses')).body['ingresses'])[0];
    expect(ingress).toMatchObject({ certificate_management_status: { renews_at: '2026-03-02T00:01:00Z' } });
  });

  it('never collides with new ids', async () => {
    const first = createTestServer();
    const ids = [];
    for (let index = 0; index < 3; index += 1)
      ids.push(getText((await first.call('POST', '/credentials', { body: {} })).body['id']));
    const { resources } = first.server.snapshot();
    const { call } = createTestServer({ seed: { resources } });
    expect(ids).not.toContain((await call('POST', '/credentials', { body: {} })).body['id']);
    expect(getList((await call('GET', '/credentials')).body['credentials'])).toHaveLength(4);
  });

  it.each<[string, ServerSeed, string]>([
    ['an unknown kind', { resources: { TcpEdge: [{}] } }, 'resources.TcpEdge: is not a known kind'],
    [
      'a bad field',
      { resources: { TCPEdge: [{}, { hostports: ['x'] }] } },
      'resources.TCPEdge[1]: hostports[0] `x` is not',
    ],
    ['a bad id', { resources: { TCPEdge: [{ id: 'edge' }] } }, 'resources.TCPEdge[0]: id edge is not an id edgtcp_…'],
    ['an id twice', { resources: { TCPEdge: [{ id: 'edgtcp_1' }, { id: 'edgtcp_1' }] } }, 'edgtcp_1 appears twice'],
    ['a route twice', { resources: { HTTPSEdge: [{ id: 'edghts_1' }, { id: 'edghts_1' }] } }, 'appears twice'],
    [
      'a dangling reference',
      { resources: { TCPEdge: [{ backend: { backend_id: 'bkdwd_x' } }] } },
      'bkdwd_x does not exist',
    ],
    [
      'a value that is taken',
      { resources: { IPRestriction: [1, 2].map((n) => ({ type: 'api', ip_policy_ids: [`ipp_${n}`] })) } },
      'resources.IPRestriction[1]: type api belongs to ipx_',
    ],
    [
      'an unknown id',
      { externals: [], resources: { WeightedBackend: [{ backends: { bkdtg_1: 1 } }] } },
      'does not exist',
    ],
    [
      'a bad certificate',
      { resources: { SSHUserCertificate: [{ public_key: 'x' }] } },
      'resources.SSHUserCertificate[0]: ',
    ],
    [
      'a time that is none',
      { resources: { TCPEdge: [{ created_at: 'x' }] } },
      'resources.TCPEdge[0]: created_at is not',
    ],
  ])('with %s is refused at its place', (_, seed, message) => {
    expect(() => createServer({ seed })).toThrow(RangeError);
    expect(() => createServer({ seed })).toThrow(message);
  });

  it('is refused with its first mistake', () => {
    const resources = { WeightedBackend: [{ backends: {} }, { weight: 1 }], TCPEdge: [{ hostports: ['x'] }] };
    expect(() => createServer({ seed: { resources } })).toThrow(
      /^resources.WeightedBackend\[1\]: weight is not a known field$/,
    );
  });
});

describe('a snapshot', () => {
  it.each([
    ['checked', false],
    ['not checked', true],
  ])('creates the same server again, %s', async (_, isSeedTrusted) => {
    const first = createTestServer({ seed: ACCOUNT });
    await first.call('POST', '/credentials', { body: { owner_id: 'bot_1' } });
    await first.call('PATCH', '/edges/tcp/edgtcp_newer', { body: { description: 'changed' } });
    await first.call('PUT', '/edges/https/edghts_1/routes/edghtsrt_2/circuit_breaker', { body: { num_buckets: 3 } });
    const text = JSON.stringify(first.server.snapshot());
    const second = createTestServer({ seed: parseServerSeed(text), isSeedTrusted, idSeed: 'another' });
    expect(await readAll(second)).toEqual(await readAll(first));
    expect(second.server.snapshot()).toEqual(JSON.parse(text));
    expect((await second.call('GET', '/edges/https/edghts_1/routes/edghtsrt_2/circuit_breaker')).status).toBe(200);
    expect((await second.call('DELETE', '/backends/weighted/bkdwd_pool')).status).toBe(409);
    const taken = { type: 'api', ip_policy_ids: ['ipp_office'] };
    expect((await second.call('POST', '/ip_restrictions', { body: taken })).status).toBe(409);
  });

  it('continues with new ids, which sort after the old ones', async () => {
    const first = createTestServer();
    const old = await first.call('POST', '/credentials', { body: {} });
    const second = createTestServer({ seed: first.server.snapshot() });
    const young = await second.call('POST', '/credentials', { body: {} });
    expect(getText(young.body['id']) > getText(old.body['id'])).toBe(true);
  });

  it.each([
    ['checked', false],
    ['not checked', true],
  ])('keeps the known external ids, and what cannot be deleted, %s', async (_, isSeedTrusted) => {
    const seed = { externals: ['ipp_1'], resources: { Credential: [{ id: 'cr_default', deletable: false }] } };
    const snapshot = createServer({ seed }).snapshot();
    const { call } = createTestServer({ seed: snapshot, isSeedTrusted });
    expect((await call('DELETE', '/credentials/cr_default')).status).toBe(403);
    const body = { type: 'api', ip_policy_ids: ['ipp_2'] };
    expect((await call('POST', '/ip_restrictions', { body })).status).toBe(400);
  });
});

describe('the text of a seed', () => {
  it.each([
    ['{', 'It is not JSON'],
    ['[]', 'It is not a mapping'],
    ['{"resource":{}}', 'It has a member other than `externals`, `resources`'],
    ['{"resources":{"TCPEdge":{}}}', 'resources.TCPEdge must be a list'],
    ['{"resources":{"Thing":[]}}', 'Thing'],
    ['{"resources":{"TCPEdge":[{"created_at":"yesterday"}]}}', 'resources.TCPEdge[0].created_at'],
    ['{"resources":{"TCPEdge":[{"deletable":"no"}]}}', 'resources.TCPEdge[0].deletable'],
    ['{"externals":["ipp_1",2],"sequence":-1}', 'externals[1]'],
    [
      '{"externals":["bkdhr*"]}',
      'externals[0] must be an id or all of a prefix, such as `bkdhr_*`; the prefixes are abrp_, ',
    ],
    ['{"externals":["ipp_*","xyz_*"]}', 'externals[1] must be an id'],
    ['{"externals":["ipp_"]}', 'externals[0] must be an id'],
    ['{"certificate_authorities":{"authority":"secret"}}', 'must be an id'],
    ...['https://example.com/', '*.example.com', 'example.com:80', 'example.com/a', ''].map((hostname) => [
      JSON.stringify({ abuse_report_rules: [{ hostname, status: 'BANNED' }] }),
      'abuse_report_rules[0].hostname must be a host name such as `example.com`',
    ]),
  ])('is refused: %s', (text, message) => {
    expect(() => parseServerSeed(text)).toThrow(RangeError);
    expect(() => parseServerSeed(text)).toThrow(message);
  });
});

describe('a large seed', () => {
  it('may have more than 100,000 ids and resources', () => {
    const seed = { externals: Array(100_001).fill('ipp_1'), resources: { TCPEdge: Array(100_001).fill({}) } };
    expect(parseServerSeed(JSON.stringify(seed))).toEqual(seed);
  });

  it('is refused as a whole if one resource has too many fields', () => {
    const resource = Object.fromEntries(Array.from({ length: 20_001 }, (_, at) => [`k${at}`, 1]));
    expect(() => parseServerSeed(JSON.stringify({ resources: { TCPEdge: [resource] } }))).toThrow(
      'resources.TCPEdge[0] has more than 20,000 members',
    );
  });
});

it('reports the first twenty of many mistakes in a request', async () => {
  const { call } = createTestServer();
  const fields = Object.fromEntries(Array.from({ length: 1_000 }, (_, at) => [`k${at}`, 1]));
  const { status, body } = await call('POST', '/edges/tcp', { body: fields });
  expect(status).toBe(400);
  expect(getText(body['msg']).split('; ')).toHaveLength(20);
});
