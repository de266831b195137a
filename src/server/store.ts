import { type Claim, listClaims } from '../kinds/claims.ts';
import type { Kind } from '../kinds/kind.ts';
import { listReferences } from '../kinds/references.ts';
import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { Listing } from './listing.ts';

/** One resource as the server keeps it. For attached kinds `id` is the path of what the modules are attached to. */
export interface StoredResource {
  readonly id: string;
  readonly createdAt: string;
  /** What is set, in the shape that requests have. */
  readonly spec: Spec;
  /** What the kind's behaviour has to remember: a signed certificate, when provisioning began. */
  readonly state: JsonObject;
  readonly deletable: boolean;
}

/** A claim, and the resource that has it. */
export interface Holder {
  readonly claim: Claim;
  readonly id: string;
}

/** A resource that was loaded, and its spec in normal form where that is known. */
interface Loaded {
  readonly kind: Kind;
  readonly resource: StoredResource;
  readonly normal: Spec | undefined;
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
 * Everything that the server holds. The cost of each operation does not depend on the number of resources, but for the first after loading:
 * what was loaded is asked what it holds when somebody wants to know.
 */
export class Store {
  readonly #listings = new Map<string, Listing<StoredResource>>();
  /** By the key of a claim: the id of the resource that has it. Of what was loaded, several may. */
  readonly #holders = new Map<string, Ids>();
  /** By id: the ids of the resources that refer to it. */
  readonly #referrers = new Map<string, Ids>();
  /** By id: what is noted of a resource in the two above. */
  readonly #noted = new Map<string, Noted>();
  /** By kind: what was loaded, and not asked yet what it claims. */
  readonly #unclaimed = new Map<string, Loaded[]>();
  /** What was loaded, and not asked yet to what it refers. */
  readonly #unreferred: Loaded[] = [];

  listingOf(kind: Kind): Listing<StoredResource> {
    const listing = this.#listings.get(kind.name) ?? new Listing<StoredResource>();
    this.#listings.set(kind.name, listing);
    return listing;
  }

  /** Adds a resource whose id is new. `normal`: its spec in normal form, which says as well what it holds. */
  load(kind: Kind, resource: StoredResource, normal?: Spec): void {
    this.listingOf(kind).add(resource);
    const loaded = { kind, resource, normal };
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
      this.#noteClaims(kind, loaded.resource.id, loaded.normal ?? loaded.resource.spec);
    for (const claim of claims)
      for (const holder of toSet(this.#holders.get(claim.key))) if (holder !== id) return { claim, id: holder };
    return undefined;
  }

  /** The resources that refer to an id. */
  listReferrers(id: string): ReadonlySet<string> {
    for (const loaded of this.#takeStaying(this.#unreferred))
      this.#noteReferences(loaded.kind, loaded.resource.id, loaded.normal ?? loaded.resource.spec);
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
