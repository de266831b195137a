import { fillUnknown } from '../kinds/fill-unknown.ts';
import { isModule, listOneTimeFields, listSpecFields } from '../kinds/kind.ts';
import { normalizeField } from '../kinds/normalize.ts';
import { mapReferences } from '../kinds/references.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { type Address, toAddress } from '../model/address.ts';
import { type Change, isDuplicateAddress, toBaseAddress } from '../model/change.ts';
import { assertNever } from '../model/errors.ts';
import { isSameJson, type Json } from '../model/json.ts';
import type { Mark } from '../model/mark.ts';
import type { Plan, Write } from '../model/plan.ts';
import type { LiveResource, LiveState, Spec } from '../model/state.ts';
import { listAwaited } from '../plan/desired-form.ts';
import { toFileText } from '../plan/files.ts';
import { resolveMark } from './resolve-write.ts';
import { listKnownIds } from './rivals.ts';

/** Something that is not as it was when the plan was made, and not as the plan would leave it either. */
export interface Moved {
  readonly address: string;
  /** A top-level field; absent: the resource as a whole. */
  readonly field?: string;
  /** What happened to the resource as a whole. */
  readonly message?: string;
  readonly planned?: Json;
  readonly live?: Json;
}

/** A saved plan held against what is live now. */
export interface PlanCheck {
  /** Anything in it: the plan is stale, and nothing of it may be done. */
  readonly moved: readonly Moved[];
  /** Writes that were done already, with the id of their resource. */
  readonly done: ReadonlyMap<string, string | undefined>;
  /** Ids of resources that the plan creates and that exist already. */
  readonly ids: ReadonlyMap<string, string>;
  /** Texts for files, of those resources, by address. */
  readonly texts: ReadonlyMap<string, string>;
}

/** What has to be read to check a plan: the kinds and modules that it would touch. */
export function toCheckRequest(plan: Plan) {
  const touched = plan.changes.filter(({ action }) => action !== 'no-op');
  const kinds = [...new Set(touched.map(({ kind }) => kind))].sort().map(getKind);
  return {
    kinds: kinds.filter(({ role }) => role === 'owned'),
    attachments: touched
      .filter(({ kind }) => getKind(kind).role === 'attached')
      .map((change) => toAttachment(plan, change)),
  };
}

/** Holds a saved plan against what is live now. */
export function checkPlan(plan: Plan, live: LiveState): PlanCheck {
  const found = new Finder(plan, live);
  const verdicts = plan.changes.map((change) => checkChange(change, found));
  const done = verdicts.flatMap((verdict) => [...verdict.done]);
  return { moved: verdicts.flatMap(({ moved }) => moved), done: new Map(done), ids: found.created, texts: found.texts };
}

function toTextEntries(address: string, live: LiveResource | undefined): readonly (readonly [string, string])[] {
  const text = live === undefined ? undefined : toFileText(live.computed[getKind(live.kind).fileField ?? '']);
  return text === undefined ? [] : [[address, text]];
}

interface Verdict {
  readonly moved: readonly Moved[];
  readonly done: ReadonlyMap<string, string | undefined>;
}

const UNMOVED: Verdict = { moved: [], done: new Map() };

function checkChange(change: Change, found: Finder): Verdict {
  switch (change.action) {
    case 'no-op':
      return UNMOVED;
    case 'create':
      return checkCreate(change, found);
    case 'release':
      return checkRelease(change, found);
    case 'delete':
      return checkDelete(change, found);
    case 'replace':
      return checkReplace(change, found);
    case 'update':
    case 'adopt':
      return checkUpdate(change, found);
    default:
      return assertNever(change.action);
  }
}

/** A resource with the mark of one that is to be created: the plan was applied before, or somebody else was faster. */
function checkCreate(change: Change, found: Finder): Verdict {
  const exists = found.bearer(change);
  if (exists === undefined) return UNMOVED;
  const { address } = change;
  const whole = (message: string): Verdict => toWhole(address, message);
  const fields = listMovedFields(change, exists, found).filter(({ field }) => field !== undefined);
  if (fields.length > 0)
    return merge(whole(`exists already as ${exists.id}, and is not what the plan would make`), {
      ...UNMOVED,
      moved: fields,
    });
  if (listOneTimeFields(getKind(change.kind)).length > 0 && exists.mark?.delivered !== true)
    return whole(`exists already as ${exists.id}, and its token was not delivered`);
  if (!found.hasMarkOf(change, exists))
    return whole(`exists already as ${exists.id}, and its mark is not the one that the plan would leave`);
  return { moved: [], done: new Map([`create ${address}`, `deliver ${address}`].map((id) => [id, exists.id])) };
}

