import { LINT_CODES, type LintCode } from '../model/diagnostic-codes.ts';
import { checkCelSyntax, checkCelVariables } from './cel-rules.ts';
import { checkIdle, checkKnownValues, checkRepeated, checkShares, checkUnset } from './field-rules.ts';
import { checkLiterals, checkLockout, checkValidity } from './kind-rules.ts';
import type { Rule } from './rule.ts';

/** Everything about a rule except its id, which is its key, and its sentence, which is that of its code. */
type RuleFacts = Omit<Rule, 'id'>;

/** What each rule is and does. */
const FACTS: Readonly<Record<LintCode, RuleFacts>> = {
  'cel-syntax': {
    severity: 'warning',
    remedy: 'Correct the expression. Otherwise the service refuses it, or applies the rule to no traffic.',
    check: checkCelSyntax,
    needsCel: true,
  },
  'cel-variable': {
    severity: 'warning',
    remedy: 'Use a known variable, or add the name to spec.lint.cel_variables of the Stack.',
    check: checkCelVariables,
    needsCel: true,
  },
  'unknown-action': {
    severity: 'warning',
    remedy: 'Use an action that is known for this traffic. Others belong to HTTP or do not exist.',
    check: checkKnownValues,
  },
  'no-weight': { severity: 'warning', remedy: 'Give one of the backends a weight above zero.', check: checkShares },
  'edge-without-backend': {
    severity: 'warning',
    remedy: 'Add spec.backend, and enable it.',
    check: checkUnset('edge-without-backend'),
  },
  'credential-unrestricted': {
    severity: 'warning',
    remedy: 'List in spec.acl what the agent binds, such as `bind:*.example.com`.',
    check: checkUnset('credential-unrestricted'),
  },
  'certificate-without-principals': {
    severity: 'warning',
    remedy: 'List in spec.principals the users that its holder signs in as.',
    check: checkUnset('certificate-without-principals'),
  },
  'certificate-too-long': {
    severity: 'warning',
    remedy:
      'Set lifecycle.valid_for and renew_before, so that short certificates are renewed, or raise spec.lint.max_validity of the Stack.',
    check: checkValidity,
  },
  'restriction-not-enforced': {
    severity: 'warning',
    remedy: 'Set `enforced: true` when its warnings show nobody who should have access.',
    check: checkUnset('restriction-not-enforced'),
  },
  'restriction-locks-out': {
    severity: 'warning',
    remedy: 'Make sure that its IP policies allow the address that edgewise runs from.',
    check: checkLockout,
    isToldByPlan: true,
  },
  'breaker-never-trips': {
    severity: 'warning',
    remedy: 'Set a threshold, a window with buckets, and a tripped duration; or disable the module.',
    check: checkIdle('breaker-never-trips'),
  },
  'repeated-value': { severity: 'warning', remedy: 'Remove one of them.', check: checkRepeated },
  'literal-id': { severity: 'warning', remedy: 'Write the address instead of the id.', check: checkLiterals },
  'suppression-unused': {
    severity: 'warning',
    remedy: 'Remove the line. It would hide later findings.',
    check: () => [], // lint itself knows what was suppressed
  },
};

/** Every lint rule. */
export const LINT_RULES: readonly Rule[] = Object.entries(FACTS).map(([id, facts]) => ({
  id: id as LintCode, // the keys of the table above
  ...facts,
}));

/** The sentence of a rule. */
export function describeRule({ id }: Rule): string {
  return LINT_CODES[id];
}
