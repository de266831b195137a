import { isModule, type Kind } from '../../kinds/kind.ts';
import { normalizeSpec } from '../../kinds/normalize.ts';
import { isId, listPathFields } from '../../kinds/paths.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { isResourceName, toAddress, toName } from '../../model/address.ts';
import { type Action, type Change, toShownChange } from '../../model/change.ts';
import { isJsonObject, isSameJson } from '../../model/json.ts';
import type { Plan } from '../../model/plan.ts';
import type { Spec } from '../../model/state.ts';

/** What of a plan its changes are held against. */
type PlanFrame = Pick<Plan, 'stack' | 'takeOver' | 'mode'>;

/** What is wrong with a change of a plan file, in sentences. None: its writes can be computed from it, and do what it shows. */
export function listChangeFaults(change: Change, plan: PlanFrame): readonly string[] {
  const shown = toShownChange(change);
  const kind = findKind(change.kind);
  if (kind === undefined || kind.role === 'submitted')
    return [`${shown} is of the kind ${change.kind}, which there is not`];
  const fault = findShapeFault(kind, change) ?? findSpecFault(kind, change) ?? findOwnerFault(kind, change, plan);
  return fault === undefined ? [] : [`${shown} ${fault}`];
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

function findShapeFault(kind: Kind, change: Change): string | undefined {
  const { action, address, live, desired, duplicateOf } = change;
  const name = toName(address);
  const shape = SHAPES[action];
  if (address !== toAddress(kind.name, name) || !isResourceName(name))
    return `is not an address of the kind ${kind.name}`;
  if (kind.role === 'attached' && action !== 'update' && action !== 'no-op')
    return `cannot be the ${action} of a ${kind.title}`;
  if (shape.hasLive !== (live !== undefined))
    return shape.hasLive ? 'does not say what it starts from' : 'exists already';
  if (shape.hasDesired !== (desired !== undefined))
    return shape.hasDesired ? 'does not say what will be there' : 'says what will be there';
  if (live !== undefined && action !== 'no-op' && live.spec === undefined) return 'does not show what it starts from';
  if (live !== undefined && !isId(live.id)) return 'starts from what has no id';
  if (duplicateOf !== undefined && action !== 'delete' && action !== 'release')
    return `is a duplicate, and would be kept`;
  const isPlaced = kind.role === 'owned' || listPathFields(kind).every((field) => isId(live?.spec?.[field]));
  return isPlaced ? undefined : 'does not say what it is attached to';
}

function findSpecFault(kind: Kind, { live, desired = {}, sent = {} }: Change): string | undefined {
  const start = live?.spec ?? {};
  const unknown = [start, desired, sent].flatMap(Object.keys).find((field) => kind.fields[field] === undefined);
  if (unknown !== undefined) return `has ${unknown}, which ${kind.name} does not have`;
  for (const spec of [start, desired]) {
    const odd = Object.keys(spec).find((field) => !isNormal(kind, spec, field));
    if (odd !== undefined) return `has ${odd} in a form that no plan has it in`;
  }
  const other = Object.keys(sent).find(
    (field) => !isSame(pick(normalizeSpec(kind, sent), field), pick(desired, field)),
  );
  return other === undefined ? undefined : `sends another ${other} than it shows`;
}

function isNormal(kind: Kind, spec: Spec, name: string): boolean {
  const field = kind.fields[name];
  const value = pick(spec, name);
  const isWhole = field === undefined || !isModule(field) || value === null || isJsonObject(value);
  return isWhole && isSame(pick(normalizeSpec(kind, spec), name), value);
}

/** `null` where there is none, which is never the normal form of what the service chooses. */
function pick(spec: Spec, name: string) {
  return spec[name] ?? null;
}

const isSame = isSameJson;

/** Whose resource it is, and under which name, changes only where the plan says so. */
function findOwnerFault(
  kind: Kind,
  { action, address, live, differences, duplicateOf }: Change,
  plan: PlanFrame,
): string | undefined {
  const mark = live?.mark;
  if (kind.role === 'attached' || live === undefined) return undefined;
  if (mark === undefined) return action === 'adopt' ? undefined : 'is about a resource that is not ours';
  if (mark.stack !== plan.stack) {
    const isTaken = action === 'adopt' && plan.takeOver.includes(mark.stack);
    return isTaken ? undefined : `is about a resource of the stack ${mark.stack}, which the plan does not take over`;
  }
  const isRenamed = differences.some(({ path, from }) => path === 'mark.name' && from === mark.name);
  const isOwn = mark.name === toName(address);
  return isOwn || isRenamed || duplicateOf !== undefined ? undefined : 'is about a resource of another name';
}
