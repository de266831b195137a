import { describe, expect, it } from 'vitest';
import { explain } from '../../src/explain/explain.ts';
import { MANIFEST_KINDS } from '../../src/kinds/tables/registry.ts';

function listExplained(topic: string): readonly string[] {
  const page = explain(topic);
  if ('message' in page) return [];
  if (page.about === 'fields') return page.fields.map(({ name }) => name);
  return 'path' in page ? [page.path] : [];
}

describe('a word of other products', () => {
  it.each([
    ['tunnel', ['TCPEdge', 'AgentIngress', 'Credential']],
    ['cidr', ['TCPEdge.ip_restriction', 'IPRestriction.ip_policy_ids']],
    ['CIDRs', ['TCPEdge.ip_restriction', 'IPRestriction.ip_policy_ids']],
    ['backend', ['TCPEdge.backend', 'WeightedBackend']],
    ['allowlist', ['TCPEdge.ip_restriction', 'IPRestriction', 'Credential.acl']],
    ['allow-list', ['TCPEdge.ip_restriction', 'IPRestriction', 'Credential.acl']],
    ['endpoint', ['TCPEdge', 'AgentIngress', 'HTTPSEdge']],
    ['domain', ['AgentIngress.domain']],
    ['remote_addr', ['TCPEdge.policy']],
  ])('%s is explained', (word, expected) => {
    expect(listExplained(word).toSorted()).toEqual(expected.toSorted());
  });

  it.each(MANIFEST_KINDS.flatMap(({ name, words }) => Object.entries(words).map(([word, path]) => [word, name, path])))(
    '%s leads to a kind or field that exists: %s %s',
    (word, name = '', path = '') => {
      const target = path === '' ? name : `${name}.${path}`;
      expect('message' in explain(target)).toBe(false);
      expect(listExplained(word ?? '')).toContain(target);
    },
  );

  it('does not replace the explanation of a name in edgewise', () => {
    expect(listExplained('TCPEdge')).toEqual(['TCPEdge']);
  });
});
