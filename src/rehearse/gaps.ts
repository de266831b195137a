import { listResourceTransitionDangers } from '../access/dangers.ts';
import { getNormalUnsetFieldValue } from '../kinds/canonical.ts';
import { listClaims } from '../kinds/claims.ts';
import type { Field } from '../kinds/field.ts';
import { isModule } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import type { Change } from '../model/change.ts';
import { type Danger, type DangerGroup, sortDangersByGroup } from '../model/danger.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { Plan } from '../model/plan.ts';
import { parseRateLimit } from '../model/stack.ts';
import type { LiveResource } from '../model/state.ts';
import type { Write } from '../model/write.ts';
import type { TouchedResource } from './touched-resources.ts';

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
 * Tracks which properties of resources exist after each write of an apply. The cost depends only on the number of writes.
 * Properties that did not exist before the first write are ignored, because their absence is not a gap.
 */
export class GapTracker {
  /** The addresses of the resources that may lose a property. */
  readonly #addresses: ReadonlySet<string>;
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

  /** `places`: the resources that the plan changes, as they are before the first write. */
  constructor({ writes }: Plan, places: readonly TouchedResource[]) {
    this.#addresses = new Set(writes.filter(canWriteAffectAnyGap).map(({ address }) => address));
    for (const place of places) {
      if (place.like === undefined || !this.#addresses.has(place.address ?? '')) continue;
      const holdings = listHoldings(place, place.like);
      for (const { key } of holdings) this.#before.add(key);
      this.#put(place, holdings);
    }
  }

  /** Whether a write to a resource may change a property. */
  concerns({ like, address = '' }: TouchedResource): boolean {
    return this.#before.size > 0 && (like === undefined || this.#addresses.has(address));
  }

  /** Records a write to a resource. `live`: the resource now, or `undefined` if it does not exist any more. */
  observe(place: TouchedResource, live: LiveResource | undefined): void {
    this.#step += 1;
    const present = live === undefined ? [] : listHoldings(place, live).filter(({ key }) => this.#before.has(key));
    for (const holding of this.#put(place, present)) this.#judge(holding);
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

  /** Replaces the properties of a resource. Returns all properties whose presence this may change. */
  #put({ key: place }: TouchedResource, holdings: readonly Holding[]): readonly Holding[] {
    const old = this.#places.get(place) ?? [];
    if (old.length === holdings.length && old.every(({ key }, at) => key === holdings[at]?.key)) return [];
    for (const [all, step] of [[old, -1] as const, [holdings, 1] as const])
      for (const { key } of all) this.#counts.set(key, (this.#counts.get(key) ?? 0) + step);
    this.#places.set(place, holdings);
    for (const holding of holdings) this.#latest.set(holding.key, holding);
    const touched = new Map([...old, ...holdings].map((holding) => [holding.key, holding]));
    const addresses = new Set([...touched.values()].map(({ address }) => address));
    for (const address of addresses) {
      const everHad = this.#ofAddress.get(address) ?? new Map<string, Holding>();
      for (const holding of holdings) if (holding.address === address) everHad.set(holding.key, holding);
      this.#ofAddress.set(address, everHad);
    }
    return [...addresses].flatMap((address) => [...(this.#ofAddress.get(address)?.values() ?? [])]);
  }
}

function canWriteAffectAnyGap(write: Write): boolean {
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
function listHoldings(place: TouchedResource, live: LiveResource): readonly Holding[] {
  const { kind } = place;
  const { spec } = live;
  const address = findAddress(place, live);
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

/** The address for messages: the address in the plan, else the address in the mark, else the id. */
function findAddress({ kind, id, address }: TouchedResource, { mark }: LiveResource): string {
  return address ?? (mark === undefined ? id : toAddress(kind.name, mark.name));
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
