import { isModule, type Kind } from '../../kinds/kind.ts';
import { normalizeSpec } from '../../kinds/normalize.ts';
import { isId, listPathIdNamesOfKind } from '../../kinds/paths.ts';
import { createPlanFileContent, type PlanFileContent, type PlanFileWrite } from '../../kinds/plan-file-content.ts';
import { findKind, getKind } from '../../kinds/tables/registry.ts';
import { getAddressName, isResourceName, parseAddress, toAddress } from '../../model/address.ts';
import {
  type Action,
  type Change,
  countActionsForDisplay,
  type Difference,
  formatAction,
  formatChangeAddress,
  isAdoptOrTakeOverAction,
} from '../../model/change.ts';
import { countDangersByGroup } from '../../model/danger.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { assertDefined } from '../../model/errors.ts';
import { formatPath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import type { Plan, PlannedFile, SuppressedDelete } from '../../model/plan.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { computeLiveDigest } from '../create-change.ts';
import { computeChangesWithDangers } from '../dangers.ts';
import { listDifferences } from '../differences.ts';
import { createOrderedWrites } from '../order.ts';

/**
 * Checks that a plan file is consistent. Users approve the changes in the file, but an apply sends the writes. So the
 * writes are computed again from the changes. If the file contains other writes, it was edited and is rejected. Returns
 * the plan, or a sentence about the first inconsistency.
 */
export function verifyPlan(document: PlanFileContent): Plan | string {
  const finding = findPlanFinding(document);
  if (finding !== undefined) return finding;
  const { totals, dangers, ...rest } = document;
  const { changes, stack, diagnostics } = rest;
  const plan = { ...rest, writes: hasErrors(diagnostics) ? [] : createOrderedWrites(changes, stack) };
  return (
    findWriteFinding(document.writes, createPlanFileContent(plan).writes) ??
    findDangerFinding(plan) ??
    findTotalFinding({ totals, dangers }, plan) ??
    plan
  );
}

/** Returns the first error in a single change, between changes, or in the other lists of the plan. */
function findPlanFinding(plan: PlanFileContent): string | undefined {
  const { changes, suppressedDeletes = [], files, crossStackReferences = {} } = plan;
  for (const change of changes) {
    const finding = findChangeFinding(change, plan);
    if (finding !== undefined) return finding;
  }
  return (
    findRepeated(changes) ??
    findStrayDuplicate(changes) ??
    findStrayFile(files, changes) ??
    findPrune(changes, suppressedDeletes) ??
    findStrayAwaited(crossStackReferences)
  );
}

function findRepeated(changes: readonly Change[]): string | undefined {
  const seen = new Set<string>();
  const repeated = changes.map(formatChangeAddress).find((address) => seen.has(address) || !seen.add(address));
  return repeated === undefined ? undefined : `${repeated} appears twice`;
}

/** For each duplicate, the plan must also contain the resource that is kept. */
function findStrayDuplicate(changes: readonly Change[]): string | undefined {
  const kept = new Map(changes.filter(isKept).map(({ address, live }) => [address, live?.id]));
  const stray = changes.find((change) => !isKept(change) && kept.get(change.address) !== change.duplicateOf);
  return (
    stray && `${formatChangeAddress(stray)} is listed as a duplicate of ${stray.duplicateOf}, which is not in the plan`
  );
}

function isKept({ duplicateOf }: Change): boolean {
  return duplicateOf === undefined;
}

/**
 * For each file, the plan must contain a change of a resource whose kind has a field that can be written to a file. The
 * content must be absent if the change creates or replaces the resource, and present otherwise.
 */
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

/**
 * Finds a delete that breaks the promise of a plan with suppressed deletes (`--no-delete`): such a plan deletes only as
 * a part of a replace, and does not change a resource whose delete is suppressed.
 */
function findPrune(changes: readonly Change[], suppressedDeletes: readonly SuppressedDelete[]): string | undefined {
  if (suppressedDeletes.length === 0) return undefined;
  const ids = new Set(suppressedDeletes.map(({ id }) => id));
  const replaced = new Set(changes.filter(({ action }) => action === 'replace').map(({ address }) => address));
  const prune = changes.find(
    ({ action, address, live }) => (action === 'delete' && !replaced.has(address)) || ids.has(live?.id ?? ''),
  );
  return prune && `it says that it deletes nothing, but would ${prune.action} ${formatChangeAddress(prune)}`;
}

/** An awaited resource must be of a kind that the service can list, because the resource is looked up in that list. */
function findStrayAwaited(awaited: NonNullable<PlanFileContent['crossStackReferences']>): string | undefined {
  const stray = Object.values(awaited).find(
    ({ resource }) => findKind(parseAddress(resource)?.kind ?? '')?.role !== 'owned',
  );
  return stray && `it waits for ${stray.resource}, which no stack can own`;
}

/** Returns a sentence about the first difference between the writes in the file and the newly computed writes. */
function findWriteFinding(writes: readonly PlanFileWrite[], computed: readonly PlanFileWrite[]): string | undefined {
  const known = new Set<string>(computed.map(({ id }) => id));
  const found = new Set<string>(writes.map(({ id }) => id));
  const extra = writes.find(({ id }) => !known.has(id));
  if (extra !== undefined) return `${extra.id} belongs to no change of the plan`;
  const missing = computed.find(({ id }) => !found.has(id));
  if (missing !== undefined) return `${missing.id} is missing`;
  const misplaced = writes.find(({ id }, index) => computed[index]?.id !== id);
  if (misplaced !== undefined) return `${misplaced.id} is in the wrong place`;
  const index = writes.findIndex((write, at) => !isSameJson(asJson(write), asJson(computed[at])));
  const write = writes[index];
  if (write === undefined) return undefined;
  const path = computePath(asJson(write), asJson(computed[index]));
  return `${write.id} has another ${formatPath(path)} than its change shows`;
}

/** The dangers must equal those that are computed from the changes and their writes. */
function findDangerFinding(plan: Plan): string | undefined {
  const { changes } = plan;
  const computed = computeChangesWithDangers(plan);
  const index = computed.findIndex(
    ({ dangers }, at) => !isSameValue(asDangersJson(dangers), asDangersJson(changes[at]?.dangers)),
  );
  const change = changes[index];
  return change && `${formatChangeAddress(change)} has other dangers than it shows`;
}

function findTotalFinding(
  { totals, dangers }: Pick<PlanFileContent, 'totals' | 'dangers'>,
  { changes }: Plan,
): string | undefined {
  const counts = countDangersByGroup(changes.flatMap((change) => change.dangers ?? []));
  const isSame =
    isSameJson({ ...totals }, { ...countActionsForDisplay(changes) }) && isSameJson({ ...dangers }, { ...counts });
  return isSame ? undefined : 'its totals do not match its changes';
}

function asDangersJson(dangers: Change['dangers']): Json | undefined {
  // A plan file does not contain the resources of other stacks, which the consequence of a changed target names.
  return dangers
    ?.filter(({ danger }) => danger !== 'stays-valid')
    .map(({ consequence, ...rest }) =>
      rest.danger === 'target-changed' ? rest : { ...rest, consequence: consequence ?? null },
    );
}

function asJson(write: PlanFileWrite | undefined): Json {
  return { ...assertDefined(write, 'computed write') } as Json; // every property of a write is JSON
}

/** The path of the first value that differs. */
function computePath(left: Json, right: Json): FieldPath {
  if (isJsonArray(left) && isJsonArray(right)) return [];
  if (!isJsonObject(left) || !isJsonObject(right)) return [];
  const keys = [...new Set([...Object.keys(left), ...Object.keys(right)])].sort();
  const key = keys.find((one) => !isSameValue(left[one], right[one]));
  if (key === undefined) return [];
  const [inner, other] = [left[key], right[key]];
  return inner === undefined || other === undefined ? [key] : [key, ...computePath(inner, other)];
}

function isSameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}

