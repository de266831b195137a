import { describe, expect, it } from 'vitest';
import { IP_RESTRICTION } from '../../src/kinds/tables/ip-restriction.ts';
import { getText } from './caller.ts';
import { describeKind, type Sample, useCleanCaller } from './contract.ts';
import type { ContractTarget } from './contract-target.ts';

const TYPES = ['endpoints', 'agent', 'dashboard'];

const SAMPLE: Sample = {
  kind: IP_RESTRICTION,
  create: (number, { ipp }) => ({ type: TYPES[number] ?? '', ip_policy_ids: [ipp] }),
  update: ({ ipp }) => ({ enforced: true, ip_policy_ids: [ipp] }),
  immutable: { type: 'api' },
};

export function describeIpRestrictions(target: ContractTarget): void {
  describeKind(target, SAMPLE);

  describe('IP restriction, its policies', () => {
    const call = useCleanCaller(target);
    const { ipp, bkdtg } = target.ids;
    const post = (body: Record<string, string | boolean | string[]>) => call('POST', '/ip_restrictions', { body });

    it('are shown as references, and are not enforced unless that is said', async () => {
      const { body } = await post({ type: 'endpoints', ip_policy_ids: [ipp] });
      expect(body).toMatchObject({ enforced: false, ip_policies: [{ id: ipp, uri: expect.any(String) }] });
      expect(body).not.toHaveProperty('ip_policy_ids');
    });

    it('are at least one, of the right kind', async () => {
      expect((await post({ type: 'endpoints', ip_policy_ids: [] })).status).toBe(400);
      expect((await post({ type: 'endpoints' })).status).toBe(400);
      expect((await post({ type: 'endpoints', ip_policy_ids: [bkdtg] })).status).toBe(400);
    });

    it('restrict one of four types of traffic', async () => {
      expect((await post({ type: 'everything', ip_policy_ids: [ipp] })).status).toBe(400);
      expect((await post({ ip_policy_ids: [ipp] })).status).toBe(400);
    });

    it('are in one restriction for each type', async () => {
      const first = await post({ type: 'endpoints', ip_policy_ids: [ipp] });
      expect((await post({ type: 'endpoints', ip_policy_ids: [ipp] })).status).toBe(409);
      await call('DELETE', `/ip_restrictions/${getText(first.body['id'])}`);
      expect((await post({ type: 'endpoints', ip_policy_ids: [ipp] })).status).toBe(201);
    });
  });
}
