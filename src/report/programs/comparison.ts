import { toShownChange } from '../../model/change.ts';
import { type ChangeExcess, isSamePlan, isWithin, type PlanExcess } from '../../model/plan-comparison.ts';
import type { ComparisonReport } from '../report.ts';
import { redactComparison } from '../view/redact.ts';

/** A comparison of two plans as values for programs. `within`: the later plan does nothing that the earlier one does not. */
export function toComparisonDocument({ comparison, names }: ComparisonReport): object {
  const { before, after, mismatch, more, less } = redactComparison(comparison);
  return {
    stack: after.stack,
    same: isSamePlan(comparison),
    within: isWithin(comparison),
    ...(mismatch !== undefined && { mismatch }),
    before: { name: names.before, ...before.made },
    after: { name: names.after, ...after.made },
    more: toExcessDocument(more),
    less: toExcessDocument(less),
  };
}

function toExcessDocument({ changes, files }: PlanExcess): object {
  return { changes: changes.map(toChangeDocument), files };
}

/** Without fields: the other plan does nothing to the resource, or something of another sort, and all of the change counts. */
function toChangeDocument({ change, other, fields, dangers, notes }: ChangeExcess): object {
  return {
    address: toShownChange(change),
    kind: change.kind,
    action: change.action,
    ...(other !== undefined && { otherAction: other.action }),
    ...(fields.length > 0 && { fields: fields.map(({ difference, other: theirs }) => toField(difference, theirs)) }),
    ...(dangers.length > 0 && { dangers }),
    ...(notes.length > 0 && { notes }),
    change,
  };
}

function toField({ path, from, to }: ChangeExcess['fields'][number]['difference'], other: object | undefined): object {
  return {
    path,
    ...(from !== undefined && { from }),
    ...(to !== undefined && { to }),
    ...(other !== undefined && { other }),
  };
}
