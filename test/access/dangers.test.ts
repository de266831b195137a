import { describe, expect, it } from 'vitest';
import { listResourceTransitionDangers, type ResourceState } from '../../src/access/dangers.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import type { Spec } from '../../src/model/state.ts';

const DENY = { name: 'europe', expressions: ["conn.geo.country_code in ['DE']"], actions: [{ type: 'deny' }] };
const WIDER = { ...DENY, expressions: ["conn.geo.country_code in ['DE', 'FR']"] };
const LOG = { name: 'log', expressions: [], actions: [{ type: 'log' }] };
const POLICIES = { ip_policy_ids: ['ipp_one'] };
const RESTRICTION = { type: 'endpoints', enforced: true, ip_policy_ids: ['ipp_one', 'ipp_two'] };
const CERTIFICATE = {
  ssh_certificate_authority_id: 'sshca_one',
  public_key: 'ssh-ed25519 AAAA',
  principals: ['alice'],
};
const UNTIL = '2031-01-01T00:00:00Z';
const STAYS_VALID = `secrets stays-valid valid_until: "${UNTIL}" (the API cannot revoke it)`;
const FILTER = { edge_id: 'edghts_web', id: 'edghtsrt_api' };
const OPTIONS = { 'force-command': 'ls', 'source-address': '10.0.0.0/8' };

function toIpRule(...allow: readonly string[]): Spec {
  return { policy: { inbound: [{ actions: [{ type: 'restrict-ips', config: { enforce: true, allow } }] }] } };
}

