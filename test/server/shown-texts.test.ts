import { expect, it } from 'vitest';
import { createServer, parseApiKey } from '../../src/server/index.ts';
import { createCaller } from './caller.ts';

it('shows a resource as it is, by every way that leads to it, however often it was shown', async () => {
  let time = Date.parse('2026-01-01T00:00:00Z');
  const server = createServer({ apiKeys: [parseApiKey('admin:admin')], now: () => new Date(time) });
  const open = (baseUrl: string) =>
    createCaller({ transport: server.handle, baseUrl, key: 'admin', versionHeader: 'Service-Version' });
  const [one, other] = [open('http://one.test'), open('http://other.test')];
  const made = await one('POST', '/edges/tcp', { body: { description: 'first' } });
  const path = `/edges/tcp/${String(made.body['id'])}`;
  const { body: shown } = await one('GET', path);
  expect(await one('GET', path)).toMatchObject({ body: shown });
  expect((await other('GET', path)).body['uri']).toBe(`http://other.test${path}`);
  expect((await one('GET', path)).body).toEqual(shown);
  await one('PATCH', path, { body: { description: 'second' } });
  expect((await one('GET', '/edges/tcp')).body['tcp_edges']).toEqual([{ ...shown, description: 'second' }]);
  await one('PUT', `${path}/ip_restriction`, { body: { ip_policy_ids: ['ipp_1'] } });
  expect((await one('GET', path)).body['ip_restriction']).toMatchObject({ enabled: true });

  const policy = { certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' } };
  const ingress = await one('POST', '/agent_ingresses', { body: { domain: 'agents.example.com', ...policy } });
  const ingressPath = `/agent_ingresses/${String(ingress.body['id'])}`;
  const status = async () => (await one('GET', ingressPath)).body['certificate_management_status'];
  expect(await status()).toMatchObject({ renews_at: null });
  time += 3_600_000;
  expect(await status()).toMatchObject({ provisioning_job: null });
});
