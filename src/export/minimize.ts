import { isDefault } from '../kinds/canonical.ts';
import { type Field, type FieldType, listFields, type ObjectType } from '../kinds/field.ts';
import { MERGE_KEY } from '../manifest/parse.ts';
import { isDeeper, isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** Live values as manifests write them: without what has its default. */

/**
 * Maximum depth of metadata written as a mapping. Deeper metadata is written as JSON text, because deep mappings are
 * hard to read and manifests limit nesting.
 */
const MAX_METADATA_DEPTH = 32;

/** Leaves out fields that have their default. */
export function minimizeFields(fields: readonly (readonly [string, Field])[], values: JsonObject): JsonObject {
  const entries = fields.flatMap(([name, field]): [string, Json][] => {
    const value = values[name];
    if (value === undefined || (!field.required && isDefault(field, value))) return [];
    return [[name, minimizeValue(field.type, value)]];
  });
  return Object.fromEntries(entries);
}

export function minimizeValue(type: FieldType, value: Json): Json {
  if (type.type === 'list' && isJsonArray(value)) return value.map((member) => minimizeValue(type.of, member));
  if (!isJsonObject(value)) return value;
  if (type.type === 'map') return sortEntries(value, (member) => minimizeValue(type.of, member));
  if (type.type === 'metadata')
    return isDeeper(value, MAX_METADATA_DEPTH) || hasMergeKey(value) ? JSON.stringify(value) : value;
  return type.type === 'object' ? minimizeObject(type, value) : value;
}

/** Whether a mapping has a key that YAML takes for a merge key, so that it can only be written as text. */
function hasMergeKey(value: Json): boolean {
  if (isJsonArray(value)) return value.some(hasMergeKey);
  return isJsonObject(value) && (Object.hasOwn(value, MERGE_KEY) || Object.values(value).some(hasMergeKey));
}

/**
 * Returns an object without the fields whose value is the default. If none would be left, returns only the fields that
 * have a default, because an empty mapping would look like a missing value.
 */
function minimizeObject(type: ObjectType, value: JsonObject): JsonObject {
  const minimal = minimizeFields(listFields(type, value), value);
  if (Object.keys(minimal).length > 0) return minimal;
  return Object.fromEntries(
    Object.entries(type.fields).flatMap(([name, field]): [string, Json][] =>
      field.default === undefined ? [] : [[name, value[name] ?? field.default]],
    ),
  );
}

/** Sorts the keys of a map, because their order has no meaning and a service can return them in any order. */
function sortEntries(value: JsonObject, mapMember: (member: Json) => Json): JsonObject {
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, mapMember(member)]));
}
