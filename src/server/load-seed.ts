import { isIdOf } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import { listPathFields } from '../kinds/paths.ts';
import { findKind, KINDS } from '../kinds/tables/registry.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { type ApiKey, DEFAULT_USER_ID } from './api-key.ts';
import { getBehaviour } from './behaviours.ts';
import { Failure } from './failure.ts';
import { createAttachment } from './module-handlers.ts';
import type { SeedResource, ServerSeed } from './seed.ts';
import { checkClaims, listBadReferences, type Service, toTools } from './service.ts';
import type { StoredResource } from './store.ts';
import { toTimestamp } from './timestamp.ts';
import { checkSpec, validateCreate } from './validate-body.ts';

/** A resource of a seed, and where it stands there. */
interface Placed {
  readonly place: string;
  readonly kind: Kind;
  readonly resource: SeedResource;
  readonly created: Date;
}

/** A resource of a seed, ready for the store but for what else the seed holds. */
interface Draft extends Placed {
  readonly stored: StoredResource;
}

/**
 * Puts the resources of a seed into an empty store, oldest first. Throws `RangeError`, naming each with its place, on those that the server
 * would not have taken.
 */
export function loadSeed(service: Service, { resources = {} }: ServerSeed): void {
  const mistakes = new Mistakes();
  const placed = Object.entries(resources).flatMap(([name, members]) =>
    placeResources(name, members, { mistakes, now: service.now }),
  );
  const oldestFirst = placed.toSorted((left, right) => left.created.getTime() - right.created.getTime());
  const drafts = oldestFirst.flatMap((one) => mistakes.collect(one.place, () => toDraft(service, one)) ?? []);
  const admitted = new Set(drafts.filter((draft) => admit(service, draft, mistakes)).map(({ place }) => place));
  const refused = new Set(placed.filter(({ place }) => !admitted.has(place)).map(({ resource }) => resource['id']));
  for (const { place, kind, stored } of drafts)
    for (const { id, message } of listBadReferences(service, kind, stored.spec))
      if (!refused.has(id)) mistakes.add(place, message);
  mistakes.refuse();
}

/** The number of mistakes that are reported; the others are only counted. */
const MAX_TOLD = 100;

/** What is wrong with a seed. */
class Mistakes {
  readonly #messages: string[] = [];
  #count = 0;

  add(place: string, message: string): void {
    this.#count += 1;
    if (this.#count <= MAX_TOLD) this.#messages.push(`${place}: ${message}`);
  }

  /** What an act returns; nothing when it fails, which is then a mistake at this place. */
  collect<T>(place: string, act: () => T): T | undefined {
    try {
      return act();
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      this.add(place, error.message);
      return undefined;
    }
  }

  refuse(): void {
    const more = this.#count - this.#messages.length;
    const rest = more > 0 ? [`and ${more.toLocaleString('en')} more mistakes`] : [];
    if (this.#count > 0) throw new RangeError([...this.#messages, ...rest].join('\n'));
  }
}

/** The resources of a store as a seed has them: the inverse of loading. */
export function toSeedResources({ store }: Service): Readonly<Record<string, readonly SeedResource[]>> {
  const entries = KINDS.map((kind) => {
    const resources = store.listingOf(kind).listAll();
    return [kind.name, resources.map((resource) => toSeedResource(kind, resource))] as const;
  });
  return Object.fromEntries(entries);
}

function placeResources(
  name: string,
  members: readonly SeedResource[],
  { mistakes, now }: { readonly mistakes: Mistakes; readonly now: () => Date },
): readonly Placed[] {
  const kind = findKind(name);
  if (kind === undefined) {
    mistakes.add(`resources.${name}`, 'is not a known kind');
    return [];
  }
  return members.flatMap((resource, index) => {
    const place = `resources.${name}[${index}]`;
    const created = mistakes.collect(place, () => toCreated(resource, now));
    return created === undefined ? [] : [{ place, kind, resource, created }];
  });
}

function toCreated({ created_at: createdAt }: SeedResource, now: () => Date): Date {
  if (createdAt === undefined) return now();
  const created = new Date(String(createdAt));
  if (Number.isNaN(created.getTime())) throw refuse('created_at is not a time');
  return created;
}

function toDraft(service: Service, placed: Placed): Draft {
  const isAttached = placed.kind.role === 'attached';
  return { ...placed, stored: isAttached ? draftAttachment(service, placed) : draftOwned(service, placed) };
}

function draftAttachment(service: Service, { kind, resource }: Placed): StoredResource {
  const spec = validateCreate(kind, resource);
  const ids = listPathFields(kind).map((name) => [name, String(spec[name])] as const);
  return { ...createAttachment(service, kind, Object.fromEntries(ids)), spec };
}

function draftOwned(service: Service, { kind, resource, created }: Placed): StoredResource {
  const { id, created_at: _createdAt, deletable, state, ...fields } = resource;
  const asked = validateCreate(kind, fields);
  const spec = getBehaviour(kind).complete?.(asked, OWNER, created) ?? asked;
  checkSpec(kind, spec);
  return {
    id: id === undefined ? service.identities.createId(kind.idPrefix, created) : String(id),
    createdAt: toTimestamp(created),
    spec,
    state: isJsonObject(state) ? state : {},
    deletable: deletable !== false,
  };
}

/** Puts a draft into the store. Whether nothing was wrong with it. */
function admit(service: Service, { place, kind, resource, created, stored }: Draft, mistakes: Mistakes): boolean {
  const checks = [
    () => checkId(kind, stored.id),
    () => refuseTwice(service, kind, stored.id),
    () => checkClaims(service, kind, stored),
  ];
  const passed = checks.filter((check) => mistakes.collect(place, () => check() ?? true) === true);
  if (passed.length < checks.length) return false;
  const remember = isJsonObject(resource['state']) ? undefined : getBehaviour(kind).remember;
  const state = remember?.(stored, undefined, { ...toTools(service), now: created }) ?? stored.state;
  service.store.put(kind, { ...stored, state });
  return true;
}

/** Who made what a seed holds. */
const OWNER: ApiKey = { key: '', userId: DEFAULT_USER_ID, isAdmin: true, mayReportAbuse: true };

function checkId(kind: Kind, id: string): void {
  if (kind.role === 'attached' || isIdOf({ prefixes: [kind.idPrefix] }, id)) return;
  throw refuse(`id ${id} is not an id ${kind.idPrefix}_…`);
}

function refuseTwice(service: Service, kind: Kind, id: string): void {
  if (service.store.listingOf(kind).find(id) !== undefined) throw refuse(`${id} appears twice`);
}

function refuse(message: string): Failure {
  return new Failure(message, { code: 'invalid_field' });
}

function toSeedResource(kind: Kind, { id, createdAt, spec, state, deletable }: StoredResource): JsonObject {
  if (kind.role === 'attached') return spec;
  return { id, created_at: createdAt, ...spec, state, ...(!deletable && { deletable }) };
}
