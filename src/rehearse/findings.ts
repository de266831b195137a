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

/** The result of a rehearsal, from which the findings follow. */
export interface RehearsedPlan {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly result: ApplyResult;
  readonly simulated: Pick<SimulatedAccount, 'refusals'>;
  /** The changes that a new plan after the rehearsal still has. */
  readonly left: readonly Change[];
  readonly gaps: readonly Gap[];
  readonly users: Users;
}

/** A write that every service rejects, given the live state. */
export interface Rejection {
  readonly write: Write;
  /** The reason, as a clause. */
  readonly why: string;
  /** The remedy, as whole sentences. */
  readonly help: string;
  readonly violation: GuardViolation;
}

/** The findings for the user who approves the plan. */
interface Findings {
  readonly rejections: readonly Rejection[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Lists the findings. A rejection that follows from the live state breaks a safety rule. One that is only assumed is a
 * warning.
 */
export function listRehearsalFindings(rehearsed: RehearsedPlan): Findings {
  const { plan, desired, result, left, gaps } = rehearsed;
  // The plan already warns about these writes: another stack of the run frees their value first.
  const late = listLateClaims(plan);
  const failed = result.outcomes
    .filter((one) => one.outcome === 'failed')
    .filter(({ write }) => !late.has(write.address))
    .map((one) => createRefusal(one, rehearsed));
  const stopped = new Set(result.outcomes.flatMap((one) => (one.outcome === 'applied' ? [] : [one.write.address])));
  return {
    rejections: failed.filter(isCertain).map((refusal) => createRejection(refusal, rehearsed)),
    diagnostics: [
      ...failed.filter((refusal) => !isCertain(refusal)).map((refusal) => createDoubtWarning(refusal, desired)),
      ...left.filter(({ address }) => !stopped.has(address)).map((change) => createRemainingWarning(change, desired)),
      ...listGapWarnings(gaps, desired),
    ],
  };
}

/** A write that the copy of the account rejected. */
interface Refusal {
  readonly write: Write;
  /** The `error_code` of the response; `said` is its message. */
  readonly code: string;
  readonly said: string;
  readonly field: string | undefined;
  /** Why the service may accept the write. Absent: it will reject it. */
  readonly doubt?: string;
  /** How long the service will reject it, as a clause. Absent if that is unknown. */
  readonly until?: string;
}

function isCertain({ doubt }: Refusal): boolean {
  return doubt === undefined;
}

/**
 * Errors that the API specifies, so every service rejects these writes. They follow from the live state: the copy
 * contains no value that the service does not show, and resources that were not read count as existing. For other
 * errors, a service may accept more than the bundled server.
 */
const SPECIFIED: ReadonlySet<string> = new Set(['already_taken', 'in_use', 'missing_reference']);

function createRefusal(
  { write, message, field }: Extract<Outcome, { readonly outcome: 'failed' }>,
  { simulated, users }: RehearsedPlan,
): Refusal {
  const { code, message: said } = simulated.refusals.get(message) ?? { code: '', message };
  const refusal = { write, code, said, field };
  if (!SPECIFIED.has(code)) return { ...refusal, doubt: `${CORRECT} Services may be more liberal than the rehearsal.` };
  const isKept = code === 'in_use' && write.type === 'delete' && users.areInRun(write.resourceId);
  return isKept ? { ...refusal, doubt: DELETED_LATER, until: ' while stacks of this run refer to it' } : refusal;
}

const CORRECT = 'Correct the manifest.';
const DELETED_LATER =
  'The delete is sent after the writes of those stacks. If one of them still refers to it then, only the delete fails.';

function createDoubtWarning({ write, said, field, doubt = '', until }: Refusal, desired: DesiredState): Diagnostic {
  const address = formatWriteAddress(write);
  const verb = until === undefined ? 'may' : 'will';
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${address}: the service ${verb} reject the request to ${write.id}${until ?? ''}: ${said}.`,
    remedy: doubt,
    address,
    ...findPlace(write.address, desired, field),
  };
}

function createRejection({ write, code, said, field }: Refusal, { desired, users, plan }: RehearsedPlan): Rejection {
  const { place } = findPlace(write.address, desired, field);
  const isDeleted = code === 'in_use' && write.type === 'delete';
  const help = isDeleted ? users.formatRemedy(write.resourceId) : (REMEDIES[code] ?? CORRECT);
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

function createRemainingWarning(change: Change, desired: DesiredState): Diagnostic {
  const paths = change.differences.map(({ path }) => path).join(', ');
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${formatChangeAddress(change)}: one apply is not enough: the next plan would still ${change.action} it${paths === '' ? '' : ` (${paths})`}.`,
    remedy: 'Apply this plan. Then plan again, and check the new plan before you apply it.',
    address: formatChangeAddress(change),
    ...findPlace(change.address, desired, change.differences[0]?.path),
  };
}

/** One warning for each resource or value and each length of the gap. */
function listGapWarnings(gaps: readonly Gap[], desired: DesiredState): readonly Diagnostic[] {
  const groups = Map.groupBy(gaps, ({ address, isValue, subject, writes }) =>
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
    return [{ code: 'rehearsal-gap', severity: 'warning', message, remedy, address, ...findPlace(address, desired) }];
  });
}

