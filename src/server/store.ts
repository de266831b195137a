import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';

/** A resource in the store. For an attached kind, `id` is the path of the resource that the modules are attached to. */
export interface StoredResource {
  readonly id: string;
  readonly createdAt: string;
  /** The fields that are set, in the format of requests. */
  readonly spec: Spec;
  /** Data that only the kind's behaviour uses, such as a signed certificate or the time when provisioning began. */
  readonly state: JsonObject;
  readonly deletable: boolean;
}

/**
 * A change of an account, in the form of a seed: what is new, and what is gone. `removed`: by kind, the ids in the path of
 * each resource that is gone.
 */
export interface ServerChange {
  readonly resources?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly removed?: Readonly<Record<string, readonly JsonObject[]>>;
  readonly certificate_authorities?: Readonly<Record<string, string>>;
  readonly sequence?: number;
}

/** Returns a stored resource in the format of a seed. */
export function toSeedResource(kind: Kind, { id, createdAt, spec, state, deletable }: StoredResource): JsonObject {
  if (kind.role === 'attached') return spec;
  return { id, created_at: createdAt, ...spec, state, ...(!deletable && { deletable }) };
}

/** A claim, and the id of the resource that has it. */
interface Holder {
  readonly claim: Claim;
  readonly id: string;
}

/** Maps the id prefix of a kind to the kind. The store contains only resources with these prefixes. */
const OWNED_BY_PREFIX = new Map(OWNED_KINDS.map((kind) => [kind.idPrefix, kind]));

/** Returns the kind of an id. `undefined` if the API cannot create resources with the prefix of this id. */
export function findKindOfId(id: string): Kind | undefined {
  return OWNED_BY_PREFIX.get(id.slice(0, id.indexOf('_')));
}

/**
 * Lists the values of a spec that must be unique at the service. Empty for attached kinds, whose ids must be unique
 * only among manifests.
 */
function listOwnedClaims(kind: Kind, spec: Spec): readonly Claim[] {
  return kind.role === 'owned' ? listClaims(kind, spec) : [];
}

/**
 * The index entries of a resource. `claims`: the keys of its claims. `uses`: the ids of the resources that it refers
 * to.
 */
interface Noted {
  readonly claims: readonly string[];
  readonly uses: readonly string[];
}

/** The resources of the server. The cost of finding a resource does not depend on the number of resources. */
export class Store {
  readonly #listings = new Map<string, SortedList<StoredResource>>();
  /**
   * Maps the key of a claim to the id of the resource that has it. Several loaded resources may have the same claim.
   */
  readonly #holders = new Map<string, Set<string>>();
  /** Maps an id to the ids of the resources that refer to it. */
  readonly #referrers = new Map<string, Set<string>>();
  /** Maps the id of a resource to its keys in `#holders` and `#referrers`. */
  readonly #noted = new Map<string, Noted>();

  listingOf(kind: Kind): SortedList<StoredResource> {
    const listing = this.#listings.get(kind.name) ?? new SortedList<StoredResource>();
    this.#listings.set(kind.name, listing);
    return listing;
  }

  /** Adds a resource, or replaces the resource with the same id. */
  put(kind: Kind, resource: StoredResource): void {
    this.listingOf(kind).put(resource);
    this.#forget(resource.id);
    this.#note(resource.id, {
      claims: listOwnedClaims(kind, resource.spec).map(({ key }) => key),
      uses: listReferences(kind, resource.spec).flatMap(({ value }) =>
        findKindOfId(value) === undefined ? [] : [value],
      ),
    });
  }

  remove(kind: Kind, resource: StoredResource): void {
    this.#forget(resource.id);
    this.listingOf(kind).remove(resource.id);
  }

  /** Finds a resource, other than the resource `id`, that already uses a value of this spec that must be unique. */
  findHolder(kind: Kind, spec: Spec, id: string): Holder | undefined {
    for (const claim of listOwnedClaims(kind, spec))
      for (const holder of this.#holders.get(claim.key) ?? []) if (holder !== id) return { claim, id: holder };
    return undefined;
  }

  listReferrers(id: string): ReadonlySet<string> {
    return this.#referrers.get(id) ?? new Set();
  }

  #note(id: string, noted: Noted): void {
    for (const key of noted.claims) addTo(this.#holders, key, id);
    for (const used of noted.uses) addTo(this.#referrers, used, id);
    this.#noted.set(id, noted);
  }

  #forget(id: string): void {
    const noted = this.#noted.get(id);
    for (const key of noted?.claims ?? []) removeFrom(this.#holders, key, id);
    for (const used of noted?.uses ?? []) removeFrom(this.#referrers, used, id);
    this.#noted.delete(id);
  }
}

function addTo(sets: Map<string, Set<string>>, key: string, id: string): void {
  const known = sets.get(key);
  if (known === undefined) sets.set(key, new Set([id]));
  else known.add(id);
}

function removeFrom(sets: Map<string, Set<string>>, key: string, id: string): void {
  const known = sets.get(key);
  known?.delete(id);
  if (known?.size === 0) sets.delete(key);
}

/**
 * Values in the order of their ids, which sort by creation time. So the values that come after an id are known for
 * every id: also for one that was removed, and for one that was never there.
 */
export class SortedList<T extends { readonly id: string }> {
  readonly #values: T[] = [];

  find(id: string): T | undefined {
    const value = this.#values[this.#countBefore(id)];
    return value?.id === id ? value : undefined;
  }

  /** Adds a value, or replaces the value with the same id. */
  put(value: T): void {
    const index = this.#countBefore(value.id);
    this.#values.splice(index, this.#values[index]?.id === value.id ? 1 : 0, value);
  }

  remove(id: string): void {
    const index = this.#countBefore(id);
    if (this.#values[index]?.id === id) this.#values.splice(index, 1);
  }

  /** Lists at most `limit` values with ids below `before`, newest first. `undefined`: starts with the newest value. */
  listBefore(before: string | undefined, limit: number): readonly T[] {
    const end = before === undefined ? this.#values.length : this.#countBefore(before);
    return this.#values.slice(Math.max(0, end - limit), end).reverse();
  }

  /** Lists all values, oldest first. */
  listAll(): readonly T[] {
    return this.#values;
  }

  /** The number of values with smaller ids: the index of the value with this id, if there is one. */
  #countBefore(id: string): number {
    let [low, high] = [0, this.#values.length];
    while (low < high) {
      const middle = (low + high) >> 1;
      if (isBefore(this.#values[middle], id)) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function isBefore(value: { readonly id: string } | undefined, id: string): boolean {
  return value !== undefined && value.id < id;
}

/** Formats a time as RFC 3339 in UTC and whole seconds, like the API. */
export function toTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
