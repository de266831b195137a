import { describe, expect, it } from 'vitest';
import { getKind, KINDS } from '../../src/kinds/tables/registry.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { isNullInResponses } from '../../src/schemas/field.ts';
import { type Call, getText } from './caller.ts';
import { ED25519_KEY } from './ssh-keys.ts';
import { createTestServer } from './test-server.ts';

const LEAST: Readonly<Record<string, JsonObject>> = {
  TCPEdge: {},
  WeightedBackend: {},
  IPRestriction: { type: 'api', ip_policy_ids: ['ipp_1'] },
  AgentIngress: { domain: 'agents.example.com' },
  Credential: {},
  SSHUserCertificate: { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1' },
};

async function create(call: Call, kind: string, more: JsonObject = {}): Promise<string> {
  const { path } = getKind(kind);
  const { body } = await call('POST', path, { body: { ...LEAST[kind], ...more } });
  return `${path}/${getText(body['id'])}`;
}

describe('an unset or empty list', () => {
  it.each<[string, string, JsonObject]>([
    ['/credentials', 'acl', {}],
    ['/ssh_user_certificates', 'principals', { public_key: ED25519_KEY, ssh_certificate_authority_id: 'sshca_1' }],
  ])('is [] at %s', async (path, field, asked) => {
    const { call } = createTestServer();
    for (const given of [{}, { [field]: null }, { [field]: [] }]) {
      const { status, body } = await call('POST', path, { body: { ...asked, ...given } });
      expect([status, body[field]]).toEqual([201, []]);
      expect((await call('GET', `${path}/${getText(body['id'])}`)).body[field]).toEqual([]);
    }
  });

  it('is [] inside of modules', async () => {
    const { call } = createTestServer();
    const { body } = await call('POST', '/edges/tcp', { body: { policy: { inbound: [{ name: 'none' }] } } });
    const inbound = [{ name: 'none', expressions: [], actions: [] }];
    expect(body['policy']).toEqual({ enabled: true, inbound, outbound: [] });
    const route = '/edges/https/edghts_1/routes/edghtsrt_1';
    const filter = await call('PUT', `${route}/user_agent_filter`, { body: {} });
    expect(filter.body).toEqual({ enabled: true, allow: [], deny: [] });
    const headers = await call('PUT', `${route}/request_headers`, { body: {} });
    expect(headers.body).toEqual({ enabled: true, add: {}, remove: [] });
  });

  it('is null only for hostports, as in the interface', async () => {
    const { call } = createTestServer();
    const { body } = await call('POST', '/edges/tcp', { body: { hostports: ['a.example.com:1'] } });
    const path = `/edges/tcp/${getText(body['id'])}`;
    expect((await call('PATCH', path, { body: { hostports: [] } })).body['hostports']).toBeNull();
    const lists = KINDS.flatMap(({ fields }) => Object.entries(fields)).filter(([, { type }]) => type.type === 'list');
    expect(lists.filter(([, field]) => isNullInResponses(field)).map(([name]) => name)).toEqual(['hostports']);
  });
});

describe('a PATCH', () => {
  it.each(Object.keys(LEAST))('is refused without a field: %s', async (kind) => {
    const { call } = createTestServer();
    const path = await create(call, kind);
    for (const body of [{}, { id: 'x' }]) {
      const answer = await call('PATCH', path, { body });
      expect([answer.status, answer.body['error_code']]).toEqual([400, 'empty_update']);
    }
  });

  it.each(Object.keys(LEAST))('changes nothing with only nulls: %s', async (kind) => {
    const { call } = createTestServer();
    const path = await create(call, kind);
    const before = (await call('GET', path)).body;
    expect((await call('PATCH', path, { body: { description: null, metadata: null } })).status).toBe(200);
    expect((await call('GET', path)).body).toEqual(before);
  });

  it('changes everything that it contains, or nothing', async () => {
    const { call } = createTestServer();
    await create(call, 'TCPEdge', { hostports: ['taken.example.com:1'] });
    const path = await create(call, 'TCPEdge', { description: 'before', hostports: ['mine.example.com:1'] });
    const before = (await call('GET', path)).body;
    const refused: readonly (readonly [number, JsonObject])[] = [
      [409, { description: 'after', hostports: ['free.example.com:1', 'taken.example.com:1'] }],
      [400, { description: 'after', backend: { backend_id: 'bkdwd_nobody' } }],
      [400, { description: 'after', hostports: ['no port'] }],
    ];
    for (const [status, body] of refused) expect((await call('PATCH', path, { body })).status).toBe(status);
    expect((await call('GET', path)).body).toEqual(before);
    const free = { body: { hostports: ['free.example.com:1'] } };
    expect((await call('POST', '/edges/tcp', free)).status).toBe(201);
  });

  it('is accepted with the values that a resource has', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'TCPEdge', { hostports: ['a.example.com:1', 'b.example.com:1'] });
    const { status } = await call('PATCH', path, { body: { hostports: ['b.example.com:1', 'A.example.com:1'] } });
    expect(status).toBe(200);
  });

  it('keeps the children of a weighted backend that it leaves out, without showing them', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'WeightedBackend', { backends: { bkdtg_1: 3 } });
    expect((await call('PATCH', path, { body: { metadata: 'x' } })).body['backends']).toEqual({});
    expect((await call('GET', path)).body['backends']).toEqual({ bkdtg_1: 3 });
    expect((await call('PATCH', path, { body: { backends: { bkdhr_1: 1 } } })).body['backends']).toEqual({
      bkdhr_1: 1,
    });
  });

  it('refuses an immutable field as such', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'IPRestriction');
    const { body } = await call('PATCH', path, { body: { type: 'api', created_at: 'x', enforced: true } });
    expect(body).toMatchObject({
      error_code: 'invalid_field',
      msg: 'type cannot be changed; created_at cannot be changed',
      details: { field: 'type' },
    });
    expect((await call('PATCH', path, { body: { type: null, enforced: true } })).body['enforced']).toBe(true);
  });

  it('removes a policy that is disabled and has no rules', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'TCPEdge', { policy: { inbound: [{ actions: [{ type: 'deny' }] }] } });
    expect((await call('PATCH', path, { body: { policy: { enabled: false } } })).body['policy']).toBeNull();
  });

  it('shows a cleared field as one that was never set', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'TCPEdge');
    const never = (await call('GET', path)).body;
    await call('PATCH', path, { body: { description: 'x', metadata: 'y', hostports: ['a.example.com:1'] } });
    const cleared = await call('PATCH', path, { body: { description: '', metadata: '', hostports: [] } });
    expect(cleared.body).toEqual(never);
    expect(never).toMatchObject({ description: '', metadata: '', hostports: null, backend: null, policy: null });
  });
});

