import type { Change, Difference } from './change.ts';
import type { Danger } from './danger.ts';
import type { Plan, PlannedFile } from './plan.ts';

/** A field of a change that one plan has, and the other has not, or has otherwise. */
export interface ExtraField {
  /** As the plan has it. Of what is made, only what will be there; of what goes, only what was. */
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
  /** Sentences of the change that the other plan does not have: where a token goes. */
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
  /** Why the later one is no plan of the same sort: of another stack, on another service, to another end. Absent: it is. */
  readonly mismatch?: string;
  /** What the later one does that the earlier one does not. */
  readonly more: ExtraChanges;
  /** What the earlier one does that the later one does not, but for what stands in `more` already. */
  readonly less: ExtraChanges;
}

/** Whether the later plan does nothing that the earlier one did not: whoever approved that has approved this. */
export function isWithin({ mismatch, more }: PlanComparison): boolean {
  return mismatch === undefined && isNothing(more);
}

/** Whether both plans do the same. */
export function isSamePlan(comparison: PlanComparison): boolean {
  return isWithin(comparison) && isNothing(comparison.less);
}

function isNothing({ changes, files }: ExtraChanges): boolean {
  return changes.length + files.length === 0;
}
