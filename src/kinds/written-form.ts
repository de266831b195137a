import { isJsonArray, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import { normalizeTimestamp } from './canonical.ts';
import { type FieldType, findField, type ObjectType } from './field.ts';
import { toRequestText } from './formats.ts';
import type { Kind } from './kind.ts';
import { mapDirectMembers, mapPresentFields, type TypedValueMapper } from './walk.ts';

/** A spec as it is written: in documents, and in requests, which contain more of the spelling than the normal form. */

/**
 * Drops optional fields that are null, because null means the same as leaving the field out. Keeps null in required
 * fields, lists and maps, where it is an error, and in free JSON, where it is a value.
 */
export function omitOptionalNullsFromSpec(kind: Kind, spec: JsonObject): JsonObject {
  return leaveOutNulls(kind.specType, spec);
}

function leaveOutNulls(type: ObjectType, value: JsonObject): JsonObject {
  const isKept = ([name, member]: [string, Json]) => member !== null || findField(type, name)?.required !== false;
  const kept = Object.fromEntries(Object.entries(value).filter(isKept));
  return mapPresentFields(Object.entries(type.fields), kept, leaveOutInside);
}

function leaveOutInside(type: FieldType, value: Json): Json {
  return mapDirectMembers(type, value, { visit: leaveOutInside, visitFields: leaveOutNulls });
}

/**
 * Returns a spec as requests contain it: as written, but with sorted sets, A-labels in place of Unicode host names, and
 * times in UTC and whole seconds.
 */
export function toRequestSpec(kind: Kind, spec: Spec): Spec {
  return mapPresentFields(kind.specFields, spec, toRequestValue);
}

/** Like `toRequestSpec`, for a value of any type. */
export function toRequestValue(type: FieldType, value: Json): Json {
  if (typeof value === 'string' && type.type === 'text' && type.format !== undefined)
    return toRequestText(type.format, value);
  if (typeof value === 'string' && type.type === 'timestamp') return normalizeTimestamp(value);
  if (type.type === 'json') return mapDirectMembers(type, value, SORT_SETS);
  const converted = mapDirectMembers(type, value, REQUEST);
  return type.type === 'list' && type.unordered && isJsonArray(converted) ? sortMembers(converted) : converted;
}

const REQUEST: TypedValueMapper = {
  visit: toRequestValue,
  visitFields: ({ fields }, value) => mapPresentFields(Object.entries(fields), value, toRequestValue),
};

/** Free JSON is sent as written, except for the order of its sets. */
const SORT_SETS: TypedValueMapper = {
  visit: (_, member) => (isJsonArray(member) ? sortMembers(member) : member),
};

function sortMembers(members: readonly Json[]): readonly Json[] {
  const byText = members.map((member) => ({ member, text: toCanonicalJson(member) }));
  return byText.sort((left, right) => (left.text < right.text ? -1 : 1)).map(({ member }) => member);
}