function findPlace(address: string, { resources }: DesiredState, path?: string): Pick<Diagnostic, 'place'> {
  const resource = resources.get(address as Parameters<typeof resources.get>[0]); // a text that does not parse as an address is not found
  if (resource === undefined) return {};
  return { place: resource.locate(path === undefined ? undefined : ['spec', ...(parsePath(path) ?? [])]) };
}

/** Finds the live resources that refer to a resource. */
interface Users {
  /**
   * Whether the only other users are resources of stacks in the same run: these may remove their references before the
   * delete.
   */
  readonly areInRun: (id: string) => boolean;
  /** How to remove the references, as sentences. */
  readonly formatRemedy: (id: string) => string;
}

/** Finds the live resources that refer to a resource. The index is built at the first search. */
export function createReferrers(input: PlanInput): Users {
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
    formatRemedy: (id) => formatRemedy(find(id).filter((one) => !isOurs(one))),
  };
}

/** At most so many users are named in a remedy. */
const MAX_NAMED = 3;

function formatRemedy(users: readonly LiveResource[]): string {
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

/** The resources that refer to each id. */
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

/** A resource, value or field that exists before and after an apply, but is missing during some of its writes. */
interface Gap {
  /** The resource with the gap. For a value that another resource takes over, the one that has it in the end. */
  readonly address: string;
  /** The missing field or value: `backend`, `hostports 1.tcp.example.net:20001`. */
  readonly what: string;
  /** True: no resource has the value. False: the resource, or `subject`, exists without the field. */
  readonly isValue: boolean;
  /** The unique value that exists without the field, on any resource: `hostports 1.tcp.example.net:20001`. */
  readonly subject?: string;
  /**
   * Length of the gap: the number of consecutive writes after each of which the resource, value or field was missing.
   */
  readonly writes: number;
}

/** A watched property of a resource. */
interface Holding {
  readonly key: string;
  readonly address: string;
  readonly what: string;
  readonly isValue: boolean;
  /** Key of the resource or value that must exist for the absence to count. */
  readonly of: string;
  readonly subject?: string;
}

/**
 * Tracks which resources and values exist after each write of an apply. A place is one resource, by its id. The cost
 * depends on the number of writes only. Values that did not exist before the first write are not recorded, because they
 * cannot be missing.
 */
export class GapTracker {
  readonly #places = new Map<string, readonly Holding[]>();
  readonly #before = new Set<string>();
  /** By key: the number of places that have it. */
  readonly #counts = new Map<string, number>();
  /** By address: all properties that it ever had, by key. */
  readonly #ofAddress = new Map<string, Map<string, Holding>>();
  /** By key: the property of the place that had it last. */
  readonly #latest = new Map<string, Holding>();
  /** By key: the number of the write after which it was first missing. */
  readonly #since = new Map<string, number>();
  /** By key: its longest gap so far, in writes. */
  readonly #missed = new Map<string, number>();
  readonly #found = new Map<string, Gap>();
  #step = 0;

  /** Records the properties of a place before the first write. */
  begin(place: string, holder: AddressedResource): void {
    const held = listHoldings(holder);
    for (const { key } of held) this.#before.add(key);
    this.#put(place, held);
  }

  /** Whether any property was recorded before the first write. */
  isWatching(): boolean {
    return this.#before.size > 0;
  }

  /** Records the properties of a place after a write. `undefined`: the resource does not exist. */
  observe(place: string, holder: AddressedResource | undefined): void {
    this.#step += 1;
    const held = holder === undefined ? [] : listHoldings(holder).filter(({ key }) => this.#before.has(key));
    for (const holding of this.#put(place, held)) this.#judge(holding);
  }

  /** Records a write that changes no property. */
  pass(): void {
    this.#step += 1;
  }

  /**
   * All properties that were missing during some writes and came back. A gap of a resource is not repeated for each of
   * its unique values.
   */
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

  /**
   * Whether a property is missing. A unique value is missing if no resource has it; any other property only if the
   * resource or value that it belongs to exists.
   */
  #isMissed({ key, of, isValue }: Holding): boolean {
    return !this.#has(key) && (isValue || this.#has(of));
  }

  #has(key: string): boolean {
    return (this.#counts.get(key) ?? 0) > 0;
  }

  /** Replaces the properties of a place. Returns all properties that this may have changed. */
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

/** A resource with the address that users know. */
interface AddressedResource {
  readonly kind: Kind;
  readonly address: string;
  readonly resource: LiveResource;
}

/** Whether a write may remove or add a property that can be missing. */
export function canCauseGap(write: Write): boolean {
  if (write.type !== 'update' && write.type !== 'adopt') return true;
  const { fields } = getKind(write.kind);
  return Object.keys(write.body).some((name) => {
    const field = fields[name];
    return field === undefined || field.unique || canBeMissing(field);
  });
}

function canBeMissing(field: Field): boolean {
  return field.whenUnset !== undefined || field.protects === 'while-on';
}

/**
 * The properties of a resource whose absence matters: its presence, its unique values, and the set fields that should
 * not be unset, for the resource and for each of these values.
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
    const isSet = canBeMissing(field) && (isModule(field) ? isEnabled(spec[what]) : isOn(spec[what]));
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

/** The key of a field that belongs to the resource or value with the key `of`. */
function toFieldKey(of: string, field: string): string {
  return `${of} ${field}`;
}

function isEnabled(value: Json | undefined): boolean {
  return isJsonObject(value) && value['enabled'] !== false;
}

function isOn(value: Json | undefined): boolean {
  return isJsonArray(value) ? value.length > 0 : value === true;
}

/** The place of a resource that the plan changes or creates. */
export interface TouchedResource extends SimulatedPlace {
  /** The path of the resource, which identifies the place. */
  readonly key: string;
  /** The address in the plan. Absent for a created resource: its mark has the address. */
  readonly address?: string;
}

/** The places of the resources that a plan changes. Created resources are added during the apply. */
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

  /** All places so far. */
  list(): readonly TouchedResource[] {
    return [...this.#places.values()];
  }

  /**
   * Returns the place that a write changes. If the write created a resource, adds its place first. `undefined`: the
   * plan does not change the resource of the write.
   */
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

/** Adds the address that users know to a resource. */
export function withAddress({ kind, id, address }: TouchedResource, resource: LiveResource): AddressedResource {
  const { mark } = resource;
  return { kind, resource, address: address ?? (mark === undefined ? id : toAddress(kind.name, mark.name)) };
}

/**
 * Lists the ids that a plan sends although nothing shows that they exist: no list of their kind was read, and no live
 * resource refers to them. A reference is enough proof, because the service does not delete a resource to which another
 * refers.
 */
export function listUnchecked({ changes }: Plan, live: LiveState): readonly string[] {
  const listed = new Set(KINDS.filter(({ name }) => live.resources.has(name)).map(({ idPrefix }) => idPrefix));
  const sent = changes.flatMap(({ kind, action, desired }) =>
    action === 'no-op' || desired === undefined ? [] : listReferences(getKind(kind), desired),
  );
  const ids = sent.map(({ value }) => value).filter((id) => !isAddress(id) && !listed.has(getPrefix(id)));
  const unchecked = new Set(ids);
  if (unchecked.size === 0) return [];
  for (const resource of [...live.resources.values()].flat().concat([...live.attachments.values()]))
    for (const id of listProven(resource)) unchecked.delete(id);
  return [...unchecked].sort();
}

/**
 * The ids to which a live resource refers. The resource that modules are attached to is known to exist only if a module
 * is set.
 */
function listProven({ kind: name, spec }: LiveResource): readonly string[] {
  const kind = getKind(name);
  const isProof =
    kind.role === 'owned' || Object.values(spec).some((value) => typeof value === 'object' && value !== null);
  return isProof ? listReferences(kind, spec).map(({ value }) => value) : [];
}

function getPrefix(id: string): string {
  return id.slice(0, Math.max(id.indexOf('_'), 0));
}
