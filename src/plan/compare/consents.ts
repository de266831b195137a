import { formatChangeAddress, sendsNothing } from '../../model/change.ts';
import type { MemberDifference, Plan, SafetyViolation } from '../../model/plan.ts';
import { isSame } from './comparable.ts';

/**
 * The violations that only one of the plans needs consent for. Numbers and texts are not compared. A violation of the
 * earlier plan may be gone if an apply has begun a change that it names, or, for a share of all resources, any change.
 * Policies and exchanges of values are not compared: they are found in each run, and nothing allows what they refuse.
 */
export function listConsentDifferences(
  before: Plan,
  after: Plan,
  hasBegun: (address: string) => boolean,
): readonly MemberDifference[] {
  const changed = before.changes.filter(({ action }) => !sendsNothing(action)).map(formatChangeAddress);
  const isMissing = ({ rule, stack, addresses }: SafetyViolation) =>
    !after.violations.some((one) => one.rule === rule && one.stack === stack) &&
    !(isAboutShare(rule) ? changed : addresses).some(hasBegun);
  const isNew = (one: SafetyViolation) => !before.violations.some((other) => covers(other, one));
  const [gone, added] = [before.violations.filter(isMissing), after.violations.filter(isNew)].map((found) =>
    found.filter(({ rule }) => rule !== 'policy' && rule !== 'value-exchange').map(formatConsent),
  );
  return isSame(gone, added) ? [] : [{ name: 'the consents needed', before: gone, after: added }];
}

function isAboutShare(rule: SafetyViolation['rule']): boolean {
  return rule === 'delete-share' || rule === 'nothing-described';
}

/** Whether consent to the first violation includes the second: the same rule, for no other resources and no other stack. */
function covers(approved: SafetyViolation, one: SafetyViolation): boolean {
  const isSameRule = approved.rule === one.rule && approved.stack === one.stack;
  return isSameRule && one.addresses.every((address) => approved.addresses.includes(address));
}

function formatConsent({ rule, stack, message }: SafetyViolation): string {
  return `${stack === undefined ? rule : `${rule} of ${stack}`}: ${message}`;
}
