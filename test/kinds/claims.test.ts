import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { findConflicts, listClaims } from '../../src/kinds/claims.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';

const EDGE = getKind('TCPEdge');
const SPEC = { description: 'not unique', hostports: ['b.example.com:1', 'A.example.com:1'] };

describe('claims', () => {
  it('say where a spec makes each of them, as given and in normal form', () => {
    expect(listClaims(EDGE, SPEC)).toMatchObject([
      { field: 'hostports', path: ['hostports', 0], given: 'b.example.com:1', value: 'b.example.com:1' },
      { field: 'hostports', path: ['hostports', 1], given: 'A.example.com:1', value: 'a.example.com:1' },
    ]);
  });

  it('have the same keys for a spec as written and in normal form', () => {
    const listKeys = (spec: typeof SPEC) => listClaims(EDGE, spec).map(({ key }) => key);
    const normal = { ...SPEC, ...canonical(EDGE, SPEC, AS_WRITTEN) };
    expect(new Set(listKeys(SPEC))).toEqual(new Set(listKeys(normal)));
    expect(listKeys(SPEC)[0]).not.toBe(listKeys(SPEC)[1]);
  });

  it('include what an attached kind attaches to', () => {
    const spec = { edge_id: 'edghts_1', id: 'edghtsrt_1' };
    expect(listClaims(getKind('HTTPSEdgeRoute'), spec)).toMatchObject([{ path: ['id'], value: 'edghtsrt_1' }]);
  });

  it.each([undefined, null, '', [], {}, [null], [{}]])('are empty for %j', (hostports) => {
    expect(listClaims(EDGE, { ...(hostports !== undefined && { hostports }) })).toEqual([]);
    expect(listClaims(getKind('AgentIngress'), { ...(hostports !== undefined && { domain: hostports }) })).toEqual([]);
  });
});

describe('conflicts', () => {
  it('are all claims on a value that several holders claim', () => {
    const toClaim = (key: string, holder: string, at: number) => ({ key, holder, at });
    const [first, second, third] = [toClaim('x', 'a', 1), toClaim('x', 'b', 2), toClaim('x', 'b', 3)];
    const others = [toClaim('y', 'a', 4), toClaim('y', 'a', 5), toClaim('z', 'b', 6)];
    expect(findConflicts([...others, first, second, third])).toEqual([[first, second, third]]);
    expect(findConflicts(others)).toEqual([]);
  });
});