/** A change, its dangers, and the dangers of the opposite change: each as `group danger path: from → to`. */
const CASES: readonly (readonly [
  claim: string,
  kind: string,
  from: Spec | undefined,
  to: Spec | undefined,
  forth: readonly string[],
  back: readonly string[],
])[] = [
  [
    'a restriction that goes',
    'TCPEdge',
    { ip_restriction: POLICIES },
    {},
    ['access restriction-removed ip_restriction: {"enabled":true,"ip_policy_ids":["ipp_one"]}'],
    [],
  ],
  [
    'a restriction that is disabled',
    'TCPEdge',
    { ip_restriction: POLICIES },
    { ip_restriction: { enabled: false, ...POLICIES } },
    [
      'access restriction-disabled ip_restriction: {"enabled":true,"ip_policy_ids":["ipp_one"]} → {"enabled":false,"ip_policy_ids":["ipp_one"]}',
    ],
    [],
  ],
  [
    'a restriction that was disabled, and goes',
    'TCPEdge',
    { ip_restriction: { enabled: false, ...POLICIES } },
    {},
    [],
    [],
  ],
  [
    'an empty filter that goes',
    'HTTPSEdgeRoute',
    { ...FILTER, user_agent_filter: {} },
    FILTER,
    [
      'access restriction-removed user_agent_filter: {"allow":[],"deny":[],"enabled":true} (it restricted nothing before: it denies no user agent)',
    ],
    ['access unrestricted user_agent_filter.deny (it denies no user agent)'],
  ],
  [
    'a backend that is gone while its module stays',
    'TCPEdge',
    { backend: { backend_id: 'bkdhr_one' } },
    { backend: { backend_id: null } },
    ['traffic target-removed backend.backend_id: "bkdhr_one"'],
    [],
  ],
  [
    'other policies, which nobody here can compare',
    'TCPEdge',
    { ip_restriction: { ip_policy_ids: ['ipp_one', 'ipp_two'] } },
    { ip_restriction: { ip_policy_ids: ['ipp_two'] } },
    ['access restriction-changed ip_restriction.ip_policy_ids: ["ipp_one"]'],
    ['access restriction-changed ip_restriction.ip_policy_ids: → ["ipp_one"]'],
  ],
  [
    'one more country that is denied',
    'TCPEdge',
    { policy: { inbound: [LOG, DENY] } },
    { policy: { inbound: [LOG, WIDER] } },
    [`access rule-changed policy.inbound[1]: ${toJson(DENY)} → ${toJson(WIDER)}`],
    [`access rule-changed policy.inbound[1]: ${toJson(WIDER)} → ${toJson(DENY)}`],
  ],
  [
    'rules that are written without their empty parts',
    'TCPEdge',
    { policy: { inbound: [{ actions: [{ type: 'deny' }] }], outbound: [LOG] } },
    {
      policy: {
        inbound: [{ name: '', expressions: [], actions: [{ config: null, type: 'deny' }] }],
        outbound: [{ actions: [{ config: {}, type: 'log' }], name: 'log' }],
      },
    },
    [],
    [],
  ],
  [
    'addresses in another form',
    'TCPEdge',
    toIpRule('10.1.2.3/8', '2001:DB8:0::/32'),
    toIpRule('10.0.0.0/8', '2001:db8::/32'),
    [],
    [],
  ],
  [
    'host names in another form',
    'Credential',
    { acl: ['bind:Example.com', 'bind:*.Bücher.example', 'bind:b.example'] },
    { acl: ['bind:example.com', 'bind:*.xn--bcher-kva.example'] },
    [],
    ['secrets access-widened acl: → ["bind:b.example"]'],
  ],
  [
    'a rule before others',
    'TCPEdge',
    { policy: { inbound: [LOG] } },
    { policy: { inbound: [DENY, LOG] } },
    [`access rule-added policy.inbound[0]: → ${toJson(DENY)}`],
    [`access rule-removed policy.inbound[0]: ${toJson(DENY)}`],
  ],
  [
    'rules in another order',
    'TCPEdge',
    { policy: { inbound: [LOG, DENY] } },
    { policy: { inbound: [DENY, LOG] } },
    [`access rules-reordered policy.inbound: [${toJson(LOG)},${toJson(DENY)}] → [${toJson(DENY)},${toJson(LOG)}]`],
    [`access rules-reordered policy.inbound: [${toJson(DENY)},${toJson(LOG)}] → [${toJson(LOG)},${toJson(DENY)}]`],
  ],
  [
    'a rule by another name',
    'TCPEdge',
    { policy: { inbound: [DENY] } },
    { policy: { inbound: [{ ...DENY, name: 'other' }] } },
    [],
    [],
  ],
  [
    'a policy that comes into force',
    'TCPEdge',
    { policy: { enabled: false, inbound: [DENY] } },
    { policy: { inbound: [DENY] } },
    [`access rule-added policy.inbound[0]: → ${toJson(DENY)}`],
    [
      `access restriction-disabled policy: {"enabled":true,"inbound":[${toJson(DENY)}],"outbound":[]} → {"enabled":false,"inbound":[${toJson(DENY)}],"outbound":[]}`,
    ],
  ],
  [
    'a policy that goes',
    'TCPEdge',
    { policy: { inbound: [DENY], outbound: [LOG] } },
    {},
    [
      `access rule-removed policy.inbound[0]: ${toJson(DENY)}`,
      `access rule-removed policy.outbound[0]: ${toJson(LOG)}`,
    ],
    [
      `access rule-added policy.inbound[0]: → ${toJson(DENY)}`,
      `access rule-added policy.outbound[0]: → ${toJson(LOG)}`,
    ],
  ],
  [
    'a restriction of the account that goes',
    'IPRestriction',
    RESTRICTION,
    undefined,
    ['access restriction-removed'],
    [],
  ],
  ['one that is not enforced, and goes', 'IPRestriction', { ...RESTRICTION, enforced: false }, undefined, [], []],
  [
    'one that is not enforced any more',
    'IPRestriction',
    RESTRICTION,
    { ...RESTRICTION, enforced: false, ip_policy_ids: ['ipp_one'] },
    ['access restriction-disabled enforced: true → false'],
    [],
  ],
  [
    'one of other traffic',
    'IPRestriction',
    RESTRICTION,
    { ...RESTRICTION, type: 'api' },
    ['access restriction-removed type: "endpoints" → "api"', 'access lockout'],
    ['access restriction-removed type: "api" → "endpoints"'],
  ],
  [
    'a description beside what may lock out',
    'IPRestriction',
    { ...RESTRICTION, type: 'api' },
    { ...RESTRICTION, type: 'api', description: 'x' },
    [],
    [],
  ],
  [
    'more rules of an ACL',
    'Credential',
    { acl: ['bind:a.test'] },
    { acl: ['bind:a.test', 'bind:b.test'] },
    ['secrets access-widened acl: → ["bind:b.test"]'],
    [],
  ],
  [
    'an ACL within a wider one',
    'Credential',
    { acl: ['bind:*.a.test'] },
    { acl: ['bind:b.a.test'] },
    [],
    ['secrets access-widened acl: → ["bind:*.a.test"]'],
  ],
  [
    'an ACL of everything',
    'Credential',
    { acl: ['bind:a.test'] },
    { acl: ['*'] },
    ['secrets unrestricted acl: ["bind:a.test"]'],
    [],
  ],
  [
    'a credential without an ACL',
    'Credential',
    undefined,
    {},
    ['secrets unrestricted acl (it is empty)'],
    ['secrets token-revoked token (agents with the old token are disconnected)'],
  ],
  [
    'more principals',
    'SSHUserCertificate',
    CERTIFICATE,
    { ...CERTIFICATE, principals: ['alice', 'bob'] },
    ['secrets access-widened principals: → ["bob"]'],
    [],
  ],
  [
    'no critical option',
    'SSHUserCertificate',
    { ...CERTIFICATE, critical_options: OPTIONS },
    { ...CERTIFICATE, critical_options: { 'force-command': 'cat' } },
    [
      'secrets restriction-removed critical_options.source-address: "10.0.0.0/8"',
      'secrets restriction-changed critical_options.force-command: "ls" → "cat"',
    ],
    ['secrets restriction-changed critical_options.force-command: "cat" → "ls"'],
  ],
  [
    'a later end',
    'SSHUserCertificate',
    { ...CERTIFICATE, valid_until: '2030-01-01T00:00:00Z' },
    { ...CERTIFICATE, valid_until: '2031-01-01T00:00:00Z' },
    ['secrets longer-validity valid_until: "2030-01-01T00:00:00Z" → "2031-01-01T00:00:00Z"'],
    ['secrets stays-valid valid_until: "2031-01-01T00:00:00Z" (the API cannot revoke it)'],
  ],
  [
    'a certificate without one of its principals',
    'SSHUserCertificate',
    { ...CERTIFICATE, principals: ['alice', 'root'], valid_until: UNTIL },
    { ...CERTIFICATE, valid_until: UNTIL },
    [STAYS_VALID],
    ['secrets access-widened principals: → ["root"]'],
  ],
  [
    'a certificate with one more restriction',
    'SSHUserCertificate',
    { ...CERTIFICATE, valid_until: UNTIL },
    { ...CERTIFICATE, critical_options: { 'force-command': 'ls' }, valid_until: UNTIL },
    [STAYS_VALID],
    ['secrets restriction-removed critical_options.force-command: "ls"'],
  ],
  [
    'a certificate for another key',
    'SSHUserCertificate',
    { ...CERTIFICATE, valid_until: UNTIL },
    { ...CERTIFICATE, public_key: 'ssh-ed25519 BBBB', valid_until: UNTIL },
    [STAYS_VALID],
    [STAYS_VALID],
  ],
  [
    'a certificate that goes',
    'SSHUserCertificate',
    { ...CERTIFICATE, valid_until: UNTIL },
    undefined,
    [STAYS_VALID],
    [],
  ],
  [
    'another backend',
    'TCPEdge',
    { backend: { backend_id: 'bkdwd_one' } },
    { backend: { backend_id: 'bkdwd_two' } },
    ['traffic target-changed backend.backend_id: "bkdwd_one" → "bkdwd_two"'],
    ['traffic target-changed backend.backend_id: "bkdwd_two" → "bkdwd_one"'],
  ],
  [
    'another backend while its module is off',
    'TCPEdge',
    { backend: { enabled: false, backend_id: 'bkdwd_one' } },
    { backend: { enabled: true, backend_id: 'bkdwd_two' } },
    [],
    [
      'traffic target-disabled backend: {"backend_id":"bkdwd_two","enabled":true} → {"backend_id":"bkdwd_one","enabled":false}',
    ],
  ],
  [
    'a pattern, which nobody here can compare with others',
    'HTTPSEdgeRoute',
    { ...FILTER, user_agent_filter: { deny: ['curl.*'] } },
    { ...FILTER, user_agent_filter: { deny: ['curl/8'] } },
    ['access restriction-changed user_agent_filter.deny: ["curl.*"] → ["curl/8"]'],
    ['access restriction-changed user_agent_filter.deny: ["curl/8"] → ["curl.*"]'],
  ],
  [
    'a hostport that is released',
    'TCPEdge',
    { hostports: ['a.test:1', 'b.test:1'] },
    { hostports: ['a.test:1'] },
    ['traffic address-removed hostports: ["b.test:1"]'],
    [],
  ],
  [
    'another hostport',
    'TCPEdge',
    { hostports: ['a.test:1'] },
    { hostports: ['b.test:1'] },
    ['traffic address-changed hostports: ["a.test:1"] → ["b.test:1"]'],
    ['traffic address-changed hostports: ["b.test:1"] → ["a.test:1"]'],
  ],
  [
    'an edge that goes',
    'TCPEdge',
    { hostports: ['a.test:1'], ip_restriction: POLICIES, backend: { backend_id: 'bkdhr_one' } },
    undefined,
    ['traffic address-removed hostports: ["a.test:1"]'],
    [],
  ],
  [
    'another domain',
    'AgentIngress',
    { domain: 'a.test' },
    { domain: 'b.test' },
    ['traffic address-changed domain: "a.test" → "b.test"'],
    ['traffic address-changed domain: "b.test" → "a.test"'],
  ],
  [
    'no backend',
    'TCPEdge',
    { backend: { backend_id: 'bkdhr_one' } },
    {},
    ['traffic target-removed backend: {"backend_id":"bkdhr_one","enabled":true}'],
    [],
  ],
  [
    'a backend that is disabled',
    'TCPEdge',
    { backend: { backend_id: 'bkdhr_one' } },
    { backend: { enabled: false, backend_id: 'bkdhr_one' } },
    [
      'traffic target-disabled backend: {"backend_id":"bkdhr_one","enabled":true} → {"backend_id":"bkdhr_one","enabled":false}',
    ],
    [],
  ],
  [
    'no member with a weight',
    'WeightedBackend',
    { backends: { bkdhr_blue: 70, bkdhr_green: 0 } },
    { backends: { bkdhr_blue: 0, bkdhr_green: 0 } },
    ['traffic no-weight backends: {"bkdhr_blue":70,"bkdhr_green":0} → {"bkdhr_blue":0,"bkdhr_green":0}'],
    [],
  ],
  [
    'the only member with a weight removed',
    'WeightedBackend',
    { backends: { bkdhr_blue: 70, bkdhr_green: 0 } },
    { backends: { bkdhr_green: 0 } },
    ['traffic no-weight backends: {"bkdhr_blue":70,"bkdhr_green":0} → {"bkdhr_green":0}'],
    [],
  ],
  [
    'one of several weights',
    'WeightedBackend',
    { backends: { bkdhr_blue: 70, bkdhr_green: 1 } },
    { backends: { bkdhr_blue: 0, bkdhr_green: 1 } },
    [],
    [],
  ],
];

