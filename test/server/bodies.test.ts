import { describe, expect, it } from 'vitest';
import type { Json } from '../../src/model/json.ts';
import { createHeaders } from '../by-hand.ts';
import { getObject, getText } from './caller.ts';
import { BASE_URL, createTestServer } from './test-server.ts';

const MIB = 1024 * 1024;

type Bytes = NonNullable<RequestInit['body']>;

/** Sends bytes, with or without saying how many. */
async function send(bytes: Bytes, headers: Record<string, string> = {}): Promise<Response> {
  const { server } = createTestServer();
  const init: RequestInit = {
    method: 'POST',
    headers: { ...createHeaders('admin'), ...headers },
    body: bytes,
    duplex: 'half',
  };
  return server.handle(new Request(`${BASE_URL}/edges/tcp`, init));
}

/** A body of this many bytes that is valid JSON. */
function createBody(length: number): string {
  return `{}${' '.repeat(length - 2)}`;
}

describe('a request body', () => {
  it.each(['text/plain;charset=UTF-8', 'application/x-www-form-urlencoded', 'application/merge-patch+json', ''])(
    'gets 415 as %j',
    async (contentType) => {
      const { call } = createTestServer();
      for (const [method, path] of [
        ['POST', '/edges/tcp'],
        ['PATCH', '/edges/tcp/edgtcp_x'],
        ['PUT', '/edges/tcp/edgtcp_x/backend'],
      ] as const) {
        const headers = { 'content-type': contentType };
        const { status, body } = await call(method, path, { body: '{}', headers });
        expect([status, body['error_code']]).toEqual([415, 'bad_content_type']);
      }
    },
  );

  it('is accepted with a charset, and without a content type if it is empty', async () => {
    const { call } = createTestServer();
    const headers = { 'content-type': 'Application/JSON; charset=utf-8' };
    expect((await call('POST', '/edges/tcp', { body: {}, headers })).status).toBe(201);
    expect((await call('GET', '/edges/tcp', { headers: { 'content-type': undefined } })).status).toBe(200);
  });

  it.each(['', '{', '[]', 'null', '"text"', '42', '\uFEFF{}'])('gets 400 if it is %j', async (body) => {
    const { call } = createTestServer();
    const answer = await call('POST', '/edges/tcp', { body });
    expect([answer.status, answer.body['error_code']]).toEqual([400, 'bad_body']);
  });

  it.each([
    [
      'the config of an action',
      (deep: string) => `{"policy":{"inbound":[{"actions":[{"type":"log","config":{"a":${deep}}}]}]}}`,
    ],
    ['a field that nobody knows', (deep: string) => `{"nobody":${deep}}`],
    ['itself', (deep: string) => deep],
  ])('gets 400 if %s is nested too deeply', async (_, toBody) => {
    const { call } = createTestServer();
    for (const depth of [101, 3_000, 300_000]) {
      const { status, body } = await call('POST', '/edges/tcp', {
        body: toBody('['.repeat(depth) + ']'.repeat(depth)),
      });
      expect([status, body['msg']]).toEqual([400, 'The body is nested more than 100 levels deep']);
    }
  });

  it('is accepted with the nesting of a manifest', async () => {
    const { call } = createTestServer();
    const config = JSON.parse(`${'{"a":'.repeat(93)}1${'}'.repeat(93)}`);
    const policy = { inbound: [{ actions: [{ type: 'log', config }] }] };
    const { status, body } = await call('POST', '/edges/tcp', { body: { policy } });
    expect([status, body['policy']]).toMatchObject([201, policy]);
  });

  it('gets 400 if it is not UTF-8', async () => {
    const response = await send(new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x3a, 0x31, 0x7d]));
    expect([response.status, getObject(JSON.parse(await response.text()))['msg']]).toEqual([
      400,
      'The body is not UTF-8',
    ]);
  });

  it('gets 400 if it breaks off', async () => {
    const broken = new ReadableStream({
      pull: (controller) => controller.error(new Error('the connection is gone')),
    });
    const response = await send(broken);
    expect(getObject(JSON.parse(await response.text()))).toMatchObject({ error_code: 'bad_body', status_code: 400 });
  });

  it.each([
    [
      'that says how long it is',
      (length: number): [Bytes, Record<string, string>] => [createBody(length), { 'content-length': String(length) }],
    ],
    [
      'that does not say how long it is',
      (length: number): [Bytes, Record<string, string>] => [new Blob([createBody(length)]).stream(), {}],
    ],
    [
      'that says less than it is',
      (length: number): [Bytes, Record<string, string>] => [createBody(length), { 'content-length': '2' }],
    ],
  ])('has at most 1 MiB: %s', async (_, toBody) => {
    expect((await send(...toBody(MIB))).status).toBe(201);
    const response = await send(...toBody(MIB + 1));
    expect(getObject(JSON.parse(await response.text()))).toMatchObject({
      error_code: 'body_too_large',
      status_code: 413,
    });
  });
});

