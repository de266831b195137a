import { describe, expect, it } from 'vitest';
import type { Diagnostic, TextRange } from '../../src/model/diagnostic.ts';
import type { FieldPath } from '../../src/model/state.ts';
import { compilePolicies } from '../../src/policy/read-policies.ts';
import { toDocument } from './subjects.ts';

const KINDS = ['TCPEdge', 'HTTPSEdgeRoute', 'WeightedBackend', 'SSHUserCertificate', 'IPRestriction'];

/** What is wrong with a rule about these kinds, and which part of it the caret is under. */
function read(
  require: string,
  kinds: readonly string[] = KINDS,
): readonly (readonly [part: string, message: string])[] {
  const told: string[] = [];
  const locate = (_?: FieldPath, part?: TextRange) => {
    told.push(part === undefined ? '' : part.of.slice(part.start, part.start + part.length));
    return { file: 'policy.yaml', line: 1, column: 1, excerpt: '' };
  };
  const { diagnostics } = compilePolicies([{ ...toDocument(require), match: { kinds }, locate }]);
  const toMessage = ({ message }: Diagnostic): string => message.replace('Policy/rule: spec.require: ', '');
  return diagnostics.map((diagnostic, at) => [told[at] ?? '', toMessage(diagnostic)]);
}

/** One kind with the field, so that the others need not have it. */
function readFor(kind: string, require: string) {
  return read(require, [kind]);
}

