import { describe, expect, it } from 'vitest';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { toRequestSpec } from '../../src/kinds/written-form.ts';
import type { Spec } from '../../src/model/state.ts';
import { createManifestSpecSchema, createRequestBodySchema } from '../../src/schemas/field.ts';

type Case = readonly [kind: string, from: Spec, to: Spec];

const ingress = (domain: string): Spec => ({ domain });
const acl = (...rules: readonly string[]): Spec => ({ acl: rules });
const breaker = (share: number): Spec => ({ circuit_breaker: { error_threshold_percentage: share } });
const restrict = (...allow: readonly string[]): Spec => ({
  policy: { inbound: [{ actions: [{ type: 'restrict-ips', config: { allow, deny: allow } }] }] },
});
const withConfig = (config: Spec): Spec => ({ policy: { inbound: [{ actions: [{ type: 'restrict-ips', config }] }] } });
const select = (...expressions: readonly string[]): Spec => ({ policy: { outbound: [{ expressions, actions: [] }] } });
const source = (addresses: string): Spec => ({ critical_options: { 'source-address': addresses } });

const EQUAL: readonly Case[] = [
  ['AgentIngress', ingress('agents.BÜCHER.example'), ingress('agents.xn--bcher-kva.example')],
  ['AgentIngress', ingress('AGENTS.XN--BCHER-KVA.example'), ingress('agents.bücher.example')],
  ['AgentIngress', ingress('cafe\u0301.example'), ingress('caf\u00e9.example')],
  ['Credential', acl('bind:Example.com'), acl('bind:example.com')],
  ['Credential', acl('bind:*.Bücher.example'), acl('bind:*.xn--bcher-kva.example')],
  ['Credential', acl('bind:1.TCP.example.net:443'), acl('bind:1.tcp.example.net:443')],
  ['Credential', acl('bind:b.example', 'bind:A.example'), acl('bind:a.example', 'bind:B.example')],
  ['TCPEdge', { hostports: ['BÜCHER.example:443'] }, { hostports: ['xn--bcher-kva.example:443'] }],
  ['TCPEdge', restrict('10.1.2.3/8'), restrict('10.0.0.0/8')],
  ['TCPEdge', restrict('2001:DB8:0:0::1/64', '192.0.2.7/32'), restrict('2001:db8::/64', '192.0.2.7')],
  ['TCPEdge', restrict('192.0.2.0/24', '10.0.0.0/8'), restrict('10.0.0.0/8', '192.0.2.0/24')],
  ['TCPEdge', restrict('192.0.2.7', '10.0.0.0/8', '192.0.2.7/32'), restrict('10.0.0.0/8', '192.0.2.7')],
  ['TCPEdge', withConfig({ ip_policies: ['ipp_b', 'ipp_a'] }), withConfig({ ip_policies: ['ipp_a', 'ipp_b'] })],
  ['TCPEdge', select('conn.a', 'conn.b'), select('conn.b', 'conn.a', 'conn.b')],
  ['TCPEdge', { description: 'Postgres.\n' }, { description: 'Postgres.' }],
  ['TCPEdge', { description: ' \n' }, {}],
  ['SSHUserCertificate', source('2001:DB8::/32,10.0.0.0/8'), source('2001:db8:0::/32,10.1.0.0/8')],
  ['SSHUserCertificate', { valid_until: '2030-01-01T01:00:00.9+01:00' }, { valid_until: '2030-01-01T00:00:00Z' }],
  ['HTTPSEdgeRoute', breaker(0.01), breaker(0.009999999776)],
  ['HTTPSEdgeRoute', breaker(1 / 3), breaker(0.3333333432674408)],
];

