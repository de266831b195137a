import { getNormalUnsetFieldValue } from '../kinds/canonical.ts';
import { type Field, type FieldType, listFields, type NamedField } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import type { NamedModule } from '../kinds/operations.ts';
import { describeIdPrefixes, isIdOf, toExternalResourcePath, toResourcePath } from '../kinds/paths.ts';
import { mapDirectMembers } from '../kinds/walk.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { isNullInResponses } from '../schemas/field.ts';
import type { ApiKey } from './admission.ts';
import { getBehaviour } from './behaviours.ts';
import { RequestError } from './failure.ts';
import {
  createBehaviourContext,
  type HandlerRequest,
  type HandlerResponse,
  isExternalId,
  putResource,
  refuseBadReferences,
  refuseClaimedValues,
  removeResource,
  type Service,
} from './service.ts';
import { findKindOfId, type StoredResource, toTimestamp } from './store.ts';
import {
  parseCreateBody,
  parseModuleBody,
  parseUpdateBody,
  patchSpec,
  refuseCrossFieldViolations,
} from './validate-body.ts';

/**
 * Handlers of the operations on whole resources. All kinds share these handlers. A kind's table and its behaviour
 * contain the differences.
 */

export function handleCreate(service: Service, kind: Kind, call: HandlerRequest): HandlerResponse {
  const resource = admitResource(service, kind, parseCreateBody(kind, call.body), call.caller);
  const revealed = getBehaviour(kind).reveal?.(resource, createBehaviourContext(service)) ?? {};
  return { status: 201, body: showResource(service, kind, resource, { ...call, revealed }) };
}

export function handleList(service: Service, kind: Kind, call: HandlerRequest): HandlerResponse {
  const listing = service.store.listingOf(kind);
  const { limit, before } = parsePageRequest(call.query, kind);
  const resources = listing.listBefore(before, limit + 1);
  const page = resources.slice(0, limit);
  const uri = `${call.baseUrl}${kind.path}`;
  const next = resources.length > limit ? `${uri}?before_id=${page.at(-1)?.id}&limit=${limit}` : null;
  const shown = page.map((resource) => showResource(service, kind, resource, call));
  return { status: 200, body: { [String(kind.listKey)]: shown, uri, next_page_uri: next } };
}

export function handleGet(service: Service, kind: Kind, call: HandlerRequest): HandlerResponse {
  return { status: 200, body: showResource(service, kind, getStored(service, kind, call.ids), call) };
}

export function handleUpdate(service: Service, kind: Kind, call: HandlerRequest): HandlerResponse {
  const before = getStored(service, kind, call.ids);
  const given = parseUpdateBody(kind, call.body);
  const resource = changeSpec(service, kind, before, given);
  const document = showResource(service, kind, resource, call);
  return { status: 200, body: getBehaviour(kind).showUpdate?.(document, given) ?? document };
}

export function handleDelete(service: Service, kind: Kind, call: HandlerRequest): HandlerResponse {
  const resource = getStored(service, kind, call.ids);
  if (!resource.deletable) throw new RequestError(`${resource.id} cannot be deleted`, { code: 'forbidden' });
  const referrers = service.store.listReferrers(resource.id);
  if (referrers.size > 0) throw createInUseError(resource.id, referrers);
  removeResource(service, kind, resource);
  return { status: 204 };
}

/** Returns the resource that the path names. Throws `RequestError` if it does not exist. */
function getStored(service: Service, kind: Kind, ids: HandlerRequest['ids']): StoredResource {
  const id = ids['id'] ?? '';
  const resource = service.store.listingOf(kind).find(id);
  if (resource === undefined)
    throw new RequestError(`There is no ${kind.title} ${id}`, { code: 'not_found', details: { id } });
  return resource;
}

/** Changes some fields of a resource. Throws `RequestError` if a check fails, and then changes nothing. */
function changeSpec(service: Service, kind: Kind, before: StoredResource, given: Spec): StoredResource {
  const changed = { ...before, spec: patchSpec(kind, before.spec, given) };
  refuseCrossFieldViolations(kind, changed.spec);
  refuseBadReferences(service, kind, given);
  refuseClaimedValues(service, kind, { id: before.id, spec: given });
  const state = getBehaviour(kind).remember?.(changed, before, createBehaviourContext(service)) ?? before.state;
  const resource = { ...changed, state };
  putResource(service, kind, resource);
  return resource;
}

