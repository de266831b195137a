import { describe, expect, it } from 'vitest';
import { HTTPS_EDGE_ROUTE } from '../../src/kinds/tables/https-edge.ts';
import { TCP_EDGE } from '../../src/kinds/tables/tcp-edge.ts';
import { toRequestSpec } from '../../src/kinds/written-form.ts';

describe('the members of sets in requests', () => {
  it('are sorted', () => {
    const spec = { hostports: ['b:2', 'A:1'], ip_restriction: { ip_policy_ids: ['ipp_b', 'ipp_a'] } };
    expect(toRequestSpec(TCP_EDGE, spec)).toEqual({
      hostports: ['A:1', 'b:2'],
      ip_restriction: { ip_policy_ids: ['ipp_a', 'ipp_b'] },
    });
  });

  it('keep their order if it is sorted', () => {
    const spec = { hostports: ['A:1', 'b:2'], ip_restriction: { ip_policy_ids: ['ipp_a', 'ipp_b'] } };
    expect(toRequestSpec(TCP_EDGE, spec)).toEqual(spec);
  });

  it('are sorted inside policies', () => {
    const toEdge = (expressions: readonly string[], allow: readonly string[]) => ({
      policy: { inbound: [{ expressions, actions: [{ type: 'restrict-ips', config: { allow } }] }] },
    });
    expect(toRequestSpec(TCP_EDGE, toEdge(['b', 'a'], ['10.1.2.3/8', '10.0.0.1']))).toEqual(
      toEdge(['a', 'b'], ['10.0.0.1', '10.1.2.3/8']),
    );
  });

  it('are sorted, and the members of other lists are not', () => {
    const rule = {
      name: 'b',
      actions: [{ type: 'log', config: { list: [2, 1] } }, { type: 'deny' }],
    };
    const edge = { metadata: { list: [2, 1] }, policy: { inbound: [rule, { name: 'a' }], outbound: rule } };
    const route = { request_headers: { add: { 'x-b': '2', constructor: '1' }, constructor: ['b', 'a'] } };
    expect(toRequestSpec(TCP_EDGE, edge)).toEqual(edge);
    expect(toRequestSpec(HTTPS_EDGE_ROUTE, route)).toEqual(route);
  });
});
