import { describe, expect, it } from 'vitest';
import { explain, validate } from './explain.ts';

/** An edge with this metadata, after a mapping with anchors. */
function toEdgeText(metadata: string): string {
  return `apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: a
  annotations: &first { team: data, tier: gold }
  labels: &second { team: web, region: eu }
spec:
  metadata: ${metadata}
`;
}

function readMetadata(metadata: string): unknown {
  const { state, diagnostics } = validate(toEdgeText(metadata));
  expect(diagnostics).toEqual([]);
  return state?.resources.get('TCPEdge/a')?.spec['metadata'];
}

describe('a merge key', () => {
  it.each([
    ['an alias', '{ <<: *first, service: redis }', { team: 'data', tier: 'gold', service: 'redis' }],
    ['a mapping at its place', '{ <<: { a: 1 }, b: 2 }', { a: 1, b: 2 }],
    ['a list, whose earlier members win', '{ <<: [*first, *second] }', { team: 'data', tier: 'gold', region: 'eu' }],
    ['nothing over a key of the mapping itself', '{ <<: *first, team: own }', { team: 'own', tier: 'gold' }],
    ['nothing over a key that comes before it', '{ team: own, <<: *first }', { team: 'own', tier: 'gold' }],
    ['a mapping with a merge key of its own', '{ <<: { <<: *first, tier: x } }', { team: 'data', tier: 'x' }],
    ['an empty mapping', '{ <<: {}, a: 1 }', { a: 1 }],
    ['a mapping below a key', '{ deep: { <<: *second } }', { deep: { team: 'web', region: 'eu' } }],
  ])('merges %s', (_, metadata, expected) => {
    expect(readMetadata(metadata)).toEqual(expected);
  });

  it('merges whole documents of a List', () => {
    const { state, diagnostics } = validate(`apiVersion: v1
kind: List
items:
  - &edge
    apiVersion: edgewise/v1
    kind: TCPEdge
    metadata: { name: a }
    spec: { description: Shop }
  - { <<: *edge, metadata: { name: b } }
`);
    expect(diagnostics).toEqual([]);
    expect([...(state?.resources.values() ?? [])].map(({ address, spec }) => [address, spec['description']])).toEqual([
      ['TCPEdge/a', 'Shop'],
      ['TCPEdge/b', 'Shop'],
    ]);
  });

  it('fills in variables, and an unset one is reported once', () => {
    const variables = { WHO: 'shop' };
    const text = toEdgeText(`{ <<: { a: "\${env:WHO}", b: "\${env:NONE}" } }`);
    expect(explain(text, { env: { variables, offered: ['WHO', 'NONE'] } })[0]).toBe(
      `8:42 [\${env:NONE}] env-reference: TCPEdge/a: the environment variable NONE is not set`,
    );
  });

  it('is located at the mapping that it merges', () => {
    const { state } = validate(toEdgeText('{ <<: *first, service: redis }'));
    const resource = state?.resources.get('TCPEdge/a');
    expect(resource?.locate(['spec', 'metadata', 'tier']).line).toBe(5);
    expect(resource?.locate(['spec', 'metadata', 'service']).line).toBe(8);
    expect(resource?.readSource(['spec', 'metadata', 'tier'])).toBe('gold');
  });

  it.each(['"<<": { a: 1 }', "'<<': { a: 1 }", '? "<<"\n    : 1'])(
    'in quotes is an error, and not a key: %s',
    (member) => {
      const found = explain(toEdgeText(`\n    ${member}`));
      expect(found).toContainEqual(expect.stringContaining('the key `<<` in quotes is not a merge key'));
    },
  );
});

describe('merge keys that multiply their values', () => {
  const levels = [...'bcdefghi'].map(
    (name, at) => `    ${name}: &${name} { <<: [${Array(9).fill(`*${'abcdefgh'[at]}`).join(', ')}], ${name}: 1 }\n`,
  );

  it('are refused like other aliases', () => {
    expect(explain(toEdgeText(`\n    a: &a { a: 1 }\n${levels.join('')}`))[0]).toMatch(
      /yaml-syntax: TCPEdge\/a: the aliases of this document expand to too many values$/,
    );
  });

  it('copy nothing beyond the limit', () => {
    const keys = Array.from({ length: 10_000 }, (_, at) => `k${at}: 1`).join(', ');
    const copies = Array.from({ length: 4_000 }, () => '- { <<: *big }').join('\n      ');
    const before = process.memoryUsage().heapUsed;
    const found = explain(toEdgeText(`\n    big: &big { ${keys} }\n    all:\n      ${copies}`));
    expect(found[0]).toMatch(/expand to too many values$/);
    // 40 million members would need gigabytes.
    expect(process.memoryUsage().heapUsed - before).toBeLessThan(500_000_000);
  });
});
