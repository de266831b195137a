import type { FieldType } from '../../kinds/field.ts';
import { type Kind, listOneTimeFields, toSpecType } from '../../kinds/kind.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { toName } from '../../model/address.ts';
import { toPathText } from '../../model/field-path.ts';
import type { Inventory, OwnedResource } from '../../model/inventory.ts';
import { isJsonArray, isJsonObject, type Json, toCanonicalJson } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FieldPath } from '../../model/state.ts';
import { toOwnedAddress } from '../view/inventory-view.ts';
import { redactInventory } from '../view/redact.ts';

/** What every resource has besides the fields of its kind. */
const OWN: Readonly<Record<string, (resource: OwnedResource) => Json>> = {
  address: ({ address }) => address,
  kind: ({ live }) => live.kind,
  name: ({ address }) => toName(address),
  id: ({ live }) => live.id,
};

/** Why a kind can have no value at a path; `undefined`: it can. */
export function findPathFault(kind: Kind, path: FieldPath): string | undefined {
  const [first = '', ...rest] = path;
  if (listOneTimeFields(kind).includes(String(first)))
    return `the ${first} of a ${kind.title} is shown only once, in the response to its creation, and cannot be read`;
  if (Object.hasOwn(OWN, String(first)) && rest.length === 0) return undefined;
  const end = path.reduce<FieldType | 'free' | 'none'>((type, step) => toInner(type, step), toSpecType(kind));
  return end === 'none' ? `a ${kind.title} has no field ${toPathText(path)}` : undefined;
}

/**
 * The value at a path of each resource that can have one, a line each: text as it is, the members of a list a line each, anything else as JSON.
 * `isNamed`: the address stands before each line, since it is not known from the question.
 */
export function renderFieldValues(inventory: Inventory, path: FieldPath, isNamed: boolean): string {
  const lines = redactInventory(inventory).resources.flatMap((resource) => {
    const value = readPath(resource, path);
    const texts = isJsonArray(value) ? value.map(toText) : value === null ? [] : [toText(value)];
    return isNamed ? texts.map((text) => `${toOwnedAddress(resource)}\t${text}`) : texts;
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

/** A line break at the end of a text is the line's own. What else cannot be printed is escaped. */
function toText(value: Json): string {
  return toPrintable(typeof value === 'string' ? value.replace(/\n$/, '') : toCanonicalJson(value));
}

function toInner(type: FieldType | 'free' | 'none', step: string | number): FieldType | 'free' | 'none' {
  if (type === 'free' || type === 'none') return type;
  if (type.type === 'json' || type.type === 'metadata') return 'free';
  if (type.type === 'list' && typeof step !== 'number') return 'none';
  return findInnerType(type, step) ?? 'none';
}