/** The parts of a plan against which its changes are checked. */
type PlanFrame = Pick<Plan, 'stack' | 'takeOver' | 'mode'>;

/**
 * Returns the first error in a change. `undefined`: the change contains everything from which its writes are computed.
 */
function findChangeFinding(change: Change, plan: PlanFrame): string | undefined {
  const shown = formatChangeAddress(change);
  const kind = findKind(change.kind);
  if (kind === undefined || kind.role === 'submitted')
    return `${shown} has the kind ${change.kind}, which does not exist`;
  const finding =
    findShapeFinding(kind, change) ??
    findSpecFinding(kind, change) ??
    findOwnerFinding(kind, change, plan) ??
    findDifferenceFinding(kind, change, plan) ??
    findActionFinding(kind, change, plan);
  return finding === undefined ? undefined : `${shown} ${finding}`;
}

/** Whether a change must contain a live resource and a desired spec, by action. */
const SHAPES: Readonly<Record<Action, { readonly hasLive: boolean; readonly hasDesired: boolean }>> = {
  create: { hasLive: false, hasDesired: true },
  update: { hasLive: true, hasDesired: true },
  replace: { hasLive: true, hasDesired: true },
  'take-over': { hasLive: true, hasDesired: true },
  adopt: { hasLive: true, hasDesired: true },
  delete: { hasLive: true, hasDesired: false },
  release: { hasLive: true, hasDesired: false },
  'no-op': { hasLive: true, hasDesired: false },
};

