import { isModule, type Kind } from '../../kinds/kind.ts';
import { normalizeSpec } from '../../kinds/normalize.ts';
import { isId, listPathFields } from '../../kinds/paths.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { isResourceName, toAddress, toName } from '../../model/address.ts';
import { type Action, type Change, type Difference, toShownChange } from '../../model/change.ts';
import { isJsonObject, isSameJson, type Json } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { Spec } from '../../model/state.ts';
import { listDifferences } from '../differences.ts';
import { toLiveDigest } from '../to-change.ts';

/** The parts of a plan against which its changes are checked. */
type PlanFrame = Pick<Plan, 'stack' | 'takeOver' | 'mode'>;

/** What is wrong with a change of a plan file. None: it shows all that its writes are computed from. */
export function findChangeFault(change: Change, plan: PlanFrame): string | undefined {
  const shown = toShownChange(change);
  const kind = findKind(change.kind);
  if (kind === undefined || kind.role === 'submitted')
    return `${shown} has the kind ${change.kind}, which does not exist`;
  const fault =
    findShapeFault(kind, change) ??
    findSpecFault(kind, change) ??
    findOwnerFault(kind, change, plan) ??
    findDifferenceFault(kind, change, plan) ??
    findActionFault(kind, change, plan);
  return fault === undefined ? undefined : `${shown} ${fault}`;
}

/** What a change of each action has. */
const SHAPES: Readonly<Record<Action, { readonly hasLive: boolean; readonly hasDesired: boolean }>> = {
  create: { hasLive: false, hasDesired: true },
  update: { hasLive: true, hasDesired: true },
  replace: { hasLive: true, hasDesired: true },
  adopt: { hasLive: true, hasDesired: true },
  delete: { hasLive: true, hasDesired: false },
  release: { hasLive: true, hasDesired: false },
  'no-op': { hasLive: true, hasDesired: false },
};

function findShapeFault(kind: Kind, { action, address, live, desired }: Change): string | undefined {
  const name = toName(address);
  const { hasLive, hasDesired } = SHAPES[action];
  if (address !== toAddress(kind.name, name) || !isResourceName(name))
    return `is not an address of the kind ${kind.name}`;
  if (hasLive !== (live !== undefined)) return hasLive ? 'has no live resource' : 'has a live resource';
  if (hasDesired !== (desired !== undefined))
    return hasDesired ? 'has no desired spec' : `has a desired spec, although it is a ${action}`;
  if (live === undefined) return undefined;
  if (!isId(live.id)) return 'has a live resource without an id';
  if (action !== 'no-op' && live.spec === undefined) return 'has a live resource without a spec';
  const isPlaced = kind.role === 'owned' || listPathFields(kind).every((field) => isId(live.spec?.[field]));
  return isPlaced ? undefined : 'does not say what it is attached to';
}

/** The desired spec is in normal form, and the values sent mean the same. */
function findSpecFault(kind: Kind, { live, desired, sent = {} }: Change): string | undefined {
  const start = live?.spec ?? {};
  const unknown = [start, desired ?? {}, sent].flatMap(Object.keys).find((name) => kind.fields[name] === undefined);
  if (unknown !== undefined) return `has ${unknown}, which ${kind.name} does not have`;
  const broken = [start, desired ?? {}].map((spec) => findBrokenModule(kind, spec)).find((name) => name !== undefined);
  if (broken !== undefined) return `has an invalid ${broken}`;
  const odd = desired === undefined ? undefined : findOther(normalizeSpec(kind, desired), desired);
  if (odd !== undefined) return `has ${odd} in another form than plans store`;
  const meant = normalizeSpec(kind, sent);
  const other = Object.keys(sent).find((name) => !isSameValue(meant[name], desired?.[name]));
  if (other !== undefined) return `sends another ${other} than it shows`;
  const isSealed = live?.spec === undefined || live.digest === toLiveDigest({ spec: live.spec, mark: live.mark });
  return isSealed ? undefined : 'has a digest that does not match its live resource';
}

