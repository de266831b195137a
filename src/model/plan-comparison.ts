import type { Change, Difference } from './change.ts';
import type { Danger } from './danger.ts';
import type { Plan, PlannedFile } from './plan.ts';

/** A field that a change of one plan sets and the other plan leaves alone or sets differently. */
export interface ExtraField {
  /** The difference in this plan. For a created resource only `to` is set, for a deleted one only `from`. */
  readonly difference: Difference;
  /** The difference in the other plan. Absent: the other plan leaves the field alone. */
  readonly other?: Pick<Difference, 'from' | 'to'>;
}

/** A change of one plan that the other plan does not have, or has only in part. */
export interface ExtraChange {
  readonly change: Change;
  /** The other plan's change of the resource. Absent: it does nothing to the resource. */
  readonly other?: Change;
  /**
   * The extra fields. Empty if the other plan does nothing to the resource or has a different action for it: then the
   * whole change is extra.
   */
  readonly fields: readonly ExtraField[];
  /** Dangers that the other plan does not show. */
  readonly dangers: readonly Danger[];
  /** Notes that the other plan does not show, such as about a token sink. */
  readonly notes: readonly string[];
}

/** Everything that one plan does and the other does not. */
export interface ExtraChanges {
  /** In the order of the plan that contains them. */
  readonly changes: readonly ExtraChange[];
  readonly files: readonly PlannedFile[];
}

/** Two plans, and what each does that the other does not. Ignores order, and ids that the service generates. */
export interface PlanComparison {
  readonly before: Plan;
  readonly after: Plan;
  /** Why the plans cannot be compared (different stack, service or mode). Absent if they can. */
  readonly mismatch?: string;
  /** What the later plan does and the earlier one does not. */
  readonly more: ExtraChanges;
  /** What the earlier plan does and the later one does not, except for changes that are in `more`. */
  readonly less: ExtraChanges;
}

/** Whether an approval of the earlier plan covers the later one: the later plan does nothing more. */
export function isCoveredBy({ mismatch, more }: PlanComparison): boolean {
  return mismatch === undefined && isNothing(more);
}

/** Whether both plans do the same. */
export function isSamePlan(comparison: PlanComparison): boolean {
  return isCoveredBy(comparison) && isNothing(comparison.less);
}

function isNothing({ changes, files }: ExtraChanges): boolean {
  return changes.length + files.length === 0;
}