function checkDelete(change: Change, found: Finder): Verdict {
  const live = found.start(change);
  if (live === undefined) return { moved: [], done: new Map([[`delete ${change.address}`, change.live?.id]]) };
  if (found.isLast(change, live))
    return toWhole(change.address, `${live.id} is the last that is left of what it duplicated`);
  return { moved: listMovedFields({ ...change, desired: {} }, live, found), done: new Map() };
}

function checkRelease(change: Change, found: Finder): Verdict {
  const live = found.start(change);
  if (live === undefined) return toGone(change);
  if (live.mark === undefined) return { moved: [], done: new Map([[`release ${change.address}`, live.id]]) };
  return { moved: listMovedFields({ ...change, desired: {} }, live, found), done: new Map() };
}

/** Where the plan deletes first, a resource that is gone without another in its place is half of a replace. */
function checkReplace(change: Change, found: Finder): Verdict {
  const isGone = found.start(change) === undefined && found.bearer(change) === undefined;
  if (isGone && !found.isDeletedFirst(change)) return toGone(change);
  return merge(checkCreate(change, found), checkDelete(change, found));
}

function checkUpdate(change: Change, found: Finder): Verdict {
  const live = found.start(change);
  if (live === undefined) return toGone(change);
  const moved = listMovedFields(change, live, found);
  const isDone = moved.length === 0 && found.isAsDesired(change, live) && found.hasMarkOf(change, live);
  return { moved, done: new Map(isDone ? found.writesOf(change.address).map(({ id }) => [id, live.id]) : []) };
}

function toGone({ address, live }: Change): Verdict {
  return toWhole(address, `${live?.id} is gone`);
}

function toWhole(address: string, message: string): Verdict {
  return { moved: [{ address, message }], done: new Map() };
}

/** Fields that are neither as they were nor as they are to be, nor as a write of the plan leaves them in between. */
function listMovedFields(change: Change, live: LiveResource, found: Finder): readonly Moved[] {
  const { address } = change;
  const desired = found.resolve(change);
  const fields = found.listTouchable(change).flatMap((field): Moved[] => {
    const now = live.spec[field];
    const planned = change.live?.id === live.id ? change.live.spec?.[field] : undefined;
    const known = [planned, desired[field], ...found.listSent(change, field)];
    const isKnown = known.some(
      (value) => value !== undefined && isSameJson(value, toSeen(change, field, { now, value })),
    );
    if (now === undefined || isKnown || (planned === undefined && desired[field] === undefined)) return [];
    return [{ address, field, ...(planned !== undefined && { planned }), live: now }];
  });
  const isMarkKnown =
    change.live?.id !== live.id || isSameMark(live.mark, change.live.mark) || found.hasMarkOf(change, live);
  return isMarkKnown ? fields : [...fields, { address, message: 'its mark was changed' }];
}

/** A live value, with what the service does not show of it as another has it. */
function toSeen(
  { kind }: Change,
  field: string,
  { now, value }: { readonly now: Json | undefined; readonly value: Json },
): Json {
  const live = now === undefined ? {} : { [field]: now };
  return fillUnknown(getKind(kind), live, { [field]: value })[field] ?? null;
}

function isSameMark(left: Mark | undefined, right: Mark | undefined): boolean {
  return isSameJson(left === undefined ? null : { ...left }, right === undefined ? null : { ...right });
}

function merge(left: Verdict, right: Verdict): Verdict {
  return { moved: [...left.moved, ...right.moved], done: new Map([...left.done, ...right.done]) };
}

function toAttachment(plan: Plan, change: Change) {
  const kind = getKind(change.kind);
  const spec = change.live?.spec ?? {};
  const ids = listSpecFields(kind)
    .filter(([, field]) => !isModule(field))
    .map(([name]) => [name, spec[name] ?? null] as const);
  const modules = plan.writes.flatMap(({ address, module }) =>
    address === change.address && module !== undefined ? [module] : [],
  );
  return {
    address: toAddress(kind.name, change.address.slice(kind.name.length + 1)),
    kind,
    ids: Object.fromEntries(ids),
    modules,
  };
}

/** Look-ups in what is live now, by what a plan says. */
class Finder {
  readonly created: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<string, string>;
  readonly #live: LiveState;
  readonly #byId: ReadonlyMap<string, LiveResource>;
  readonly #byAddress: ReadonlyMap<Address, readonly LiveResource[]>;
  readonly #writes: ReadonlyMap<string, readonly Write[]>;
  readonly #changes: ReadonlyMap<string, Change>;
  /** Ids of what the plan deletes. */
  readonly #deleted: ReadonlySet<string>;
  /** Ids of the resources that the plan starts from. */
  readonly #known: ReadonlySet<string>;

