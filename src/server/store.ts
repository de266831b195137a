import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';

/**
 * A map that drops its oldest entry when it has more than `max` entries. The cost of an operation does not depend on
 * the number of entries.
 */
export class EvictingMap<Key, Value> {
  readonly #max: number;
  readonly #entries = new Map<Key, Value>();
  /**
   * An iterator that stays at the oldest entry. A new iterator would first skip all deleted entries, because the engine
   * rarely compacts a Map.
   */
  readonly #oldest = this.#entries.keys();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** Sets a value. If the key exists, its entry does not become newer. */
  set(key: Key, value: Value): void {
    this.#entries.set(key, value);
    if (this.#entries.size <= this.#max) return;
    const first = this.#oldest.next();
    if (first.done !== true) this.#entries.delete(first.value);
  }

  delete(key: Key): void {
    this.#entries.delete(key);
  }
}

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

/** A claim, and the id of the resource that has it. */
interface Holder {
  readonly claim: Claim;
  readonly id: string;
}

/** A loaded resource whose claims or references are not indexed yet. */
interface Loaded {
  readonly kind: Kind;
  readonly resource: StoredResource;
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

const NONE: ReadonlySet<string> = new Set();

/**
 * The index entries of a resource. `claims`: the keys of its claims. `uses`: the ids of the resources that it refers
 * to.
 */
interface Noted {
  readonly claims: readonly string[];
  readonly uses: readonly string[];
}

const NOTHING: Noted = { claims: [], uses: [] };

/**
 * The resources of the server. The cost of an operation does not depend on the number of resources, with one exception:
 * loading does not index claims and references, so the first operation that needs them indexes all loaded resources.
 */
export class Store {
  readonly #listings = new Map<string, PagedList<StoredResource>>();
  /**
   * Maps the key of a claim to the id of the resource that has it. Several loaded resources may have the same claim.
   */
  readonly #holders = new Map<string, Ids>();
  /** Maps an id to the ids of the resources that refer to it. */
  readonly #referrers = new Map<string, Ids>();
  /** Maps the id of a resource to its keys in `#holders` and `#referrers`. */
  readonly #noted = new Map<string, Noted>();
  /** Maps the name of a kind to its loaded resources whose claims are not indexed yet. */
  readonly #unclaimed = new Map<string, Loaded[]>();
  /** Loaded resources whose references are not indexed yet. */
  readonly #unreferred: Loaded[] = [];

  listingOf(kind: Kind): PagedList<StoredResource> {
    const listing = this.#listings.get(kind.name) ?? new PagedList<StoredResource>();
    this.#listings.set(kind.name, listing);
    return listing;
  }

  /** Adds a resource with an unused id. Its claims and references are indexed later. */
  load(kind: Kind, resource: StoredResource): void {
    this.listingOf(kind).add(resource);
    const loaded = { kind, resource };
    const others = this.#unclaimed.get(kind.name);
    if (others === undefined) this.#unclaimed.set(kind.name, [loaded]);
    else others.push(loaded);
    this.#unreferred.push(loaded);
  }

  /** Adds a resource, or replaces the resource with the same id. */
  put(kind: Kind, resource: StoredResource): void {
    const listing = this.listingOf(kind);
    const before = listing.find(resource.id);
    if (before === undefined) listing.add(resource);
    else listing.replace(resource);
    this.#noteClaims(kind, resource.id, resource.spec);
    this.#noteReferences(kind, resource.id, resource.spec);
  }

  remove(kind: Kind, resource: StoredResource): void {
    this.#forget(resource.id);
    this.listingOf(kind).remove(resource.id);
  }