describe('the type of a field', () => {
  it.each([
    ['TCPEdge', 'after.hostports > 3', 'after.hostports > 3', 'no such overload: list<string> > int'],
    ['TCPEdge', 'after.metadata == 1', 'after.metadata == 1', 'no such overload: metadata == int'],
    ['TCPEdge', 'size(after.description) == "x"', 'size(after.description) == "x"', 'no such overload: int == string'],
    ['TCPEdge', 'true && labels.team + 1 == ""', 'labels.team + 1', 'no such overload: string + int'],
    ['TCPEdge', 'after.backend == 3', 'after.backend == 3', 'no such overload: spec.backend == int'],
    [
      'TCPEdge',
      'after.backend != null && after.backend.enabled > 3',
      'after.backend.enabled > 3',
      'no such overload: bool > int',
    ],
    [
      'TCPEdge',
      'after.backend.backend_id',
      'after.backend.backend_id',
      'has the type string, but must have the type bool',
    ],
    ['TCPEdge', '!before.backend.backend_id', '!before.backend.backend_id', 'no such overload: !string'],
    ['TCPEdge', 'after.policy.inbound.all(rule, rule.name == 1)', 'rule.name == 1', 'no such overload: string == int'],
    ['TCPEdge', 'after.policy.inbound.exists(rule, rule.nmae == "a")', 'nmae', 'No such key: nmae'],
    ['TCPEdge', 'after["backend"]["enable"] == true', 'after["backend"]["enable"]', 'No such key: enable'],
    [
      'TCPEdge',
      'cel.bind(module, after.ip_restriction, module.ip_policy_ids == "ipp_1")',
      'module.ip_policy_ids == "ipp_1"',
      'no such overload: list<string> == string',
    ],
    [
      'TCPEdge',
      'after.policy.inbound["first"] != null',
      'after.policy.inbound["first"]',
      "List index must be int, got 'string'",
    ],
    ['WeightedBackend', 'after.backends.a == "half"', 'after.backends.a == "half"', 'no such overload: int == string'],
    [
      'HTTPSEdgeRoute',
      '1 == after.circuit_breaker.num_buckets && "1" == after.circuit_breaker.num_buckets',
      '"1" == after.circuit_breaker.num_buckets',
      'no such overload: string == int',
    ],
    [
      'HTTPSEdgeRoute',
      'after.circuit_breaker.error_threshold_percentage * 100 > 5.0',
      'after.circuit_breaker.error_threshold_percentage * 100',
      'no such overload: double * int',
    ],
    [
      'SSHUserCertificate',
      'after.valid_until < now',
      'after.valid_until < now',
      'no such overload: string < google.protobuf.Timestamp',
    ],
    ['IPRestriction', 'after.type == 3', 'after.type == 3', 'no such overload: string == int'],
  ])('is known when the rule is read: %s, %s', (kind, rule, part, message) => {
    expect(readFor(kind, rule)).toEqual([[part, message]]);
  });

  it.each([
    ['TCPEdge', 'before.backend == null || before.backend == after.backend'],
    ['TCPEdge', 'null != after.description && after.description in ["a", null]'],
    ['TCPEdge', 'has(after.backend.enabled) && after.?backend.?enabled.orValue(false)'],
    ['TCPEdge', 'after.?backend.orValue({}).?backend_id.orValue(null) == null'],
    ['TCPEdge', '(true ? null : after.backend) == {"enabled": true}'],
    ['TCPEdge', '"enabled" in after.backend && size(after.backend) == 2 && after.backend.all(key, key != "")'],
    ['TCPEdge', 'after.backend.map(key, after.backend[key]).size() == 2'],
    ['TCPEdge', 'after.policy.inbound == after.policy.outbound'],
    ['TCPEdge', '[after.backend] == [{"enabled": true, "backend_id": "bkdhr_1"}]'],
    ['TCPEdge', 'after.policy.inbound.all(rule, rule.actions.all(one, one.config == null || one.config.enforce))'],
    [
      'TCPEdge',
      'after.ip_restriction.ip_policy_ids + ["ipp_1"] != [] && "ipp_1" in after.ip_restriction.ip_policy_ids',
    ],
    ['TCPEdge', 'after.metadata == "x" || after.metadata.contains("x")'],
    ['TCPEdge', 'after.metadata.team.lead == 1 && "team" in after.metadata'],
    ['TCPEdge', 'type(after.metadata) == string ? after.metadata == "x" : after.metadata.team == "x"'],
    ['TCPEdge', 'type(after.backend) == null_type || dyn(after.backend) == 3'],
    ['WeightedBackend', 'after.backends.all(id, after.backends[id] <= 50 && after.backends[id] < 50.5)'],
    ['HTTPSEdgeRoute', 'after.circuit_breaker.error_threshold_percentage == 1'],
    ['HTTPSEdgeRoute', 'after.circuit_breaker.error_threshold_percentage in [0, 1]'],
    ['HTTPSEdgeRoute', '0.5 in [after.circuit_breaker.num_buckets] || 1.0 != after.circuit_breaker.num_buckets'],
    ['HTTPSEdgeRoute', 'after.circuit_breaker.num_buckets in [] || [after.circuit_breaker.num_buckets] == []'],
    ['HTTPSEdgeRoute', 'after.circuit_breaker.error_threshold_percentage * 100.0 > 5'],
    ['SSHUserCertificate', 'has(after.valid_until) && timestamp(after.valid_until) < now + duration("24h")'],
    ['SSHUserCertificate', 'after.critical_options.exists(name, after.critical_options[name].matches("^10"))'],
  ])('refuses no rule that makes sense: %s, %s', (kind, rule) => {
    expect(readFor(kind, rule)).toEqual([]);
  });

  it('may be any where it differs from kind to kind', () => {
    const kinds = ['IPRestriction', 'SSHUserCertificate'];
    expect(read('has(after.type) && after.type > "a"', kinds)).toEqual([]);
    expect(read('has(after.type) && after.type > 3', kinds)).toMatchObject([['after.type > 3', expect.any(String)]]);
  });
});

describe('a field that only some of the kinds have', () => {
  const kinds = ['TCPEdge', 'Credential'];

  it.each(['has(after.backend) && after.backend != null', 'after.?backend.?enabled.orValue(false)'])(
    'may be named by who asks for it: %s',
    (rule) => {
      expect(read(rule, kinds)).toEqual([]);
    },
  );

  it.each([
    ['after.backend != null', 'after.backend'],
    ['has(after.backend.enabled)', 'after.backend.enabled'],
    ['has(after.acl) && after.backend != null', 'after.backend'],
  ])('is an error otherwise: %s', (rule, part) => {
    expect(read(rule, kinds)).toContainEqual([part, `names ${part}, which is not a field of Credential`]);
  });

  it('is an error when no kind has it', () => {
    expect(read('has(after.backnd)', kinds)).toEqual([
      ['after.backnd', 'names after.backnd, which is not a field of TCPEdge'],
    ]);
  });
});