  constructor(plan: Plan, live: LiveState) {
    const all = [...live.resources.values()].flat();
    this.#live = live;
    this.#byId = new Map(all.map((resource) => [resource.id, resource]));
    const ours = all.filter(({ mark }) => mark?.stack === plan.stack);
    this.#byAddress = Map.groupBy(ours, ({ kind, mark }) => toAddress(kind, mark?.name ?? ''));
    this.#writes = Map.groupBy(plan.writes, ({ address }) => address);
    this.#changes = new Map(plan.changes.map((change) => [change.address, change]));
    const deletes = plan.changes.filter(({ action }) => action === 'delete');
    this.#deleted = new Set(deletes.flatMap(({ live: start }) => (start === undefined ? [] : [start.id])));
    this.#known = listKnownIds(plan);
    const bearers = plan.changes
      .filter(({ action }) => action === 'create' || action === 'replace')
      .map((change) => [change.address, this.bearer(change)] as const);
    this.created = new Map(bearers.flatMap(([address, live]) => (live === undefined ? [] : [[address, live.id]])));
    this.texts = new Map(bearers.flatMap(([address, live]) => toTextEntries(address, live)));
  }

  /** The resource that the plan starts from, as it is now. */
  start(change: Change): LiveResource | undefined {
    const attachment = this.#live.attachments.get(toBaseAddress(change.address));
    return attachment ?? this.#byId.get(change.live?.id ?? '');
  }

  /** A resource with the mark that a creation leaves, other than the one to be replaced and its duplicates. */
  bearer(change: Change): LiveResource | undefined {
    return this.#byAddress.get(toBaseAddress(change.address))?.find(({ id }) => !this.#known.has(id));
  }

  /** Whether a duplicate is to be pruned, and nothing that bears its name would stay. */
  isLast({ address }: Change, { id, kind, mark }: LiveResource): boolean {
    const base = toBaseAddress(address);
    const kept = this.#changes.get(base);
    if (!isDuplicateAddress(address) || kept?.action === 'delete' || kept?.action === 'replace') return false;
    if (kept?.live !== undefined && this.#byId.has(kept.live.id)) return false;
    const bearers = this.#byAddress.get(toAddress(kind, mark?.name ?? '')) ?? [];
    return bearers.every((other) => other.id === id || this.#deleted.has(other.id));
  }

  /** The fields that tell whether the resource moved: of what modules are attached to, those that the plan writes, since only they are read. */
  listTouchable({ kind: name, address }: Change): readonly string[] {
    const kind = getKind(name);
    const written = new Set(this.writesOf(address).map(({ module }) => module));
    return listSpecFields(kind).flatMap(([field, table]) =>
      kind.role === 'owned' || !isModule(table) || written.has(field) ? [field] : [],
    );
  }

  /** Whether a replace makes the new one after the old one is gone. */
  isDeletedFirst({ address }: Change): boolean {
    const removal = this.writesOf(address).find(({ id }) => id === `delete ${address}`);
    return removal?.needs.includes(`create ${address}`) === false;
  }

  writesOf(address: string): readonly Write[] {
    return this.#writes.get(address) ?? [];
  }

  /** What the writes of the change send for a field, in normal form: a hostport may be given up before another is taken. */
  listSent(change: Change, name: string): readonly Json[] {
    const field = getKind(change.kind).fields[name];
    if (field === undefined) return [];
    return this.writesOf(change.address).flatMap(({ body, module }) => {
      const sent = module === undefined ? body?.[name] : undefined;
      return sent === undefined ? [] : [normalizeField(field, sent)];
    });
  }

  /** What the change would leave, with ids of what was created since. */
  resolve({ kind: name, desired = {} }: Change): Spec {
    const kind = getKind(name);
    const resolved = mapReferences(kind, desired, ({ value }) => this.created.get(value) ?? value);
    const entries = Object.entries(resolved).map(([field, value]): [string, Json] => {
      const table = kind.fields[field];
      return [field, table === undefined ? value : normalizeField(table, value)];
    });
    return Object.fromEntries(entries);
  }

  isAsDesired(change: Change, live: LiveResource): boolean {
    const desired = this.resolve(change);
    const known = fillUnknown(getKind(change.kind), live.spec, desired);
    return this.listTouchable(change).every(
      (name) => desired[name] === undefined || isSameJson(known[name] ?? null, desired[name]),
    );
  }

  /** Whether the resource bears the mark that the plan leaves on it; a plan that leaves none keeps the one that is there. */
  hasMarkOf(change: Change, live: LiveResource): boolean {
    const write = this.writesOf(change.address).find(({ mark }) => mark !== undefined);
    if (write?.mark === undefined) return isSameMark(live.mark, change.live?.mark);
    const awaited = listAwaited(getKind(change.kind), write.mark.pending);
    if (live.mark === undefined || !awaited.every((address) => this.created.has(address))) return false;
    const { delivered } = live.mark;
    return isSameMark(live.mark, { ...resolveMark(write, write.mark, this.created), delivered });
  }
}