describe('the fields of a body', () => {
  it('are refused by name if they are unknown, with everything else that is wrong', async () => {
    const { call } = createTestServer();
    const asked = { hostport: 'x', description: 5, hostports: ['a.example.com:1', 'b'], backend: { backend: 'x' } };
    const { status, body } = await call('POST', '/edges/tcp', { body: asked });
    expect(status).toBe(400);
    expect(body).toMatchObject({ error_code: 'invalid_field', details: { field: 'description' } });
    expect(getText(body['msg']).split('; ')).toMatchInlineSnapshot(`
      [
        "description must be text, but is the number 5",
        "hostports[1] \`b\` is not \`host:port\` with a port from 1 to 65535",
        "backend.backend_id is missing",
        "backend.backend is not a known field",
        "hostport is not a known field",
      ]
    `);
  });

  it.each(['uri', 'created_at', 'constructor', '__proto__', 'hasOwnProperty', 'toString'])(
    'are refused if they are `%s`',
    async (name) => {
      const { call } = createTestServer();
      for (const value of ['"x"', '{}']) {
        const { status, body } = await call('POST', '/edges/tcp', { body: `{"${name}":${value}}` });
        expect([status, body['msg']]).toEqual([400, `${name} is not a known field`]);
      }
    },
  );

  it('are accepted with any keys of a map', async () => {
    const { call } = createTestServer();
    const body = '{"policy":{"inbound":[{"actions":[{"type":"log","config":{"metadata":{"constructor":"a"}}}]}]}}';
    const created = await call('POST', '/edges/tcp', { body });
    expect(JSON.stringify(created.body)).toContain('{"metadata":{"constructor":"a"}}');
  });

  it.each<[string, string, Json]>([
    ['/edges/tcp', 'description', { description: 'a\0' }],
    ['/edges/tcp', 'description', { description: 'a\ud800' }],
    ['/edges/tcp', 'metadata', { metadata: 'a\0' }],
    ['/edges/tcp', 'hostports[0]', { hostports: ['a\0:1'] }],
    ['/edges/tcp', 'policy.inbound[0].name', { policy: { inbound: [{ name: '\udc00' }] } }],
    [
      '/edges/tcp',
      'policy.inbound[0].actions[0].config.a[0]["b\\u0000"]',
      { policy: { inbound: { actions: { type: 'log', config: { a: [{ 'b\0': 1 }] } } } } },
    ],
    ['/backends/weighted', 'backends["bkdtg_1\\u0000"]', { backends: { 'bkdtg_1\0': 1 } }],
    ['/agent_ingresses', 'domain', { domain: 'a.example.com\ud800' }],
    ['/credentials', 'acl[0]', { acl: ['bind:a\0'] }],
    ['/abuse_reports', 'metadata', { urls: ['https://a.example.com'], metadata: '\0' }],
  ])('of %s are refused if %s cannot be stored', async (path, field, body) => {
    const { call, server } = createTestServer();
    const answer = await call('POST', path, { body });
    expect(answer).toMatchObject({ status: 400, body: { error_code: 'invalid_field', details: { field } } });
    expect(getText(answer.body['msg'])).toMatch(/contains (a NUL character|half of a surrogate pair)/);
    expect(Object.values(server.snapshot().resources).flat()).toEqual([]);
  });

  it('are ignored as null or an id', async () => {
    const { call } = createTestServer();
    const nulls = { id: 'edgtcp_mine', description: null, hostports: null, backend: null, policy: null, uri: null };
    const created = await call('POST', '/edges/tcp', { body: nulls });
    expect(created.status).toBe(201);
    expect(created.body['id']).not.toBe('edgtcp_mine');
    const path = `/edges/tcp/${getText(created.body['id'])}`;
    const changed = await call('PATCH', path, { body: { ...nulls, metadata: 'x' } });
    expect([changed.status, changed.body['id'], changed.body['metadata']]).toEqual([200, created.body['id'], 'x']);
  });

  it('are accepted as null inside of a module', async () => {
    const { call } = createTestServer();
    const backend = { enabled: null, backend_id: 'bkdtg_1' };
    const { body } = await call('POST', '/edges/tcp', { body: { backend } });
    expect(body['backend']).toMatchObject({ enabled: true });
  });

  it('are refused as null if one is required', async () => {
    const { call } = createTestServer();
    expect((await call('POST', '/edges/tcp', { body: { backend: { backend_id: null } } })).status).toBe(400);
  });

  it('are ignored as unknown nulls, at any depth', async () => {
    const { call } = createTestServer();
    const action = { type: 'deny', nobody: null };
    const body = { traffic_policy: null, policy: { inbound: [{ actions: [action], nobody: null }], nobody: null } };
    const created = await call('POST', '/edges/tcp', { body });
    expect(created.status).toBe(201);
    expect(JSON.stringify(created.body)).not.toContain('nobody');
    const path = `/edges/tcp/${getText(created.body['id'])}`;
    const changed = await call('PATCH', path, { body: { traffic_policy: null, description: 'x' } });
    expect([changed.status, changed.body['description']]).toEqual([200, 'x']);
    const set = await call('PUT', `${path}/backend`, { body: { backend_id: 'bkdtg_1', nobody: null } });
    expect(set.status).toBe(200);
    for (const value of ['""', '0', '{}', 'false'])
      expect((await call('PATCH', path, { body: `{"traffic_policy":${value}}` })).status, value).toBe(400);
  });

  it('are accepted as an empty text for a time, an owner or a word, which is then not set', async () => {
    const { call } = createTestServer();
    const credential = await call('POST', '/credentials', { body: { owner_id: '', description: 'x' } });
    expect([credential.status, getText(credential.body['owner_id'])]).toEqual([201, expect.stringMatching(/^usr_/)]);
    const policy = { authority: '', private_key_type: '' };
    const ingress = { domain: 'a.example.com', certificate_management_policy: policy };
    const { body: made } = await call('POST', '/agent_ingresses', { body: ingress });
    expect(made['certificate_management_policy']).toEqual({ authority: 'letsencrypt', private_key_type: 'rsa' });
    const certificate = {
      ssh_certificate_authority_id: 'sshca_1',
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
      valid_after: '',
      valid_until: '',
    };
    const { status, body } = await call('POST', '/ssh_user_certificates', { body: certificate });
    const [from, to] = [body['valid_after'], body['valid_until']].map((time) => Date.parse(getText(time)));
    expect([status, Number(to) - Number(from)]).toEqual([201, 86_400_000]);
  });

  it('are refused as an empty text for a required word or id', async () => {
    const { call } = createTestServer();
    const restriction = { type: '', ip_policy_ids: ['ipp_1'] };
    expect((await call('POST', '/ip_restrictions', { body: restriction })).status).toBe(400);
    expect((await call('POST', '/edges/tcp', { body: { backend: { backend_id: '' } } })).status).toBe(400);
  });

  it('are shown with {} as the config of an action without one', async () => {
    const { call } = createTestServer();
    const policy = { inbound: [{ actions: [{ type: 'deny' }] }] };
    const { body } = await call('POST', '/edges/tcp', { body: { policy } });
    expect(body['policy']).toMatchObject({ inbound: [{ actions: [{ type: 'deny', config: {} }] }] });
  });
});

