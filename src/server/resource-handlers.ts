import type { Kind } from '../kinds/kind.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { ApiKey } from './api-key.ts';
import { getBehaviour } from './behaviours.ts';
import { Failure } from './failure.ts';
import { parsePage } from './page.ts';
import { renderResource } from './render-resource.ts';
import { type Call, checkClaims, checkReferences, type Reply, type Service, toTools } from './service.ts';
import type { StoredResource } from './store.ts';
import { toTimestamp } from './timestamp.ts';
import { applyGiven, checkSpec, validateCreate, validateUpdate } from './validate-body.ts';

/** The operations on whole resources, the same for every kind: what differs is in the kind's table and its behaviour. */

export function createResource(service: Service, kind: Kind, call: Call): Reply {
  const resource = admitResource(service, kind, validateCreate(kind, call.body), call.caller);
  const revealed = getBehaviour(kind).reveal?.(resource, toTools(service)) ?? {};
  return { status: 201, body: show(service, kind, resource, { ...call, revealed }) };
}

export function listResources(service: Service, kind: Kind, call: Call): Reply {
  const listing = service.store.listingOf(kind);
  const { limit, before } = parsePage(call.query, kind, (id) => listing.knows(id));
  const resources = listing.listBefore(before, limit + 1);
  const page = resources.slice(0, limit);
  const uri = `${call.baseUrl}${kind.path}`;
  const next = resources.length > limit ? `${uri}?before_id=${page.at(-1)?.id}&limit=${limit}` : null;
  const shown = page.map((resource) => showText(service, kind, resource, call)).join(',');
  const rest = JSON.stringify({ uri, next_page_uri: next }).slice('{'.length);
  return { status: 200, text: `{${JSON.stringify(String(kind.listKey))}:[${shown}],${rest}` };
}

export function getResource(service: Service, kind: Kind, call: Call): Reply {
  return { status: 200, text: showText(service, kind, findResource(service, kind, call.ids), call) };
}

export function updateResource(service: Service, kind: Kind, call: Call): Reply {
  const before = findResource(service, kind, call.ids);
  const given = validateUpdate(kind, call.body);
  const resource = changeSpec(service, kind, before, given);
  const document = show(service, kind, resource, call);
  return { status: 200, body: getBehaviour(kind).showUpdate?.(document, given) ?? document };
}

export function deleteResource(service: Service, kind: Kind, call: Call): Reply {
  const resource = findResource(service, kind, call.ids);
  if (!resource.deletable) throw new Failure(`${resource.id} cannot be deleted`, { code: 'forbidden' });
  const referrers = service.store.listReferrers(resource.id);
  if (referrers.size > 0) throw refuseUse(resource.id, referrers);
  service.store.remove(kind, resource);
  return { status: 204 };
}

/** The resource that the path names, or a failure. */
export function findResource(service: Service, kind: Kind, ids: Call['ids']): StoredResource {
  const id = ids['id'] ?? '';
  const resource = service.store.listingOf(kind).find(id);
  if (resource === undefined)
    throw new Failure(`There is no ${kind.title} ${id}`, { code: 'not_found', details: { id } });
  return resource;
}

/** Changes some fields of a resource: everything is checked before anything changes. */
export function changeSpec(service: Service, kind: Kind, before: StoredResource, given: Spec): StoredResource {
  const changed = { ...before, spec: applyGiven(kind, before.spec, given) };
  checkSpec(kind, changed.spec);
  checkReferences(service, kind, given);
  checkClaims(service, kind, { id: before.id, spec: given });
  const state = getBehaviour(kind).remember?.(changed, before, toTools(service)) ?? before.state;
  const resource = { ...changed, state };
  service.store.put(kind, resource);
  return resource;
}

/** Puts a new resource with a valid spec into the store, or refuses it. */
export function admitResource(service: Service, kind: Kind, asked: Spec, caller: ApiKey): StoredResource {
  const behaviour = getBehaviour(kind);
  const now = service.now();
  behaviour.authorize?.(caller, asked);
  const spec = behaviour.complete?.(asked, caller, now) ?? asked;
  checkSpec(kind, spec);
  checkReferences(service, kind, spec);
  checkClaims(service, kind, { id: '', spec });
  const id = createUnusedId(service, kind, now);
  const draft = { id, createdAt: toTimestamp(now), spec, state: {}, deletable: true };
  const resource = { ...draft, state: behaviour.remember?.(draft, undefined, toTools(service)) ?? {} };
  service.store.put(kind, resource);
  return resource;
}

/** A seed may already hold the id that is made now. */
function createUnusedId(service: Service, kind: Kind, now: Date): string {
  const listing = service.store.listingOf(kind);
  let id = service.identities.createId(kind.idPrefix, now);
  while (listing.knows(id)) id = service.identities.createId(kind.idPrefix, now);
  return id;
}

function show(
  service: Service,
  kind: Kind,
  resource: StoredResource,
  { baseUrl, revealed }: { readonly baseUrl: string; readonly revealed?: JsonObject },
): JsonObject {
  const computed = getBehaviour(kind).compute?.(resource, service.now()) ?? {};
  return renderResource(kind, resource, { computed: { ...computed, ...revealed }, baseUrl });
}

function showText(service: Service, kind: Kind, resource: StoredResource, { baseUrl }: Call): string {
  const make = (): string => JSON.stringify(show(service, kind, resource, { baseUrl }));
  return service.shownTexts.get(kind, resource, { baseUrl, make });
}

const SHOWN_REFERRERS = 10;

function refuseUse(id: string, referrers: ReadonlySet<string>): Failure {
  const shown = [...referrers.values().take(SHOWN_REFERRERS)].join(', ');
  const more = referrers.size > SHOWN_REFERRERS ? ` and ${referrers.size - SHOWN_REFERRERS} more` : '';
  return new Failure(`${id} is in use by ${shown}${more}`, { code: 'in_use', details: { id, used_by: shown } });
}
