import { findKind, KINDS } from '../../kinds/tables/registry.ts';
import type { Change, Difference } from '../../model/change.ts';
import type { Drift, StackInventory } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { Json } from '../../model/json.ts';
import type { ExtraChange, Plan, PlanComparison } from '../../model/plan.ts';
import {
  CHANGE_JSON,
  DRIFT_JSON,
  EXTRA_CHANGE_JSON,
  INVENTORY_JSON,
  type JsonPlace,
  type JsonPlaces,
  LIVE_RESOURCE_JSON,
  PLAN_JSON,
  WRITE_JSON,
} from '../../model/plan-members.ts';
import { createHiddenNumbers, type HiddenNumbers, withoutHiddenNumbers } from '../../model/secret-value.ts';
import type { Spec } from '../../model/state.ts';
import type { Report, StacksRunReport } from '../report.ts';

/**
 * Two things that every output needs. One-time fields (secrets that only the response to a create contains) are removed by
 * each view and each format. Hidden values are numbered once, where an output begins: equal ones have one number in it.
 * `model/plan-members.ts` says where both can be.
 */

/** Replaces all JSON in a part of a plan that can have hidden values. */
function mapJson<T extends object>(
  part: T,
  places: JsonPlaces,
  replace: (json: Json, place: Exclude<JsonPlace, JsonPlaces>) => Json,
): T {
  const mapped = Object.entries(places).flatMap(([name, place]): readonly (readonly [string, unknown])[] => {
    const member: unknown = Reflect.get(part, name);
    if (member === undefined) return [];
    if (typeof place === 'string') return [[name, replace(member as Json, place)]]; // the type of the table requires it
    const map = (one: unknown) => mapJson(Object(one), place, replace);
    return [[name, Array.isArray(member) ? member.map(map) : map(member)]];
  });
  return { ...part, ...Object.fromEntries(mapped) };
}

/** Removes one-time fields from the whole plan. */
export function redactPlan(plan: Plan): Plan {
  return {
    ...plan,
    changes: plan.changes.map(redactChange),
    writes: plan.writes.map((write) => redactSpecs(write, WRITE_JSON)),
  };
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
  return mapJson(plan, PLAN_JSON, numbers);
}

function numberDrift(drift: Drift, numbers: HiddenNumbers): Drift {
  return mapJson(drift, DRIFT_JSON, numbers);
}

export function numberInventory(inventory: StackInventory, numbers: HiddenNumbers): StackInventory {
  return mapJson(inventory, INVENTORY_JSON, numbers);
}

/** Removes one-time fields from both plans and their differences. */
export function redactComparison(comparison: PlanComparison): PlanComparison {
  const { before, after, more, less } = comparison;
  return {
    ...comparison,
    before: redactPlan(before),
    after: redactPlan(after),
    more: more.map(redactExtraChange),
    less: less.map(redactExtraChange),
  };
}

/** Hidden values of two runs have no common numbers, so all have the same number here. */
function redactExtraChange(extra: ExtraChange): ExtraChange {
  const { change, other, fields } = extra;
  const secrets = listSecrets(change.kind);
  const shown = {
    ...extra,
    change: redactChange(change),
    other: other && redactChange(other),
    fields: fields.filter(({ difference }) => !isOfField(difference, secrets)),
  };
  return mapJson(shown, EXTRA_CHANGE_JSON, withoutHiddenNumbers);
}

export function redactDrift(drift: Drift): Drift {
  return { ...drift, changes: drift.changes.map(redactChange) };
}

export function redactInventory(inventory: StackInventory): StackInventory {
  return {
    ...inventory,
    resources: inventory.resources.map((one) => ({ ...one, live: redactSpecs(one.live, LIVE_RESOURCE_JSON) })),
  };
}

function redactChange<T extends Change>(change: T): T {
  const secrets = listSecrets(change.kind);
  if (secrets.length === 0) return change;
  const differences = change.differences.filter((one) => !isOfField(one, secrets));
  return redactSpecs({ ...change, differences }, CHANGE_JSON);
}

function isOfField({ field }: Difference, names: readonly string[]): boolean {
  return field !== undefined && names.includes(field);
}

/** Removes the one-time fields of the kind from the specs in a part of a plan. */
function redactSpecs<T extends { readonly kind: string }>(part: T, places: JsonPlaces): T {
  const secrets = listSecrets(part.kind);
  if (secrets.length === 0) return part;
  const isShown = ([name]: [string, Json]): boolean => !secrets.includes(name);
  return mapJson(part, places, (json, place) =>
    place === 'spec' ? Object.fromEntries(Object.entries(json as Spec).filter(isShown)) : json,
  );
}

/** The one-time fields of a kind. If the kind is unknown, the one-time fields of all kinds. */
function listSecrets(kindName: string): readonly string[] {
  const kind = findKind(kindName);
  return kind === undefined ? KINDS.flatMap(({ oneTimeFields }) => oneTimeFields) : kind.oneTimeFields;
}
