import type { Field, FieldType } from '../kinds/field.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';

/** A place in a spec that has a type, and what stands there: nothing, where a field is left out. */
export interface Spot {
  /** From the start of the document. */
  readonly path: FieldPath;
  readonly type: FieldType;
  /** Absent at members of lists and maps. */
  readonly field?: Field;
  readonly value: Json | undefined;
}

/** Every place of a spec, outer ones first. Fields that somebody else owns are passed over. */
export function listSpots(kind: Kind, { spec, lifecycle }: DesiredResource): readonly Spot[] {
  return listSpecFields(kind)
    .filter(([name]) => !lifecycle.ignore.includes(name))
    .flatMap(([name, field]) => unfold({ path: ['spec', name], type: field.type, field, value: spec[name] }));
}

function unfold(spot: Spot): readonly Spot[] {
  const inner = listInner(spot);
  return inner.length === 0 ? [spot] : [spot, ...inner.flatMap(unfold)];
}

function listInner({ path, type, value }: Spot): readonly Spot[] {
  if (value === undefined || value === null) return [];
  if (type.type === 'list') {
    const members = isJsonArray(value) ? value : [value];
    return members.map((member, index) => ({ path: [...path, index], type: type.of, value: member }));
  }
  if (type.type !== 'object' || !isJsonObject(value)) return [];
  return Object.entries(type.fields).map(([name, field]) => ({
    path: [...path, name],
    type: field.type,
    field,
    value: Object.hasOwn(value, name) ? value[name] : undefined,
  }));
}
