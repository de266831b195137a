import { toShownChange } from '../../model/change.ts';
import type { Plan, PlannedFile } from '../../model/plan.ts';
import type { ChangeExcess, PlanComparison, PlanExcess } from '../../model/plan-comparison.ts';
import { listNames } from './comparable.ts';
import { findExcess, type Side } from './find-excess.ts';

/**
 * Compares two plans by what they do. Pure. What the service makes up (ids), the order of things, and when and from where a plan was made mean
 * nothing; each field, value before and after, danger, file and place of a token counts.
 */
export function comparePlans(before: Plan, after: Plan): PlanComparison {
  const [earlier, later] = [toSide(before, after), toSide(after, before)];
  const more = listExcess(later, earlier);
  const less = listExcess(earlier, later);
  const mismatch = findMismatch(before, after);
  return { before, after, ...(mismatch !== undefined && { mismatch }), more, less: withoutMirrored(less, more) };
}

function findMismatch(before: Plan, after: Plan): string | undefined {
  const [earlier, later] = [before, after].map(({ stack, baseUrl }) => `the stack ${stack} on ${baseUrl}`);
  if (earlier !== later) return `one is for ${earlier}, the other for ${later}`;
  return before.mode === after.mode ? undefined : `one is to ${before.mode}, the other to ${after.mode}`;
}

function toSide(plan: Plan, other: Plan): Side {
  return { plan, names: new Map([...listNames(other), ...listNames(plan)]) };
}

function listExcess(side: Side, other: Side): PlanExcess {
  const counterparts = new Map(other.plan.changes.map((change) => [toShownChange(change), change]));
  const changes = side.plan.changes.flatMap((change): readonly ChangeExcess[] => {
    if (change.action === 'no-op') return [];
    const found = counterparts.get(toShownChange(change));
    const counterpart = found?.action === 'no-op' ? undefined : found;
    const excess = findExcess({ side, change }, { side: other, change: counterpart });
    return excess === undefined ? [] : [excess];
  });
  return { changes, files: side.plan.files.filter((file) => !other.plan.files.some((one) => covers(one, file))) };
}

/** A text that was not known may turn out to be any. */
function covers(approved: PlannedFile, { address, path, text, replaces }: PlannedFile): boolean {
  const isSameText = approved.text === undefined || approved.text === text;
  const isSamePlace = approved.address === address && approved.path === path;
  return isSamePlace && isSameText && (replaces !== true || approved.replaces === true);
}

/** What both plans do to a resource, but not alike, is told once: as the later one does it. */
function withoutMirrored(less: PlanExcess, more: PlanExcess): PlanExcess {
  const told = new Map(more.changes.map((excess) => [toShownChange(excess.change), excess]));
  const changes = less.changes.flatMap((excess): readonly ChangeExcess[] => {
    const mirrored = told.get(toShownChange(excess.change));
    if (mirrored === undefined) return [excess];
    const paths = new Set(mirrored.fields.map(({ difference }) => difference.path));
    const fields = excess.fields.filter(({ difference }) => !paths.has(difference.path));
    return fields.length === 0 ? [] : [{ ...excess, fields, dangers: [], notes: [] }];
  });
  return { changes, files: less.files };
}
