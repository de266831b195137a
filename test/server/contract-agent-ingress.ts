import { describe, expect, it } from 'vitest';
import { AGENT_INGRESS } from '../../src/kinds/tables/agent-ingress.ts';
import type { Json } from '../../src/model/json.ts';
import { getObject, getText } from './caller.ts';
import { describeKind, expectFields, RUN, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';

const DOMAIN = `${RUN}.agents.example.com`;

const SAMPLE: Sample = {
  kind: AGENT_INGRESS,
  create: (number) => ({ domain: `${number}.${DOMAIN}` }),
  update: () => ({ certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'ecdsa' } }),
  immutable: { domain: `other.${DOMAIN}` },
};

export function describeAgentIngresses(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('agent ingress, its domain', () => {
    const call = useCleanCaller(target);
    const post = (body: Record<string, Json>) =>
      call('POST', '/agent_ingresses', { body: { domain: DOMAIN, ...body } });

    it('gets regional domains below it, and NS targets', async () => {
      const { body } = await post({});
      const { region_domains: regions, ns_targets: targets } = body;
      expect(regions).toEqual(expect.arrayContaining([expect.stringMatching(new RegExp(`\\.${DOMAIN}$`))]));
      expect(targets).toEqual(expect.arrayContaining([expect.any(String)]));
    });

    it('is required, is a domain, and has one ingress', async () => {
      expect((await call('POST', '/agent_ingresses', { body: {} })).status).toBe(400);
      expect((await post({ domain: 'not a domain' })).status).toBe(400);
      await post({});
      expect((await post({ domain: DOMAIN.toUpperCase() })).status).toBe(409);
    });

    it('has no certificate management unless that is asked for', async () => {
      const { body } = await post({});
      expect(body).toMatchObject({ certificate_management_policy: null, certificate_management_status: null });
    });

    it('gets a certificate with the defaults of the policy, and the status of it', async () => {
      const { body } = await post({ certificate_management_policy: {} });
      expectFields(AGENT_INGRESS, body, {
        certificate_management_policy: { authority: 'letsencrypt', private_key_type: 'rsa' },
      });
      expect(getObject(body['certificate_management_status'])).toHaveProperty('renews_at');
    });

    it('loses the certificate management with null', async () => {
      const { body } = await post({ certificate_management_policy: {} });
      const path = `/agent_ingresses/${getText(body['id'])}`;
      await call('PATCH', path, { body: { certificate_management_policy: null } });
      expect((await call('GET', path)).body).toMatchObject({
        certificate_management_policy: null,
        certificate_management_status: null,
      });
    });

    it.each([{ authority: 'another' }, { private_key_type: 'dsa' }])('has no policy such as %o', async (policy) => {
      expect((await post({ certificate_management_policy: policy })).status).toBe(400);
    });
  });
}
