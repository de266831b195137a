import { hasErrors } from '../model/diagnostic.ts';
import { type MemberDifference, PLAN_FORMAT, type Plan, type PlanComparison } from '../model/plan.ts';
import { StackError } from '../model/user-errors.ts';
import { comparePlans, type PlanEvidence } from '../plan/compare/compare-plans.ts';
import { listPlaceDifferences, type PlanPlace } from '../plan/compare/member-differences.ts';

/** An approved plan, with its name in messages: usually its file. */
export interface NamedPlan {
  readonly plan: Plan;
  readonly name: string;
}

/** A new plan, and what it was made from. */
export interface PlanWithEvidence {
  readonly plan: Plan;
  readonly evidence: PlanEvidence;
}

/**
 * The plan is not as approved. Nothing was written.
 *
 * @example
 * const comparison = error instanceof NotApprovedError ? error.comparison : undefined;
 */
export class NotApprovedError extends StackError {
  override readonly name = 'NotApproved';
  readonly comparison: PlanComparison;
  /** The name of the approved plan. */
  readonly approvedName: string;

  constructor(comparison: PlanComparison, approvedName: string) {
    super(`The plan is not as ${approvedName} approves it.`, { reason: 'stale', remedy: REMEDY });
    this.comparison = comparison;
    this.approvedName = approvedName;
  }
}

const REMEDY = 'Nothing was written. Make a new plan and have it approved.';

/**
 * Throws if a plan cannot approve anything here: another version of edgewise made it, it contains errors, or it is for
 * another stack, service or key. Called before a request is sent.
 */
export function refuseUnusableApproval(
  { plan, name }: NamedPlan,
  { version, ...place }: PlanPlace & { readonly version: string },
): void {
  // A program may pass any value.
  if (plan.format !== PLAN_FORMAT)
    throw new StackError(`${name} is not a plan of this version of edgewise.`, {
      reason: 'invalid',
      remedy: 'Make a plan with `plan`, or read a plan file with `parsePlan`.',
    });
  if (plan.tool.version !== version)
    throw new StackError(`${name} was made by edgewise ${plan.tool.version}, and this is edgewise ${version}.`, {
      reason: 'stale',
      remedy: 'Nothing was written. Make a new plan, or apply this plan with the version that made it.',
    });
  if (hasErrors(plan.diagnostics))
    throw new StackError(`${name} contains errors, so it cannot be used as an approved plan.`, {
      reason: 'stale',
      remedy: REMEDY,
    });
  const differences = listPlaceDifferences(plan, place);
  if (differences.length === 0) return;
  throw new StackError([`${name} was made for something else:`, ...differences.map(formatPlaceDifference)], {
    reason: 'stale',
    remedy: REMEDY,
  });
}

/** The members of a place are texts. */
function formatPlaceDifference({ name, before, after }: MemberDifference): string {
  return `  ${name}: approved for ${before}, now ${after}`;
}

/**
 * Compares a new plan with an approved one. `after` of the result lists what is done already, also what was done when
 * the approved plan was itself compared.
 */
export function compareWithApproval({ plan, evidence }: PlanWithEvidence, approved: Plan): PlanComparison {
  const comparison = comparePlans(approved, plan, evidence);
  const done = [...(approved.done ?? []), ...comparison.done];
  return done.length === 0 ? comparison : { ...comparison, after: { ...plan, done } };
}
