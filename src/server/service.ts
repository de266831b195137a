import type { Kind } from '../kinds/kind.ts';
import { describeIds, isIdOf, isWellFormedId } from '../kinds/paths.ts';
import { listReferences, type Reference } from '../kinds/references.ts';
import { formatPath } from '../model/field-path.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { ApiKey } from './admission.ts';
import type { AbuseReportRule, BehaviourContext } from './behaviours.ts';
import { RequestError } from './failure.ts';
import type { CertificateAuthorities, IdGenerator } from './id-generator.ts';
import { findOwnedKind, type Store } from './store.ts';

/** What the handlers of all operations share. */
export interface Service {
  readonly now: () => Date;
  readonly store: Store;
  readonly identities: IdGenerator;
  readonly authorities: CertificateAuthorities;
  /** The ids that exist besides those of its resources; `undefined`: every well-formed one of a kind that this interface cannot create. */
  readonly externals: ReadonlySet<string> | undefined;
  /** Decisions about the host names in abuse reports. */
  readonly abuseReportRules: readonly AbuseReportRule[];
}

/** One request to one operation, read and admitted. */
export interface HandlerRequest {
  /** The ids in the path. */
  readonly ids: Readonly<Record<string, string>>;
  readonly query: URLSearchParams;
  readonly body: JsonObject;
  readonly caller: ApiKey;
  readonly baseUrl: string;
}

/** What an operation answers: JSON. None: 204. */
export interface HandlerResponse {
  readonly status: 200 | 201 | 204;
  readonly body?: JsonObject;
}

/** What a behaviour may use, as of now. */
export function createBehaviourContext({ now, identities, authorities, abuseReportRules }: Service): BehaviourContext {
  return { now: now(), identities, authorities, abuseReportRules };
}

/** Whether an id belongs to something that is not a resource of this server. */
export function isExternal({ externals }: Pick<Service, 'externals'>, id: string): boolean {
  const isWellFormed = isWellFormedId(id);
  if (externals === undefined) return isWellFormed && findOwnedKind(id) === undefined;
  return externals.has(id) || (isWellFormed && externals.has(`${id.slice(0, id.indexOf('_'))}_*`));
}

/** Refuses references to what has the wrong prefix or does not exist. Also for a part of a spec. */
export function checkReferences(service: Service, kind: Kind, spec: Spec): void {
  const [first] = listBadReferences(service, kind, spec);
  if (first === undefined) return;
  const { field, id, message } = first;
  throw new RequestError(message, { code: 'missing_reference', details: { field, id } });
}

/** A reference without a target. */
interface BadReference {
  readonly field: string;
  readonly id: string;
  readonly message: string;
}

/** All references of a spec to what has the wrong prefix or does not exist. */
export function listBadReferences(service: Service, kind: Kind, spec: Spec): readonly BadReference[] {
  return listReferences(kind, spec).flatMap((reference) => {
    const finding = checkReference(service, reference);
    if (finding === undefined) return [];
    const field = formatPath(reference.path);
    return [{ field, id: reference.value, message: `${field} ${reference.value} ${finding}` }];
  });
}

/** Refuses what another resource has already. */
export function checkClaims(
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
  if (!isIdOf(type, value)) return `is not an id ${describeIds(type)}`;
  const kind = findOwnedKind(value);
  const isResource = kind !== undefined && service.store.listingOf(kind).find(value) !== undefined;
  return isResource || isExternal(service, value) ? undefined : 'does not exist';
}
