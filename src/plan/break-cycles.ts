import { assertDefined, InvariantError } from '../model/errors.ts';
import { isJsonArray, type Json } from '../model/json.ts';
import { type AdoptWrite, type GiveUpWrite, toWriteId, type UpdateWrite, type WriteId } from '../model/write.ts';
import type { Needs, Planned } from './needs.ts';
import type { Draft } from './writes.ts';

/** The writes by id, with those that were added, and their ids in a valid order when they are made one after another. */
export interface Ordered {
  readonly drafts: ReadonlyMap<WriteId, Draft>;
  readonly order: readonly WriteId[];
}

/**
 * Orders the writes. Two resources that swap a unique value depend on each other; such a cycle is broken by a replace that
 * deletes first, or else by one more write that gives up the value first.
 */
export function breakCycles(planned: readonly Planned[], needs: Needs): Ordered {
  const drafts = new Map(planned.flatMap(({ writes }) => writes.map((write) => [write.id, write] as const)));
  const owners = new Map(planned.flatMap((one) => one.writes.map((write) => [write.id, one] as const)));
  for (;;) {
    const { order, blocked } = sortByNeeds(drafts, needs);
    if (blocked.size === 0) return { drafts, order };
    for (const cycle of findCycles(blocked, needs)) breakCycle(cycle, { drafts, owners, needs });
  }
}

interface Breaking {
  readonly drafts: Map<WriteId, Draft>;
  readonly owners: ReadonlyMap<WriteId, Planned>;
  readonly needs: Needs;
}

function breakCycle(cycle: readonly WriteId[], breaking: Breaking): void {
  const isBroken = cycle.some((id) => deleteFirst(id, breaking)) || cycle.some((id) => giveUpFirst(id, breaking));
  if (!isBroken) throw new InvariantError(`These writes wait for each other: ${cycle.join(', ')}`);
}

/** Makes a replace delete before it creates. Returns false if the write is not the delete of a replace. */
function deleteFirst(id: WriteId, { drafts, owners, needs }: Breaking): boolean {
  const isOfReplace = owners.get(id)?.change.action === 'replace' && drafts.get(id)?.act === 'delete';
  if (!isOfReplace) return false;
  for (const needed of [...needs.of(id)]) if (isOfCreation(drafts.get(needed))) needs.remove(id, needed);
  return true;
}

function isOfCreation(draft: Draft | undefined): boolean {
  return draft?.act === 'create' || draft?.act === 'deliver';
}

/** Inserts a write before this one that only gives up the value. Returns false if there is nothing to give up or it is given up already. */
function giveUpFirst(id: WriteId, { drafts, owners, needs }: Breaking): boolean {
  const draft = drafts.get(id);
  const isPatch = draft?.act === 'update' || draft?.act === 'adopt';
  const owner = owners.get(id);
  const giveUp = isPatch && owner !== undefined ? toGiveUpWrite(owner, draft) : undefined;
  if (giveUp === undefined || drafts.has(giveUp.id)) return false;
  drafts.set(giveUp.id, giveUp);
  needs.moveClaims(id, giveUp.id);
  needs.add(id, giveUp.id);
  return true;
}

/** A PATCH that gives up what a later PATCH of the same resource replaces, and keeps what stays. */
function toGiveUpWrite(
  { change, kind }: Planned,
  { address, resourceId, body }: Draft<UpdateWrite | AdoptWrite>,
): Draft<GiveUpWrite> | undefined {
  const field = Object.keys(body).find((key) => kind.fields[key]?.unique && kind.fields[key]?.type.type === 'list');
  if (field === undefined || change.live?.spec === undefined) return undefined;
  const after = toMembers(change.desired?.[field]);
  const kept = toMembers(change.live.spec[field]).filter((member) => after.includes(member));
  return {
    act: 'give-up',
    id: toWriteId({ act: 'give-up', address, field }),
    address,
    kind: kind.name,
    resourceId,
    field,
    body: { [field]: kept },
    needs: [],
    reason: `gives up ${field} that another resource takes over while this one takes over others`,
  };
}

function toMembers(value: Json | undefined): readonly Json[] {
  return isJsonArray(value) ? value : [];
}

/** Kahn's algorithm: always the first write, in plan order, without open dependencies. Writes left over are blocked by cycles. */
function sortByNeeds(
  drafts: ReadonlyMap<WriteId, Draft>,
  needs: Needs,
): { readonly order: readonly WriteId[]; readonly blocked: ReadonlySet<WriteId> } {
  const { waiting, dependents } = countNeeds(drafts, needs);
  const order = [...drafts.keys()].filter((id) => waiting.get(id) === 0);
  for (const id of order) {
    waiting.delete(id);
    for (const dependent of dependents.get(id) ?? []) {
      const left = assertDefined(waiting.get(dependent), dependent) - 1;
      waiting.set(dependent, left);
      if (left === 0) order.push(dependent);
    }
  }
  return { order, blocked: new Set(waiting.keys()) };
}

/** The number of dependencies of each write, and its dependents. Dependencies on writes outside the plan do not count. */
function countNeeds(
  drafts: ReadonlyMap<WriteId, Draft>,
  needs: Needs,
): { readonly waiting: Map<WriteId, number>; readonly dependents: ReadonlyMap<WriteId, readonly WriteId[]> } {
  const dependents = new Map([...drafts.keys()].map((id): [WriteId, WriteId[]] => [id, []]));
  const waiting = new Map<WriteId, number>();
  for (const id of drafts.keys()) {
    const lists = [...needs.of(id)].map((needed) => dependents.get(needed)).filter((list) => list !== undefined);
    for (const list of lists) list.push(id);
    waiting.set(id, lists.length);
  }
  return { waiting, dependents };
}

/** One cycle for each group of blocked writes that wait for each other. */
function findCycles(blocked: ReadonlySet<WriteId>, needs: Needs): readonly (readonly WriteId[])[] {
  const seen = new Set<WriteId>();
  const cycles: WriteId[][] = [];
  for (const start of blocked) {
    const trail: WriteId[] = [];
    let id: WriteId | undefined = start;
    while (id !== undefined && !seen.has(id)) {
      seen.add(id);
      trail.push(id);
      id = [...needs.of(id)].find((needed) => blocked.has(needed));
    }
    if (id !== undefined && trail.includes(id)) cycles.push(trail.slice(trail.indexOf(id)));
  }
  return cycles;
}
