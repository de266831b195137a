import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';

/** A map of at most `max` entries: the oldest is dropped first. The cost of each operation does not depend on their number. */
export class BoundedMap<Key, Value> {
  readonly #max: number;
  readonly #entries = new Map<Key, Value>();
  /** Points before the oldest entry. A new iterator would pass all entries deleted before it, since a Map is compacted only now and then. */
  readonly #oldest = this.#entries.keys();

  constructor(max: number) {
    this.#max = max;
  }

  get(key: Key): Value | undefined {
    return this.#entries.get(key);
  }

  /** A key that is there keeps its place. */
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

/** One resource as the server keeps it. For attached kinds `id` is the path of what the modules are attached to. */
export interface StoredResource {
  readonly id: string;
  readonly createdAt: string;
  /** The set fields, in the shape of requests. */
  readonly spec: Spec;
  /** What the kind's behaviour has to remember: a signed certificate, when provisioning began. */
  readonly state: JsonObject;
  readonly deletable: boolean;
}

/** A claim, and the resource that has it. */
interface Holder {
  readonly claim: Claim;
  readonly id: string;
}

/** A resource that was loaded. */
interface Loaded {
  readonly kind: Kind;
  readonly resource: StoredResource;
}

/** A reference to something of these prefixes is to something that lives in the store. */
const OWNED_BY_PREFIX = new Map(OWNED_KINDS.map((kind) => [kind.idPrefix, kind]));

/** The kind of an id that this interface can create. */
export function findOwnedKind(id: string): Kind | undefined {
  return OWNED_BY_PREFIX.get(id.slice(0, id.indexOf('_')));
}

/** Values that only one resource can have. Attached kinds have none here: that only one document attaches to a resource is a rule for manifests. */
function listHeld(kind: Kind, spec: Spec): readonly Claim[] {
  return kind.role === 'owned' ? listClaims(kind, spec) : [];
}

const NONE: ReadonlySet<string> = new Set();

/** What a resource is known to hold: the keys of its claims, and the ids of the resources that it uses. */
interface Noted {
  readonly claims: readonly string[];
  readonly uses: readonly string[];
}

const NOTHING: Noted = { claims: [], uses: [] };

/**
 * The resources of the server. The cost of each operation does not depend on their number, except for the first after loading: claims and references of
 * loaded resources are collected when they are first needed.
 */
export class Store {
  readonly #listings = new Map<string, PagedList<StoredResource>>();
  /** By the key of a claim: the id of the resource that has it. Of what was loaded, several may. */
  readonly #holders = new Map<string, Ids>();
  /** By id: the ids of the resources that refer to it. */
  readonly #referrers = new Map<string, Ids>();
  /** By id: the entries of a resource in the two maps above. */
  readonly #noted = new Map<string, Noted>();
  /** By kind: what was loaded, and not asked yet what it claims. */
  readonly #unclaimed = new Map<string, Loaded[]>();
  /** What was loaded, and not asked yet to what it refers. */
  readonly #unreferred: Loaded[] = [];

  listingOf(kind: Kind): PagedList<StoredResource> {
    const listing = this.#listings.get(kind.name) ?? new PagedList<StoredResource>();
    this.#listings.set(kind.name, listing);
    return listing;
  }

  /** Adds a resource whose id is new. */
  load(kind: Kind, resource: StoredResource): void {
    this.listingOf(kind).add(resource);
    const loaded = { kind, resource };
    const others = this.#unclaimed.get(kind.name);
    if (others === undefined) this.#unclaimed.set(kind.name, [loaded]);
    else others.push(loaded);
    this.#unreferred.push(loaded);
  }

  /** Adds a resource, or puts it in the place of the one with its id. */
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

