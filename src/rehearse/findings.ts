import { listClaims } from '../kinds/claims.ts';
import type { Field } from '../kinds/field.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { toPathIds, toResourcePath } from '../kinds/paths.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind, KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { isAddress, toAddress } from '../model/address.ts';
import { type Change, formatChangeAddress } from '../model/change.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { parsePath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { ApplyResult, Outcome } from '../model/outcome.ts';
import type { GuardViolation, Plan } from '../model/plan.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { formatWriteAddress, type Write } from '../model/write.ts';
import { listLateClaims } from '../plan/claims.ts';
import { createIsHandedOver } from '../plan/handed-over.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import type { SimulatedAccount, SimulatedPlace, SimulatedWrite } from './simulated-account.ts';

/** What a rehearsal found out. */
export interface RehearsedPlan {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly result: ApplyResult;
  readonly simulated: Pick<SimulatedAccount, 'refusals'>;
  /** What a plan after the rehearsal would still do. */
  readonly left: readonly Change[];
  readonly interims: readonly Gap[];
  readonly users: Users;
}

/** A write that the service will reject, as the live state proves. */
export interface Rejection {
  readonly write: Write;
  /** Why, as a clause. */
  readonly why: string;
  /** What would free the way for it, in whole sentences. */
  readonly help: string;
  readonly violation: GuardViolation;
}

/** What those who approve have to know. */
interface Findings {
  readonly rejections: readonly Rejection[];
  readonly diagnostics: readonly Diagnostic[];
}

/** What was found out: what follows from what was read breaks a safety rule, and what was only assumed is a warning. */
export function listRehearsalFindings(rehearsed: RehearsedPlan): Findings {
  const { plan, desired, result, left, interims } = rehearsed;
  // The plan says already what it is that these wait for.
  const late = listLateClaims(plan);
  const failed = result.outcomes
    .filter((one) => one.outcome === 'failed')
    .filter(({ write }) => !late.has(write.address))
    .map((one) => toRefusal(one, rehearsed));
  const stopped = new Set(result.outcomes.flatMap((one) => (one.outcome === 'applied' ? [] : [one.write.address])));
  return {
    rejections: failed.filter(isCertain).map((refusal) => toRejection(refusal, rehearsed)),
    diagnostics: [
      ...failed.filter((refusal) => !isCertain(refusal)).map((refusal) => toDoubt(refusal, desired)),
      ...left.filter(({ address }) => !stopped.has(address)).map((change) => toLeft(change, desired)),
      ...toInterims(interims, desired),
    ],
  };
}

/** A write that the copy of the account rejected. */
interface Refusal {
  readonly write: Write;
  /** The code of the server, and what it said. */
  readonly code: string;
  readonly said: string;
  readonly field: string | undefined;
  /** Why the service may take it all the same; absent: it will not. */
  readonly doubt?: string;
  /** Until when it rejects it. */
  readonly until?: string;
}

function isCertain({ doubt }: Refusal): boolean {
  return doubt === undefined;
}

/**
 * Failures that the interface itself specifies: every service rejects these writes. They follow from what was read, since the copy has no value that
 * the service does not show, and takes for existing what was not read. Of other failures a service may take more than the bundled server does.
 */
const SPECIFIED: ReadonlySet<string> = new Set(['already_taken', 'in_use', 'missing_reference']);

function toRefusal(
  { write, message, field }: Extract<Outcome, { readonly outcome: 'failed' }>,
  { simulated, users }: RehearsedPlan,
): Refusal {
  const { code, message: said } = simulated.refusals.get(message) ?? { code: '', message };
  const refusal = { write, code, said, field };
  if (!SPECIFIED.has(code)) return { ...refusal, doubt: `${MEND} Services may be more liberal than the rehearsal.` };
  const isKept = code === 'in_use' && write.type === 'delete' && users.areInRun(write.resourceId);
  return isKept ? { ...refusal, doubt: LATER, until: ' while stacks of this run refer to it' } : refusal;
}

const MEND = 'Correct the manifest.';
const LATER =
  'The delete is sent after the writes of those stacks. If one of them still refers to it then, only the delete fails.';

