import { isModule, type Kind } from '../../src/kinds/kind.ts';
import { toModulePath, toResourcePath } from '../../src/kinds/paths.ts';
import { mapReferences } from '../../src/kinds/references.ts';
import { findPatchClearValue } from '../../src/kinds/request-body.ts';
import { getKind, OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import { toRequestSpec } from '../../src/kinds/written-form.ts';
import { isAddress, parseAddress, toAddress } from '../../src/model/address.ts';
import { assertDefined } from '../../src/model/errors.ts';
import { isJsonObject, type Json, type JsonObject } from '../../src/model/json.ts';
import { renderMetadata, renderUserMetadata, splitMetadata } from '../../src/model/mark.ts';
import type { Spec } from '../../src/model/state.ts';
import { listLiteralPrefixes, toUnnamedId } from './known-ids.ts';
import { toExternalId } from './settle-stack.ts';
import { OUR_STACKS, type TestResource, type TestStack } from './stack.ts';
import type { World } from './world.ts';

/** A service that others reach too. */
export type SharedService = Pick<World, 'resources' | 'call'>;

/** Changes by other users of a service, through its API and by the kind tables. */

/** The names of the fields that another user can change. */
export function listChangeable(kind: Kind): readonly string[] {
  return kind.specFields.filter(([, { lifecycle }]) => lifecycle === 'mutable').map(([name]) => name);
}

/** The resource with the mark of an address, as the server stores it. */
export function findOwned(world: SharedService, kind: string, name: string): JsonObject | undefined {
  return world.resources()[kind]?.find(({ metadata }) => {
    const { mark } = splitMetadata(String(metadata ?? ''));
    return mark !== undefined && OUR_STACKS.has(mark.stack) && mark.name === name;
  });
}

/** Another user sets one field of an owned resource to the value of another manifest, or clears it if that manifest has none. */
export async function changeField(
  world: SharedService,
  { resource, stack }: { readonly resource: TestResource; readonly stack: TestStack },
  field: string,
): Promise<void> {
  const kind = getKind(resource.kind);
  const spec = resolveSpec(world, kind, { spec: resource.spec, stack });
  const value = spec[field];
  if (kind.role === 'attached') return setModule(world, toModulePath(kind, spec, field), value);
  const live = assertDefined(findOwned(world, kind.name, resource.name), `live ${kind.name}/${resource.name}`);
  const path = toResourcePath(kind, live);
  if (field === 'metadata') return sendUpdate(world, path, { metadata: toMetadata(live, value) });
  if (value === undefined && kind.fields[field]?.clear === 'delete')
    return setModule(world, toModulePath(kind, live, field), undefined);
  const cleared = findPatchClearValue(assertDefined(kind.fields[field], field)) ?? null;
  return sendUpdate(world, path, { [field]: value ?? cleared });
}

/** Another user creates a resource with the fields of a manifest. `metadata` replaces the mark. */
export async function createOutsideResource(
  world: SharedService,
  resource: TestResource,
  metadata: (user: Json) => string,
): Promise<void> {
  const kind = getKind(resource.kind);
  const spec = resolveSpec(world, kind, { spec: resource.spec, stack: [] });
  if (kind.role === 'owned') {
    await world.call('POST', kind.path, { ...spec, metadata: metadata(spec['metadata'] ?? '') });
    return;
  }
  for (const [name] of kind.specFields.filter(([, field]) => isModule(field)))
    if (spec[name] !== undefined) await setModule(world, toModulePath(kind, spec, name), spec[name]);
}

/** Replaces the references of a spec with ids. A reference to a missing resource becomes an id that no manifest names. */
function resolveSpec(
  world: SharedService,
  kind: Kind,
  { spec, stack }: { readonly spec: Spec; readonly stack: TestStack },
): Spec {
  return mapReferences(kind, toRequestSpec(kind, spec), ({ value, type }) => {
    const address = parseAddress(value);
    if (address === undefined) return value;
    const stated = stack.find((resource) => toAddress(resource.kind, resource.name) === value)?.spec['id'];
    const owned = findOwned(world, address.kind, address.name)?.['id'];
    const id = toExternalId(String(stated ?? owned ?? value));
    return isAddress(id)
      ? toUnnamedId(assertDefined(listLiteralPrefixes(type).at(-1), 'an id that may stand here'))
      : id;
  });
}

async function setModule(world: SharedService, path: string, value: Json | undefined): Promise<void> {
  if (isJsonObject(value)) await world.call('PUT', path, value);
  else await world.call('DELETE', path);
}

async function sendUpdate(world: SharedService, path: string, body: JsonObject): Promise<void> {
  await world.call('PATCH', path, body);
}

/** Replaces the metadata of the user, and keeps the mark. */
function toMetadata(live: JsonObject, value: Json | undefined): string {
  const { mark } = splitMetadata(String(live['metadata']));
  const user = typeof value === 'string' || isJsonObject(value) ? value : '';
  return mark === undefined ? renderUserMetadata(user) : renderMetadata(user, mark);
}

/** Kinds of which the service accepts two equal resources. */
export const COPYABLE = OWNED_KINDS.filter(({ fields }) => Object.values(fields).every(({ unique }) => !unique));

/** Creates a copy of every resource, with its mark, if the service accepts one: the possible result of two concurrent applies. */
export async function copyEverything(world: SharedService): Promise<void> {
  const resources = world.resources();
  for (const kind of COPYABLE)
    for (const { id: _, created_at: __, state: ___, ...spec } of resources[kind.name] ?? [])
      await world.call('POST', kind.path, spec);
}