describe('the dangers of', () => {
  it.each(CASES.map((one) => [one[0], one] as const))(
    '%s, and of the way back',
    (_claim, [, kind, from, to, forth, back]) => {
      expect(list(kind, toSide(kind, from), toSide(kind, to))).toEqual(forth);
      expect(list(kind, toSide(kind, to), toSide(kind, from))).toEqual(back);
    },
  );

  it.each([
    ['a protection taken away', { protect: true }, {}, ['protection unprotected']],
    ['a protection put on', {}, { protect: true }, []],
    ['a resource without a stack any more', { stack: 'a' }, {}, ['ownership released: "a"']],
    ['a resource of another stack', { stack: 'a' }, { stack: 'b' }, ['ownership handed-over: "a" → "b"']],
    ['a resource that is adopted', {}, { stack: 'b' }, []],
  ] as const)('%s', (_claim, from, to, dangers) => {
    expect(list('TCPEdge', { spec: {}, ...from }, { spec: {}, ...to })).toEqual(dangers);
  });

  it('a switch that the service does not show are that it may be off', () => {
    const { enforced: _, ...hidden } = canonical(getKind('IPRestriction'), RESTRICTION, AS_WRITTEN);
    const shown = toSide('IPRestriction', RESTRICTION);
    const unknown = 'access restriction-unknown enforced (the service does not show it)';
    expect(list('IPRestriction', { spec: hidden }, shown)).toEqual([unknown]);
    expect(list('IPRestriction', shown, { spec: hidden })).toEqual([unknown]);
    const module = toSide('TCPEdge', { ip_restriction: POLICIES });
    const spec = { ...module?.spec, ip_restriction: POLICIES };
    const inside = 'access restriction-unknown ip_restriction.enabled (the service does not show it)';
    expect(list('TCPEdge', { spec }, module)).toEqual([inside]);
    expect(list('TCPEdge', module, { spec })).toEqual([inside]);
    expect(list('TCPEdge', { spec }, toSide('TCPEdge', {}))).toEqual([inside]);
  });

  it('a module of which the service shows a part are that of the other part, and the changes of the part that it shows', () => {
    const shown = toSide('HTTPSEdgeRoute', { ...FILTER, user_agent_filter: { allow: [], deny: ['curl'] } });
    const spec = { ...shown?.spec, user_agent_filter: { enabled: true, deny: ['wget'] } };
    const unknown = 'access restriction-unknown user_agent_filter.allow (the service does not show it)';
    const toChanged = (from: string, to: string) =>
      `access restriction-changed user_agent_filter.deny: ["${from}"] → ["${to}"]`;
    expect(list('HTTPSEdgeRoute', { spec }, shown).toSorted()).toEqual([toChanged('wget', 'curl'), unknown]);
    expect(list('HTTPSEdgeRoute', shown, { spec }).toSorted()).toEqual([toChanged('curl', 'wget'), unknown]);
  });

  it('the end of a protected resource', () => {
    const side = { spec: {}, protect: true, stack: 'a' };
    expect(list('TCPEdge', side, undefined)).toEqual(['protection unprotected']);
  });
});

function toSide(kind: string, spec: Spec | undefined): ResourceState | undefined {
  return spec === undefined ? undefined : { spec: canonical(getKind(kind), spec, AS_WRITTEN) };
}

function list(kind: string, from: ResourceState | undefined, to: ResourceState | undefined): readonly string[] {
  return listResourceTransitionDangers(getKind(kind), from, to).map(
    ({ group, danger, path, from, to, consequence }) => {
      const sides = [from === undefined ? '' : ` ${toJson(from)}`, to === undefined ? '' : ` → ${toJson(to)}`].join('');
      const said = consequence === undefined ? '' : ` (${consequence})`;
      return `${[group, danger, path].filter(Boolean).join(' ')}${sides === '' ? '' : ':'}${sides}${said}`;
    },
  );
}

/** With sorted keys, and rules in normal form. */
function toJson(value: unknown): string {
  return JSON.stringify(value, (_, one: unknown) =>
    typeof one === 'object' && one !== null && !Array.isArray(one)
      ? Object.fromEntries(
          Object.entries({ ...one })
            .filter(([, inner]) => inner !== null)
            .sort(([a], [b]) => (a < b ? -1 : 1)),
        )
      : one,
  );
}
