import { describe, expect, it } from 'vitest';
import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { TextRange } from '../../src/model/place.ts';
import type { FieldPath } from '../../src/model/state.ts';
import { compilePolicies } from '../../src/policy/read-policies.ts';
import { evaluateRule, toDocument } from './sample-policies.ts';

const KINDS = ['TCPEdge', 'HTTPSEdgeRoute', 'WeightedBackend', 'SSHUserCertificate', 'IPRestriction'];

/** Lists the mistakes of a rule about these kinds, with the text above each caret. */
function read(
  require: string,
  kinds: readonly string[] = KINDS,
): readonly (readonly [part: string, message: string])[] {
  const told: string[] = [];
  const locate = (_?: FieldPath, part?: TextRange) => {
    told.push(part === undefined ? '' : part.of.slice(part.start, part.end));
    return { file: 'policy.yaml', line: 1, column: 1 };
  };
  const { diagnostics } = compilePolicies([{ ...toDocument(require), match: { kinds }, locate }]);
  const toMessage = ({ message }: Diagnostic): string => message.replace('Policy/rule: spec.require: ', '');
  return diagnostics.map((diagnostic, at) => [told[at] ?? '', toMessage(diagnostic)]);
}

/** Reads a rule about one kind with the field. */
function readFor(kind: string, require: string) {
  return read(require, [kind]);
}

describe('the type of a field', () => {
  it.each([
    ['TCPEdge', 'after.hostports > 3', 'after.hostports > 3', 'no such overload: list<string> > int'],
    ['TCPEdge', 'size(after.description) == "x"', 'size(after.description) == "x"', 'no such overload: int == string'],
    ['TCPEdge', 'true && labels.team + 1 == ""', 'labels.team + 1', 'no such overload: string + int'],
    ['TCPEdge', 'after.hostports.exists(one, one == 20001)', 'one == 20001', 'no such overload: string == int'],
    ['TCPEdge', 'change.dangers[0].danger == 1', 'change.dangers[0].danger == 1', 'no such overload: string == int'],
    ['TCPEdge', 'before.description', 'before.description', 'has the type string, but must have the type bool'],
    [
      'SSHUserCertificate',
      'after.valid_until < now',
      'after.valid_until < now',
      'no such overload: string < google.protobuf.Timestamp',
    ],
    ['IPRestriction', 'after.type == 3', 'after.type == 3', 'no such overload: string == int'],
  ])('is known when the policy is read: %s, %s', (kind, rule, part, message) => {
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
  ])('accepts a policy about types that match: %s, %s', (kind, rule) => {
    expect(readFor(kind, rule)).toEqual([]);
  });

  it('is any if it differs between kinds', () => {
    const kinds = ['IPRestriction', 'SSHUserCertificate'];
    expect(read('has(after.type) && after.type > "a"', kinds)).toEqual([]);
    expect(read('has(after.type) && after.type > 3', kinds)).toMatchObject([['after.type > 3', expect.any(String)]]);
  });

  it.each([
    ['after.backend.enabled > 3', 'no such overload'],
    ['!after.backend.backend_id', 'no such overload'],
    ['after.backend.backend_id', 'neither true nor false'],
    ['after["backend"]["enable"] == true', 'No such key: enable'],
    ['cel.bind(module, after.backend, module.backend_id - 1 == 0)', 'no such overload'],
  ])('is found in a module at evaluation, which refuses on error: %s', (rule, message) => {
    const { diagnostics, findings } = evaluateRule(rule);
    expect(diagnostics).toEqual([]);
    expect(findings).toMatchObject([{ isFailure: true, finding: { severity: 'error' } }]);
    expect(findings[0]?.finding.message).toContain(message);
  });

  it('is not converted in a module: a value of another type is unequal, so a rule with `==` refuses', () => {
    expect(evaluateRule('after.backend == 3').findings).toMatchObject([{ isFailure: false }]);
    expect(evaluateRule('after.backend.enabled == "true"').findings).toMatchObject([{ isFailure: false }]);
  });
});

describe('a field that only some of the kinds have', () => {
  const kinds = ['TCPEdge', 'Credential'];

  it.each(['has(after.backend) && after.backend != null', 'after.?backend.?enabled.orValue(false)'])(
    'is accepted after a test for it: %s',
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

  it('is an error after a test for another field of that name', () => {
    const rule = 'has(after.certificate_management_policy.enabled) && after.backend.enabled';
    expect(read(rule, ['TCPEdge', 'AgentIngress'])).toContainEqual([
      'after.backend.enabled',
      'names after.backend.enabled, which is not a field of AgentIngress',
    ]);
  });

  it('is an error if no kind has it', () => {
    expect(read('has(after.backnd)', kinds)).toEqual([
      ['after.backnd', 'names after.backnd, which is not a field of TCPEdge'],
    ]);
  });
});