  /** Other resources that already have a value that this spec claims. */
  findHolder(kind: Kind, spec: Spec, id: string): Holder | undefined {
    const claims = listHeld(kind, spec);
    if (claims.length === 0) return undefined;
    for (const loaded of this.#takeStaying(this.#unclaimed.get(kind.name)))
      this.#noteClaims(kind, loaded.resource.id, loaded.resource.spec);
    for (const claim of claims)
      for (const holder of toSet(this.#holders.get(claim.key))) if (holder !== id) return { claim, id: holder };
    return undefined;
  }

  /** The resources that refer to an id. */
  listReferrers(id: string): ReadonlySet<string> {
    for (const loaded of this.#takeStaying(this.#unreferred))
      this.#noteReferences(loaded.kind, loaded.resource.id, loaded.resource.spec);
    return toSet(this.#referrers.get(id));
  }

  /** Empties a list of what was loaded. What was put in the place of a loaded resource has said itself what it holds. */
  #takeStaying(loaded: Loaded[] = []): readonly Loaded[] {
    return loaded.splice(0).filter(({ kind, resource }) => this.listingOf(kind).find(resource.id) === resource);
  }

  #noteClaims(kind: Kind, id: string, spec: Spec): void {
    const claims = listHeld(kind, spec).map(({ key }) => key);
    const { claims: before, uses } = this.#noted.get(id) ?? NOTHING;
    moveTo(this.#holders, id, { before, after: claims });
    this.#noted.set(id, { claims, uses });
  }

  #noteReferences(kind: Kind, id: string, spec: Spec): void {
    const uses = listReferences(kind, spec).flatMap(({ value }) => (findOwnedKind(value) === undefined ? [] : [value]));
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

/** Most sets of ids have one member: that takes no set. */
type Ids = string | Set<string>;

function toSet(ids: Ids | undefined): ReadonlySet<string> {
  if (ids === undefined) return NONE;
  return typeof ids === 'string' ? new Set([ids]) : ids;
}

/**
 * Takes an id out of the sets in which it no longer is, and puts it into those in which it now is. The others are not touched: a key
 * that is deleted and set again leaves something behind in a Map, which makes the next search for it longer.
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

/** A listed value: anything with an id. */
interface HasId {
  readonly id: string;
}

/** A place in the list. What was removed keeps its way to what was older. */
interface Entry<T extends HasId> {
  /** `undefined`: removed. */
  value: T | undefined;
  older: Entry<T> | undefined;
  newer: Entry<T> | undefined;
}

/** The number of removed places that are remembered. */
const MAX_TOMBSTONES = 100_000;

/**
 * Values in the order in which they were added, found by id and listed newest first. The cost of adding, changing and removing does not depend on their
 * number, that of a page only on its size. The positions of the last removed values are remembered, so that paging continues there. For an unknown id, paging
 * continues by the order of ids, which sort by creation time.
 */
export class PagedList<T extends HasId> {
  #newest: Entry<T> | undefined;
  /** The oldest first. */
  readonly #byId = new Map<string, Entry<T>>();
  /** By id: the positions of removed values. */
  readonly #gone = new BoundedMap<string, Entry<T>>(MAX_TOMBSTONES);

  find(id: string): T | undefined {
    return this.#byId.get(id)?.value;
  }

  /** Whether the id has a place: it is listed, or was removed only recently. */
  knows(id: string): boolean {
    return this.#byId.has(id) || this.#gone.get(id) !== undefined;
  }

  add(value: T): void {
    const entry: Entry<T> = { value, older: this.#newest, newer: undefined };
    if (this.#newest !== undefined) this.#newest.newer = entry;
    this.#newest = entry;
    this.#byId.set(value.id, entry);
    this.#gone.delete(value.id);
  }

  /** Puts a value in the place of the one with its id, if there is one. */
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

  /** At most `limit` values that were added before the one with the id `before`, newest first; by the order of ids if it has no place. */
  listBefore(before: string | undefined, limit: number): readonly T[] {
    const page: T[] = [];
    let entry = before === undefined ? this.#newest : this.#findOlder(before);
    for (; entry?.value !== undefined && page.length < limit; entry = entry.older) page.push(entry.value);
    return page;
  }

  /** All of them, oldest first. */
  listAll(): readonly T[] {
    return Array.from(this.#byId.values(), ({ value }) => value).filter((value) => value !== undefined);
  }

  #findOlder(id: string): Entry<T> | undefined {
    const entry = this.#byId.get(id) ?? this.#gone.get(id);
    if (entry === undefined) return this.#findBelow(id);
    let older: Entry<T> | undefined = entry.older;
    while (older !== undefined && older.value === undefined) older = older.older;
    // Who asks again need not go the same way again.
    for (let one: Entry<T> | undefined = entry; one !== undefined && one.value === undefined && one.older !== older; ) {
      const next: Entry<T> | undefined = one.older;
      one.older = older;
      one = next;
    }
    return older;
  }

  /** Searches the whole list: such an id comes from another account, or from before a restart. */
  #findBelow(id: string): Entry<T> | undefined {
    let entry = this.#newest;
    while (entry?.value !== undefined && entry.value.id >= id) entry = entry.older;
    return entry;
  }
}

/** RFC 3339 in UTC and whole seconds, as the interface shows times. */
export function formatTimestamp(time: Date | number): string {
  return `${new Date(time).toISOString().slice(0, 19)}Z`;
}
