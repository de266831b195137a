import type { Change, Difference } from './change.ts';
import type { Danger } from './danger.ts';
import type { Plan, PlannedFile } from './plan.ts';

/** A field of a change that one plan has, and the other has not, or has otherwise. */
export interface ExtraField {
  /** The difference in this plan. For a created resource only `to` is set, for a deleted one only `from`. */
  readonly difference: Difference;
  /** As the other plan has it; absent: it leaves the field alone. */
  readonly other?: Pick<Difference, 'from' | 'to'>;
}

/** What one plan does to a resource and another does not. */
export interface ExtraChange {
  readonly change: Change;
  /** What the other plan does to the resource; absent: nothing. */
  readonly other?: Change;
  /** Empty where the other plan does nothing to the resource, or something of another sort: all of the change is extra. */
  readonly fields: readonly ExtraField[];
  /** Those that the other plan does not show. */
  readonly dangers: readonly Danger[];
  /** Notes of the change that the other plan lacks: the sink of a token. */
  readonly notes: readonly string[];
}

/** Everything that one plan does and another does not. */
export interface ExtraChanges {
  /** In the order of its plan. */
  readonly changes: readonly ExtraChange[];
  readonly files: readonly PlannedFile[];
}

/** Two plans, and what each does that the other does not. Ids that the service gives and the order of things mean nothing. */
export interface PlanComparison {
  readonly before: Plan;
  readonly after: Plan;
  /** Why the plans cannot be compared (different stack, service or mode). Absent if they can. */
  readonly mismatch?: string;
  /** What the later one does that the earlier one does not. */
  readonly more: ExtraChanges;
  /** What the earlier one does that the later one does not, except for changes already in `more`. */
  readonly less: ExtraChanges;
}

/** Whether the later plan does nothing that the earlier one did not: an approval of the earlier one covers it. */
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
