import type { Kind } from '../kinds/kind.ts';
import { toPathIds } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { getBehaviour } from './behaviours.ts';
import { createAttachment } from './module-handlers.ts';
import type { Service } from './service.ts';
import type { StoredResource } from './store.ts';

/** A resource that another service holds. */
export interface ExistingResource {
  readonly kind: string;
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** What is set, in the shape that requests have; of an attached kind with the ids in its path. Read when it is needed. */
  readonly spec: Spec;
  /** The same in normal form, if that is known: `spec` is then not needed to find what it claims and refers to. */
  readonly normal?: Spec;
  /** What that service computed. */
  readonly computed: JsonObject;
}

/** Puts resources into an empty store unchanged and unchecked, oldest first: a service may be more liberal than this server. */
export function loadExisting(service: Service, existing: readonly ExistingResource[]): void {
  for (const one of existing) {
    const kind = getKind(one.kind);
    if (kind.role !== 'attached') service.store.load(kind, toStored(kind, one), one.normal);
    else service.store.load(kind, { ...createAttachment(service, kind, toPathIds(kind, one)), spec: one.spec });
  }
}

/** A spec may take time to make: a resource that no request is about need not have one. */
function toStored(kind: Kind, existing: ExistingResource): StoredResource {
  const { id, createdAt, computed } = existing;
  const toResource = (state: JsonObject): StoredResource => ({
    id,
    createdAt,
    get spec() {
      return existing.spec;
    },
    state,
    deletable: true,
  });
  const { recall } = getBehaviour(kind);
  return toResource(recall === undefined ? {} : recall(toResource({}), computed));
}
