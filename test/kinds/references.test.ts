import { describe, expect, it } from 'vitest';
import { listReferences, mapReferences } from '../../src/kinds/references.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';

describe('references', () => {
  it('are found by the keys of the kind table and not by inherited names', () => {
    const config = { constructor: ['ipp_a'], ip_policies: ['ipp_b'] };
    const spec = { policy: { constructor: { a: 1 }, inbound: [{ actions: [{ type: 'restrict-ips', config }] }] } };
    expect(listReferences(TCP_EDGE, spec).map(({ value }) => value)).toEqual(['ipp_b']);
    expect(mapReferences(TCP_EDGE, spec, ({ value }) => value)).toEqual(spec);
  });

  it('are replaced in a copy of the spec', () => {
    const spec = { backend: { backend_id: 'bkdtg_a' }, ip_restriction: { ip_policy_ids: ['ipp_a', 'ipp_b'] } };
    const mapped = mapReferences(TCP_EDGE, spec, ({ value }) => (value === 'ipp_b' ? 'ipp_c' : value));
    expect(mapped).toEqual({ ...spec, ip_restriction: { ip_policy_ids: ['ipp_a', 'ipp_c'] } });
    expect(spec.ip_restriction.ip_policy_ids).toEqual(['ipp_a', 'ipp_b']);
  });
});
