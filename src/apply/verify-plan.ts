import { isModule, type Kind, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { ID_PLACEHOLDER, isId, toModulePath, toResourcePath } from '../kinds/paths.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { type Action, type Change, isDuplicateAddress, toBaseAddress } from '../model/change.ts';
import { isJsonArray, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import type { Plan, Write } from '../model/plan.ts';

/**
 * Holds a plan file against itself. People approve its changes, and apply makes its writes: a file in which the writes do something
 * that no change shows was edited, and nothing of it may be done. Each fault is a sentence; none: the plan does what it shows.
 */
export function listPlanFaults(plan: Plan): readonly string[] {
  const changes = new Map(plan.changes.map((change) => [change.address, change]));
  const earlier = new Set<string>();
  const faults = plan.writes.flatMap((write) => {
    const faults = listWriteFaults(write, changes.get(write.address), plan);
    const missing = write.needs
      .filter((id) => !earlier.has(id))
      .map((id) => `needs ${id}, which does not stand before it`);
    const twice = earlier.has(write.id) ? ['stands there twice'] : [];
    earlier.add(write.id);
    return [...faults, ...missing, ...twice].map((fault) => `${write.id} ${fault}`);
  });
  return [...plan.changes.flatMap(listChangeFaults), ...faults, ...listWithheldFaults(plan)];
}

/** A change is about what a kind has, and says where that is. */
function listChangeFaults({ address, kind: name, live, desired }: Change): readonly string[] {
  const kind = findKind(name);
  if (kind === undefined) return [`${address} is of the kind ${name}, which there is not`];
  const unknown = [...Object.keys(live?.spec ?? {}), ...Object.keys(desired ?? {})].find(
    (field) => kind.fields[field] === undefined,
  );
  if (unknown !== undefined) return [`${address} has ${unknown}, which ${name} does not have`];
  const isPlaced = kind.role !== 'attached' || listIdFields(kind).every((field) => isId(live?.spec?.[field]));
  return isPlaced ? [] : [`${address} does not say what it is attached to`];
}

/** A plan that says what it leaves deletes nothing else, but for what is left of a replace. */
function listWithheldFaults({ withheld = [], changes }: Plan): readonly string[] {
  if (withheld.length === 0) return [];
  const ids = new Set(withheld.map(({ id }) => id));
  const replaced = new Set(changes.filter(({ action }) => action === 'replace').map(({ address }) => address));
  const isPrune = ({ action, address }: Change) => action === 'delete' && !replaced.has(toBaseAddress(address));
  return changes
    .filter((change) => isPrune(change) || ids.has(change.live?.id ?? ''))
    .map(({ address, action }) => `it says that it deletes nothing, and would ${action} ${address}`);
}

function listWriteFaults(write: Write, change: Change | undefined, plan: Plan): readonly string[] {
  const kind = findKind(write.kind);
  if (kind === undefined) return [`is of the kind ${write.kind}, which there is not`];
  if (change === undefined || change.kind !== write.kind) return ['belongs to no change of the plan'];
  if (!METHODS[change.action].includes(write.method))
    return [`is a ${write.method}, and its change is a ${change.action}`];
  if (write.resourceId !== undefined && write.resourceId !== change.live?.id)
    return ['is about another resource than its change'];
  if (!toPaths(kind, write, change).includes(write.path))
    return [`has the path ${write.path}, which is not that of its change`];
  return [
    ...listReleaseFaults(write, change),
    ...listOwnerFaults(kind, change, plan),
    ...listMarkFaults(kind, write, plan),
    ...listBodyFaults(kind, write, change),
  ];
}

const METHODS: Readonly<Record<Action, readonly Write['method'][]>> = {
  'no-op': [],
  create: ['POST', 'PATCH'],
  delete: ['DELETE'],
  replace: ['POST', 'PATCH', 'DELETE'],
  update: ['PATCH', 'PUT', 'DELETE'],
  adopt: ['PATCH', 'DELETE'],
  release: ['PATCH'],
};

/** The paths that a write of the change may have: one, or none. */
function toPaths(kind: Kind, { method, module, resourceId }: Write, { action, live }: Change): readonly string[] {
  if (method === 'POST') return resourceId === undefined ? [kind.path] : [];
  const isNew = method === 'PATCH' && (action === 'create' || action === 'replace');
  if (isNew) return [toResourcePath(kind, { id: ID_PLACEHOLDER })];
  if (live === undefined || resourceId === undefined) return [];
  const ids = kind.role === 'attached' ? (live.spec ?? {}) : { id: live.id };
  const parameters = kind.role === 'attached' ? listIdFields(kind) : ['id'];
  if (!parameters.every((name) => isId(ids[name]))) return [];
  if (module === undefined)
    return kind.role === 'attached' || (method === 'DELETE' && action === 'update') ? [] : [toResourcePath(kind, ids)];
  return kind.fields[module]?.hasPath === true ? [toModulePath(kind, ids, module)] : [];
}

/** The fields of an attached kind that its path is made of. */
function listIdFields(kind: Kind): readonly string[] {
  return listSpecFields(kind)
    .filter(([, field]) => !isModule(field))
    .map(([name]) => name);
}

/** A mark goes where the change says so, and nowhere else: metadata that are sent without one take it off. */
function listReleaseFaults({ body, mark, module }: Write, { action }: Change): readonly string[] {
  const takesOff = module === undefined && body?.['metadata'] !== undefined;
  if (action === 'release') return mark === undefined ? [] : ['leaves a mark on what is released'];
  return takesOff ? ['takes a mark off, and its change is no release'] : [];
}

/** Whose resource it is, and under which name, changes only where the plan says so. */
function listOwnerFaults(kind: Kind, { action, address, live, differences }: Change, plan: Plan): readonly string[] {
  const mark = live?.mark;
  if (mark === undefined) return [];
  if (mark.stack !== plan.stack) {
    const isTaken = action === 'adopt' && plan.takeOver.includes(mark.stack);
    return isTaken ? [] : [`is about a resource of the stack ${mark.stack}, which the plan does not take over`];
  }
  const isRenamed = differences.some(({ path, from }) => path === 'mark.name' && from === mark.name);
  const isOwn = `${kind.name}/${mark.name}` === toBaseAddress(address);
  return isOwn || isRenamed || isDuplicateAddress(address) ? [] : ['is about a resource of another name'];
}

function listMarkFaults(kind: Kind, { method, mark, address }: Write, { stack }: Plan): readonly string[] {
  if (mark === undefined) return method === 'POST' ? ['leaves no mark'] : [];
  const isOwn = mark.stack === stack && `${kind.name}/${mark.name}` === toBaseAddress(address);
  const isEarly = method === 'POST' && mark.delivered && listOneTimeFields(kind).length > 0;
  const unknown = Object.keys(mark.pending).find((field) => kind.fields[field] === undefined);
  return [
    ...(unknown === undefined ? [] : [`marks ${unknown}, which ${kind.name} does not have`]),
    ...(isOwn ? [] : ['leaves the mark of another resource']),
    ...(isEarly ? ['calls a token delivered before it is'] : []),
  ];
}

/** What is sent must be what the change shows, or a part of a list that is given up before the rest is taken. */
function listBodyFaults(kind: Kind, { body, module }: Write, { desired = {}, live }: Change): readonly string[] {
  const sent: JsonObject = body === undefined ? {} : module === undefined ? body : { [module]: body };
  return Object.entries(sent).flatMap(([name, value]) => {
    const field = kind.fields[name];
    if (field === undefined) return [`sends ${name}, which ${kind.name} does not have`];
    const normal = normalizeField(field, value);
    const shown = [desired[name], ...(isModule(field) ? [] : [live?.spec?.[name]])];
    const isShown = shown.some((other) => other !== undefined && isSameJson(other, normal));
    return isShown || (field.unique && isPart(normal, live?.spec?.[name]))
      ? []
      : [`sends another ${name} than its change shows`];
  });
}

function isPart(part: Json, whole: Json | undefined): boolean {
  if (!isJsonArray(part) || whole === undefined || !isJsonArray(whole)) return false;
  return part.every((member) => whole.includes(member));
}