function findShapeFinding(kind: Kind, { action, address, live, desired, duplicateOf }: Change): string | undefined {
  const name = getAddressName(address);
  const { hasLive, hasDesired } = SHAPES[action];
  if (address !== toAddress(kind.name, name) || !isResourceName(name))
    return `is not an address of the kind ${kind.name}`;
  if (hasLive !== (live !== undefined)) return hasLive ? 'has no live resource' : 'has a live resource';
  if (hasDesired !== (desired !== undefined))
    return hasDesired ? 'has no desired spec' : `has a desired spec, although it is a ${formatAction(action)}`;
  if (duplicateOf !== undefined && !isId(duplicateOf)) return 'is a duplicate of a resource without a valid id';
  if (live === undefined) return undefined;
  if (!isId(live.id)) return 'has a live resource without a valid id';
  if (action !== 'no-op' && live.spec === undefined) return 'has a live resource without a spec';
  const isPlaced = kind.role === 'owned' || listPathIdNamesOfKind(kind).every((field) => isId(live.spec?.[field]));
  return isPlaced ? undefined : 'does not say what it is attached to';
}

/** The desired spec must be in normal form, and the values to send must have the same normal form. */
function findSpecFinding(kind: Kind, { live, desired, sent = {} }: Change): string | undefined {
  const start = live?.spec ?? {};
  const unknown = [start, desired ?? {}, sent].flatMap(Object.keys).find((name) => kind.fields[name] === undefined);
  if (unknown !== undefined) return `has ${unknown}, which ${kind.name} does not have`;
  const broken = [start, desired ?? {}].map((spec) => findBrokenModule(kind, spec)).find((name) => name !== undefined);
  if (broken !== undefined) return `has an invalid ${broken}`;
  const odd = desired === undefined ? undefined : findDifferingField(normalizeSpec(kind, desired), desired);
  if (odd !== undefined) return `has ${odd} in a form that plans do not store`;
  const meant = normalizeSpec(kind, sent);
  const other = Object.keys(sent).find((name) => !isSameValue(meant[name], desired?.[name]));
  if (other !== undefined) return `sends a different ${other} than it shows`;
  const isSealed =
    live?.spec === undefined ||
    live.digest === computeLiveDigest({ kind: kind.name, spec: live.spec, mark: live.mark });
  return isSealed ? undefined : 'has a digest that does not match its live resource';
}