const DIFFERENT: readonly Case[] = [
  ['Credential', acl('bind:app=Blue'), acl('bind:app=blue')],
  ['Credential', acl('bind:example.com'), acl('bind:*.example.com')],
  ['AgentIngress', ingress('bücher.example'), ingress('bucher.example')],
  ['TCPEdge', restrict('10.0.0.0/8'), restrict('10.0.0.0/9')],
  ['TCPEdge', withConfig({ other: ['b', 'a'] }), withConfig({ other: ['a', 'b'] })],
  ['TCPEdge', select('conn.a', 'conn.b'), select('conn.a')],
  ['TCPEdge', restrict('192.0.2.7'), restrict('::ffff:192.0.2.7')],
  ['TCPEdge', restrict('not an address'), restrict('another')],
  ['TCPEdge', { description: 'a' }, { description: ' a' }],
  ['TCPEdge', { metadata: 'a' }, { metadata: 'a\n' }],
  ['SSHUserCertificate', { principals: ['root'] }, { principals: ['root '] }],
  [
    'SSHUserCertificate',
    { critical_options: { 'force-command': 'ls' } },
    { critical_options: { 'force-command': 'ls ' } },
  ],
  ['SSHUserCertificate', { valid_until: '2030-01-01T00:00:01Z' }, { valid_until: '2030-01-01T00:00:00Z' }],
  ['HTTPSEdgeRoute', { user_agent_filter: { deny: ['bot'] } }, { user_agent_filter: { deny: ['bot '] } }],
  ['HTTPSEdgeRoute', breaker(0.01), breaker(0.0100001)],
];

describe('values with one meaning', () => {
  it.each(EQUAL)('of %s have one normal form: %j and %j', (name, from, to) => {
    expect(canonical(getKind(name), from, AS_WRITTEN)).toEqual(canonical(getKind(name), to, AS_WRITTEN));
  });

  it.each(DIFFERENT)('of %s differ otherwise: %j and %j', (name, from, to) => {
    expect(canonical(getKind(name), from, AS_WRITTEN)).not.toEqual(canonical(getKind(name), to, AS_WRITTEN));
  });
});

describe('a request', () => {
  it.each<Case>([
    ['AgentIngress', ingress('agents.Bücher.example'), ingress('agents.xn--bcher-kva.example')],
    ['AgentIngress', ingress('agents.Example.com'), ingress('agents.Example.com')],
    ['Credential', acl('bind:*.bücher.example'), acl('bind:*.xn--bcher-kva.example')],
    ['TCPEdge', { hostports: ['bücher.example:443'] }, { hostports: ['xn--bcher-kva.example:443'] }],
    ['SSHUserCertificate', { valid_until: '2030-01-01T00:00:00.7Z' }, { valid_until: '2030-01-01T00:00:00Z' }],
    ['TCPEdge', restrict('10.1.2.3/8'), restrict('10.1.2.3/8')],
  ])('of %s has %j as %j', (name, written, sent) => {
    expect(toRequestSpec(getKind(name), written)).toEqual(sent);
  });
});

describe('a host name that is not ASCII', () => {
  const spec = { domain: 'agents.bücher.example' };

  it('is accepted in a manifest, and is not sent', () => {
    const kind = getKind('AgentIngress');
    expect(createManifestSpecSchema(kind).safeParse(spec).success).toBe(true);
    const refused = createRequestBodySchema(kind, 'create').safeParse(spec).error?.issues[0]?.message;
    expect(refused).toBe('`agents.bücher.example` is not ASCII: write `agents.xn--bcher-kva.example`');
  });

  it.each([
    'bücher.example/x',
    'bücher@example.com',
    'b%C3%BCcher.exa',
    'ü。example.com:80',
    'x\u200dü.example',
    'ü.example.',
  ])('is refused without an A-label: %s', (domain) => {
    expect(createManifestSpecSchema(getKind('AgentIngress')).safeParse({ domain }).success).toBe(false);
  });
});

describe('source addresses', () => {
  const check = (addresses: string) =>
    createManifestSpecSchema(getKind('SSHUserCertificate')).safeParse({
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L',
      ssh_certificate_authority_id: 'sshca_2k9XLTJrEKpUhfwyWqZzQNvMbcA',
      ...source(addresses),
    }).error?.issues[0];

  it.each([
    ['10.1.2.3/8', 'whose address is not the first one of its block: write `10.0.0.0/8`'],
    ['10.0.0.0/8,2001:db8::1/32', 'whose address is not the first one of its block: write `2001:db8::/32`'],
    ['fe80::1%eth0', 'which is neither an IP address nor a CIDR block'],
    ['10.0.0.0/8, 192.0.2.0/24', 'which is neither an IP address nor a CIDR block'],
  ])('are refused at the key: %s', (addresses, message) => {
    expect(check(addresses)).toMatchObject({ path: ['critical_options', 'source-address'] });
    expect(check(addresses)?.message).toContain(message);
  });

  it('are accepted if sshd accepts them', () => {
    expect(check('10.0.0.0/8,192.0.2.7,2001:db8::/32,::1')).toBeUndefined();
  });
});
