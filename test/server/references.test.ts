import { describe, expect, it } from 'vitest';
import { toExternalResourcePath } from '../../src/kinds/paths.ts';
import { KINDS } from '../../src/kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../../src/kinds/walk.ts';
import type { JsonObject } from '../../src/model/json.ts';
import { findKindOfId } from '../../src/server/store.ts';
import { getText } from './caller.ts';
import { BASE_URL, createTestServer } from './test-server.ts';

interface Claiming {
  readonly path: string;
  readonly first: JsonObject;
  readonly second: JsonObject;
  readonly field: string;
  readonly value: string;
}

const CLAIMS: readonly Claiming[] = [
  {
    path: '/edges/tcp',
    first: { hostports: ['a.example.com:1'] },
    second: { hostports: ['b.example.com:1', 'A.Example.com:1'] },
    field: 'hostports',
    value: 'a.example.com:1',
  },
  {
    path: '/ip_restrictions',
    first: { type: 'api', ip_policy_ids: ['ipp_1'] },
    second: { type: 'api', ip_policy_ids: ['ipp_2'] },
    field: 'type',
    value: 'api',
  },
  {
    path: '/agent_ingresses',
    first: { domain: 'a.example.com' },
    second: { domain: 'A.example.com' },
    field: 'domain',
    value: 'a.example.com',
  },
];

describe('a claim', () => {
  it.each(CLAIMS)('that is taken gets 409 with the resource that has it: $field of $path', async (claim) => {
    const { call } = createTestServer();
    const holder = await call('POST', claim.path, { body: claim.first });
    const { status, body } = await call('POST', claim.path, { body: claim.second });
    expect(status).toBe(409);
    const details = { field: claim.field, value: claim.value, held_by: holder.body['id'] };
    expect(body).toMatchObject({ error_code: 'already_taken', details });
  });

  it('is free again after the delete of its resource', async () => {
    const { call } = createTestServer();
    const holder = await call('POST', '/agent_ingresses', { body: { domain: 'a.example.com' } });
    await call('DELETE', `/agent_ingresses/${getText(holder.body['id'])}`);
    expect((await call('POST', '/agent_ingresses', { body: { domain: 'a.example.com' } })).status).toBe(201);
  });
});

