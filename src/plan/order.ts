import { listClaims } from '../kinds/claims.ts';
import { isRotatable, type Kind } from '../kinds/kind.ts';
import { isTokenUndelivered } from '../kinds/precedence.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Change, formatChangeAddress, isRecordInChange, sendsNothing } from '../model/change.ts';
import { InvariantError } from '../model/errors.ts';
import { toJsonList } from '../model/json.ts';
import { findWay, sort } from '../model/sort.ts';
import { getSentFields, isDelete, type Write, type WriteId } from '../model/write.ts';
import { listUnresolvedAddresses } from './desired-form.ts';
import { createDraftWrite, type DraftWrite, listWritesOfChange } from './writes.ts';

/**
 * Returns the writes of a plan in an order in which they can be sent one after another. The writes depend only on the
 * changes and the stack, so that the writes in a plan file can be checked against its changes.
 * - A write comes after the creation of the resources to which it refers.
 * - A unique value is freed before it is claimed.
 * - A replace creates first and deletes last. The token of a credential that replaces an undelivered one is delivered
 *   after that delete.
 * - A delete comes after the writes that remove references to the resource.
 * - A restriction that can lock out the caller comes last.
 */
export function createOrderedWrites(changes: readonly Change[], stack: string): readonly Write[] {
  const changed = changes.filter(({ action }) => !sendsNothing(action));
  const planned = sortByAddress(changed).map((change) => createPlanned(change, stack));
  const dependencies = new DependencyGraph(planned.flatMap(({ writes }) => writes));
  addReferenceDependencies(planned, dependencies);
  addDereferenceDependencies(planned, dependencies);
  addClaimDependencies(planned, dependencies);
  addDuplicateDependencies(planned, dependencies);
  addDeliveryDependencies(planned, dependencies);
  return completeWrites(breakCycles(planned, dependencies), dependencies, listLastIds(planned));
}

function createPlanned(change: Change, stack: string): Planned {
  return { change, kind: getKind(change.kind), writes: listWritesOfChange(change, stack) };
}

/** Sorts the changes, so that their order does not affect the writes. */
function sortByAddress(changes: readonly Change[]): readonly Change[] {
  const shown = changes.map((change) => ({ change, address: formatChangeAddress(change) }));
  return shown.sort((left, right) => (left.address < right.address ? -1 : 1)).map(({ change }) => change);
}

function listLastIds(planned: readonly Planned[]): ReadonlySet<WriteId> {
  const lockouts = planned.filter(({ change }) => isLockout(change));
  return new Set(lockouts.flatMap(({ writes }) => writes.map(({ id }) => id)));
}

/**
 * Adds the dependencies and the property `last` to the drafts. A write that depends on a `last` write is also `last`.
 */
function completeWrites(
  { drafts, order }: Ordered,
  dependencies: DependencyGraph,
  lockouts: ReadonlySet<WriteId>,
): readonly Write[] {
  const last = new Set(lockouts);
  for (const id of order) if ([...dependencies.of(id)].some((needed) => last.has(needed))) last.add(id);
  const writes = order.flatMap((id): Write[] => {
    const draft = drafts.get(id);
    const needed = [...dependencies.of(id)].filter((one) => drafts.has(one)).sort();
    return draft === undefined ? [] : [{ ...draft, dependsOn: needed, last: last.has(id) }];
  });
  return [...writes.filter((write) => !write.last), ...writes.filter((write) => write.last)];
}

/** Whether a change creates or updates a resource that can then lock out the caller. */
function isLockout({ kind, desired }: Change): boolean {
  return desired !== undefined && getKind(kind).canLockOut(desired);
}

interface Planned {
  readonly change: Change;
  readonly kind: Kind;
  readonly writes: readonly DraftWrite[];
}

/** The dependencies between writes. Mutable, and used only in this file. */
class DependencyGraph {
  readonly #byId = new Map<WriteId, Set<WriteId>>();
  /** Maps a write that frees a value to the writes that depend on it only because they claim the value. */
  readonly #claimants = new Map<WriteId, Set<WriteId>>();

