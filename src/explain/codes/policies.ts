import type { DiagnosticCode } from '../../model/diagnostic-codes.ts';
import { type Explanation, toDocument, toStream } from '../explanation.ts';

const STACK = toDocument('Stack', 'production');
const EDGE = toDocument('TCPEdge', 'postgres', 'spec:', '  backend: { backend_id: bkdhr_blue }');
const OWNED = EDGE.replace('  name: postgres\n', '  name: postgres\n  labels: { team: data }\n');

/** A rule that resources say whose they are. */
function toPolicy(require: string, ...more: readonly string[]): string {
  return toDocument(
    'Policy',
    'owned',
    'spec:',
    `  require: ${require}`,
    `  message: Say in the label team whose \${change.address} is.`,
    ...more,
  );
}

function toLinted(...documents: readonly string[]): Explanation['bad'] {
  return { command: 'validate .', files: { 'edgewise.yaml': toStream(STACK, ...documents) } };
}

function toExamples(bad: readonly string[], good: readonly string[]): Pick<Explanation, 'bad' | 'good'> {
  return { bad: toLinted(...bad), good: { files: toLinted(...good).files as Record<string, string> } };
}

const RULE = toPolicy(`'"team" in labels'`);
const ADVICE = toPolicy(`'"team" in labels'`, '  severity: warning');

export const POLICIES = {
  'policy-expression': {
    meaning:
      'The rule of a policy, or a part of its message, is no CEL expression, names a variable or a field that is not there, or compares what cannot be compared. This is found when the policy is read: otherwise it would be found when a change meets the rule.',
    remedy: 'Correct the expression at the caret. `docs/policies.md` lists the names that it may use, and their types.',
    ...toExamples([toPolicy(`'"team" in lables'`), OWNED], [RULE, OWNED]),
  },
  'policy-refused': {
    meaning:
      'A policy of severity `error` does not let a resource through, or it could not be evaluated. No flag allows it. `plan` and `apply` say it as a safety rule that the plan breaks; `validate` says it of manifests, when the rule needs nothing live.',
    remedy: 'Change the manifest so that the rule holds, or ask whoever keeps the policy.',
    ...toExamples([RULE, EDGE], [RULE, OWNED]),
  },
  'policy-warning': {
    meaning: 'A policy of severity `warning` does not hold for a resource. The plan can be applied all the same.',
    remedy: 'Change the manifest so that the rule holds, or ask whoever keeps the policy.',
    ...toExamples([ADVICE, EDGE], [ADVICE, OWNED]),
  },
  'policy-missing': {
    meaning:
      'A PolicyTest names a policy that is in none of the files that were read. Its cases would show nothing, so this is an error.',
    remedy: 'Correct the name, or give the path of the policy too.',
    bad: {
      command: 'test-policy policies.yaml',
      files: { 'policies.yaml': toStream(RULE, toTest('owner')) },
    },
    good: { files: { 'policies.yaml': toStream(RULE, toTest('owned')) } },
  },
} as const satisfies Partial<Record<DiagnosticCode, Explanation>>;

function toTest(policy: string): string {
  return toDocument(
    'PolicyTest',
    'owned',
    'spec:',
    `  policy: ${policy}`,
    '  cases:',
    '    - name: without a label',
    '      given: { change: { kind: TCPEdge, action: create } }',
    '      expect: refuse',
  );
}