/** Adds a new resource to the store. Throws `RequestError` if a check fails. */
function admitResource(service: Service, kind: Kind, asked: Spec, caller: ApiKey): StoredResource {
  const behaviour = getBehaviour(kind);
  const now = service.now();
  behaviour.authorize?.(caller, asked);
  const spec = behaviour.complete?.(asked, caller, now) ?? asked;
  refuseCrossFieldViolations(kind, spec);
  refuseBadReferences(service, kind, spec);
  refuseClaimedValues(service, kind, { id: '', spec });
  const id = createUnusedId(service, kind, now);
  const draft = { id, createdAt: toTimestamp(now), spec, state: {}, deletable: true };
  // Before the behaviour makes the key of an authority, which the account keeps.
  service.size?.check(kind, draft, undefined);
  const resource = { ...draft, state: behaviour.remember?.(draft, undefined, createBehaviourContext(service)) ?? {} };
  putResource(service, kind, resource);
  return resource;
}

/** Creates an id. Skips ids that are in use, because a seed may contain the next id. */
function createUnusedId(service: Service, kind: Kind, now: Date): string {
  const listing = service.store.listingOf(kind);
  let id = service.identities.createId(kind.idPrefix, now);
  while (listing.find(id) !== undefined) id = service.identities.createId(kind.idPrefix, now);
  return id;
}

function showResource(
  service: Service,
  kind: Kind,
  resource: StoredResource,
  { baseUrl, revealed }: { readonly baseUrl: string; readonly revealed?: JsonObject },
): JsonObject {
  const computed = getBehaviour(kind).compute?.(resource, service.now()) ?? {};
  return toResponseBody(kind, resource, { computed: { ...computed, ...revealed }, baseUrl });
}

/** Enough to find the cause. A pool may have thousands of referrers. */
const SHOWN_REFERRERS = 10;

function createInUseError(id: string, referrers: ReadonlySet<string>): RequestError {
  const shown = [...referrers.values().take(SHOWN_REFERRERS)].join(', ');
  const more = referrers.size > SHOWN_REFERRERS ? ` and ${referrers.size - SHOWN_REFERRERS} more` : '';
  return new RequestError(`${id} is in use by ${shown}${more}`, { code: 'in_use', details: { id, used_by: shown } });
}

/** Handlers of the operations on modules with a path of their own, for owned and attached kinds. */

export function handleReplaceModule(
  service: Service,
  kind: Kind,
  module: NamedModule,
  call: HandlerRequest,
): HandlerResponse {
  const holder = getHolder(service, kind, call.ids);
  const value = parseModuleBody(kind, module, call.body);
  changeSpec(service, kind, holder, { [module.name]: value });
  return showModule(module, value, call);
}

export function handleGetModule(
  service: Service,
  kind: Kind,
  module: NamedModule,
  call: HandlerRequest,
): HandlerResponse {
  const value = getHolder(service, kind, call.ids).spec[module.name];
  if (value !== undefined) return showModule(module, value, call);
  throw new RequestError(`${module.name} is not set`, { code: 'not_found', details: { module: module.name } });
}

export function handleDeleteModule(
  service: Service,
  kind: Kind,
  module: NamedModule,
  call: HandlerRequest,
): HandlerResponse {
  const holder = getHolder(service, kind, call.ids);
  const { [module.name]: removed, ...spec } = holder.spec;
  const isEmpty = !Object.keys(spec).some((name) => kind.fields[name]?.hasPath);
  if (removed === undefined) return { status: 204 };
  if (kind.role === 'attached' && isEmpty) removeResource(service, kind, holder);
  else putResource(service, kind, { ...holder, spec });
  return { status: 204 };
}

/** Creates an empty record for the modules that are attached to a resource. */
export function createStoredAttachedResource(service: Service, kind: Kind, ids: HandlerRequest['ids']): StoredResource {
  return {
    id: toResourcePath(kind, ids),
    createdAt: toTimestamp(service.now()),
    spec: ids,
    state: {},
    deletable: true,
  };
}

function getHolder(service: Service, kind: Kind, ids: HandlerRequest['ids']): StoredResource {
  if (kind.role !== 'attached') return getStored(service, kind, ids);
  for (const [name, id] of Object.entries(ids)) {
    const type = kind.fields[name]?.type;
    const exists = type?.type === 'reference' && isIdOf(type, id) && isExternalId(service, id);
    if (!exists) throw new RequestError(`There is no ${id}`, { code: 'not_found', details: { id } });
  }
  const attachment = createStoredAttachedResource(service, kind, ids);
  return service.store.listingOf(kind).find(attachment.id) ?? attachment;
}

