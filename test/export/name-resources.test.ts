import { describe, expect, it } from 'vitest';
import { assignNamesToIds, choosePreferredName, createNameFromId } from '../../src/export/name-resources.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { isResourceName } from '../../src/model/address.ts';
import type { Spec } from '../../src/model/state.ts';

const ID = 'edgtcp_2k9XLR3nGNPfyoIk0A3yD8vPq7M';

function toName(kind: string, spec: Spec): string {
  const rest = { createdAt: '', mark: undefined, markError: undefined, computed: {} };
  return choosePreferredName(getKind(kind), {
    kind,
    id: ID,
    spec: canonical(getKind(kind), spec, AS_WRITTEN),
    ...rest,
  });
}

describe('the name of a resource without one', () => {
  it.each([
    ['Postgres for the data team', 'postgres-for-the-data-team'],
    ['  Größe & Übermaß: ŁÓDŹ, Ærø, İstanbul ', 'grosse-ubermass-lodz-aero-istanbul'],
    ['v1.2_rc', 'v1.2_rc'],
    ['ﬁle № ½', 'file-no-1-2'],
    ['__proto__', 'proto'],
    [
      'a sentence that goes on for so long that nobody would want it as a name',
      'a-sentence-that-goes-on-for-so-long-that-nobody',
    ],
    ['x'.repeat(255), 'x'.repeat(50)],
    ['日本語', 'first.example.net-1'],
    ['', 'first.example.net-1'],
  ])('is made from its description, or from its unique value: %s', (description, name) => {
    const hostports = ['second.example.net:1', 'first.example.net:1'];
    expect(toName('TCPEdge', { description, hostports })).toBe(name);
    expect(isResourceName(name)).toBe(true);
  });

  it('is its type or its domain if it has one', () => {
    expect(toName('IPRestriction', { description: 'Only the office', type: 'api', ip_policy_ids: [] })).toBe('api');
    expect(toName('AgentIngress', { description: 'Ours', domain: 'IN.example.com' })).toBe('in.example.com');
  });

  it('is made from its id if there is nothing else', () => {
    expect(toName('WeightedBackend', {})).toBe('edgtcp-8vpq7m');
    expect(['ipp_', '_'].map(createNameFromId).every(isResourceName)).toBe(true);
  });
});

describe('names', () => {
  const nameless = (id: string, base: string, isFixed = false) => ({ id, base, isFixed });

  it('get the end of the id if they would be equal, in any order', () => {
    const members = [nameless('cr_abcdefG', 'a'), nameless('cr_bcdefgH', 'a'), nameless('cr_cdefghI', 'b')];
    const expected = { cr_abcdefG: 'a-bcdefg', cr_bcdefgH: 'a-cdefgh', cr_cdefghI: 'b' };
    expect(Object.fromEntries(assignNamesToIds(members))).toEqual(expected);
    expect(Object.fromEntries(assignNamesToIds(members.toReversed()))).toEqual(expected);
  });

  it('are kept if they exist', () => {
    const names = assignNamesToIds([nameless('cr_abcdefG', 'a', true), nameless('cr_bcdefgH', 'a')]);
    expect([...names.values()]).toEqual(['a', 'a-cdefgh']);
  });

  it('differ if ids end alike, and if a name looks as if it had a suffix', () => {
    const members = [
      nameless('cr_1abcdef', 'x'.repeat(50)),
      nameless('cr_2ABCDEF', 'x'.repeat(50)),
      nameless('cr_3zzzzzz', `${'x'.repeat(50)}-abcdef`, true),
      nameless('cr_4000000', `${'x'.repeat(43)}`),
    ];
    const names = [...assignNamesToIds(members).values()];
    expect(new Set(names).size).toBe(4);
    expect(names.every(isResourceName)).toBe(true);
  });
});
