import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { type FieldType, listFields, type NamedField } from './field.ts';
import { type Kind, listSpecFields } from './kind.ts';

/** A live spec in which fields that the service does not show have the values of another spec in normal form. */
export function fillUnknown(kind: Kind, live: Spec, from: Spec): Spec {
  return fillFields(listSpecFields(kind), live, from);
}

/** Whether a field of a live spec is not shown, or not all of it. */
export function isUnknown(type: FieldType, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (type.type === 'object' && isJsonObject(value))
    return listFields(type.fields).some(([name, field]) => isUnknown(field.type, value[name]));
  return type.type === 'list' && isJsonArray(value) && value.some((member) => isUnknown(type.of, member ?? undefined));
}

function fillFields(fields: readonly NamedField[], value: JsonObject, from: JsonObject): JsonObject {
  const all: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const filled = fillValue(field.type, value[name], from[name]);
    if (filled !== undefined) all[name] = filled;
  }
  return all;
}

/** A list member that the service shows nothing of is null. */
function fillValue(type: FieldType, value: Json | undefined, from: Json | undefined): Json | undefined {
  if (value === undefined) return from;
  if (type.type === 'object' && isJsonObject(value) && isJsonObject(from))
    return fillFields(listFields(type.fields), value, from);
  if (type.type !== 'list' || !isJsonArray(value) || !isJsonArray(from)) return value;
  return value.map((member, index) => fillValue(type.of, member ?? undefined, from[index]) ?? member);
}