  constructor(drafts: readonly DraftWrite[]) {
    for (const { id, dependsOn } of drafts) this.#byId.set(id, new Set(dependsOn));
  }

  of(id: WriteId): ReadonlySet<WriteId> {
    return this.#byId.get(id) ?? NONE;
  }

  add(id: WriteId, needed: WriteId): void {
    if (id !== needed) insert(this.#byId, id, needed);
  }

  /** Adds a dependency of `id` on `needed`, because `id` claims a value that `needed` frees. */
  addClaim(id: WriteId, needed: WriteId): void {
    if (id === needed || this.of(id).has(needed)) return;
    insert(this.#byId, id, needed);
    insert(this.#claimants, needed, id);
  }

  remove(id: WriteId, needed: WriteId): void {
    this.#byId.get(id)?.delete(needed);
    this.#claimants.get(needed)?.delete(id);
  }

  moveClaims(from: WriteId, to: WriteId): void {
    for (const claimant of this.#claimants.get(from) ?? NONE) {
      this.#byId.get(claimant)?.delete(from);
      insert(this.#byId, claimant, to);
    }
    this.#claimants.delete(from);
  }
}

const NONE: ReadonlySet<WriteId> = new Set();

function insert(index: Map<WriteId, Set<WriteId>>, key: WriteId, value: WriteId): void {
  const known = index.get(key);
  if (known === undefined) index.set(key, new Set([value]));
  else known.add(value);
}

/** A write that refers to a resource by address depends on the creation of that resource. */
function addReferenceDependencies(planned: readonly Planned[], dependencies: DependencyGraph): void {
  const creations = new Map<string, WriteId>();
  for (const { writes } of planned)
    for (const { method, address, id } of writes) if (method === 'POST') creations.set(address, id);
  for (const { kind, writes } of planned)
    for (const write of writes)
      for (const address of listUnresolvedAddresses(kind, { ...write.mark?.pending, ...getSentFields(write) })) {
        const creation = creations.get(address);
        if (creation !== undefined) dependencies.add(write.id, creation);
      }
}

/** A delete depends on each write that removes a reference to the resource. */
function addDereferenceDependencies(planned: readonly Planned[], dependencies: DependencyGraph): void {
  const all = planned.flatMap(({ writes }) => writes);
  const deletes = new Map(all.filter(isDelete).map(({ ids, id }) => [ids?.id, id]));
  if (deletes.size === 0) return;
  for (const { change, kind, writes } of planned) {
    if (change.live?.spec === undefined || writes.length === 0) continue;
    for (const { value, path } of listReferences(kind, change.live.spec)) {
      const removal = deletes.get(value);
      if (removal === undefined) continue;
      for (const write of writes) if (removesReference(write, String(path[0]))) dependencies.add(removal, write.id);
    }
  }
}

function removesReference(write: DraftWrite, field: string): boolean {
  return isDelete(write) || (write.method !== 'POST' && Object.hasOwn(getSentFields(write), field));
}

/**
 * A duplicate is deleted only after the token of the kept resource was delivered: until then, the token of the
 * duplicate may be in use. The mark of an old resource that retires is written before a rename or take-over of the one
 * that is kept, so that an interrupted apply never leaves it as the only one of its name or stack.
 */
function addDuplicateDependencies(planned: readonly Planned[], dependencies: DependencyGraph): void {
  for (const { change, kind, writes } of planned) {
    if (change.duplicateOf === undefined || !isRotatable(kind)) continue;
    const keptOne = planned.find(
      ({ change: other }) => other.duplicateOf === undefined && other.address === change.address,
    );
    const needed = keptOne?.writes.filter((write) => !isDelete(write) && write.purpose !== 'retire') ?? [];
    for (const write of writes)
      for (const { id } of needed) {
        if (isDelete(write)) dependencies.add(write.id, id);
        else if (write.mark !== undefined) dependencies.add(id, write.id);
      }
  }
}

/** A write that claims a unique value depends on the write that frees it. */
function addClaimDependencies(planned: readonly Planned[], dependencies: DependencyGraph): void {
  const vacating = new Map(planned.flatMap(listVacated));
  for (const { change, kind, writes } of planned) {
    const claim = writes.find(isClaim);
    if (claim === undefined) continue;
    for (const { key } of listClaims(kind, change.desired ?? {})) {
      const vacate = vacating.get(key);
      if (vacate === undefined) continue;
      dependencies.addClaim(claim.id, vacate);
      if (writes.some((write) => isDelete(write) && write.id === vacate)) dependencies.remove(vacate, claim.id);
    }
  }
}

/** Whether a write may claim unique values. */
export function isClaim(write: DraftWrite): boolean {
  return write.method === 'POST' || isPatchOfFields(write);
}

/** Whether a write changes fields of a resource that exists, and so may claim and free unique values. */
function isPatchOfFields({ method, ids, purpose }: DraftWrite): boolean {
  return method === 'PATCH' && ids !== undefined && purpose !== 'release';
}

/**
 * The unique values that a change frees, each with the write that frees it. A replace frees all values of the old
 * resource, even those that the new resource claims.
 */
export function listVacated({ change, kind, writes }: Planned): readonly (readonly [claim: string, write: WriteId])[] {
  const removal = writes.find(isDelete);
  const write = removal ?? writes.find(isPatchOfFields);
  if (change.live?.spec === undefined || write === undefined) return [];
  const claimsLeft = removal === undefined ? listClaims(kind, change.desired ?? {}) : [];
  const keys = new Set(claimsLeft.map(({ key }) => key));
  return listClaims(kind, change.live.spec).flatMap(({ key }) => (keys.has(key) ? [] : [[key, write.id] as const]));
}

/** All writes by id, including those that were added to break cycles, and their ids in a valid order. */
interface Ordered {
  readonly drafts: ReadonlyMap<WriteId, DraftWrite>;
  readonly order: readonly WriteId[];
}

/**
 * Orders the writes. Two resources that swap a unique value depend on each other. Such a cycle is broken by a replace
 * that deletes first or, if the cycle contains no replace, by an added write that frees the value first.
 */
function breakCycles(planned: readonly Planned[], dependencies: DependencyGraph): Ordered {
  const drafts = new Map(planned.flatMap(({ writes }) => writes.map((write) => [write.id, write] as const)));
  const plannedByWrite = new Map(planned.flatMap((one) => one.writes.map((write) => [write.id, one] as const)));
  const listNeeds = (id: WriteId) => dependencies.of(id);
  for (;;) {
    const { ordered, circles } = sort(drafts.keys(), listNeeds);
    if (circles.length === 0) return { drafts, order: orderByLevels(ordered, { drafts, dependencies }) };
    for (const [first] of circles)
      breakCycle([first, ...(findWay(first, first, listNeeds) ?? [])], { drafts, plannedByWrite, dependencies });
  }
}

interface BreakContext {
  readonly drafts: Map<WriteId, DraftWrite>;
  readonly plannedByWrite: ReadonlyMap<WriteId, Planned>;
  readonly dependencies: DependencyGraph;
}

function breakCycle(cycle: readonly WriteId[], breaking: BreakContext): void {
  const isBroken = cycle.some((id) => deleteFirst(id, breaking)) || cycle.some((id) => vacateFirst(id, breaking));
  if (!isBroken) throw new InvariantError(`These writes depend on each other in a cycle: ${cycle.join(', ')}`);
}

/** Makes a replace delete before it creates. Returns false if the write is not the delete of a replace. */
function deleteFirst(id: WriteId, { drafts, plannedByWrite, dependencies }: BreakContext): boolean {
  const draft = drafts.get(id);
  if (draft === undefined || !isDelete(draft) || plannedByWrite.get(id)?.change.action !== 'replace') return false;
  for (const needed of [...dependencies.of(id)]) if (isOfCreation(drafts.get(needed))) dependencies.remove(id, needed);
  return true;
}

function isOfCreation(draft: DraftWrite | undefined): boolean {
  return draft?.purpose === 'create' || draft?.purpose === 'deliver';
}

/**
 * Inserts, before the write `id`, a write that only frees unique values. Returns false if `id` frees none, or if the
 * inserted write exists already.
 */
function vacateFirst(id: WriteId, { drafts, plannedByWrite, dependencies }: BreakContext): boolean {
  const draft = drafts.get(id);
  const found = plannedByWrite.get(id);
  const vacate = draft && found && isPatchOfFields(draft) ? createVacateWrite(found, draft) : undefined;
  if (vacate === undefined || drafts.has(vacate.id)) return false;
  drafts.set(vacate.id, vacate);
  dependencies.moveClaims(id, vacate.id);
  dependencies.add(id, vacate.id);
  return true;
}

/**
 * Creates a PATCH that removes from a list the unique values that a later PATCH of the same resource replaces.
 * `undefined` if the later PATCH sends no list of unique values.
 */
function createVacateWrite({ change, kind }: Planned, { ids, body = {} }: DraftWrite): DraftWrite | undefined {
  const field = Object.keys(body).find((key) => kind.fields[key]?.unique && kind.fields[key]?.type.type === 'list');
  if (field === undefined || change.live?.spec === undefined) return undefined;
  const after = toJsonList(change.desired?.[field]);
  const membersLeft = toJsonList(change.live.spec[field]).filter((member) => after.includes(member));
  return createDraftWrite(change, {
    purpose: 'vacate',
    method: 'PATCH',
    ids,
    body: { [field]: membersLeft },
    dependsOn: [],
    reason: `frees ${field}, which another resource claims, before this one claims values of others`,
  });
}

/**
 * Orders writes by levels: first those that need no other write, then those that need only these, and so on. Within a
 * level, a write comes earlier if the last write that it needs does.
 */
function orderByLevels(
  ordered: readonly WriteId[],
  { drafts, dependencies }: Pick<BreakContext, 'drafts' | 'dependencies'>,
): readonly WriteId[] {
  const findLast = (id: WriteId, places: ReadonlyMap<WriteId, number>) =>
    [...dependencies.of(id)].reduce((last, needed) => Math.max(last, places.get(needed) ?? -1), -1);
  const levels = new Map<WriteId, number>();
  for (const id of ordered) levels.set(id, findLast(id, levels) + 1);
  const members = Map.groupBy(drafts.keys(), (id) => levels.get(id));
  const places = new Map<WriteId, number>();
  for (let level = 0; level < members.size; level += 1) {
    const lasts = (members.get(level) ?? []).map((id) => ({ id, last: findLast(id, places) }));
    for (const { id } of lasts.sort((left, right) => left.last - right.last)) places.set(id, places.size);
  }
  return [...places.keys()];
}

/**
 * A concurrent apply of the same stack may be about to deliver the token of a credential that this plan deletes, because
 * nothing shows that it was delivered. Such a delete waits for the creation of the new credential, whose token is
 * delivered after the delete. Then the other apply finds its credential gone, and knows that its token may have arrived
 * last (see `markReplacementsUndelivered`).
 */
function addDeliveryDependencies(planned: readonly Planned[], dependencies: DependencyGraph): void {
  const undelivered = planned.filter(
    ({ kind, change: { live } }) =>
      live !== undefined && isTokenUndelivered(kind, { mark: live.mark }) && !isRecordInChange(live),
  );
  const deletes = Map.groupBy(
    undelivered.flatMap(({ writes }) => writes.filter(isDelete)),
    ({ address }) => address,
  );
  for (const { id, address, purpose } of planned.flatMap(({ writes }) => writes)) {
    if (purpose !== 'deliver') continue;
    for (const removal of deletes.get(address) ?? []) {
      dependencies.remove(removal.id, id);
      dependencies.add(id, removal.id);
    }
  }
}
