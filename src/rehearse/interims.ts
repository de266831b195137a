import { listClaims } from '../kinds/claims.ts';
import type { Field } from '../kinds/field.ts';
import { isModule, type Kind, listSpecFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { LiveResource } from '../model/state.ts';
import type { Write } from '../model/write.ts';

/** Something that holds before and after an apply but not for a while in between. */
export interface Interim {
  /** The resource that it is about; of a value that changes hands, the one that has it in the end. */
  readonly address: string;
  /** What is missing meanwhile: `backend`, `hostports 1.tcp.example.net:20001`. */
  readonly what: string;
  /** Nobody has it; false: the resource, or the value of `subject`, is there without it. */
  readonly isValue: boolean;
  /** The unique value that is there without it, whoever has that: `hostports 1.tcp.example.net:20001`. */
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
 * Watches what is there after each write of an apply. A place is one resource by its id. Costs what the writes touch; what was not there before the
 * first write cannot be missed, and nothing is kept of it.
 */
export class InterimWatch {
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
  readonly #found = new Map<string, Interim>();
  #step = 0;

  /** What a place holds before the first write. */
  begin(place: string, holder: Holder): void {
    const held = listHoldings(holder);
    for (const { key } of held) this.#before.add(key);
    this.#put(place, held);
  }

  /** Whether anything was there before the first write. */
  isWatching(): boolean {
    return this.#before.size > 0;
  }

  /** What a place holds after a write; nothing: it is gone. */
  observe(place: string, holder: Holder | undefined): void {
    this.#step += 1;
    const held = holder === undefined ? [] : listHoldings(holder).filter(({ key }) => this.#before.has(key));
    for (const holding of this.#put(place, held)) this.#judge(holding);
  }

  /** A write after which every place holds what it held. */
  pass(): void {
    this.#step += 1;
  }

  /** What was missing for a while and came back. What a resource is without, its values are without too. */
  list(): readonly Interim[] {
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
export interface Holder {
  readonly kind: Kind;
  readonly address: string;
  readonly resource: LiveResource;
}

/** Whether something that can be missing may come or go with a write. */
export function mayMove(write: Write): boolean {
  if (write.act !== 'update' && write.act !== 'adopt') return true;
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
function listHoldings({ kind, address, resource: { spec } }: Holder): readonly Holding[] {
  const claims = kind.role === 'owned' ? listClaims(kind, spec) : [];
  const values = claims.map(({ key, field, given }) => ({
    key,
    address,
    what: `${field} ${given}`,
    isValue: true,
    of: key,
  }));
  const fields = listSpecFields(kind).flatMap(([what, field]) => {
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