function showModule(module: NamedModule, value: Json, { baseUrl }: HandlerRequest): HandlerResponse {
  const body = toResponseValue(module.field, value, baseUrl);
  return { status: 200, body: body as JsonObject }; // a module that is set renders to an object
}

interface PageRequest {
  readonly limit: number;
  /**
   * Id of a resource. The page contains only older resources. `undefined`: the page begins with the newest resource.
   */
  readonly before: string | undefined;
}

export const PAGE_PARAMETERS = ['limit', 'before_id'] as const;

/** The API allows a `limit` of 1 to 100. */
const MAX_LIMIT = 100;

/**
 * Parses the query of a list request. Throws `RequestError` if `limit` is out of range, or `before_id` is not an id of
 * this kind.
 */
function parsePageRequest(query: URLSearchParams, kind: Kind): PageRequest {
  const limit = query.get('limit') ?? String(MAX_LIMIT);
  if (!/^[1-9]\d{0,2}$/.test(limit) || Number(limit) > MAX_LIMIT)
    throw createHandlerError('limit', `must be from 1 to ${MAX_LIMIT}`);
  const before = query.get('before_id') ?? undefined;
  const prefixes = [kind.idPrefix];
  if (before !== undefined && !isIdOf({ prefixes }, before))
    throw createHandlerError('before_id', `must be an id ${describeIdPrefixes({ prefixes })}`);
  return { limit: Number(limit), before };
}

/** Throws `RequestError` for a repeated query parameter, and for a parameter that the operation does not have. */
export function checkQuery(query: URLSearchParams, names: readonly string[]): void {
  for (const name of query.keys()) {
    if (!names.includes(name)) throw createHandlerError(name, 'is not a query parameter of this operation');
    if (query.getAll(name).length > 1) throw createHandlerError(name, 'is given more than once');
  }
}

function createHandlerError(name: string, message: string): RequestError {
  return new RequestError(`${name} ${message}`, { code: 'bad_query', details: { field: name } });
}

/**
 * Renders a resource for a response, with every field of its kind. `computed`: the values of the fields that only the
 * service sets.
 */
function toResponseBody(
  kind: Kind,
  resource: StoredResource,
  options: { readonly computed: JsonObject; readonly baseUrl: string },
): JsonObject {
  const path = toResourcePath(kind, { id: resource.id });
  const known: JsonObject = {
    ...resource.spec,
    ...options.computed,
    id: resource.id,
    uri: kind.uri === 'path' ? path : `${options.baseUrl}${path}`,
    created_at: resource.createdAt,
  };
  return toResponseFields(Object.entries(kind.fields), known, options.baseUrl);
}

/** Renders a field for a response. `value` is `undefined` if the field is not set. */
function toResponseValue(field: Field, value: Json | undefined, baseUrl: string): Json {
  const shownValue =
    value ?? field.default ?? (field.serviceDefault && field.type.type === 'number' ? field.type.min : null);
  if (shownValue !== null) return toResponseJson(field.type, shownValue, baseUrl);
  if (field.type.type === 'json') return {};
  return isNullInResponses(field) ? null : getNormalUnsetFieldValue(field);
}

function toResponseFields(fields: readonly NamedField[], values: JsonObject, baseUrl: string): JsonObject {
  const shown: Record<string, Json> = {};
  for (const [name, field] of fields) shown[field.responseName ?? name] = toResponseValue(field, values[name], baseUrl);
  return shown;
}

function toResponseJson(type: FieldType, value: Json, baseUrl: string): Json {
  if (type.type === 'reference')
    return type.isRefInResponse ? { id: value, uri: toReferenceUri(String(value), baseUrl) } : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapDirectMembers(type, isSingle ? [value] : value, {
    visit: (inner, member) => toResponseJson(inner, member, baseUrl),
    visitFields: (type, values) => toResponseFields(listFields(type, values), values, baseUrl),
  });
}

function toReferenceUri(id: string, baseUrl: string): string {
  const kind = findKindOfId(id);
  return `${baseUrl}${kind === undefined ? toExternalResourcePath(id) : toResourcePath(kind, { id })}`;
}
