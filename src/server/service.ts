import type { Kind } from '../kinds/kind.ts';
import { describeIdPrefixes, isIdOf, isWellFormedId, listPathIdNamesOfKind } from '../kinds/paths.ts';
import { listReferences, type Reference } from '../kinds/references.ts';
import { formatPath } from '../model/field-path.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { AccountSize } from './account-size.ts';
import type { ApiKey } from './admission.ts';
import type { AbuseReportRule, BehaviourTools } from './behaviours.ts';
import { RequestError } from './failure.ts';
import type { IdGenerator, SshCertificateAuthorities } from './id-generator.ts';
import { findKindOfId, type ServerChange, type Store, type StoredResource, toSeedResource } from './store.ts';

/** The state and settings that the handlers of all operations share. */
export interface Service {
  readonly now: () => Date;
  readonly store: Store;
  readonly identities: IdGenerator;
  readonly authorities: SshCertificateAuthorities;
  /**
   * Ids that exist in addition to the ids in the store. `undefined`: every well-formed id of a kind that this API
   * cannot create.
   */
  readonly externals: ReadonlySet<string> | undefined;
  readonly abuseReportRules: readonly AbuseReportRule[];
  /** `undefined`: the account has no limit. */
  readonly size: AccountSize | undefined;
  /** Called for each change, after it. */
  readonly onChange: (change: ServerChange) => void;
}

/** A request to one operation, after it was parsed and authenticated. */
export interface HandlerRequest {
  /** Maps the name of each path parameter to the id in the path. */
  readonly ids: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly caller: ApiKey;
  readonly baseUrl: string;
}

/** The response of an operation. `body` is absent if the status is 204. */
export interface HandlerResponse {
  readonly status: 200 | 201 | 204;
  readonly body?: JsonObject;
}

export function createBehaviourContext({ now, identities, authorities, abuseReportRules }: Service): BehaviourTools {
  return { now: now(), identities, authorities, abuseReportRules };
}

/** Adds a resource, or replaces its former state. Throws `RequestError`, and changes nothing, if the account is full. */
export function putResource({ store, size, onChange }: Service, kind: Kind, resource: StoredResource): void {
  size?.put(kind, resource, store.listingOf(kind).find(resource.id));
  store.put(kind, resource);
  onChange({ resources: { [kind.name]: [toSeedResource(kind, resource)] } });
}

export function removeResource({ store, size, onChange }: Service, kind: Kind, resource: StoredResource): void {
  size?.remove(kind, resource);
  store.remove(kind, resource);
  const ids = listPathIdNamesOfKind(kind).map((name) => [name, toSeedResource(kind, resource)[name] ?? null] as const);
  onChange({ removed: { [kind.name]: [Object.fromEntries(ids)] } });
}

/** Whether an id belongs to an object that exists outside this server. */
export function isExternalId({ externals }: Pick<Service, 'externals'>, id: string): boolean {
  const isWellFormed = isWellFormedId(id);
  if (externals === undefined) return isWellFormed && findKindOfId(id) === undefined;
  return externals.has(id) || (isWellFormed && externals.has(`${id.slice(0, id.indexOf('_'))}_*`));
}

/**
 * Throws `RequestError` if a reference has the wrong prefix, or its target does not exist. `spec` may have only some of
 * the fields.
 */
export function refuseBadReferences(service: Service, kind: Kind, spec: Spec): void {
  for (const reference of listReferences(kind, spec)) {
    const finding = checkReference(service, reference);
    if (finding === undefined) continue;
    const [field, id] = [formatPath(reference.path), reference.value];
    throw new RequestError(`${field} ${id} ${finding}`, { code: 'missing_reference', details: { field, id } });
  }
}

/** Throws `RequestError` if another resource already uses a value of this spec that must be unique. */
export function refuseClaimedValues(
  service: Service,
  kind: Kind,
  resource: { readonly id: string; readonly spec: Spec },
): void {
  const holder = service.store.findHolder(kind, resource.spec, resource.id);
  if (holder === undefined) return;
  const { field, value } = holder.claim;
  throw new RequestError(`${field} ${value} belongs to ${holder.id}`, {
    code: 'already_taken',
    details: { field, value, held_by: holder.id },
  });
}

function checkReference(service: Service, { type, value }: Reference): string | undefined {
  if (!isIdOf(type, value)) return `is not an id ${describeIdPrefixes(type)}`;
  const kind = findKindOfId(value);
  const isResource = kind !== undefined && service.store.listingOf(kind).find(value) !== undefined;
  return isResource || isExternalId(service, value) ? undefined : 'does not exist';
}
