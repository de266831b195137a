import { describe, expect, it } from 'vitest';
import type { Json, JsonObject } from '../../src/model/json.ts';
import { type Call, getObject, getText } from './caller.ts';
import { createTestServer, START, type TestServer } from './test-server.ts';

const DAY = 24 * 3600;

interface Managed extends TestServer {
  readonly path: string;
  readonly readStatus: () => Promise<Json | undefined>;
}

async function createManaged(domain: string): Promise<Managed> {
  const test = createTestServer();
  const body = { domain, certificate_management_policy: {} };
  const created = await test.call('POST', '/agent_ingresses', { body });
  const path = `/agent_ingresses/${getText(created.body['id'])}`;
  return { ...test, path, readStatus: async () => toStatus((await test.call('GET', path)).body) };
}

function toStatus(body: JsonObject): Json | undefined {
  return body['certificate_management_status'];
}

async function change(call: Call, path: string, policy: Json): Promise<JsonObject> {
  return (await call('PATCH', path, { body: { certificate_management_policy: policy } })).body;
}

describe('an agent ingress', () => {
  it('has a path as its URI, unlike other kinds', async () => {
    const { call } = createTestServer();
    const { body } = await call('POST', '/agent_ingresses', { body: { domain: 'agents.example.com' } });
    expect(body['uri']).toBe(`/agent_ingresses/${getText(body['id'])}`);
    expect(body['region_domains']).toEqual(['us.agents.example.com', 'eu.agents.example.com', 'ap.agents.example.com']);
  });
});

describe('the certificate of an agent ingress', () => {
  it('is provisioned by a job after a minute, and renewed after sixty days', async () => {
    const { wait, readStatus } = await createManaged('agents.example.com');
    const job = { error_code: null, msg: 'The certificate is being provisioned.', retries_at: null };
    expect(await readStatus()).toEqual({ renews_at: null, provisioning_job: { ...job, started_at: START } });
    wait(59);
    expect(await readStatus()).toMatchObject({ provisioning_job: { started_at: START } });
    wait(1);
    expect(await readStatus()).toEqual({ renews_at: '2026-04-01T12:01:00Z', provisioning_job: null });
    wait(60 * DAY);
    const renewal = { ...job, started_at: '2026-04-01T12:01:00Z' };
    expect(await readStatus()).toEqual({ renews_at: '2026-05-31T12:02:00Z', provisioning_job: renewal });
    wait(60);
    expect(await readStatus()).toEqual({ renews_at: '2026-05-31T12:02:00Z', provisioning_job: null });
  });

  it('fails for a domain that ends in .invalid, and is retried every hour', async () => {
    const { wait, readStatus } = await createManaged('agents.Invalid');
    const job = { error_code: 'DNS_ERROR', started_at: START, msg: expect.stringContaining('ns_targets') };
    expect(await readStatus()).toEqual({
      renews_at: null,
      provisioning_job: { ...job, retries_at: '2026-01-31T13:00:00Z' },
    });
    wait(90 * DAY);
    expect(await readStatus()).toMatchObject({ provisioning_job: { ...job, retries_at: '2026-05-01T13:00:00Z' } });
  });

  it('fails once for a domain that starts with retried, and succeeds a minute after its second attempt', async () => {
    const { wait, readStatus } = await createManaged('retried.example.com');
    const job = { error_code: 'INTERNAL_ERROR', msg: expect.stringContaining('did not answer'), started_at: START };
    expect(await readStatus()).toEqual({
      renews_at: null,
      provisioning_job: { ...job, retries_at: '2026-01-31T12:01:00Z' },
    });
    wait(60);
    expect(await readStatus()).toMatchObject({
      renews_at: null,
      provisioning_job: { error_code: null, started_at: '2026-01-31T12:01:00Z' },
    });
    wait(60);
    expect(await readStatus()).toMatchObject({
      provisioning_job: null,
      renews_at: expect.stringContaining('2026-04-01'),
    });
  });

  it('has null as its error without one', async () => {
    const { readStatus } = await createManaged('agents.example.com');
    expect(getObject(getObject(await readStatus())['provisioning_job'])).toHaveProperty('error_code', null);
  });

  it('is requested again if the policy changes, and not if it stays', async () => {
    const { call, wait, path } = await createManaged('agents.example.com');
    wait(DAY);
    const same = await change(call, path, {});
    expect(toStatus(same)).toMatchObject({ provisioning_job: null });
    await call('PATCH', path, { body: { description: 'x' } });
    const other = await change(call, path, { private_key_type: 'ecdsa' });
    expect(toStatus(other)).toMatchObject({ provisioning_job: { started_at: '2026-02-01T12:00:00Z' } });
  });

  it('is removed by null, and requested again after that', async () => {
    const { call, wait, path } = await createManaged('agents.example.com');
    wait(DAY);
    expect(toStatus(await change(call, path, null))).toBeNull();
    wait(DAY);
    expect(toStatus(await change(call, path, {}))).toMatchObject({
      renews_at: null,
      provisioning_job: { started_at: '2026-02-02T12:00:00Z' },
    });
  });

  it('has no negative age if the clock goes back', async () => {
    const { wait, readStatus } = await createManaged('agents.example.com');
    wait(-DAY);
    expect(await readStatus()).toMatchObject({ renews_at: null, provisioning_job: { started_at: START } });
  });
});
