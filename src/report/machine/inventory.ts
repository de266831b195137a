import type { FieldType } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { getAddressName } from '../../model/address.ts';
import type { OwnedResource, StackInventory } from '../../model/drift.ts';
import { formatPath } from '../../model/field-path.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, omitUndefined } from '../../model/json.ts';
import { hasDeliveredToken } from '../../model/mark.ts';
import { toPrintable } from '../../model/printable.ts';
import { containsConcealed, formatJson } from '../../model/secret-value.ts';
import type { DesiredState, FieldPath } from '../../model/state.ts';
import { formatAddressWithDuplicateId } from '../view/inventory-view.ts';
import { redactInventory } from '../view/redact.ts';
import type { ResultEntry } from './json.ts';

/**
 * The entry of a stack with its resources. Each resource has its spec, as in a manifest, and the fields that the service
 * computed.
 */
export function createInventoryEntry(inventory: StackInventory): ResultEntry {
  const { stack, baseUrl, requests, resources } = redactInventory(inventory);
  return { stack, ok: true, inventory: { baseUrl, requests, resources: resources.map(createResourceDocument) } };
}

export function renderInventoryAddressLines({ resources }: StackInventory): string {
  return resources.map((one) => `${formatAddressWithDuplicateId(one)}\n`).join('');
}

function createResourceDocument({ address, owner, live, retiresAt }: OwnedResource): JsonObject {
  const { kind, id, spec, computed, mark } = live;
  const hasToken = getKind(kind).oneTimeFields.length > 0;
  return omitUndefined({
    address,
    kind,
    name: getAddressName(address),
    id,
    owner,
    protected: mark?.protect,
    delivered: mark !== undefined && hasToken ? hasDeliveredToken(live) : undefined,
    retiresAt,
    spec,
    computed,
  });
}

/** Properties of every resource that are not fields of its kind. */
const OWN: Readonly<Record<string, (resource: OwnedResource) => Json>> = {
  address: ({ address }) => address,
  kind: ({ live }) => live.kind,
  name: ({ address }) => getAddressName(address),
  id: ({ live }) => live.id,
};

/** Returns an error message if a kind cannot have a readable value at the path; otherwise undefined. */
export function checkKindHasReadableField(kind: Kind, path: FieldPath): string | undefined {
  const [first = '', ...rest] = path;
  if (kind.oneTimeFields.includes(String(first)))
    return `the ${first} of a ${kind.title} is shown only once, in the response to its creation, and cannot be read`;
  if (Object.hasOwn(OWN, String(first)) && rest.length === 0) return undefined;
  const end = path.reduce<FieldType | 'free' | 'none'>((type, step) => computeTypeAt(type, step), kind.type);
  return end === 'none' ? `a ${kind.title} has no field ${formatPath(path)}` : undefined;
}

/**
 * The resource that an address of the user names. Others with its mark are duplicates, which `Kind/name@id` names, or
 * retire. Returns a message if several resources have the address.
 */
export function chooseNamedResource(
  { resources }: StackInventory,
  address: string,
): OwnedResource | { readonly finding: string } {
  const [first] = resources;
  const named = resources.find((one) => formatAddressWithDuplicateId(one) === address);
  if (named !== undefined) return named;
  if (first !== undefined && resources.length === 1) return first;
  return {
    finding: `${address} is the mark of ${resources.map(formatAddressWithDuplicateId).join(' and ')}: name one`,
  };
}

/** Returns why the value at `path` of one resource cannot be printed; `undefined` if it can. */
export function checkValueAtPath(resource: OwnedResource, path: FieldPath): string | undefined {
  const value = readPath(resource, path);
  const shown = `${formatAddressWithDuplicateId(resource)}: ${formatPath(path)}`;
  if (containsConcealed(value)) return `${shown} is or contains a secret, which is not shown`;
  return value === null || (isJsonArray(value) && value.length === 0) ? `${shown} has no value` : undefined;
}

/**
 * Returns why other programs must not get a text that the service issues, such as a certificate for another key;
 * `undefined` if it is valid or `path` leads to no such text. `described`: the resources of the manifests, whose values
 * the text must match.
 */
export function checkIssuedText(
  { address, owner, live }: OwnedResource,
  path: FieldPath,
  described: DesiredState['resources'],
): string | undefined {
  const { issued } = getKind(live.kind);
  const text = issued && live.computed[issued.field];
  if (issued === undefined || path[0] !== issued.field || text === undefined) return undefined;
  const spec = { ...live.spec, ...(owner === undefined && described.get(address)?.spec) };
  const finding = typeof text === 'string' ? issued.check(text, spec) : 'is not a text';
  return finding && `${address}: ${issued.field}, as the service shows it, ${finding}`;
}

/**
 * The value at `path` of each resource, one per line. Text is not quoted, each member of a list has its own line, and
 * any other value is JSON. Resources without a value are omitted. With `isNamed`, each line starts with the address of
 * its resource, to tell several resources apart.
 */
export function renderValueLinesAtPath(inventory: StackInventory, path: FieldPath, isNamed: boolean): string {
  const lines = redactInventory(inventory).resources.flatMap((resource) => {
    const value = readPath(resource, path);
    const texts = isJsonArray(value) ? value.map(formatRowValue) : value === null ? [] : [formatRowValue(value)];
    return isNamed ? texts.map((text) => `${formatAddressWithDuplicateId(resource)}\t${text}`) : texts;
  });
  return lines.map((line) => `${line}\n`).join('');
}

function readPath(resource: OwnedResource, [first = '', ...rest]: FieldPath): Json {
  const { spec, computed } = resource.live;
  const name = String(first);
  const fields = { ...spec, ...computed };
  const value = Object.hasOwn(fields, name) ? fields[name] : Object.hasOwn(OWN, name) ? OWN[name]?.(resource) : null;
  return rest.reduce<Json>(readStep, value ?? null);
}

function readStep(value: Json, step: string | number): Json {
  if (isJsonArray(value)) return typeof step === 'number' ? (value[step] ?? null) : null;
  return isJsonObject(value) && Object.hasOwn(value, step) ? (value[step] ?? null) : null;
}

/** Removes a final line break, because the caller adds one. Escapes other unprintable characters. */
function formatRowValue(value: Json): string {
  return toPrintable(typeof value === 'string' ? value.replace(/\n$/, '') : formatJson(value));
}

function computeTypeAt(type: FieldType | 'free' | 'none', step: string | number): FieldType | 'free' | 'none' {
  if (type === 'free' || type === 'none') return type;
  if (type.type === 'json' || type.type === 'metadata') return 'free';
  if (type.type === 'list' && typeof step !== 'number') return 'none';
  return findMemberType(type, step) ?? 'none';
}
