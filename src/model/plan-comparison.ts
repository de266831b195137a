import type { Change, Difference } from './change.ts';
import type { Danger } from './danger.ts';
import type { Plan, PlannedFile } from './plan.ts';

/** A field that one plan changes, and the other plan leaves alone or changes to another value. */
export interface ExtraField {
  /** The difference in the plan with the change. A created resource has only `to`, a deleted one only `from`. */
  readonly difference: Difference;
  /** The difference in the other plan. Absent: the other plan leaves the field alone. */
  readonly other?: Pick<Difference, 'from' | 'to'>;
}

/** A change of one plan that the other plan does not contain, or contains only in part. */
export interface ExtraChange {
  readonly change: Change;
  /** The change of the same resource in the other plan. Absent if the other plan does not change the resource. */
  readonly other?: Change;
  /** Empty if the whole change is extra, because the other plan has no action or another action for the resource. */
  readonly fields: readonly ExtraField[];
  /** Dangers that the other plan does not show. */
  readonly dangers: readonly Danger[];
  /** Notes that the other plan does not show, such as about a token sink. */
  readonly notes: readonly string[];
}

/** All changes and files that one plan has and the other does not have. */
export interface ExtraChanges {
  /** Sorted as in the plan that contains the changes. */
  readonly changes: readonly ExtraChange[];
  readonly files: readonly PlannedFile[];
}

/** The differences between two plans. Ignores the order of changes, and ids that the service generates. */
export interface PlanComparison {
  readonly before: Plan;
  readonly after: Plan;
  /** Why the plans cannot be compared (different stack, service or mode). Absent if they can. */
  readonly mismatch?: string;
  /** Changes and files of the later plan, `after`, that the earlier plan does not have. */
  readonly more: ExtraChanges;
  /**
   * Changes and files of the earlier plan, `before`, that the later plan does not have. Omits fields that both plans
   * change: their entries in `more` contain both values.
   */
  readonly less: ExtraChanges;
}

/** Whether an approval of the earlier plan covers the later plan, because `after` does no more than `before`. */
export function isCoveredByApproval({ mismatch, more }: PlanComparison): boolean {
  return mismatch === undefined && isNothing(more);
}

/** Whether both plans do the same. */
export function isSamePlan(comparison: PlanComparison): boolean {
  return isCoveredByApproval(comparison) && isNothing(comparison.less);
}

function isNothing({ changes, files }: ExtraChanges): boolean {
  return changes.length + files.length === 0;
}
