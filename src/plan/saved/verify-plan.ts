import { type PlanDocument, type ShownWrite, toPlanDocument } from '../../kinds/plan-document.ts';
import { type Change, toShownChange } from '../../model/change.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import { toPathText } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { FieldPath } from '../../model/state.ts';
import { orderWrites } from '../order.ts';
import { listChangeFaults } from './verify-change.ts';

/**
 * Holds a plan file against itself. People approve its changes, and apply makes its writes. So the writes are computed again from the
 * changes: a file that has others was edited, and nothing of it may be done. Gives the plan, or a sentence on the first fault.
 */
export function verifyPlan(document: PlanDocument): Plan | string {
  const [fault] = [
    ...document.changes.flatMap((change) => listChangeFaults(change, document)),
    ...listPlanFaults(document),
  ];
  if (fault !== undefined) return fault;
  const plan = {
    ...document,
    writes: hasErrors(document.diagnostics) ? [] : orderWrites(document.changes, document.stack),
  };
  return findWriteFault(document.writes, toPlanDocument(plan).writes) ?? plan;
}

/** What is wrong with the changes as a whole, and with what stands beside them. */
function listPlanFaults({ changes, withheld = [], files }: PlanDocument): readonly string[] {
  const shown = changes.map(toShownChange);
  const twice = shown.filter((address, index) => shown.indexOf(address) < index);
  const addresses = new Set<string>(changes.map(({ address }) => address));
  return [
    ...twice.map((address) => `${address} stands there twice`),
    ...changes.filter((change) => !isKnownDuplicate(change, changes)).map(toDuplicateFault),
    ...(withheld.length > 0 ? listWithheldFaults(changes, new Set(withheld.map(({ id }) => id))) : []),
    ...files
      .filter(({ address }) => !addresses.has(address))
      .map(({ path }) => `${path} belongs to no change of the plan`),
  ];
}

/** What a duplicate duplicates is in the plan, too. */
function isKnownDuplicate({ address, duplicateOf }: Change, changes: readonly Change[]): boolean {
  const isKept = (other: Change) => other.address === address && other.duplicateOf === undefined;
  return duplicateOf === undefined || changes.some((other) => isKept(other) && other.live?.id === duplicateOf);
}

function toDuplicateFault(change: Change): string {
  return `${toShownChange(change)} is called a duplicate of ${change.duplicateOf}, which the plan does not know`;
}

/** A plan that says what it leaves deletes nothing else, but for what is left of a replace. */
function listWithheldFaults(changes: readonly Change[], withheld: ReadonlySet<string>): readonly string[] {
  const replaced = new Set(changes.filter(({ action }) => action === 'replace').map(({ address }) => address));
  const isPrune = ({ action, address }: Change) => action === 'delete' && !replaced.has(address);
  return changes
    .filter((change) => isPrune(change) || withheld.has(change.live?.id ?? ''))
    .map((change) => `it says that it deletes nothing, and would ${change.action} ${toShownChange(change)}`);
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
  if (moved !== undefined) return `${moved.id} does not stand where it should`;
  const index = writes.findIndex((write, at) => !isSameJson(toJson(write), toJson(computed[at])));
  const write = writes[index];
  if (write === undefined) return undefined;
  const path = findPath(toJson(write), toJson(computed[index]));
  return `${write.id} has another ${toPathText(path)} than its change shows`;
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
