import type { Json, JsonObject } from '../model/json.ts';
import type { Field, FieldType } from './field.ts';
import { type Kind, listSpecFields, onceForEachKind } from './kind.ts';
import { mapInner } from './walk.ts';

/**
 * A spec without the optional fields that are null: null means the same as leaving the field out. Null stays in required fields, lists and
 * maps, where it is a mistake, and in free JSON, where it is a value.
 */
export function withoutNulls(kind: Kind, spec: JsonObject): JsonObject {
  return hasNull(spec) ? leaveOutNulls(toFields(kind), spec) : spec;
}

const toFields = onceForEachKind((kind) => Object.fromEntries(listSpecFields(kind)));

/** Most specs have none, and stay what they are. */
function hasNull(value: Json): boolean {
  if (typeof value !== 'object') return false;
  return value === null || Object.values(value).some(hasNull);
}

function leaveOutNulls(fields: Readonly<Record<string, Field>>, value: JsonObject): JsonObject {
  const entries = Object.entries(value).flatMap(([name, member]): [string, Json][] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    if (field === undefined) return [[name, member]];
    return member === null && !field.required ? [] : [[name, leaveOutInside(field.type, member)]];
  });
  return Object.fromEntries(entries);
}

function leaveOutInside(type: FieldType, value: Json): Json {
  return mapInner(type, value, { visit: leaveOutInside, visitFields: leaveOutNulls });
}
