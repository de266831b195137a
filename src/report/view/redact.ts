import { findKind, KINDS } from '../../kinds/tables/registry.ts';
import type { Change, Difference } from '../../model/change.ts';
import type { Drift, DriftedChange, OwnedResource, StackInventory } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { ExtraChange, Plan, PlanComparison } from '../../model/plan.ts';
import {
  createHiddenNumbers,
  type HiddenNumbers,
  withoutHiddenNumbers,
  withoutHiddenNumbersInObject,
} from '../../model/secret-value.ts';
import type { LiveResource, Spec } from '../../model/state.ts';
import type { Write } from '../../model/write.ts';
import type { Report, StacksRunReport } from '../report.ts';

/**
 * Two things that every output needs. One-time fields (secrets that only the response to a create contains) are removed by
 * each view and each format. Hidden values are numbered once, where an output begins: equal ones have one number in it.
 */

/** Removes one-time fields from the whole plan. */
export function redactPlan(plan: Plan): Plan {
  return { ...plan, changes: plan.changes.map(redactChange), writes: plan.writes.map(redactWrite) };
}

/** Numbers the hidden values of a report by their first appearance. `numbers`: those of an output with several reports. */
export function numberReport(report: Report, numbers: HiddenNumbers = createHiddenNumbers()): Report {
  switch (report.about) {
    case 'plan':
    case 'apply':
      return { ...report, plan: numberPlan(report.plan, numbers) };
    case 'drift':
      return { ...report, drift: numberDrift(report.drift, numbers) };
    case 'comparison':
    case 'validation':
    case 'failure':
      return report;
    default:
      return assertNever(report);
  }
}

/** Numbers the reports of all stacks of a run together. */
export function numberStacksRun(run: StacksRunReport): StacksRunReport {
  const numbers = createHiddenNumbers();
  return { ...run, parts: run.parts.map((part) => ({ ...part, report: numberReport(part.report, numbers) })) };
}

export function numberPlan(plan: Plan, numbers: HiddenNumbers = createHiddenNumbers()): Plan {
  return {
    ...plan,
    changes: plan.changes.map((change) => numberChange(change, numbers)),
    writes: plan.writes.map((write) => numberWrite(write, numbers)),
  };
}

function numberDrift(drift: Drift, numbers: HiddenNumbers): Drift {
  const changes = drift.changes.map(
    (change): DriftedChange => ({
      ...change,
      ...numberChange(change, numbers),
      driftDangers: change.driftDangers?.map((danger) => numberSides(danger, numbers)),
    }),
  );
  return { ...drift, changes };
}

export function numberInventory(inventory: StackInventory, { inObject }: HiddenNumbers): StackInventory {
  const number = (one: OwnedResource) => ({ ...one, live: { ...one.live, spec: inObject(one.live.spec) } });
  return { ...inventory, resources: inventory.resources.map(number) };
}

function numberChange(change: Change, numbers: HiddenNumbers): Change {
  const { live, desired, sent, dangers, leftToOthers, otherSpellings } = change;
  return {
    ...change,
    differences: change.differences.map((difference) => numberSides(difference, numbers)),
    dangers: dangers?.map((danger) => numberSides(danger, numbers)),
    leftToOthers: leftToOthers?.map((one) => numberSides(one, numbers)),
    otherSpellings: otherSpellings?.map(({ path, from, to }) => ({
      path,
      from: numbers.inJson(from),
      to: numbers.inJson(to),
    })),
    live: live && { ...live, spec: live.spec && numbers.inObject(live.spec) },
    desired: desired && numbers.inObject(desired),
    sent: sent && numbers.inObject(sent),
  };
}

function numberSides<T extends Pick<Difference, 'from' | 'to'>>(sides: T, { inJson }: HiddenNumbers): T {
  return {
    ...sides,
    from: sides.from === undefined ? undefined : inJson(sides.from),
    to: sides.to === undefined ? undefined : inJson(sides.to),
  };
}

function numberWrite(write: Write, { inObject }: HiddenNumbers): Write {
  return write.body === undefined ? write : { ...write, body: inObject(write.body) };
}

/** Removes one-time fields from both plans and their differences. */
export function redactComparison(comparison: PlanComparison): PlanComparison {
  const { before, after, more, less } = comparison;
  return {
    ...comparison,
    before: redactPlan(before),
    after: redactPlan(after),
    more: redactExtraChanges(more),
    less: redactExtraChanges(less),
  };
}

/** Hidden values of two runs have no common numbers, so all have the same number here. */
const SAME_NUMBER: HiddenNumbers = {
  inJson: withoutHiddenNumbers,
  inObject: withoutHiddenNumbersInObject,
};

function redactExtraChanges(changes: readonly ExtraChange[]): readonly ExtraChange[] {
  return changes.map(({ change, other, fields, dangers, ...rest }) => {
    const secrets = listSecrets(change.kind);
    const shown = fields.filter(({ difference: { field } }) => field === undefined || !secrets.includes(field));
    return {
      ...rest,
      change: numberChange(redactChange(change), SAME_NUMBER),
      other: other && numberChange(redactChange(other), SAME_NUMBER),
      fields: shown.map((field) => ({
        ...field,
        difference: numberSides(field.difference, SAME_NUMBER),
        other: field.other && numberSides(field.other, SAME_NUMBER),
      })),
      dangers: dangers.map((danger) => numberSides(danger, SAME_NUMBER)),
    };
  });
}

export function redactDrift(drift: Drift): Drift {
  return { ...drift, changes: drift.changes.map((change) => ({ ...change, ...redactChange(change) })) };
}

export function redactInventory(inventory: StackInventory): StackInventory {
  return {
    ...inventory,
    resources: inventory.resources.map((one) => ({ ...one, live: redactLive(one.live) })),
  };
}

function redactLive(live: LiveResource): LiveResource {
  const secrets = listSecrets(live.kind);
  return { ...live, spec: redactSpec(live.spec, secrets), computed: redactSpec(live.computed, secrets) };
}

function redactChange(change: Change): Change {
  const secrets = listSecrets(change.kind);
  if (secrets.length === 0) return change;
  const { live, desired, sent } = change;
  return {
    ...change,
    differences: change.differences.filter(({ field }) => field === undefined || !secrets.includes(field)),
    live: live && { ...live, spec: live.spec && redactSpec(live.spec, secrets) },
    desired: desired && redactSpec(desired, secrets),
    sent: sent && redactSpec(sent, secrets),
  };
}

function redactWrite(write: Write): Write {
  const secrets = listSecrets(write.kind);
  const { body, mark } = write;
  if (secrets.length === 0) return write;
  return {
    ...write,
    body: body && redactSpec(body, secrets),
    mark: mark && { ...mark, pending: redactSpec(mark.pending, secrets) },
  };
}

/** The one-time fields of a kind. If the kind is unknown, the one-time fields of all kinds. */
function listSecrets(kindName: string): readonly string[] {
  const kind = findKind(kindName);
  return kind === undefined ? KINDS.flatMap(({ oneTimeFields }) => oneTimeFields) : kind.oneTimeFields;
}

function redactSpec(spec: Spec, secrets: readonly string[]): Spec {
  return Object.fromEntries(Object.entries(spec).filter(([name]) => !secrets.includes(name)));
}
