import { type Kind, toHyphenated } from '../kinds/kind.ts';
import { isIdOf, listPathIdNamesOfKind } from '../kinds/paths.ts';
import { listAllIdPrefixes } from '../kinds/references.ts';
import { MANIFEST_KINDS, OWNED_KINDS } from '../kinds/tables/registry.ts';
import type { LiveState } from '../model/state.ts';
import { createSlug } from './name-resources.ts';
import type { StateInstance, TerraformState } from './terraform-state.ts';

/**
 * Which resources of a Terraform state are of which kind. Only what follows the first underscore of a type names a
 * kind, so the provider may have any name. The provider of the service is the one whose resources have ids of a kind.
 */

/** A resource of a state whose kind edgewise manages. */
export interface ManagedInstance {
  readonly kind: Kind;
  readonly id: string;
  readonly instance: StateInstance;
}

/** The resources of a state that belong to the service. */
export interface StateResources {
  /** By id. If a resource has several addresses, the first of them. */
  readonly managed: ReadonlyMap<string, ManagedInstance>;
  /** Further addresses of resources in `managed`. */
  readonly repeated: readonly ManagedInstance[];
  /** Resources that Terraform has replaced and not deleted yet. They have the address of their replacement. */
  readonly deposed: readonly ManagedInstance[];
  /** Resources of the same provider that are of no owned kind. */
  readonly otherKinds: readonly StateInstance[];
  /** Each resource of `managed` and `otherKinds` that has an id, by id. */
  readonly byId: ReadonlyMap<string, StateInstance>;
}

/** Finds the resources of the service in a state. */
export function findStateResources(state: TerraformState): StateResources {
  const sorted = state.instances.toSorted((left, right) => (left.address < right.address ? -1 : 1));
  const recognized = sorted.flatMap(recognize);
  const { deposed = [], found = [] } = Object.groupBy(recognized, ({ instance }) =>
    instance.isDeposed ? 'deposed' : 'found',
  );
  const byId = Map.groupBy(found, ({ id }) => id);
  const providers = new Set(recognized.map(({ instance }) => getProvider(instance)));
  const isRecognized = new Set(recognized.map(({ instance }) => instance));
  const managed = new Map([...byId].flatMap(([id, [first]]) => (first === undefined ? [] : [[id, first] as const])));
  const otherKinds = sorted.filter(
    (instance) => providers.has(getProvider(instance)) && !isRecognized.has(instance) && !instance.isDeposed,
  );
  const instances = [...otherKinds, ...Array.from(managed.values(), ({ instance }) => instance)];
  return {
    managed,
    repeated: [...byId.values()].flatMap((same) => same.slice(1)),
    deposed,
    otherKinds,
    byId: new Map(
      instances.flatMap((instance) => (instance.ids['id'] === undefined ? [] : [[instance.ids['id'], instance]])),
    ),
  };
}

function recognize(instance: StateInstance): readonly ManagedInstance[] {
  const kind = findKindOfType(instance.type, OWNED_KINDS);
  const id = instance.ids['id'];
  if (kind === undefined || id === undefined || !isIdOf({ prefixes: [kind.idPrefix] }, id)) return [];
  return [{ kind, id, instance }];
}

/** The text before the first underscore of a type, from which Terraform infers the provider too. */
function getProvider({ type }: StateInstance): string {
  return type.split('_', 1)[0] ?? '';
}

function findKindOfType(type: string, kinds: readonly Kind[]): Kind | undefined {
  const suffix = type.slice(type.indexOf('_') + 1);
  return kinds.find((kind) => toSuffix(kind) === suffix);
}

function toSuffix({ name }: Kind): string {
  return toHyphenated(name).replaceAll('-', '_');
}

/** Lists the types that name a kind, such as `…_tcp_edge`. */
export function listRecognizedTypes(): readonly string[] {
  return OWNED_KINDS.map((kind) => `…_${toSuffix(kind)}`);
}

/** The preferred name of a resource that is in a state. `undefined` if its address has no usable letter or digit. */
export function createNameFromInstance({ words }: StateInstance): string | undefined {
  const slug = createSlug(words.join('-'));
  return slug === '' ? undefined : slug;
}

/** What to do with a resource of a state that edgewise does not manage. */
export type ClassifiedInstance = { readonly instance: StateInstance } & (
  | { readonly use: 'external'; readonly id: string }
  | { readonly use: 'modules'; readonly idPath: string }
  | { readonly use: 'none' }
);

/** The ids that an `External` may have. */
const REFERABLE = { prefixes: listAllIdPrefixes() };

/** Decides what to do with each: refer to it by an `External`, export its modules, or nothing. */
export function classifyInstance(instance: StateInstance): ClassifiedInstance {
  const kind = findKindOfType(instance.type, MANIFEST_KINDS);
  const id = instance.ids['id'];
  if (kind?.role === 'attached') {
    const path = listPathIdNamesOfKind(kind).map((name) => instance.ids[name]);
    if (path.every((part) => part !== undefined)) return { instance, use: 'modules', idPath: path.join('/') };
  }
  if (id !== undefined && isIdOf(REFERABLE, id)) return { instance, use: 'external', id };
  return { instance, use: 'none' };
}

/** Lists the resources of a state that the account has not, of the kinds that were read. */
export function listMissingResources({ managed }: StateResources, live: LiveState): readonly ManagedInstance[] {
  const isRead = new Set(live.resources.keys());
  const ids = new Set([...live.resources.values()].flat().map(({ id }) => id));
  return [...managed.values()].filter(({ kind, id }) => isRead.has(kind.name) && !ids.has(id));
}