describe('a reference', () => {
  it('to a kind that the interface can create needs an existing resource', async () => {
    const { call } = createTestServer();
    const { status, body } = await call('POST', '/edges/tcp', { body: { backend: { backend_id: 'bkdwd_nobody' } } });
    expect(status).toBe(400);
    expect(body).toMatchObject({
      error_code: 'missing_reference',
      msg: 'backend.backend_id bkdwd_nobody does not exist',
      details: { field: 'backend.backend_id', id: 'bkdwd_nobody' },
    });
  });

  it('to anything else needs a well-formed id with the right prefix', async () => {
    const { call } = createTestServer();
    const post = async (id: string): Promise<number> =>
      (await call('POST', '/edges/tcp', { body: { backend: { backend_id: id } } })).status;
    expect(await post('bkdtg_2fmnSomeOtherId')).toBe(201);
    for (const id of ['bkdtg_', 'bkdtg', 'bkdtg_a b', 'bkdtg_a/b', 'ipp_1', 'BKDTG_1'])
      expect(await post(id)).toBe(400);
  });

  it('inside of the configuration of an action is checked', async () => {
    const { call } = createTestServer();
    const post = async (id: string): Promise<number> => {
      const actions = [{ type: 'restrict-ips', config: { ip_policies: [id] } }];
      return (await call('POST', '/edges/tcp', { body: { policy: { inbound: [{ actions }] } } })).status;
    };
    expect([await post('ipp_1'), await post('bkdtg_1')]).toEqual([201, 400]);
  });

  it('shows its target, as far as the interface has a field for it', async () => {
    const { call } = createTestServer();
    const { body } = await call('POST', '/backends/weighted', { body: {} });
    const id = getText(body['id']);
    const edge = await call('POST', '/edges/tcp', { body: { backend: { backend_id: id } } });
    expect(edge.body['backend']).toEqual({
      enabled: true,
      backend: { id, uri: `${BASE_URL}/backends/weighted/${id}` },
    });
  });

  it.each([
    ['ipp', 'ip_policies'],
    ['bkdhr', 'backends/http_response'],
    ['bkdtg', 'backends/tunnel_group'],
    ['ca', 'certificate_authorities'],
    ['sshca', 'ssh_certificate_authorities'],
  ])('shows the target %s_…, which this interface cannot create', async (prefix, path) => {
    expect(toExternalResourcePath(`${prefix}_1`)).toBe(`/${path}/${prefix}_1`);
  });

  it('has a path of its kind wherever it is shown with a URI', async () => {
    const { call } = createTestServer();
    const restriction = { ip_policy_ids: ['ipp_1'] };
    const edge = await call('POST', '/edges/tcp', {
      body: { backend: { backend_id: 'bkdtg_1' }, ip_restriction: restriction },
    });
    expect(edge.body).toMatchObject({
      backend: { backend: { uri: `${BASE_URL}/backends/tunnel_group/bkdtg_1` } },
      ip_restriction: { ip_policies: [{ uri: `${BASE_URL}/ip_policies/ipp_1` }] },
    });
    const tls = await call('PUT', '/edges/https/edghts_1/mutual_tls', {
      body: { certificate_authority_ids: ['ca_1'] },
    });
    expect(tls.body).toMatchObject({
      certificate_authorities: [{ uri: `${BASE_URL}/certificate_authorities/ca_1` }],
    });
    const shown = KINDS.flatMap(({ fields }) =>
      Object.values(fields).flatMap(({ type }) => listSelfAndNestedTypes(type)),
    );
    const prefixes = shown.flatMap((type) => (type.type === 'reference' && type.isRefInResponse ? type.prefixes : []));
    const pathless = prefixes.filter(
      (prefix) => findKindOfId(`${prefix}_1`) === undefined && toExternalResourcePath(`${prefix}_1`) === `/${prefix}_1`,
    );
    expect(pathless).toEqual([]);
  });

  it.each([
    ['1', '', 1],
    ['12', ' and 2 more', 12],
  ])('prevents the delete of its target, with the users: %s', async (_, more, count) => {
    const { call } = createTestServer();
    const backend = getText((await call('POST', '/backends/weighted', { body: {} })).body['id']);
    const edges: string[] = [];
    for (let index = 0; index < count; index += 1) {
      const { body } = await call('POST', '/edges/tcp', { body: { backend: { backend_id: backend } } });
      edges.push(getText(body['id']));
    }
    const shown = edges.slice(0, 10).join(', ');
    const { status, body } = await call('DELETE', `/backends/weighted/${backend}`);
    expect(status).toBe(409);
    expect(body).toMatchObject({
      error_code: 'in_use',
      msg: `${backend} is in use by ${shown}${more}`,
      details: { id: backend, used_by: shown },
    });
    for (const edge of edges) await call('DELETE', `/edges/tcp/${edge}`);
    expect((await call('DELETE', `/backends/weighted/${backend}`)).status).toBe(204);
  });

  it('no longer counts after a change', async () => {
    const { call } = createTestServer();
    const backend = getText((await call('POST', '/backends/weighted', { body: {} })).body['id']);
    const edge = getText((await call('POST', '/edges/tcp', { body: { backend: { backend_id: backend } } })).body['id']);
    await call('PATCH', `/edges/tcp/${edge}`, { body: { backend: { backend_id: 'bkdtg_1' } } });
    expect((await call('DELETE', `/backends/weighted/${backend}`)).status).toBe(204);
  });
});

describe('a seed with known ids', () => {
  const seed = { externals: ['ipp_office', 'edghts_1'] };

  it('refuses all others', async () => {
    const { call } = createTestServer({ seed });
    const post = async (id: string): Promise<number> =>
      (await call('POST', '/edges/tcp', { body: { ip_restriction: { ip_policy_ids: [id] } } })).status;
    expect([await post('ipp_office'), await post('ipp_home')]).toEqual([201, 400]);
    expect(
      (await call('PUT', '/edges/https/edghts_1/mutual_tls', { body: { certificate_authority_ids: [] } })).status,
    ).toBe(200);
    expect((await call('GET', '/edges/https/edghts_2/mutual_tls')).body['msg']).toBe('There is no edghts_2');
  });

  it('keeps the users with keys', async () => {
    const { call, callAs } = createTestServer({ seed });
    expect((await callAs('member')('POST', '/credentials', { body: {} })).status).toBe(201);
    expect((await call('POST', '/credentials', { body: { owner_id: 'usr_stranger' } })).status).toBe(400);
  });
});
