import { listResourceTransitionDangers } from '../access/dangers.ts';
import { getNormalUnsetFieldValue } from '../kinds/canonical.ts';
import { listClaims } from '../kinds/claims.ts';
import type { Field } from '../kinds/field.ts';
import { isModule, type Kind } from '../kinds/kind.ts';
import { getPathIdsOfResource, toResourcePath } from '../kinds/paths.ts';
import { listReferences } from '../kinds/references.ts';
import { getKind, KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { isAddress, toAddress } from '../model/address.ts';
import { type Change, formatChangeAddress, sendsNothing } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import { type Danger, type DangerGroup, sortDangersByGroup } from '../model/danger.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { toManifestPath } from '../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { ApplyResult, Outcome } from '../model/outcome.ts';
import { isOwnedBy } from '../model/ownership.ts';
import type { Plan, SafetyViolation } from '../model/plan.ts';
import { parseRateLimit } from '../model/stack.ts';
import type { DesiredState, LiveResource, LiveState } from '../model/state.ts';
import { formatWriteAddress, isDelete, type Write } from '../model/write.ts';
import { describeRejectionConsents } from '../plan/claims.ts';
import { createHandOverCheck } from '../plan/handed-over.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import type { AcceptedSimulatedWrite, SimulatedAccount, SimulatedResourceId } from './simulated-account.ts';

export interface RehearsedPlan {
  readonly plan: Plan;
  readonly desired: DesiredState;
  readonly result: ApplyResult;
  readonly simulated: Pick<SimulatedAccount, 'refusals'>;
  /** The changes that a new plan, created after the rehearsal, still contains. */
  readonly left: readonly Change[];
  readonly referrers: Referrers;
}

interface Findings {
  readonly violations: readonly SafetyViolation[];
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Returns the findings of a rehearsal. A write that the service will certainly reject, because the API specifies the
 * error and the live state causes it, becomes a violation. A write that it may reject, and a change that remains after
 * the apply, become warnings.
 */
export function collectRehearsalFindings(rehearsed: RehearsedPlan): Findings {
  const { plan, desired, result, left } = rehearsed;
  // Writes at these addresses claim a value that another stack of the run frees first. The plan already warns about
  // them.
  const late = listAddressesInCondition(plan, 'awaiting');
  const failed = result.outcomes
    .filter((one) => one.outcome === 'failed')
    .filter(({ write }) => !late.has(write.address))
    .map((one) => createRejectedWrite(one, rehearsed));
  const stopped = new Set(result.outcomes.flatMap((one) => (one.outcome === 'applied' ? [] : [one.write.address])));
  return {
    violations: failed.filter(isCertain).map((refusal) => createViolation(refusal, rehearsed)),
    diagnostics: [
      ...failed.filter((refusal) => !isCertain(refusal)).map((refusal) => createDoubtWarning(refusal, desired)),
      ...left.filter(({ address }) => !stopped.has(address)).map((change) => createRemainingWarning(change, desired)),
    ],
  };
}

/** A write that the copy of the account rejected. */
interface RejectedWrite {
  readonly write: Write;
  /** The `error_code` of the response. `said`: the message of the response. */
  readonly code: string;
  readonly said: string;
  readonly field: string | undefined;
  /** Why the service may accept the write. Absent if the service will certainly reject it. */
  readonly doubt?: string;
  /** Until when the service will reject the write, as a clause. Absent if unknown. */
  readonly until?: string;
}

function isCertain({ doubt }: RejectedWrite): boolean {
  return doubt === undefined;
}

/**
 * Errors that the service is certain to return if the copy does, because the API specifies them. The copy returns none
 * of them by mistake: it contains only values that the service shows, and it assumes that resources that were not read
 * exist. For other errors, a service may be more liberal than the bundled server.
 */
const SPECIFIED: ReadonlySet<string> = new Set(['already_taken', 'in_use', 'missing_reference']);

function createRejectedWrite(
  { write, message, field }: Extract<Outcome, { readonly outcome: 'failed' }>,
  { simulated, referrers }: RehearsedPlan,
): RejectedWrite {
  const { code, message: said } = simulated.refusals.get(message) ?? { code: '', message };
  const refusal = { write, code, said, field };
  if (!SPECIFIED.has(code)) return { ...refusal, doubt: `${CORRECT} Services may be more liberal than the rehearsal.` };
  const isKept = code === 'in_use' && isDelete(write) && referrers.areInRun(write.ids?.id ?? '');
  return isKept ? { ...refusal, doubt: DELETED_LATER, until: ' while stacks of this run refer to it' } : refusal;
}

const CORRECT = 'Correct the manifest.';
const DELETED_LATER =
  'The delete is sent after the writes of those stacks. If one of them still refers to it then, only the delete fails.';

function createDoubtWarning(
  { write, said, field, doubt = '', until }: RejectedWrite,
  desired: DesiredState,
): Diagnostic {
  const address = formatWriteAddress(write);
  const verb = until === undefined ? 'may' : 'will';
  return {
    code: 'rehearsal-failed',
    severity: 'warning',
    message: `${address}: the service ${verb} reject the request to ${write.id}${until ?? ''}: ${said}.`,
    remedy: doubt,
    address,
    ...locatePlace(write.address, desired, field),
  };
}

function createViolation(
  { write, code, said, field }: RejectedWrite,
  { desired, referrers, plan }: RehearsedPlan,
): SafetyViolation {
  const { place } = locatePlace(write.address, desired, field);
  const isDeleted = code === 'in_use' && isDelete(write);
  const help = isDeleted ? referrers.formatRemedy(write.ids?.id ?? '') : (REMEDIES[code] ?? CORRECT);
  return {
    rule: 'rejected-write',
    message: `The service will reject the request to ${write.id}: ${said}.`,
    remedy: `${help} ${describeRejectionConsents(write.address, plan.mode)}`,
    addresses: [write.address],
    places: place && [{ message: write.address, place }],
  };
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
    ...locatePlace(change.address, desired, change.differences[0]?.path),
  };
}

function locatePlace(address: string, { resources }: DesiredState, path?: string): Pick<Diagnostic, 'place'> {
  const resource = resources.get(address as Parameters<typeof resources.get>[0]); // a text that does not parse as an address is not found
  if (resource === undefined) return {};
  return { place: resource.locate(toManifestPath(path)) };
}

/** Queries about the live resources that refer to a resource. */
interface Referrers {
  /**
   * Whether all references to a resource from outside this stack can be removed before it is deleted, because each
   * referrer is handed over or belongs to another stack of the run. False if there are no such referrers.
   */
  readonly areInRun: (id: string) => boolean;
  /** How to remove the references to a resource, as sentences. */
  readonly formatRemedy: (id: string) => string;
}

/** Creates the queries about referrers. */
export function createReferrerQueries(input: PlanInput): Referrers {
  const { live, isInRun = () => false } = input;
  const { stack } = input.desired;
  const isHandedOver = createHandOverCheck(input);
  const isOurs = (live: LiveResource): boolean =>
    isOwnedBy(live, stack.name) && !isHandedOver(toAddress(live.kind, live.mark?.name ?? ''));
  const isLater = (live: LiveResource): boolean =>
    isOwnedBy(live, stack.name) || (live.mark !== undefined && isInRun(live.mark.stack));
  const referrers = groupReferrers(live);
  const listOthers = (id: string) => (referrers.get(id) ?? []).filter((one) => !isOurs(one));
  return {
    areInRun: (id) => {
      const others = listOthers(id);
      return others.length > 0 && others.every(isLater);
    },
    formatRemedy: (id) => formatFindingRemedy(listOthers(id)),
  };
}

/** The maximum number of referrers that a remedy names, so that it stays one sentence. */
const MAX_NAMED = 3;

function formatFindingRemedy(referrers: readonly LiveResource[]): string {
  const marked = referrers.flatMap(({ kind, mark }) =>
    mark === undefined ? [] : [`${toAddress(kind, mark.name)} of the stack ${mark.stack}`],
  );
  const unmarked = referrers.filter(({ mark }) => mark === undefined).map(({ kind, id }) => `${kind} ${id}`);
  const [first] = referrers.filter(({ mark }) => mark === undefined);
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

/** Maps an id to the live resources that refer to it. */
function groupReferrers({ resources }: LiveState): ReadonlyMap<string, readonly LiveResource[]> {
  const referrers = new Map<string, LiveResource[]>();
  for (const resource of [...resources.values()].flat())
    for (const id of new Set(listReferences(getKind(resource.kind), resource.spec).map(({ value }) => value))) {
      const others = referrers.get(id);
      if (others === undefined) referrers.set(id, [resource]);
      else others.push(resource);
    }
  return referrers;
}

/** A unique value or field that exists before and after an apply, but is missing during some of its writes. */
export interface Gap {
  /** The address of the resource with the gap. If a value moves to another resource, the address of that resource. */
  readonly address: string;
  /** The missing field, such as `backend`, or the field of the missing value, such as `hostports`. */
  readonly field: string;
  /** The unique value that no resource has, or that exists without the field. Absent: the resource lacks the field. */
  readonly value?: string | undefined;
  /** Whether the value itself is missing. */
  readonly isValue: boolean;
  /** The length of the gap: the number of consecutive writes after which the value or field was missing. */
  readonly writes: number;
}

/** A property of a resource: its presence, a unique value, or a field that is set. */
interface Holding extends Omit<Gap, 'writes'> {
  readonly key: string;
  /**
   * For a field: the key of its resource or unique value. The field counts as missing only while this resource or value
   * exists. For a resource or a unique value: the same as `key`.
   */
  readonly of: string;
}

/** Adds the gaps to the dangers of the changes that cause them. A field that is not in force is no danger. */
export function addGapDangers({ changes, settings }: Plan, gaps: readonly Gap[]): readonly Change[] {
  const limit = parseRateLimit(settings.rateLimit);
  const byAddress = Map.groupBy(gaps, ({ address }) => address);
  return changes.map((change) => {
    const own = change.duplicateOf === undefined ? (byAddress.get(change.address) ?? []) : [];
    const alike = Map.groupBy(own, ({ field, isValue, writes }) => [field, isValue, writes].join(' '));
    const dangers = [...alike.values()].flatMap((group) => createGapDanger(change, group, limit));
    return dangers.length === 0
      ? change
      : { ...change, dangers: sortDangersByGroup([...(change.dangers ?? []), ...dangers]) };
  });
}

function createGapDanger(
  change: Change,
  gaps: readonly Gap[],
  limit: ReturnType<typeof parseRateLimit>,
): readonly Danger[] {
  const [gap] = gaps;
  const group = gap && findGroupOfGap(change, gap);
  if (gap === undefined || group === undefined) return [];
  const values = gaps.flatMap(({ value }) => value ?? []);
  return [
    {
      group,
      danger: 'gap',
      path: gap.field,
      ...(values.length > 0 && { from: values }),
      writes: gap.writes,
      limitMs: limit && Math.round((gap.writes * limit.windowMs) / limit.requests),
    },
  ];
}

/** The group of the danger that the absence of the value or field causes. `undefined` if it causes none. */
function findGroupOfGap({ kind: name, desired, live }: Change, { field, isValue }: Gap): DangerGroup | undefined {
  const kind = getKind(name);
  const spec = desired ?? live?.spec ?? {};
  const unset = kind.fields[field];
  if (unset === undefined) return undefined;
  const rest = isValue ? undefined : { spec: { ...spec, [field]: getNormalUnsetFieldValue(unset) } };
  const dangers = listResourceTransitionDangers(kind, { spec }, rest);
  return dangers.find(({ danger }) => danger !== 'stays-valid')?.group;
}

/**
 * Tracks which properties of resources exist after each write of an apply. A `place` is the path of a resource. The
 * cost depends only on the number of writes. Properties that did not exist before the first write are ignored, because
 * their absence is not a gap.
 */
export class GapTracker {
  readonly #places = new Map<string, readonly Holding[]>();
  readonly #before = new Set<string>();
  /** Maps the key of a property to the number of places that have the property. */
  readonly #counts = new Map<string, number>();
  /** Maps an address to all properties that it ever had, by key. */
  readonly #ofAddress = new Map<string, Map<string, Holding>>();
  /** Maps the key of a property to its entry for the resource that had it last. */
  readonly #latest = new Map<string, Holding>();
  /** Maps the key of a property that is missing now to the number of the write that began its current gap. */
  readonly #since = new Map<string, number>();
  /** Maps a key to the length of the property's longest gap so far, in writes. */
  readonly #missed = new Map<string, number>();
  readonly #found = new Map<string, Gap>();
  #step = 0;

  /** Records the properties that a resource has before the first write. `place`: the path of the resource. */
  begin(place: string, holder: AddressedResource): void {
    const held = listHoldings(holder);
    for (const { key } of held) this.#before.add(key);
    this.#put(place, held);
  }

  /** Whether any property was recorded before the first write. */
  isWatching(): boolean {
    return this.#before.size > 0;
  }

  /**
   * Records the properties of the resource with the path `place` after a write. `holder`: the resource now, or
   * `undefined` if it does not exist any more.
   */
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
   * Returns the gaps of all properties that were missing and came back. A field is tracked for the resource and for
   * each of its unique values. If the resource has a gap for a field, the gaps of its values are left out.
   */
  list(): readonly Gap[] {
    return [...this.#found.values()].filter(
      ({ value, isValue, address, field }) =>
        value === undefined || isValue || !this.#found.has(toFieldKey(address, field)),
    );
  }

  #judge(holding: Holding): void {
    const { key } = holding;
    const { address, field, value, isValue } = this.#latest.get(key) ?? holding;
    const since = this.#since.get(key);
    if (this.#isMissed(holding)) {
      if (since === undefined) this.#since.set(key, this.#step);
      return;
    }
    this.#since.delete(key);
    const writes = Math.max(this.#missed.get(key) ?? 0, since === undefined ? 0 : this.#step - since);
    if (writes === 0) return;
    this.#missed.set(key, writes);
    if (this.#has(key)) this.#found.set(key, { address, field, value, isValue, writes });
  }

  /**
   * Whether a property is missing. A unique value is missing if no resource has it. A field is missing if the resource
   * or value in `of` exists without it.
   */
  #isMissed({ key, of, isValue }: Holding): boolean {
    return !this.#has(key) && (isValue || this.#has(of));
  }

  #has(key: string): boolean {
    return (this.#counts.get(key) ?? 0) > 0;
  }

  /** Replaces the properties of a place. Returns all properties whose presence this may change. */
  #put(place: string, held: readonly Holding[]): readonly Holding[] {
    const old = this.#places.get(place) ?? [];
    if (old.length === held.length && old.every(({ key }, at) => key === held[at]?.key)) return [];
    for (const [holdings, step] of [[old, -1] as const, [held, 1] as const])
      for (const { key } of holdings) this.#counts.set(key, (this.#counts.get(key) ?? 0) + step);
    this.#places.set(place, held);
    for (const holding of held) this.#latest.set(holding.key, holding);
    const touched = new Map([...old, ...held].map((holding) => [holding.key, holding]));
    for (const { address } of touched.values()) {
      const holdings = this.#ofAddress.get(address) ?? new Map<string, Holding>();
      for (const holding of held) if (holding.address === address) holdings.set(holding.key, holding);
      this.#ofAddress.set(address, holdings);
    }
    const addresses = new Set([...touched.values()].map(({ address }) => address));
    return [...addresses].flatMap((address) => [...(this.#ofAddress.get(address)?.values() ?? [])]);
  }
}

/** A live resource with its address for messages. */
interface AddressedResource {
  readonly kind: Kind;
  readonly address: string;
  readonly resource: LiveResource;
}

export function canWriteAffectAnyGap(write: Write): boolean {
  if (write.method !== 'PATCH') return true;
  const { fields } = getKind(write.kind);
  return Object.keys(write.body ?? {}).some((name) => {
    const field = fields[name];
    return field === undefined || field.unique || canBeMissing(field);
  });
}

function canBeMissing(field: Field): boolean {
  return field.whenUnset !== undefined || field.restriction === 'while-on';
}

/**
 * Lists the properties of a resource that can be missing: its presence, its unique values, and its set fields that
 * should not be unset. Such a field is listed for the resource and for each of its unique values.
 */
function listHoldings({ kind, address, resource: { spec } }: AddressedResource): readonly Holding[] {
  const claims = kind.role === 'owned' ? listClaims(kind, spec) : [];
  const values = claims.map(({ key, field, given }) => ({ key, address, field, value: given, isValue: true, of: key }));
  const fields = kind.specFields.flatMap(([name, field]) => {
    const isSet = canBeMissing(field) && (isModule(field) ? isEnabled(spec[name]) : isOn(spec[name]));
    if (!isSet) return [];
    const ofValues = values.map(({ key: of, value }) => ({ of, value }));
    return [{ of: address, value: undefined }, ...ofValues].map((one) => ({
      key: toFieldKey(one.of, name),
      address,
      field: name,
      isValue: false,
      ...one,
    }));
  });
  return [{ key: address, address, field: '', isValue: false, of: address }, ...values, ...fields];
}

/** The key of a field. `of`: the key of the resource or value that has the field. */
function toFieldKey(of: string, field: string): string {
  return `${of} ${field}`;
}

function isEnabled(value: Json | undefined): boolean {
  return isJsonObject(value) && value['enabled'] !== false;
}

function isOn(value: Json | undefined): boolean {
  return isJsonArray(value) ? value.length > 0 : value === true;
}

/** A resource that the plan changes or creates. */
export interface TouchedResource extends SimulatedResourceId {
  /** The path of the resource in the API, which identifies it. */
  readonly key: string;
  /** The address in the plan. Absent for a created resource, whose mark contains the address. */
  readonly address?: string | undefined;
}

/** The resources that a plan changes. Resources that it creates are added during the apply. */
export class TouchedResources {
  readonly #places = new Map<string, TouchedResource>();

  constructor({ changes }: Plan, { resources, attachments }: LiveState) {
    const changing = changes.filter(({ action }) => !sendsNothing(action));
    const ids = new Set(changing.map(({ live }) => live?.id));
    const found = [...resources.values()].flatMap((all) => all.filter(({ id }) => ids.has(id)));
    const byId = new Map(found.map((resource) => [resource.id, resource]));
    for (const { address, kind, live } of changing) {
      if (live === undefined) continue;
      this.#add(getKind(kind), { id: live.id, address, like: byId.get(live.id) ?? attachments.get(address) });
    }
  }

  list(): readonly TouchedResource[] {
    return [...this.#places.values()];
  }

  /**
   * Returns the resource that a write changes, and adds it first if the write created it. `undefined` if the plan does
   * not change that resource.
   */
  find({ path, id }: AcceptedSimulatedWrite): TouchedResource | undefined {
    const kind = OWNED_KINDS.find((one) => path === one.path);
    if (kind !== undefined && id !== undefined) return this.#add(kind, { id, like: undefined });
    const module = path.slice(0, path.lastIndexOf('/'));
    return this.#places.get(path) ?? this.#places.get(module);
  }

  #add(kind: Kind, { id, address, like }: Omit<TouchedResource, 'key' | 'kind'>): TouchedResource {
    const key = toResourcePath(kind, getPathIdsOfResource(kind, { id, spec: like?.spec }));
    const place = { key, kind, id, like, address };
    this.#places.set(key, place);
    return place;
  }
}

/** Adds the address for messages: the address in the plan, else the address in the mark, else the id. */
export function createAddressedResource(
  { kind, id, address }: TouchedResource,
  resource: LiveResource,
): AddressedResource {
  const { mark } = resource;
  return { kind, resource, address: address ?? (mark === undefined ? id : toAddress(kind.name, mark.name)) };
}

/**
 * Lists the ids that a plan sends although it is unknown whether they exist: resources of their kind were not read, and
 * no live resource refers to them. A reference by a live resource proves that an id exists, because the service does
 * not delete a resource that is in use.
 */
export function listUnverifiedReferenceIds({ changes }: Plan, live: LiveState): readonly string[] {
  const listed = new Set(KINDS.filter(({ name }) => live.resources.has(name)).map(({ idPrefix }) => idPrefix));
  const sent = changes.flatMap(({ kind, action, desired }) =>
    sendsNothing(action) || desired === undefined ? [] : listReferences(getKind(kind), desired),
  );
  const ids = sent.map(({ value }) => value).filter((id) => !isAddress(id) && !listed.has(getPrefix(id)));
  const unchecked = new Set(ids);
  if (unchecked.size === 0) return [];
  for (const resource of [...live.resources.values()].flat().concat([...live.attachments.values()]))
    for (const id of listProven(resource)) unchecked.delete(id);
  return [...unchecked].sort();
}

/**
 * Lists the ids that a live resource proves to exist by referring to them. An attached resource proves nothing if none
 * of its modules is set.
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
