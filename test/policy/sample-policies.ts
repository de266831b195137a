import type { PolicyDocument } from '../../src/model/policy.ts';
import type { PolicyFinding } from '../../src/policy/evaluate.ts';
import { evaluatePolicies, type Policy } from '../../src/policy/evaluate.ts';
import { compilePolicies, type ReadPolicies } from '../../src/policy/read-policies.ts';
import { createCelValues, type PolicyRunContext, type PolicySubject } from '../../src/policy/subject.ts';

const PLACE = { file: 'policy.yaml', line: 1, column: 1 };

export const NOW = new Date('2026-03-06T12:00:00Z');

export const SCENE: PolicyRunContext = {
  stack: { name: 'shop', labels: { team: 'shop' }, annotations: {} },
  plan: { totals: { create: 1, delete: 3 } },
  now: NOW,
};

/** The evaluated change: an update of a TCP edge. */
export const BEFORE = { description: 'old', hostports: ['1.tcp.example.net:20001'], backend: null };
export const AFTER = {
  description: 'straße 🦊',
  hostports: ['1.tcp.example.net:20001', '1.tcp.example.net:20002'],
  backend: { enabled: true, backend_id: 'bkdhr_1' },
  ip_restriction: null,
};
export const LABELS = { owner: 'data', public: 'true' };

export const SUBJECT: PolicySubject = {
  kind: 'TCPEdge',
  action: 'update',
  dangers: ['restriction-removed', 'access'],
  address: 'TCPEdge/a',
  labels: LABELS,
  locate: () => undefined,
  values: createCelValues(
    {
      change: {
        address: 'TCPEdge/a',
        kind: 'TCPEdge',
        name: 'a',
        action: 'update',
        dangers: [{ group: 'access', danger: 'restriction-removed', path: 'ip_restriction' }],
      },
      before: BEFORE,
      after: AFTER,
      labels: LABELS,
      annotations: {},
    },
    SCENE,
  ),
};

/** A policy about TCP edges. */
export function toDocument(require: string, more: Partial<PolicyDocument> = {}): PolicyDocument {
  return {
    name: 'rule',
    match: { kinds: ['TCPEdge'] },
    require,
    message: 'It is not so.',
    severity: 'warning',
    locate: () => PLACE,
    ...more,
  };
}

/** Reads a rule, and evaluates it about the edge if it can be read. */
export function evaluateRule(
  require: string,
  more: Partial<PolicyDocument> = {},
): ReadPolicies & { readonly findings: readonly PolicyFinding[] } {
  const read = compilePolicies([toDocument(require, more)]);
  return { ...read, findings: evaluatePolicies(read.policies, [SUBJECT], SCENE) };
}

/** The policy of a readable rule. */
export function toPolicy(require: string, more: Partial<PolicyDocument> = {}): Policy {
  const [policy] = compilePolicies([toDocument(require, more)]).policies;
  if (policy === undefined) throw new Error(`${require} cannot be read`);
  return policy;
}