  /** Finds a resource, other than the resource `id`, that already uses a value of this spec that must be unique. */
  findHolder(kind: Kind, spec: Spec, id: string): Holder | undefined {
    const claims = listOwnedClaims(kind, spec);
    if (claims.length === 0) return undefined;
    for (const loaded of this.#takeCurrent(this.#unclaimed.get(kind.name)))
      this.#noteClaims(kind, loaded.resource.id, loaded.resource.spec);
    for (const claim of claims)
      for (const holder of toSet(this.#holders.get(claim.key))) if (holder !== id) return { claim, id: holder };
    return undefined;
  }

  listReferrers(id: string): ReadonlySet<string> {
    for (const loaded of this.#takeCurrent(this.#unreferred))
      this.#noteReferences(loaded.kind, loaded.resource.id, loaded.resource.spec);
    return toSet(this.#referrers.get(id));
  }

  /**
   * Empties the list `loaded`, and returns the resources that are still in the store. Skips replaced resources, because
   * `put` has already indexed the new ones.
   */
  #takeCurrent(loaded: Loaded[] = []): readonly Loaded[] {
    return loaded.splice(0).filter(({ kind, resource }) => this.listingOf(kind).find(resource.id) === resource);
  }

  #noteClaims(kind: Kind, id: string, spec: Spec): void {
    const claims = listOwnedClaims(kind, spec).map(({ key }) => key);
    const { claims: before, uses } = this.#noted.get(id) ?? NOTHING;
    moveTo(this.#holders, id, { before, after: claims });
    this.#noted.set(id, { claims, uses });
  }

  #noteReferences(kind: Kind, id: string, spec: Spec): void {
    const uses = listReferences(kind, spec).flatMap(({ value }) => (findKindOfId(value) === undefined ? [] : [value]));
    const { claims, uses: before } = this.#noted.get(id) ?? NOTHING;
    moveTo(this.#referrers, id, { before, after: uses });
    this.#noted.set(id, { claims, uses });
  }

  #forget(id: string): void {
    const { claims, uses } = this.#noted.get(id) ?? NOTHING;
    moveTo(this.#holders, id, { before: claims, after: [] });
    moveTo(this.#referrers, id, { before: uses, after: [] });
    this.#noted.delete(id);
  }
}

/** A set of ids. Most sets have one member, so a single id is stored without a Set to save memory. */
type Ids = string | Set<string>;

function toSet(ids: Ids | undefined): ReadonlySet<string> {
  if (ids === undefined) return NONE;
  return typeof ids === 'string' ? new Set([ids]) : ids;
}

/**
 * Removes an id from the sets with the keys `before`, and adds it to the sets with the keys `after`. Does not touch a
 * set whose key is in both lists: if a key of a Map is deleted and set again, the deleted entry makes the next look-up
 * slower.
 */
function moveTo(
  sets: Map<string, Ids>,
  id: string,
  { before, after }: { readonly before: readonly string[]; readonly after: readonly string[] },
): void {
  const left = new Set(before);
  for (const key of after) if (!left.delete(key)) addTo(sets, key, id);
  for (const key of left) removeFrom(sets, key, id);
}

function addTo(sets: Map<string, Ids>, key: string, id: string): void {
  const known = sets.get(key);
  if (known === undefined || known === id) sets.set(key, id);
  else if (typeof known === 'string') sets.set(key, new Set([known, id]));
  else known.add(id);
}

function removeFrom(sets: Map<string, Ids>, key: string, id: string): void {
  const known = sets.get(key);
  if (known === undefined) return;
  if (typeof known !== 'string') known.delete(id);
  if (known === id || (typeof known !== 'string' && known.size === 0)) sets.delete(key);
}

interface HasId {
  readonly id: string;
}

/** A position in the list. The entry of a removed value keeps its link to the next older entry. */
interface Entry<T extends HasId> {
  /** `undefined` if the value was removed. */
  value: T | undefined;
  older: Entry<T> | undefined;
  newer: Entry<T> | undefined;
}

/**
 * The list remembers the positions of at most this many removed values: more than a client deletes while it reads a
 * list, and a few megabytes.
 */
const MAX_TOMBSTONES = 100_000;

/**
 * Values in the order in which they were added. They are found by id, and listed newest first. The cost of adding,
 * changing and removing does not depend on the number of values. The cost of a page depends only on its size. The list
 * remembers the positions of the last removed values, so that a client can continue paging after such a value. For an
 * unknown id, paging continues by the order of ids, which sort by creation time.
 */
export class PagedList<T extends HasId> {
  #newest: Entry<T> | undefined;
  /** Maps an id to its entry, in the order in which values were added. */
  readonly #byId = new Map<string, Entry<T>>();
  /** Maps the id of a removed value to its entry. */
  readonly #gone = new EvictingMap<string, Entry<T>>(MAX_TOMBSTONES);

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Whether the position of the id is known: a value with this id is in the list, or was removed recently. */
  canPageFrom(id: string): boolean {
    return this.#byId.has(id) || this.#gone.get(id) !== undefined;
  }

  add(value: T): void {
    const entry: Entry<T> = { value, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
    this.#byId.set(value.id, entry);
    this.#gone.delete(value.id);
  }

  replace(value: T): void {
    const entry = this.#byId.get(value.id);
    if (entry !== undefined) entry.value = value;
  }

  remove(id: string): void {
    const entry = this.#byId.get(id);
    if (entry === undefined) return;
    const { older, newer } = entry;
    if (newer === undefined) this.#newest = older;
    else newer.older = older;
    if (older !== undefined) older.newer = newer;
    entry.value = undefined;
    entry.newer = undefined;
    this.#byId.delete(id);
    this.#gone.set(id, entry);
  }

  /**
   * Lists at most `limit` values that were added before the value with the id `before`, newest first. If `before` is
   * `undefined`, starts with the newest value. If the position of the id is unknown, lists values with smaller ids.
   */
  listBefore(before: string | undefined, limit: number): readonly T[] {
    const page: T[] = [];
    let entry = before === undefined ? this.#newest : this.#findOlder(before);
    for (; entry?.value !== undefined && page.length < limit; entry = entry.older) page.push(entry.value);
    return page;
  }

  /** Lists all values, oldest first. */
  listAll(): readonly T[] {
    return Array.from(this.#byId.values(), ({ value }) => value).filter((value) => value !== undefined);
  }

  #findOlder(id: string): Entry<T> | undefined {
    const entry = this.#byId.get(id) ?? this.#gone.get(id);
    if (entry === undefined) return this.#findBelow(id);
    let older: Entry<T> | undefined = entry.older;
    while (older !== undefined && older.value === undefined) older = older.older;
    // Path compression: link removed entries directly to the result, so that the next search is shorter.
    for (let one: Entry<T> | undefined = entry; one !== undefined && one.value === undefined && one.older !== older; ) {
      const next: Entry<T> | undefined = one.older;
      one.older = older;
      one = next;
    }
    return older;
  }

  /** Searches the whole list. Needed only for an id of another account, or an id that was removed before a restart. */
  #findBelow(id: string): Entry<T> | undefined {
    let entry = this.#newest;
    while (entry?.value !== undefined && entry.value.id >= id) entry = entry.older;
    return entry;
  }
}

/** Formats a time as RFC 3339 in UTC and whole seconds, like the API. */
export function toTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