describe('an unset module', () => {
  it.each(['/edges/https/edghts_1/mutual_tls', '/edges/https/edghts_1/routes/edghtsrt_1/user_agent_filter'])(
    'gets 404: %s',
    async (path) => {
      const { call } = createTestServer();
      const { status, body } = await call('GET', path);
      expect([status, body['error_code']]).toEqual([404, 'not_found']);
    },
  );

  it('gets 404 on an existing TCP edge', async () => {
    const { call } = createTestServer();
    const path = await create(call, 'TCPEdge');
    const { status, body } = await call('GET', `${path}/backend`);
    expect([status, body['msg']]).toEqual([404, 'backend is not set']);
  });

  it('does not affect the other modules when it is removed', async () => {
    const { call } = createTestServer();
    const route = '/edges/https/edghts_1/routes/edghtsrt_1';
    await call('PUT', `${route}/circuit_breaker`, { body: { num_buckets: 1 } });
    await call('PUT', `${route}/user_agent_filter`, { body: { deny: ['Bot'] } });
    await call('DELETE', `${route}/circuit_breaker`);
    expect((await call('GET', `${route}/circuit_breaker`)).status).toBe(404);
    expect((await call('GET', `${route}/user_agent_filter`)).body).toEqual({
      enabled: true,
      allow: [],
      deny: ['Bot'],
    });
    await call('DELETE', `${route}/user_agent_filter`);
    expect((await call('GET', `${route}/user_agent_filter`)).status).toBe(404);
  });

  it('is absent on another route of the same edge', async () => {
    const { call } = createTestServer();
    await call('PUT', '/edges/https/edghts_1/routes/edghtsrt_1/circuit_breaker', { body: {} });
    expect((await call('GET', '/edges/https/edghts_1/routes/edghtsrt_2/circuit_breaker')).status).toBe(404);
    expect((await call('GET', '/edges/https/edghts_2/routes/edghtsrt_1/circuit_breaker')).status).toBe(404);
  });
});
