import { hasErrors } from '../model/diagnostic.ts';
import type { Plan } from '../model/plan.ts';
import { isWithin, type PlanComparison } from '../model/plan-comparison.ts';
import { comparePlans } from '../plan/compare/compare-plans.ts';
import { refuseOtherVersion } from './check-saved.ts';
import { StackError } from './stack-error.ts';

/** A plan that somebody approved. */
export interface Approved {
  readonly plan: Plan;
  /** What it is called in messages: its file. */
  readonly name: string;
}

/** A plan does something that the approved one did not. Nothing was written. */
export class NotApproved extends StackError {
  override readonly name = 'NotApproved';
  readonly comparison: PlanComparison;

  constructor(comparison: PlanComparison, name: string) {
    super(
      `The plan does what ${name} does not${comparison.mismatch === undefined ? '' : `: ${comparison.mismatch}`}.`,
      {
        reason: 'stale',
        remedy: NOT_APPROVED_REMEDY,
      },
    );
    this.comparison = comparison;
  }
}

/** What to do when a plan is not the one that was approved. */
export const NOT_APPROVED_REMEDY = 'Nothing was written. Make a new plan and have that approved.';

/** Throws when a plan cannot approve anything: another version made it, or it could not be applied itself. */
export function refuseUnfit({ plan, name }: Approved, version: string): void {
  refuseOtherVersion({ plan, name }, version);
  if (!hasErrors(plan.diagnostics)) return;
  throw new StackError(`${name} has errors and does nothing, so it approves nothing.`, {
    reason: 'stale',
    remedy: NOT_APPROVED_REMEDY,
  });
}

/** Throws `NotApproved` when a plan does anything that an approved one did not. */
export function refuseUnapproved(plan: Plan, approved: Approved): void {
  const comparison = comparePlans(approved.plan, plan);
  if (!isWithin(comparison)) throw new NotApproved(comparison, approved.name);
}