function toDoubt({ write, said, field, doubt = '', until }: Refusal, desired: DesiredState): Diagnostic {
  const address = formatWriteAddress(write);
  const verb = until === undefined ? 'may' : 'will';
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${address}: the service ${verb} reject the request to ${write.id}${until ?? ''}: ${said}.`,
    remedy: doubt,
    address,
    ...toPlace(write.address, desired, field),
  };
}

function toRejection({ write, code, said, field }: Refusal, { desired, users, plan }: RehearsedPlan): Rejection {
  const { place } = toPlace(write.address, desired, field);
  const isDeleted = code === 'in_use' && write.type === 'delete';
  const help = isDeleted ? users.toRemedy(write.resourceId) : (REMEDIES[code] ?? MEND);
  const violation: GuardViolation = {
    rule: 'rejected-write',
    message: `The service will reject the request to ${write.id}: ${said}.`,
    remedy: [
      help,
      `To ${plan.mode === 'apply' ? 'apply' : plan.mode} everything that does not depend on it, use --skip-rejected.`,
      `To send it all the same, allow it with --allow-rejected ${write.address}.`,
    ].join(' '),
    addresses: [write.address],
    ...(place !== undefined && { places: [{ message: write.address, place }] }),
  };
  return { write, why: said, help, violation };
}

const REMEDIES: Readonly<Record<string, string>> = {
  already_taken: 'Choose another value, or remove it from the resource that has it.',
  in_use: 'Change the resources that refer to it first, or keep it.',
  missing_reference: 'Refer to something that exists.',
};

function toLeft(change: Change, desired: DesiredState): Diagnostic {
  const paths = change.differences.map(({ path }) => path).join(', ');
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${formatChangeAddress(change)}: one apply is not enough: the next plan would still ${change.action} it${paths === '' ? '' : ` (${paths})`}.`,
    remedy: 'Apply, plan again, and read that plan before it is applied.',
    address: formatChangeAddress(change),
    ...toPlace(change.address, desired, change.differences[0]?.path),
  };
}

/** One for each resource, or value of one, and length. */
function toInterims(interims: readonly Gap[], desired: DesiredState): readonly Diagnostic[] {
  const groups = Map.groupBy(interims, ({ address, isValue, subject, writes }) =>
    [address, isValue, subject, writes].join(' '),
  );
  return [...groups.values()].flatMap((group): Diagnostic[] => {
    const [first] = group;
    if (first === undefined) return [];
    const { address, isValue, subject = 'it', writes } = first;
    const what = group.map((one) => one.what).join(', ');
    const time = writes === 1 ? 'one write' : `${writes} writes`;
    const message = isValue
      ? `${address}: during ${time}, no resource has ${what}.`
      : `${address}: during ${time}, ${subject} exists without its ${what}.`;
    const remedy = 'Apply it in a maintenance window.';
    return [{ code: 'rehearsal-gap', severity: 'warning', message, remedy, address, ...toPlace(address, desired) }];
  });
}

function toPlace(address: string, { resources }: DesiredState, path?: string): Pick<Diagnostic, 'place'> {
  const resource = resources.get(address as Parameters<typeof resources.get>[0]); // a text that does not parse as an address is not found
  if (resource === undefined) return {};
  return { place: resource.locate(path === undefined ? undefined : ['spec', ...(parsePath(path) ?? [])]) };
}

/** What refers to a resource, by its id, as far as the service showed it. */
interface Users {
  /** Nothing of others refers to it but resources of stacks of the same run: these may let go of it before it is deleted. */
  readonly areInRun: (id: string) => boolean;
  /** What would free it, as sentences. */
  readonly toRemedy: (id: string) => string;
}

/** The users of what was read. */
export function createUsers(input: PlanInput): Users {
  const { live, isInRun = () => false } = input;
  const { stack } = input.desired;
  const isHandedOver = createIsHandedOver(input);
  const isOurs = ({ kind, mark }: LiveResource): boolean =>
    mark?.stack === stack.name && !isHandedOver(toAddress(kind, mark.name));
  const isLater = ({ mark }: LiveResource): boolean =>
    mark !== undefined && (mark.stack === stack.name || isInRun(mark.stack));
  let users: ReadonlyMap<string, readonly LiveResource[]> | undefined;
  const find = (id: string): readonly LiveResource[] => {
    users ??= groupUsers(live);
    return users.get(id) ?? [];
  };
  return {
    areInRun: (id) => {
      const others = find(id).filter((one) => !isOurs(one));
      return others.length > 0 && others.every(isLater);
    },
    toRemedy: (id) => toRemedy(find(id).filter((one) => !isOurs(one))),
  };
}

