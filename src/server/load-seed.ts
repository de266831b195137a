import { idOf } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { hasPrefixOf } from '../kinds/references.ts';
import { findKind, KINDS } from '../kinds/registry.ts';
import { isJsonObject, type JsonObject } from '../model/json.ts';
import { type ApiKey, DEFAULT_USER_ID } from './api-key.ts';
import { getBehaviour } from './behaviours.ts';
import { Failure } from './failure.ts';
import { createAttachment } from './module-handlers.ts';
import type { SeedResource, ServerSeed } from './seed.ts';
import { checkClaims, checkReferences, type Service, toTools } from './service.ts';
import type { StoredResource } from './store.ts';
import { toTimestamp } from './timestamp.ts';
import { checkSpec, validateCreate } from './validate-body.ts';

/** A resource of a seed, and where it stands there. */
interface Placed {
  readonly place: string;
  readonly kind: Kind;
  readonly resource: SeedResource;
}

/** Puts the resources of a seed into an empty store. Throws `RangeError`, naming the place, on one that the server would not have taken. */
export function loadSeed(service: Service, { resources = {} }: ServerSeed): void {
  const placed = Object.entries(resources).flatMap(([name, members]) => placeResources(name, members));
  const stored = placed.map(({ place, kind, resource }) => at(place, () => load(service, kind, resource)));
  for (const [index, { place, kind }] of placed.entries())
    at(place, () => checkReferences(service, kind, stored[index]?.spec ?? {}));
}

/** The resources of a store as a seed has them: the inverse of loading. */
export function toSeedResources({ store }: Service): Readonly<Record<string, readonly SeedResource[]>> {
  const entries = KINDS.map((kind) => {
    const resources = store.listingOf(kind).listAll();
    return [kind.name, resources.map((resource) => toSeedResource(kind, resource))] as const;
  });
  return Object.fromEntries(entries);
}

function placeResources(name: string, members: readonly SeedResource[]): readonly Placed[] {
  const kind = findKind(name);
  if (kind === undefined) throw new RangeError(`resources.${name}: there is no such kind`);
  return members.map((resource, index) => ({ place: `resources.${name}[${index}]`, kind, resource }));
}

function at<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (error instanceof Failure) throw new RangeError(`${place}: ${error.message}`, { cause: error });
    throw error;
  }
}

function load(service: Service, kind: Kind, resource: SeedResource): StoredResource {
  const loaded =
    kind.role === 'attached' ? loadAttachment(service, kind, resource) : loadOwned(service, kind, resource);
  if (service.store.listingOf(kind).find(loaded.id) !== undefined) throw refuse(`${loaded.id} stands there twice`);
  service.store.put(kind, loaded);
  return loaded;
}

function loadAttachment(service: Service, kind: Kind, resource: SeedResource): StoredResource {
  const spec = validateCreate(kind, resource);
  const isModule = (name: string): boolean => kind.fields[name]?.hasPath === true;
  const ids = Object.entries(spec).filter(([name]) => !isModule(name));
  return { ...createAttachment(service, kind, Object.fromEntries(ids.map(([name, id]) => [name, String(id)]))), spec };
}

function loadOwned(service: Service, kind: Kind, resource: SeedResource): StoredResource {
  const { id, created_at: createdAt, deletable, state, ...fields } = resource;
  const behaviour = getBehaviour(kind);
  const created = typeof createdAt === 'string' ? new Date(createdAt) : service.now();
  const asked = validateCreate(kind, fields);
  const spec = behaviour.complete?.(asked, OWNER, created) ?? asked;
  checkSpec(kind, spec);
  const draft = {
    id: id === undefined ? service.identities.createId(kind.idPrefix, created) : checkId(kind, String(id)),
    createdAt: toTimestamp(created),
    spec,
    state: isJsonObject(state) ? state : {},
    deletable: deletable !== false,
  };
  checkClaims(service, kind, draft);
  if (isJsonObject(state)) return draft;
  return { ...draft, state: behaviour.remember?.(draft, undefined, { ...toTools(service), now: created }) ?? {} };
}

/** Who made what a seed holds. */
const OWNER: ApiKey = { key: '', userId: DEFAULT_USER_ID, isAdmin: true, mayReportAbuse: true };

function checkId(kind: Kind, id: string): string {
  if (hasPrefixOf(idOf(kind.idPrefix), id)) return id;
  throw refuse(`id ${id} is not an id ${kind.idPrefix}_…`);
}

function refuse(message: string): Failure {
  return new Failure(message, { code: 'invalid_field' });
}

function toSeedResource(kind: Kind, { id, createdAt, spec, state, deletable }: StoredResource): JsonObject {
  if (kind.role === 'attached') return spec;
  return { id, created_at: createdAt, ...spec, state, ...(!deletable && { deletable }) };
}