describe('the body of a PUT', () => {
  const breaker = { num_buckets: 5 };
  const path = '/edges/https/edghts_1/routes/edghtsrt_1/circuit_breaker';

  it.each([
    ['alone', breaker],
    ['under `module`', { module: breaker }],
    ['under `module` with the ids beside it', { edge_id: 'edghts_1', id: 'edghtsrt_1', module: breaker }],
  ])('has the module %s', async (_, body) => {
    const { call } = createTestServer();
    const { status, body: shown } = await call('PUT', path, { body });
    expect([status, shown['num_buckets'], shown['enabled']]).toEqual([200, 5, true]);
  });

  it.each([
    ['what is beside `module` is no id', { module: breaker, enabled: true }, 'enabled is not allowed beside `module`'],
    ['`module` is no object', { module: null }, 'module must be an object'],
    ['the module is not valid', { module: { num_buckets: 999 } }, 'num_buckets is 999, but must be at most 128'],
    ['a field is not known', { buckets: 1 }, 'buckets is not a known field'],
    ['an id stands beside a bare module', { id: 'edghtsrt_1', ...breaker }, 'id is not a known field'],
  ])('is refused if %s', async (_, body, message) => {
    const { call } = createTestServer();
    const answer = await call('PUT', path, { body });
    expect([answer.status, answer.body['msg']]).toEqual([400, message]);
  });
});