/** Users that a remedy names. */
const MAX_NAMED = 3;

function toRemedy(users: readonly LiveResource[]): string {
  const marked = users.flatMap(({ kind, mark }) =>
    mark === undefined ? [] : [`${toAddress(kind, mark.name)} of the stack ${mark.stack}`],
  );
  const unmarked = users.filter(({ mark }) => mark === undefined).map(({ kind, id }) => `${kind} ${id}`);
  const [first] = users.filter(({ mark }) => mark === undefined);
  const named = [...marked, ...unmarked];
  const more = named.length > MAX_NAMED ? [`${named.length - MAX_NAMED} more`] : [];
  const change =
    named.length === 0
      ? 'Change the resources that use it'
      : `Change ${[...named.slice(0, MAX_NAMED), ...more].join(', ')}`;
  const adopt =
    first === undefined ? '' : `, or adopt what has no mark (lifecycle.adopt: ${first.id}) and change it here`;
  return `${change}${adopt}. Or keep it in the manifests.`;
}

/** What refers to each id. */
function groupUsers({ resources }: LiveState): ReadonlyMap<string, readonly LiveResource[]> {
  const users = new Map<string, LiveResource[]>();
  for (const resource of [...resources.values()].flat())
    for (const id of new Set(listReferences(getKind(resource.kind), resource.spec).map(({ value }) => value))) {
      const known = users.get(id);
      if (known === undefined) users.set(id, [resource]);
      else known.push(resource);
    }
  return users;
}

/** Something that holds before and after an apply but not for a while in between. */
interface Gap {
  /** The resource that it is about; of a value that changes hands, the one that has it in the end. */
  readonly address: string;
  /** The missing thing: `backend`, `hostports 1.tcp.example.net:20001`. */
  readonly what: string;
  /** No resource has the value; false: the resource, or the value of `subject`, exists without it. */
  readonly isValue: boolean;
  /** The unique value that exists without it, on any resource: `hostports 1.tcp.example.net:20001`. */
  readonly subject?: string;
  /** Number of writes after which it was missing, one after another. */
  readonly writes: number;
}

/** A property of a resource that is watched. */
interface Holding {
  readonly key: string;
  readonly address: string;
  readonly what: string;
  readonly isValue: boolean;
  /** What has to be there for its absence to matter. */
  readonly of: string;
  readonly subject?: string;
}

/**
 * Tracks which resources and values exist after each write of an apply. A place is one resource, by its id. Costs grow with the writes; values that did not
 * exist before the first write cannot go missing, and are not recorded.
 */
export class GapTracker {
  readonly #places = new Map<string, readonly Holding[]>();
  readonly #before = new Set<string>();
  /** By key: in how many places it is. */
  readonly #counts = new Map<string, number>();
  /** By address: the keys of what it had at any time. */
  readonly #ofAddress = new Map<string, Map<string, Holding>>();
  /** By key: who had it last. */
  readonly #latest = new Map<string, Holding>();
  /** By key: after which write it began to be missing. */
  readonly #since = new Map<string, number>();
  /** By key: for how many writes it was missing so far. */
  readonly #missed = new Map<string, number>();
  readonly #found = new Map<string, Gap>();
  #step = 0;

  /** What a place holds before the first write. */
  begin(place: string, holder: AddressedResource): void {
    const held = listHoldings(holder);
    for (const { key } of held) this.#before.add(key);
    this.#put(place, held);
  }

  /** Whether anything was there before the first write. */
  isWatching(): boolean {
    return this.#before.size > 0;
  }

