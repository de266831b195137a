import type { Kind } from '../kinds/kind.ts';
import { getPathIdsOfResource, isIdOf, listPathIdNamesOfKind } from '../kinds/paths.ts';
import { findKind, getKind, KINDS } from '../kinds/tables/registry.ts';
import { assertJsonObject, isJsonObject, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { type ApiKey, DEFAULT_USER_ID } from './admission.ts';
import { type AbuseReportRule, getBehaviour } from './behaviours.ts';
import { RequestError } from './failure.ts';
import { createStoredAttachedResource } from './handlers.ts';
import { createBehaviourContext, refuseBadReferences, refuseClaimedValues, type Service } from './service.ts';
import { type StoredResource, toSeedResource, toTimestamp } from './store.ts';
import { parseCreateBody, refuseCrossFieldViolations } from './validate-body.ts';

/** The initial content of a server: existing resources and known external ids. Every part is optional. */
export interface ServerSeed {
  /**
   * Ids that exist in addition to the ids of the seed's resources. `bkdhr_*` means every well-formed id with that
   * prefix. Absent: every well-formed id of a kind that this API cannot create.
   */
  readonly externals?: readonly string[];
  /**
   * Maps the name of a kind to its resources, in any order. A list of the API has them in the order of their ids. The
   * server makes ids that sort by `created_at` (absent: now), then by the position in the list.
   */
  readonly resources?: Readonly<Record<string, readonly SeedResource[]>>;
  /**
   * Rules that decide about the host names in abuse reports. The first rule that matches a host name applies. Absent:
   * the server's default rules.
   */
  readonly abuse_report_rules?: readonly AbuseReportRule[];
  /**
   * Maps the ids of SSH certificate authorities to their secrets: 32 bytes in base64url. The secrets of all other
   * authorities are derived from `idSeed`.
   */
  readonly certificate_authorities?: Readonly<Record<string, string>>;
  /** The number of ids that the server has already created. Default: 0. */
  readonly sequence?: number;
}

/**
 * One existing resource: the fields of a creation request, and optionally `id` and `created_at`. `deletable: false`:
 * the server rejects a DELETE of the resource. `state`, only in snapshots: data that the server stores in addition to
 * the fields.
 */
export type SeedResource = JsonObject;

/** The whole state of a server. Another server can start from it as its seed. */
export type ServerSnapshot = Required<Omit<ServerSeed, OptionalPart>> & Pick<ServerSeed, OptionalPart>;

/** Parts that a snapshot contains only if the server's own seed contained them. */
type OptionalPart = 'externals' | 'abuse_report_rules';

/** A resource of a seed, with its position in the seed. */
interface Placed {
  readonly place: string;
  readonly kind: Kind;
  readonly resource: SeedResource;
  readonly created: Date;
}

/** A resource of a seed in the form in which it is stored. Not checked against the other resources of the seed yet. */
interface Draft extends Placed {
  readonly stored: StoredResource;
}

/**
 * Adds the resources of a seed to an empty store, oldest first. Throws `RangeError` with the first mistake and its
 * position in the seed if the server would have rejected a resource.
 */
export function loadSeed(service: Service, { resources = {} }: ServerSeed): void {
  const placed = Object.entries(resources).flatMap(([name, members]) => placeResources(name, members, service.now));
  const oldestFirst = placed.toSorted((left, right) => left.created.getTime() - right.created.getTime());
  const drafts = oldestFirst.map((one) => at(one.place, () => createSeedDraft(service, one)));
  for (const draft of drafts) at(draft.place, () => seedDraft(service, draft));
  for (const { place, kind, stored } of drafts) at(place, () => refuseBadReferences(service, kind, stored.spec));
}

/** Runs `act`. Throws the server's rejection as a mistake at `place` of the seed. */
function at<T>(place: string, act: () => T): T {
  try {
    return act();
  } catch (error) {
    if (!(error instanceof RequestError)) throw error;
    throw new RangeError(`${place}: ${error.message}`, { cause: error });
  }
}

/** Adds the resources of a snapshot, which a server wrote, to an empty store without checking them. */
export function restoreSeed(service: Service, { resources = {} }: ServerSeed): void {
  for (const [name, members] of Object.entries(resources)) {
    const kind = getKind(name);
    for (const resource of members) service.store.put(kind, restoreResource(service, kind, resource));
  }
}

function restoreResource(service: Service, kind: Kind, resource: SeedResource): StoredResource {
  if (kind.role === 'attached') return createAttachment(service, kind, resource);
  const { id, created_at: createdAt, deletable = true, state = {}, ...spec } = resource;
  return {
    id: String(id),
    createdAt: String(createdAt),
    spec,
    state: assertJsonObject(state),
    deletable: deletable === true,
  };
}

/** Lists the resources of a store in the format of a seed: the inverse of `restoreSeed`. */
export function exportResourcesAsSeed({ store }: Service): Readonly<Record<string, readonly SeedResource[]>> {
  const entries = KINDS.map((kind) => {
    const resources = store.listingOf(kind).listAll();
    return [kind.name, resources.map((resource) => toSeedResource(kind, resource))] as const;
  });
  return Object.fromEntries(entries);
}

function placeResources(name: string, members: readonly SeedResource[], now: () => Date): readonly Placed[] {
  const kind = findKind(name);
  if (kind === undefined) throw new RangeError(`resources.${name}: is not a known kind`);
  return members.map((resource, index) => {
    const place = `resources.${name}[${index}]`;
    return { place, kind, resource, created: at(place, () => parseCreatedAt(resource, now)) };
  });
}

function parseCreatedAt({ created_at: createdAt }: SeedResource, now: () => Date): Date {
  if (createdAt === undefined) return now();
  const created = new Date(String(createdAt));
  if (Number.isNaN(created.getTime())) throw createSeedError('created_at is not a time');
  return created;
}

function createSeedDraft(service: Service, placed: Placed): Draft {
  const { kind, resource } = placed;
  const isAttached = kind.role === 'attached';
  return {
    ...placed,
    stored: isAttached ? createAttachment(service, kind, parseCreateBody(kind, resource)) : draftOwned(service, placed),
  };
}

function createAttachment(service: Service, kind: Kind, spec: Spec): StoredResource {
  const ids = listPathIdNamesOfKind(kind).map((name) => [name, String(spec[name])] as const);
  return { ...createStoredAttachedResource(service, kind, Object.fromEntries(ids)), spec };
}

function draftOwned(service: Service, { kind, resource, created }: Placed): StoredResource {
  const { id, created_at: _createdAt, deletable, state, ...fields } = resource;
  const asked = parseCreateBody(kind, fields);
  const spec = getBehaviour(kind).complete?.(asked, SEED_KEY, created) ?? asked;
  refuseCrossFieldViolations(kind, spec);
  return {
    id: id === undefined ? service.identities.createId(kind.idPrefix, created) : String(id),
    createdAt: toTimestamp(created),
    spec,
    state: isJsonObject(state) ? state : {},
    deletable: deletable !== false,
  };
}

function seedDraft(service: Service, { kind, resource, created, stored }: Draft): void {
  checkId(kind, stored.id);
  refuseTwice(service, kind, stored.id);
  refuseClaimedValues(service, kind, stored);
  const remember = isJsonObject(resource['state']) ? undefined : getBehaviour(kind).remember;
  const state = remember?.(stored, undefined, { ...createBehaviourContext(service), now: created }) ?? stored.state;
  service.store.put(kind, { ...stored, state });
}

/** The API key of the user who is treated as the creator of a seed's resources. It has all rights. */
const SEED_KEY: ApiKey = { key: '', userId: DEFAULT_USER_ID, isAdmin: true, mayReportAbuse: true };

function checkId(kind: Kind, id: string): void {
  if (kind.role === 'attached' || isIdOf({ prefixes: [kind.idPrefix] }, id)) return;
  throw createSeedError(`id ${id} is not an id ${kind.idPrefix}_…`);
}

function refuseTwice(service: Service, kind: Kind, id: string): void {
  if (service.store.listingOf(kind).find(id) !== undefined) throw createSeedError(`${id} appears twice`);
}

function createSeedError(message: string): RequestError {
  return new RequestError(message, { code: 'invalid_field' });
}

/** A resource imported from another service. */
export interface ImportedResource {
  readonly kind: string;
  readonly id: string;
  /** A time in RFC 3339 format. */
  readonly createdAt: string;
  /** The fields that are set, in the format of a creation request. For an attached kind, also the ids in its path. */
  readonly spec: Spec;
  /** The values of the fields that the other service computed. */
  readonly computed: JsonObject;
}

/**
 * Adds imported resources to an empty store without checking or changing them, because another service may accept more
 * than this server. `existing`: the resources, oldest first.
 */
export function loadImportedResources(service: Service, existing: readonly ImportedResource[]): void {
  for (const one of existing) {
    const kind = getKind(one.kind);
    if (kind.role !== 'attached') service.store.put(kind, createStored(kind, one));
    else
      service.store.put(kind, {
        ...createStoredAttachedResource(service, kind, getPathIdsOfResource(kind, one)),
        spec: one.spec,
      });
  }
}

function createStored(kind: Kind, { id, createdAt, spec, computed }: ImportedResource): StoredResource {
  const resource = { id, createdAt, spec, state: {}, deletable: true };
  return { ...resource, state: getBehaviour(kind).recall?.(resource, computed) ?? {} };
}