/** The first module that is neither an object nor null. */
function findBrokenModule(kind: Kind, spec: Spec): string | undefined {
  return Object.keys(spec).find((name) => {
    const field = kind.fields[name];
    return field !== undefined && isModule(field) && spec[name] !== null && !isJsonObject(spec[name]);
  });
}

function findDifferingField(left: Spec, right: Spec): string | undefined {
  return Object.keys({ ...left, ...right }).find((name) => !isSameValue(left[name], right[name]));
}

/** The live mark must have the stack and name of the change, unless the plan shows a take-over, rename or duplicate. */
function findOwnerFinding(
  kind: Kind,
  { action, address, live, differences, duplicateOf }: Change,
  { stack, takeOver }: PlanFrame,
): string | undefined {
  if (kind.role === 'attached' || live === undefined) return undefined;
  const { mark } = live;
  if (mark === undefined) return action === 'adopt' ? undefined : 'is about an unmanaged resource';
  if (mark.stack !== stack) {
    // A credential that is taken over without its token is replaced.
    const mayTake = action === 'take-over' || (action === 'replace' && kind.oneTimeFields.length > 0);
    const isTaken = mayTake && takeOver.includes(mark.stack);
    return isTaken ? undefined : `is about a resource of the stack ${mark.stack}, which the plan does not take over`;
  }
  if (isAdoptOrTakeOverAction(action)) return 'gets a mark that it already has';
  const isRenamed = differences.length > 0 && action !== 'delete' && action !== 'release';
  const isOwn = mark.name === getAddressName(address);
  return isOwn || isRenamed || duplicateOf !== undefined ? undefined : 'is about a resource of another name';
}

/** The differences must equal those that are computed from the live and the desired spec. */
function findDifferenceFinding(kind: Kind, change: Change, { stack }: PlanFrame): string | undefined {
  const expected = computeDifferences(kind, change, stack);
  const { differences } = change;
  const index = expected.findIndex((one, at) => !isSameDifference(one, differences[at]));
  const wrong = expected[index] ?? differences[expected.length];
  return wrong === undefined ? undefined : `shows a wrong difference of ${wrong.path}`;
}

function computeDifferences(kind: Kind, change: Change, stack: string): readonly Difference[] {
  const { address, live, desired, ignored = [], kept = [], validForMs, protect = false } = change;
  if (live?.spec === undefined || desired === undefined) return [];
  const { id, spec, mark } = live;
  return listDifferences({
    ...{ kind, address, stack, live: { id, spec, mark }, normal: desired },
    ...{ ignored, kept, validForMs, protect },
  });
}

function isSameDifference(left: Difference, right: Difference | undefined): boolean {
  return right !== undefined && isSameJson(asDifferenceJson(left), asDifferenceJson(right));
}

function asDifferenceJson(difference: Difference): Json {
  return { ...difference } as Json; // every property of a difference is JSON
}

/** The action must follow from the differences. A replace without a forcing difference needs a reason. */
function findActionFinding(kind: Kind, change: Change, { mode }: PlanFrame): string | undefined {
  const { action, differences, reason, duplicateOf, live, protect = false } = change;
  const isForced = differences.some(({ forcesReplace }) => forcesReplace);
  const isRemoval = action === 'delete' || action === 'release';
  if ((action === 'release') !== (mode === 'release')) return `cannot be a ${action} in a plan to ${mode}`;
  if (kind.role === 'attached' && action !== 'update' && action !== 'no-op') return `cannot be a ${action}`;
  if (duplicateOf !== undefined && !isRemoval) return 'is listed as a duplicate, but is not deleted';
  if (action === 'replace' && !isForced && reason === undefined) return 'is replaced without a reason';
  if (isForced && action !== 'replace') return 'shows a difference that needs a replace';
  if (action === 'update' && differences.length === 0) return 'is updated without a difference';
  const isKept = action !== 'no-op' || kind.role === 'attached' || protect === live?.mark?.protect;
  return isKept ? undefined : 'is unchanged, but its protection differs';
}
