import { describe, expect, it } from 'vitest';
import {
  isOpenOnPurpose,
  judgeField,
  judgeMapValue,
  listOpenParts,
  readSwitch,
} from '../../src/access/restrictions.ts';
import { AS_WRITTEN, canonical } from '../../src/kinds/canonical.ts';
import { boolean, createModuleType, field, mapOf, text, textOfFormat } from '../../src/kinds/field.ts';
import { getKind } from '../../src/kinds/tables/registry.ts';
import { formatPath } from '../../src/model/field-path.ts';
import { isJsonObject, type Json } from '../../src/model/json.ts';

const ON = { enabled: true } as const;
const deny = { type: 'deny' } as const;
const toIps = (config?: Json): Json => ({ type: 'restrict-ips', ...(config !== undefined && { config }) });
const toRule = (actions?: readonly Json[], expressions: readonly string[] | undefined = []): Json => ({
  ...(actions !== undefined && { actions }),
  ...(expressions !== undefined && { expressions }),
});
const toPolicy = (...inbound: readonly Json[]): Json => ({ ...ON, inbound, outbound: [] });
const toIpPolicy = (config: Json): Json => toPolicy(toRule([toIps(config)]));
const HIDDEN_EXPRESSIONS: Json = { actions: [deny] };

/** Values in normal form, in which what the service does not show is absent. */
const JUDGED: readonly (readonly [field: string, value: Json | undefined, effect: string])[] = [
  ['TCPEdge.description', 'x', 'none'],
  ['TCPEdge.ip_restriction', undefined, 'unknown : the service does not show it'],
  ['TCPEdge.ip_restriction', null, 'none'],
  ['TCPEdge.ip_restriction', { enabled: false, ip_policy_ids: ['ipp_a'] }, 'none'],
  ['TCPEdge.ip_restriction', { ip_policy_ids: ['ipp_a'] }, 'unknown enabled: the service does not show it'],
  ['TCPEdge.ip_restriction', { ...ON, ip_policy_ids: ['ipp_a'] }, 'restricts'],
  ['TCPEdge.ip_restriction', { ...ON, ip_policy_ids: [] }, 'open ip_policy_ids: it is empty'],
  ['TCPEdge.ip_restriction', ON, 'unknown ip_policy_ids: the service does not show it'],
  ['TCPEdge.policy', { ...ON, inbound: [], outbound: [] }, 'open : it has no rule'],
  ['TCPEdge.policy', { ...ON, inbound: null, outbound: null }, 'open : it has no rule'],
  ['TCPEdge.policy', { ...ON, outbound: [] }, 'unknown inbound: the service does not show it'],
  ['TCPEdge.policy', { ...ON, inbound: [], outbound: [toRule([deny])] }, 'restricts'],
  ['TCPEdge.policy', toPolicy(toRule([deny])), 'restricts'],
  ['TCPEdge.policy', toPolicy(toRule([deny], ['a'])), 'restricts'],
  ['TCPEdge.policy', toPolicy(toRule([{ type: 'log' }])), 'none'],
  ['TCPEdge.policy', toPolicy(toRule([{ type: 'log' }], ['false'])), 'none'],
  ['TCPEdge.policy', toPolicy(toRule([])), 'none'],
  ['TCPEdge.policy', toPolicy(toRule([{ type: 'log' }, deny])), 'restricts'],
  ['TCPEdge.policy', toPolicy({ expressions: [] }), 'unknown inbound[0].actions: the service does not show it'],
  ['TCPEdge.policy', toPolicy(HIDDEN_EXPRESSIONS), 'unknown inbound[0].expressions: the service does not show it'],
  [
    'TCPEdge.policy',
    toPolicy(toRule([deny], ['a', 'b && false'])),
    'open inbound[0].expressions[1]: its expression is never true',
  ],
  [
    'TCPEdge.policy',
    toPolicy(toRule([deny], ['false'])),
    'open inbound[0].expressions[0]: its expression is never true',
  ],
  [
    'TCPEdge.policy',
    toPolicy(toRule([deny], ['a =='])),
    'open inbound[0].expressions[0]: its expression is not valid, so it applies to no traffic',
  ],
  [
    'TCPEdge.policy',
    toPolicy(toRule([deny], ['message{a: 1}.b'])),
    'unknown inbound[0].expressions[0]: its expression cannot be read here',
  ],
  [
    'TCPEdge.policy',
    toPolicy(toRule([{ type: 'ban' }])),
    'unknown inbound[0].actions[0].type: the action "ban" is not known here',
  ],
  [
    'TCPEdge.policy',
    toPolicy(toRule([{ type: 'ban' }], ['false'])),
    'open inbound[0].expressions[0]: its expression is never true',
  ],
  // One rule that restricts is enough, and one that may restrict comes before one that should.
  ['TCPEdge.policy', toPolicy(toRule([deny], ['false']), toRule([{ type: 'ban' }]), toRule([deny])), 'restricts'],
  [
    'TCPEdge.policy',
    toPolicy(toRule([deny], ['false']), toRule([{ type: 'ban' }])),
    'unknown inbound[1].actions[0].type: the action "ban" is not known here',
  ],
  ['TCPEdge.policy', toPolicy(toRule([toIps()])), 'unknown inbound[0].actions[0].config: the service does not show it'],
  ['TCPEdge.policy', toPolicy(toRule([toIps(null)])), 'open inbound[0].actions[0].config: it names no address'],
  ['TCPEdge.policy', toIpPolicy({ enforce: false, allow: ['10.0.0.0/8'] }), 'none'],
  [
    'TCPEdge.policy',
    toIpPolicy({ enforce: 'true', allow: ['10.0.0.0/8'] }),
    'unknown inbound[0].actions[0].config.enforce: `enforce` is not true or false',
  ],
  ['TCPEdge.policy', toIpPolicy({ enforce: true, ip_policies: ['ipp_a'] }), 'restricts'],
  ['TCPEdge.policy', toIpPolicy({ allow: ['10.0.0.0/8'] }), 'restricts'],
  ['TCPEdge.policy', toIpPolicy({ deny: ['10.0.0.0/8'] }), 'restricts'],
  [
    'TCPEdge.policy',
    toIpPolicy({ allow: ['a', 'b'], deny: ['b', 'a'] }),
    'open inbound[0].actions[0].config.deny: it allows and denies the same addresses',
  ],
  ['TCPEdge.policy', toIpPolicy({ allow: ['0.0.0.0/0'], deny: ['10.0.0.0/8'] }), 'restricts'],
  ...[['::ffff:0.0.0.0/96'], ['0.0.0.0/1', '::ffff:128.0.0.0/97']].map(
    (allow) =>
      [
        'TCPEdge.policy',
        toIpPolicy({ allow }),
        `open inbound[0].actions[0].config.allow: ${allow.join(', ')} covers every IPv4 address`,
      ] as const,
  ),
  ['TCPEdge.policy', toIpPolicy({ allow: ['::ffff:0.0.0.0/97'] }), 'restricts'],
  ...[['::/0'], ['10.0.0.0/8', '0.0.0.0/0'], ['0.0.0.0/1', '128.0.0.0/2', '192.0.0.0/2'], ['8000::/1', '::/1']].map(
    (allow) =>
      [
        'TCPEdge.policy',
        toIpPolicy({ allow }),
        `open inbound[0].actions[0].config.allow: ${allow.join(', ')} covers every IPv${allow.join().includes(':') ? 6 : 4} address`,
      ] as const,
  ),
  ...[
    ['0.0.0.0/1', '::/1'],
    ['0.0.0.0/1', '192.0.0.0/2'],
    ['128.0.0.0/1'],
    ['0.0.0.0/1', '0.0.0.0/2', '64.0.0.0/2'],
  ].map((allow) => ['TCPEdge.policy', toIpPolicy({ allow }), 'restricts'] as const),
  ['HTTPSEdge.mutual_tls', { ...ON, certificate_authority_ids: [] }, 'open certificate_authority_ids: it is empty'],
  ['HTTPSEdge.mutual_tls', { ...ON, certificate_authority_ids: ['ca_a'] }, 'restricts'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: [], deny: [] }, 'open deny: it denies no user agent'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: ['a'], deny: [] }, 'open deny: it denies no user agent'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: ['a'] }, 'unknown deny: the service does not show it'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, deny: ['a'] }, 'unknown allow: the service does not show it'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: [], deny: ['a'] }, 'restricts'],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: ['a'], deny: ['a', 'b'] }, 'restricts'],
  [
    'HTTPSEdgeRoute.user_agent_filter',
    { ...ON, allow: ['b', 'a'], deny: ['a', 'b'] },
    'open deny: it allows each pattern that it denies',
  ],
  [
    'HTTPSEdgeRoute.user_agent_filter',
    { ...ON, allow: [], deny: ['('] },
    'unknown deny: its pattern cannot be read here',
  ],
  [
    'HTTPSEdgeRoute.user_agent_filter',
    { ...ON, allow: ['a'], deny: ['a', '('] },
    'unknown deny: its pattern cannot be read here',
  ],
  ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: [], deny: ['(', 'a'] }, 'restricts'],
  ...['.*', '', 'x*', '^', '.', '(?:)', '[^%]'].map(
    (pattern) =>
      [
        'HTTPSEdgeRoute.user_agent_filter',
        { ...ON, allow: ['a', pattern], deny: ['b'] },
        `open allow: it allows every user agent: ${pattern === '' ? 'an empty pattern' : `\`${pattern}\``} matches every text`,
      ] as const,
  ),
  // A pattern that would take long to compile is not tried.
  ...['[a-zA-Z]', '\\w', '^$', '[^/]{3,}', '(', '(a{0,900}){0,900}', `.*|${'x'.repeat(10_000)}`].map(
    (pattern) => ['HTTPSEdgeRoute.user_agent_filter', { ...ON, allow: [pattern], deny: ['b'] }, 'restricts'] as const,
  ),
  ['Credential.acl', undefined, 'unknown : the service does not show it'],
  ['Credential.acl', null, 'open : it is empty'],
  ['Credential.acl', [], 'open : it is empty'],
  ['Credential.acl', ['bind:a.test'], 'restricts'],
  ['Credential.acl', ['bind:*=*'], 'restricts'],
  ['Credential.acl', ['bind:a.test', 'bind:*'], 'open : `bind:*` permits every binding'],
  ['Credential.acl', ['allow everything'], 'unknown : it cannot be read here'],
  ['Credential.acl', ['allow everything', 'bind:a.test'], 'restricts'],
  ['SSHUserCertificate.principals', [], 'open : it is empty'],
  ['SSHUserCertificate.principals', ['alice'], 'restricts'],
  ['SSHUserCertificate.extensions', undefined, 'unknown : the service does not show it'],
  ['SSHUserCertificate.extensions', {}, 'restricts'],
  ['SSHUserCertificate.critical_options', undefined, 'unknown : the service does not show it'],
  ['SSHUserCertificate.critical_options', null, 'none'],
  ['SSHUserCertificate.critical_options', {}, 'none'],
  ['SSHUserCertificate.critical_options', { 'force-command': 'ls' }, 'restricts'],
  [
    'SSHUserCertificate.critical_options',
    { 'source-address': '0.0.0.0/0,10.0.0.0/8' },
    'open source-address: 0.0.0.0/0, 10.0.0.0/8 covers every IPv4 address',
  ],
  ['SSHUserCertificate.critical_options', { 'source-address': 'x' }, 'unknown source-address: it cannot be read here'],
  ['IPRestriction.type', 'api', 'restricts'],
  ['IPRestriction.type', '', 'restricts'],
  ['IPRestriction.enforced', true, 'restricts'],
  ['IPRestriction.enforced', false, 'none'],
  ['IPRestriction.enforced', null, 'none'],
  ['IPRestriction.enforced', undefined, 'unknown : the service does not show it'],
  ['IPRestriction.type', 'api', 'restricts'],
  ['IPRestriction.ip_policy_ids', [], 'open : it is empty'],
];

describe('a restriction', () => {
  it.each(JUDGED)('%s of %j: %s', (path, value, expected) => {
    const [kind = '', name = ''] = path.split('.');
    const effect = judgeField(getKind(kind).fields[name] ?? field(boolean, ''), value);
    const said = 'why' in effect ? `${effect.effect} ${formatPath(effect.path)}: ${effect.why}` : effect.effect;
    expect(said).toBe(expected);
  });

  it('that is a module without restricting parts restricts as a whole', () => {
    const module = field(createModuleType({ note: field(text(), '') }), '', { restriction: 'while-on' });
    expect(judgeField(module, ON)).toEqual({ effect: 'restricts' });
    expect(judgeField(module, null)).toEqual({ effect: 'none' });
  });

  it('that is no value of a map restricts nothing', () => {
    const options = mapOf(text(), textOfFormat('cidr'));
    expect(judgeMapValue(options, 'a', undefined)).toEqual({ effect: 'none' });
    expect(judgeMapValue(options, 'a', '0.0.0.0/0')).toMatchObject({ effect: 'open', path: ['a'] });
  });

  it.each([
    [undefined, 'unknown'],
    [null, 'off'],
    [true, 'on'],
    [false, 'off'],
    [{}, 'unknown'],
    [{ enabled: true }, 'on'],
    [{ enabled: false }, 'off'],
    [{ enabled: null }, 'off'],
  ] as const)('with the switch %j is %s', (value, state) => {
    expect(readSwitch(value)).toBe(state);
  });
});

describe('the open parts', () => {
  const listOf = (path: string, value: Json): readonly string[] => {
    const [kind = '', name = ''] = path.split('.');
    const normal = canonical(getKind(kind), { [name]: value }, AS_WRITTEN)[name] ?? null;
    return listOpenParts(getKind(kind).fields[name] ?? field(boolean, ''), normal).map((part) => formatPath(part.path));
  };

  it.each([
    ['TCPEdge.policy', toPolicy(toRule([deny]), toRule([deny], ['false'])), ['inbound[1].expressions[0]']],
    ['TCPEdge.policy', { inbound: [], outbound: [] }, ['']],
    ['TCPEdge.policy', { enabled: false, inbound: [toRule([deny], ['false'])] }, []],
    ['TCPEdge.policy', toPolicy(toRule([{ type: 'ban' }])), []],
    [
      'TCPEdge.policy',
      { inbound: [toRule([toIps({})])], outbound: [toRule([toIps({ allow: ['::/0'] })])] },
      ['inbound[0].actions[0].config', 'outbound[0].actions[0].config.allow'],
    ],
    ['SSHUserCertificate.critical_options', { 'force-command': 'ls', 'source-address': '::/0' }, ['source-address']],
    ['HTTPSEdge.mutual_tls', { certificate_authority_ids: [] }, ['certificate_authority_ids']],
    ['Credential.acl', ['bind:a.test'], []],
  ] as const)('of %s %j are found beside others that restrict', (path, value, expected) => {
    expect(listOf(path, value)).toEqual(expected);
  });
});

describe('a new resource', () => {
  it.each([
    ['Credential', {}, true],
    ['Credential', { acl: null }, true],
    ['Credential', { acl: [] }, false],
    ['Credential', { acl: ['*'] }, false],
    ['Credential', { acl: ['bind:a.test'] }, false],
    ['SSHUserCertificate', { critical_options: { 'force-command': 'ls' } }, true],
    ['SSHUserCertificate', { principals: ['a'] }, false],
    ['TCPEdge', {}, true],
    ['TCPEdge', { ip_restriction: { enabled: false, ip_policy_ids: ['ipp_a'] } }, true],
    ['TCPEdge', { policy: { inbound: [{ actions: [{ type: 'log' }] }] } }, true],
    ['TCPEdge', { policy: {} }, false],
    ['TCPEdge', { policy: { inbound: [{ actions: [{ type: 'ban' }] }] } }, false],
    ['TCPEdge', { ip_restriction: { ip_policy_ids: ['ipp_a'] } }, false],
    ['IPRestriction', { type: 'api', ip_policy_ids: ['ipp_a'] }, false],
    ['WeightedBackend', { backends: {} }, false],
    ['AgentIngress', { domain: 'a.test' }, false],
  ] as const)('%s %j is open on purpose: %s', (name, written, expected) => {
    const kind = getKind(name);
    expect(
      isJsonObject(written) && isOpenOnPurpose(kind, { written, normal: canonical(kind, written, AS_WRITTEN) }),
    ).toBe(expected);
  });

  it('of a kind with one module is open on purpose without it', () => {
    const edge = getKind('TCPEdge');
    const kind = { ...edge, specFields: edge.specFields.filter(([name]) => name === 'ip_restriction') };
    const isOpen = (ip_restriction: Json) => isOpenOnPurpose(kind, { written: {}, normal: { ip_restriction } });
    expect([null, { ...ON, ip_policy_ids: ['ipp_a'] }].map(isOpen)).toEqual([true, false]);
  });
});
