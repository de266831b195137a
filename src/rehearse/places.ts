import type { Kind } from '../kinds/kind.ts';
import { toPathIds, toResourcePath } from '../kinds/paths.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { toAddress } from '../model/address.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveResource, LiveState } from '../model/state.ts';
import type { Holder } from './interims.ts';
import type { TwinPlace, TwinWrite } from './twin.ts';

/** A place that a plan touches: where a resource is, was or will be. */
export interface Place extends TwinPlace {
  /** Identifies the place: the path of the resource. */
  readonly key: string;
  /** As the plan calls what is there; absent: it is new, and says so itself. */
  readonly address?: string;
}

/** The places that a plan touches. Grows as the plan makes resources. */
export class Places {
  readonly #places = new Map<string, Place>();

  constructor({ changes }: Plan, { resources, attachments }: LiveState) {
    const changing = changes.filter(({ action }) => action !== 'no-op');
    const ids = new Set(changing.map(({ live }) => live?.id));
    const found = [...resources.values()].flatMap((all) => all.filter(({ id }) => ids.has(id)));
    const byId = new Map(found.map((resource) => [resource.id, resource]));
    for (const { address, kind, live } of changing) {
      if (live === undefined) continue;
      this.#add(getKind(kind), { id: live.id, address, like: byId.get(live.id) ?? attachments.get(address) });
    }
  }

  /** Every place that is known so far. */
  list(): readonly Place[] {
    return [...this.#places.values()];
  }

  /** The place that a write is about; a creation makes a new one. `undefined`: the plan does not know it. */
  find({ path, id }: TwinWrite): Place | undefined {
    const kind = OWNED_KINDS.find((one) => path === one.path);
    if (kind !== undefined && id !== undefined) return this.#add(kind, { id, like: undefined });
    const module = path.slice(0, path.lastIndexOf('/'));
    return this.#places.get(path) ?? this.#places.get(module);
  }

  #add(kind: Kind, { id, address, like }: Omit<Place, 'key' | 'kind'>): Place {
    const key = toResourcePath(kind, toPathIds(kind, { id, ...(like !== undefined && { spec: like.spec }) }));
    const place = { key, kind, id, like, ...(address !== undefined && { address }) };
    this.#places.set(key, place);
    return place;
  }
}

/** A resource in its place, under the address by which people know it. */
export function toHolder({ kind, id, address }: Place, resource: LiveResource): Holder {
  const { mark } = resource;
  return { kind, resource, address: address ?? (mark === undefined ? id : toAddress(kind.name, mark.name)) };
}
