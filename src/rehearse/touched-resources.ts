import type { Kind } from '../kinds/kind.ts';
import { getPathIdsOfResource, toResourcePath } from '../kinds/paths.ts';
import { getKind, OWNED_KINDS } from '../kinds/tables/registry.ts';
import { sendsNothing } from '../model/change.ts';
import type { Plan } from '../model/plan.ts';
import type { LiveState } from '../model/state.ts';
import type { AcceptedSimulatedWrite, SimulatedResourceId } from './simulated-account.ts';

/** A resource that the plan changes or creates. */
export interface TouchedResource extends SimulatedResourceId {
  /** The path of the resource in the API, which identifies it. */
  readonly key: string;
  /** The address in the plan. Absent for a created resource, whose mark contains the address. */
  readonly address?: string | undefined;
}

/** The resources that a plan changes. Resources that it creates are added during the apply. */
export class TouchedResources {
  readonly #places = new Map<string, TouchedResource>();

  constructor({ changes }: Plan, { resources, attachments }: LiveState) {
    const changing = changes.filter(({ action }) => !sendsNothing(action));
    const ids = new Set(changing.map(({ live }) => live?.id));
    const found = [...resources.values()].flatMap((all) => all.filter(({ id }) => ids.has(id)));
    const byId = new Map(found.map((resource) => [resource.id, resource]));
    for (const { address, kind, live } of changing) {
      if (live === undefined) continue;
      this.#add(getKind(kind), { id: live.id, address, like: byId.get(live.id) ?? attachments.get(address) });
    }
  }

  list(): readonly TouchedResource[] {
    return [...this.#places.values()];
  }

  /**
   * Returns the resource that a write changes, and adds it first if the write created it. `undefined` if the plan does
   * not change that resource.
   */
  find({ path, id }: AcceptedSimulatedWrite): TouchedResource | undefined {
    const kind = OWNED_KINDS.find((one) => path === one.path);
    if (kind !== undefined && id !== undefined) return this.#add(kind, { id, like: undefined });
    const module = path.slice(0, path.lastIndexOf('/'));
    return this.#places.get(path) ?? this.#places.get(module);
  }

  #add(kind: Kind, { id, address, like }: Omit<TouchedResource, 'key' | 'kind'>): TouchedResource {
    const key = toResourcePath(kind, getPathIdsOfResource(kind, { id, spec: like?.spec }));
    const place = { key, kind, id, like, address };
    this.#places.set(key, place);
    return place;
  }
}
