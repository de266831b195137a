import { toPathIds } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import type { JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { getBehaviour } from './behaviours.ts';
import { createAttachment } from './module-handlers.ts';
import type { Service } from './service.ts';

/** A resource that another service holds. */
export interface ExistingResource {
  readonly kind: string;
  readonly id: string;
  /** RFC 3339. */
  readonly createdAt: string;
  /** What is set, in the shape that requests have; of an attached kind with the ids in its path. */
  readonly spec: Spec;
  /** What that service computed. */
  readonly computed: JsonObject;
}

/** Puts resources into an empty store unchanged and unchecked, oldest first: a service may be more liberal than this server. */
export function loadExisting(service: Service, existing: readonly ExistingResource[]): void {
  for (const { kind: name, id, createdAt, spec, computed } of existing) {
    const kind = getKind(name);
    const resource =
      kind.role === 'attached'
        ? { ...createAttachment(service, kind, toPathIds(kind, { id, spec })), spec }
        : { id, createdAt, spec, state: {}, deletable: true };
    service.store.put(kind, { ...resource, state: getBehaviour(kind).recall?.(resource, computed) ?? {} });
  }
}
