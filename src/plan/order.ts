import { getKind } from '../kinds/tables/registry.ts';
import { type Change, toShownChange } from '../model/change.ts';
import type { Write, WriteId } from '../model/write.ts';
import { addClaimNeeds, addDropNeeds, addDuplicateNeeds, addReferenceNeeds } from './add-needs.ts';
import { breakCycles, type Ordered } from './break-cycles.ts';
import { Needs, type Planned } from './needs.ts';
import { addSecondDeliveries } from './second-delivery.ts';
import { listWrites } from './writes.ts';

/**
 * The writes of a plan, in a valid order when they are made one after another. They are computed from its changes and its stack,
 * and from nothing else, so that a plan file can be held against what it shows. The order comes from references alone, and from four rules:
 * a value that only one resource can have is released before it is claimed; a replace creates first and deletes last; a delete comes after
 * the writes that drop the references to it; a restriction that can lock its caller out comes last. Nothing else waits for anything.
 */
export function orderWrites(changes: readonly Change[], stack: string): readonly Write[] {
  const made = changes.filter(({ action }) => action !== 'no-op');
  const planned = addSecondDeliveries(sortByAddress(made).map((change) => toPlanned(change, stack)));
  const needs = new Needs(planned.flatMap(({ writes }) => writes));
  addReferenceNeeds(planned, needs);
  addDropNeeds(planned, needs);
  addClaimNeeds(planned, needs);
  addDuplicateNeeds(planned, needs);
  return toWrites(breakCycles(planned, needs), needs, listLastIds(planned));
}

function toPlanned(change: Change, stack: string): Planned {
  return { change, kind: getKind(change.kind), writes: listWrites(change, stack) };
}

/** Independent of the order of the changes. */
function sortByAddress(changes: readonly Change[]): readonly Change[] {
  const shown = changes.map((change) => ({ change, address: toShownChange(change) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ change }) => change);
}

function listLastIds(planned: readonly Planned[]): ReadonlySet<WriteId> {
  const lockouts = planned.filter(({ change }) => isLockout(change));
  return new Set(lockouts.flatMap(({ writes }) => writes.map(({ id }) => id)));
}

/** A write that depends on one marked `last` is marked too. */
function toWrites({ drafts, order }: Ordered, needs: Needs, lockouts: ReadonlySet<WriteId>): readonly Write[] {
  const last = new Set(lockouts);
  for (const id of order) if ([...needs.of(id)].some((needed) => last.has(needed))) last.add(id);
  const writes = order.flatMap((id): Write[] => {
    const draft = drafts.get(id);
    const needed = [...needs.of(id)].filter((one) => drafts.has(one)).sort();
    return draft === undefined ? [] : [{ ...draft, needs: needed, last: last.has(id) }];
  });
  return [...writes.filter((write) => !write.last), ...writes.filter((write) => write.last)];
}

/** Whether a change makes, or changes, a resource that can then lock its own caller out. */
function isLockout({ kind, desired }: Change): boolean {
  return desired !== undefined && getKind(kind).canLockOut(desired);
}