/** A module is an object, or nothing. */
function findBrokenModule(kind: Kind, spec: Spec): string | undefined {
  return Object.keys(spec).find((name) => {
    const field = kind.fields[name];
    return field !== undefined && isModule(field) && spec[name] !== null && !isJsonObject(spec[name]);
  });
}

/** The first field that two specs do not have alike. */
function findOther(left: Spec, right: Spec): string | undefined {
  return Object.keys({ ...left, ...right }).find((name) => !isSameValue(left[name], right[name]));
}

function isSameValue(left: Json | undefined, right: Json | undefined): boolean {
  return left === undefined || right === undefined ? left === right : isSameJson(left, right);
}

/** Whose resource it is, and under which name, changes only where the plan says so. */
function findOwnerFault(
  kind: Kind,
  { action, address, live, differences, duplicateOf }: Change,
  { stack, takeOver }: PlanFrame,
): string | undefined {
  if (kind.role === 'attached' || live === undefined) return undefined;
  const { mark } = live;
  if (mark === undefined) return action === 'adopt' ? undefined : 'is about a resource that is not ours';
  if (mark.stack !== stack) {
    const isTaken = action === 'adopt' && takeOver.includes(mark.stack);
    return isTaken ? undefined : `is about a resource of the stack ${mark.stack}, which the plan does not take over`;
  }
  if (action === 'adopt') return 'adopts a resource that is ours';
  const isRenamed = differences.length > 0 && action !== 'delete' && action !== 'release';
  const isOwn = mark.name === toName(address);
  return isOwn || isRenamed || duplicateOf !== undefined ? undefined : 'is about a resource of another name';
}

/** What differs follows from what it starts from and what will be there. */
function findDifferenceFault(kind: Kind, change: Change, { stack }: PlanFrame): string | undefined {
  const expected = computeDifferences(kind, change, stack);
  const { differences } = change;
  const index = expected.findIndex((one, at) => !isSameDifference(one, differences[at]));
  const wrong = expected[index] ?? differences[expected.length];
  return wrong === undefined ? undefined : `shows another difference of ${wrong.path} than there is`;
}

function computeDifferences(kind: Kind, change: Change, stack: string): readonly Difference[] {
  const { address, live, desired, ignored = [], kept = [], validForMs, protect = false } = change;
  if (live?.spec === undefined || desired === undefined) return [];
  const { spec, mark } = live;
  return listDifferences({
    ...{ kind, address, stack, live: { spec, mark }, normal: desired },
    ...{ ignored, kept, validForMs, protect },
  });
}

function isSameDifference(left: Difference, right: Difference | undefined): boolean {
  return right !== undefined && isSameJson(toJson(left), toJson(right));
}

function toJson(difference: Difference): Json {
  return { ...difference } as Json; // every property of a difference is JSON
}

/** The action follows from what differs; that something is due to be replaced needs a reason. */
function findActionFault(kind: Kind, change: Change, { mode }: PlanFrame): string | undefined {
  const { action, differences, reason, duplicateOf, live, protect = false } = change;
  const isForced = differences.some(({ forcesReplace }) => forcesReplace);
  const isRemoval = action === 'delete' || action === 'release';
  if ((action === 'release') !== (mode === 'release')) return `cannot be a ${action} in a plan to ${mode}`;
  if (kind.role === 'attached' && action !== 'update' && action !== 'no-op') return `cannot be a ${action}`;
  if (duplicateOf !== undefined && !isRemoval) return 'is called a duplicate, but is not deleted';
  if (action === 'replace' && !isForced && reason === undefined) return 'is replaced without a reason';
  if (isForced && action !== 'replace') return 'shows a difference that needs a replace';
  if (action === 'update' && differences.length === 0) return 'is updated without a difference';
  const isKept = action !== 'no-op' || kind.role === 'attached' || protect === live?.mark?.protect;
  return isKept ? undefined : 'is unchanged, but its protection differs';
}