  /** What a place holds after a write; nothing: it is gone. */
  observe(place: string, holder: AddressedResource | undefined): void {
    this.#step += 1;
    const held = holder === undefined ? [] : listHoldings(holder).filter(({ key }) => this.#before.has(key));
    for (const holding of this.#put(place, held)) this.#judge(holding);
  }

  /** A write after which every place holds what it held. */
  pass(): void {
    this.#step += 1;
  }

  /** Everything that was missing for some writes and came back. A gap of a resource is not repeated for each of its unique values. */
  list(): readonly Gap[] {
    return [...this.#found.values()].filter(
      ({ subject, address, what }) => subject === undefined || !this.#found.has(toFieldKey(address, what)),
    );
  }

  #judge(holding: Holding): void {
    const { key } = holding;
    const { address, what, isValue, subject } = this.#latest.get(key) ?? holding;
    const since = this.#since.get(key);
    if (this.#isMissed(holding)) {
      if (since === undefined) this.#since.set(key, this.#step);
      return;
    }
    this.#since.delete(key);
    const writes = Math.max(this.#missed.get(key) ?? 0, since === undefined ? 0 : this.#step - since);
    if (writes === 0) return;
    this.#missed.set(key, writes);
    if (this.#has(key))
      this.#found.set(key, { address, what, isValue, writes, ...(subject !== undefined && { subject }) });
  }

  /** A unique value is missing while no resource has it; anything else, while what it belongs to is there without it. */
  #isMissed({ key, of, isValue }: Holding): boolean {
    return !this.#has(key) && (isValue || this.#has(of));
  }

  #has(key: string): boolean {
    return (this.#counts.get(key) ?? 0) > 0;
  }

  /** Puts something in the place of what was there. Gives everything that this may have changed. */
  #put(place: string, held: readonly Holding[]): readonly Holding[] {
    const old = this.#places.get(place) ?? [];
    if (old.length === held.length && old.every(({ key }, at) => key === held[at]?.key)) return [];
    for (const [holdings, step] of [[old, -1] as const, [held, 1] as const])
      for (const { key } of holdings) this.#counts.set(key, (this.#counts.get(key) ?? 0) + step);
    this.#places.set(place, held);
    for (const holding of held) this.#latest.set(holding.key, holding);
    const touched = new Map([...old, ...held].map((holding) => [holding.key, holding]));
    for (const { address } of touched.values()) {
      const known = this.#ofAddress.get(address) ?? new Map<string, Holding>();
      for (const holding of held) if (holding.address === address) known.set(holding.key, holding);
      this.#ofAddress.set(address, known);
    }
    const addresses = new Set([...touched.values()].map(({ address }) => address));
    return [...addresses].flatMap((address) => [...(this.#ofAddress.get(address)?.values() ?? [])]);
  }
}

/** A resource under the address by which people know it. */
interface AddressedResource {
  readonly kind: Kind;
  readonly address: string;
  readonly resource: LiveResource;
}

/** Whether a write may remove or add something that can be missing. */
export function canCauseGap(write: Write): boolean {
  if (write.type !== 'update' && write.type !== 'adopt') return true;
  const { fields } = getKind(write.kind);
  return Object.keys(write.body).some((name) => {
    const field = fields[name];
    return field === undefined || field.unique || isMissable(field);
  });
}

function isMissable(field: Field): boolean {
  return field.whenUnset !== undefined || field.protects === 'while-on';
}

/**
 * The properties of a resource whose absence matters: its presence, its unique values, and the set fields that should not be unset, of the
 * resource and of each of these values.
 */
function listHoldings({ kind, address, resource: { spec } }: AddressedResource): readonly Holding[] {
  const claims = kind.role === 'owned' ? listClaims(kind, spec) : [];
  const values = claims.map(({ key, field, given }) => ({
    key,
    address,
    what: `${field} ${given}`,
    isValue: true,
    of: key,
  }));
  const fields = kind.specFields.flatMap(([what, field]) => {
    const isSet = isMissable(field) && (isModule(field) ? isEnabled(spec[what]) : isOn(spec[what]));
    if (!isSet) return [];
    const ofValues = values.map(({ key, what: subject }) => ({
      key: toFieldKey(key, what),
      address,
      what,
      isValue: false,
      of: key,
      subject,
    }));
    return [{ key: toFieldKey(address, what), address, what, isValue: false, of: address }, ...ofValues];
  });
  return [{ key: address, address, what: '', isValue: false, of: address }, ...values, ...fields];
}

/** The key of a field of what another key names. */
function toFieldKey(of: string, field: string): string {
  return `${of} ${field}`;
}

function isEnabled(value: Json | undefined): boolean {
  return isJsonObject(value) && value['enabled'] !== false;
}

function isOn(value: Json | undefined): boolean {
  return isJsonArray(value) ? value.length > 0 : value === true;
}

/** A place that a plan touches: where a resource is, was or will be. */
export interface TouchedResource extends SimulatedPlace {
  /** Identifies the place: the path of the resource. */
  readonly key: string;
  /** The plan's address for it; absent for a new resource, whose mark has the address. */
  readonly address?: string;
}

/** The places that a plan touches. Grows as the plan makes resources. */
export class TouchedResources {
  readonly #places = new Map<string, TouchedResource>();

  constructor({ changes }: Plan, { resources, attachments }: LiveState) {
    const changing = changes.filter(({ action }) => action !== 'no-op');
    const ids = new Set(changing.map(({ live }) => live?.id));
    const found = [...resources.values()].flatMap((all) => all.filter(({ id }) => ids.has(id)));
    const byId = new Map(found.map((resource) => [resource.id, resource]));
    for (const { address, kind, live } of changing) {
      if (live === undefined) continue;
      this.#add(getKind(kind), { id: live.id, address, like: byId.get(live.id) ?? attachments.get(address) });
    }
  }

  /** Every place that is known so far. */
  list(): readonly TouchedResource[] {
    return [...this.#places.values()];
  }

  /** The place that a write is about; a creation makes a new one. `undefined`: the plan does not know it. */
  find({ path, id }: SimulatedWrite): TouchedResource | undefined {
    const kind = OWNED_KINDS.find((one) => path === one.path);
    if (kind !== undefined && id !== undefined) return this.#add(kind, { id, like: undefined });
    const module = path.slice(0, path.lastIndexOf('/'));
    return this.#places.get(path) ?? this.#places.get(module);
  }

  #add(kind: Kind, { id, address, like }: Omit<TouchedResource, 'key' | 'kind'>): TouchedResource {
    const key = toResourcePath(kind, toPathIds(kind, { id, ...(like !== undefined && { spec: like.spec }) }));
    const place = { key, kind, id, like, ...(address !== undefined && { address }) };
    this.#places.set(key, place);
    return place;
  }
}

/** A resource in its place, under the address by which people know it. */
export function withAddress({ kind, id, address }: TouchedResource, resource: LiveResource): AddressedResource {
  const { mark } = resource;
  return { kind, resource, address: address ?? (mark === undefined ? id : toAddress(kind.name, mark.name)) };
}

/**
 * The ids that a plan sends and that a rehearsal takes for existing though nothing shows it: no list has their type, and nothing that was read refers to
 * them. What refers to something keeps it from being deleted, so that is proof enough.
 */
export function listUnchecked({ changes }: Plan, live: LiveState): readonly string[] {
  const listed = new Set(KINDS.filter(({ name }) => live.resources.has(name)).map(({ idPrefix }) => idPrefix));
  const sent = changes.flatMap(({ kind, action, desired }) =>
    action === 'no-op' || desired === undefined ? [] : listReferences(getKind(kind), desired),
  );
  const ids = sent.map(({ value }) => value).filter((id) => !isAddress(id) && !listed.has(toPrefix(id)));
  const unchecked = new Set(ids);
  if (unchecked.size === 0) return [];
  for (const resource of [...live.resources.values()].flat().concat([...live.attachments.values()]))
    for (const id of listProven(resource)) unchecked.delete(id);
  return [...unchecked].sort();
}

/** The ids that a live resource refers to. Of what modules are attached to is known that it exists as soon as one of them is set. */
function listProven({ kind: name, spec }: LiveResource): readonly string[] {
  const kind = getKind(name);
  const isProof =
    kind.role === 'owned' || Object.values(spec).some((value) => typeof value === 'object' && value !== null);
  return isProof ? listReferences(kind, spec).map(({ value }) => value) : [];
}

function toPrefix(id: string): string {
  return id.slice(0, Math.max(id.indexOf('_'), 0));
}
