import { type PlanDocument, type ShownWrite, toPlanDocument } from '../../kinds/plan-document.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { type Change, toShownChange } from '../../model/change.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import { toPathText } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import type { Plan, PlannedFile, Withheld } from '../../model/plan.ts';
import type { FieldPath } from '../../model/state.ts';
import { toShownTotals } from '../../model/totals.ts';
import { withDangers } from '../dangers.ts';
import { orderWrites } from '../order.ts';
import { findChangeFault } from './verify-change.ts';

/**
 * Checks a plan file against itself. People approve its changes, and apply makes its writes; so the writes are computed again from the
 * changes, and a file with other writes was edited and is refused. Returns the plan, or a sentence on the first fault.
 */
export function verifyPlan(document: PlanDocument): Plan | string {
  const fault = findPlanFault(document);
  if (fault !== undefined) return fault;
  const { totals, ...rest } = document;
  const { changes, stack, diagnostics } = rest;
  const plan = { ...rest, writes: hasErrors(diagnostics) ? [] : orderWrites(changes, stack) };
  return (
    findWriteFault(document.writes, toPlanDocument(plan).writes) ??
    findDangerFault(plan) ??
    findTotalFault(totals, plan) ??
    plan
  );
}

/** What is wrong with the changes, one by one and as a whole, and with what stands beside them. */
function findPlanFault(plan: PlanDocument): string | undefined {
  const { changes, withheld = [], files } = plan;
  for (const change of changes) {
    const fault = findChangeFault(change, plan);
    if (fault !== undefined) return fault;
  }
  return (
    findTwin(changes) ?? findStrayDuplicate(changes) ?? findStrayFile(files, changes) ?? findPrune(changes, withheld)
  );
}

function findTwin(changes: readonly Change[]): string | undefined {
  const seen = new Set<string>();
  const twin = changes.map(toShownChange).find((address) => seen.has(address) || !seen.add(address));
  return twin === undefined ? undefined : `${twin} is there twice`;
}

/** What a duplicate duplicates is in the plan, too. */
function findStrayDuplicate(changes: readonly Change[]): string | undefined {
  const kept = new Map(changes.filter(isKept).map(({ address, live }) => [address, live?.id]));
  const stray = changes.find((change) => !isKept(change) && kept.get(change.address) !== change.duplicateOf);
  return stray && `${toShownChange(stray)} is called a duplicate of ${stray.duplicateOf}, which is not in the plan`;
}

function isKept({ duplicateOf }: Change): boolean {
  return duplicateOf === undefined;
}

/** A file holds a value of a resource; where the value is not known yet, the resource is made by the plan. */
function findStrayFile(files: readonly PlannedFile[], changes: readonly Change[]): string | undefined {
  const byAddress: ReadonlyMap<string, Change> = new Map(
    changes.filter(isKept).map((change) => [change.address, change]),
  );
  const stray = files.find(({ address, text }) => {
    const change = byAddress.get(address);
    const isHeld = change !== undefined && getKind(change.kind).fileField !== undefined;
    return !isHeld || (text === undefined) !== (change.action === 'create' || change.action === 'replace');
  });
  return stray && `${stray.path} gets a value of ${stray.address} that no change of the plan gives it`;
}

/** A plan with kept resources (`--no-delete`) deletes nothing else, except what an interrupted replace left. */
function findPrune(changes: readonly Change[], withheld: readonly Withheld[]): string | undefined {
  if (withheld.length === 0) return undefined;
  const ids = new Set(withheld.map(({ id }) => id));
  const replaced = new Set(changes.filter(({ action }) => action === 'replace').map(({ address }) => address));
  const prune = changes.find(
    ({ action, address, live }) => (action === 'delete' && !replaced.has(address)) || ids.has(live?.id ?? ''),
  );
  return prune && `it says that it deletes nothing, but would ${prune.action} ${toShownChange(prune)}`;
}

/** The first write that is not the one that the changes make, and where it differs. */
function findWriteFault(writes: readonly ShownWrite[], computed: readonly ShownWrite[]): string | undefined {
  const known = new Set<string>(computed.map(({ id }) => id));
  const found = new Set<string>(writes.map(({ id }) => id));
  const extra = writes.find(({ id }) => !known.has(id));
  if (extra !== undefined) return `${extra.id} belongs to no change of the plan`;
  const missing = computed.find(({ id }) => !found.has(id));
  if (missing !== undefined) return `${missing.id} is missing`;
  const moved = writes.find(({ id }, index) => computed[index]?.id !== id);
  if (moved !== undefined) return `${moved.id} is in the wrong place`;
  const index = writes.findIndex((write, at) => !isSameJson(toJson(write), toJson(computed[at])));
  const write = writes[index];
  if (write === undefined) return undefined;
  const path = findPath(toJson(write), toJson(computed[index]));
  return `${write.id} has another ${toPathText(path)} than its change shows`;
}

/** The dangers are those that follow from the changes and their writes. */
function findDangerFault({ changes, writes }: Plan): string | undefined {
  const computed = withDangers(changes, writes);
  const index = computed.findIndex(
    ({ dangers }, at) => !isSameValue(toDangers(dangers), toDangers(changes[at]?.dangers)),
  );
  const change = changes[index];
  return change && `${toShownChange(change)} has other dangers than it shows`;
}

function findTotalFault(totals: PlanDocument['totals'], { changes }: Plan): string | undefined {
  const isSame = isSameJson({ ...totals }, { ...toShownTotals(changes) });
  return isSame ? undefined : 'its totals are not those of its changes';
}

function toDangers(dangers: Change['dangers']): Json | undefined {
  return dangers?.map((danger) => ({ ...danger }));
}

function toJson(write: ShownWrite | undefined): Json {
  return { ...assertDefined(write, 'computed write') } as Json; // every property of a write is JSON, in a read file and in a computed one
}

/** The way to the first value that differs. */
function findPath(left: Json, right: Json): FieldPath {
  if (isJsonArray(left) && isJsonArray(right)) return [];
  if (!isJsonObject(left) || !isJsonObject(right)) return [];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  const key = keys.find((one) => !isSameValue(left[one], right[one]));
  if (key === undefined) return [];
  const [inner, other] = [left[key], right[key]];
  return inner === undefined || other === undefined ? [key] : [key, ...findPath(inner, other)];
}

function isSameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}
