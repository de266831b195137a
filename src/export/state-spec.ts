import type { Field, FieldType } from '../kinds/field.ts';
import { type Kind, listSpecFields } from '../kinds/kind.ts';
import { toDefault } from '../kinds/normalize.ts';
import { isDeeper, isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';
import type { Spec } from '../model/state.ts';

/** Levels of metadata that are written as a mapping. Nobody reads deeper ones, and manifests have a limit. */
const MAX_METADATA_DEPTH = 32;

/** A spec in normal form as a person would write it: in the order of the kind's table, and without what leaving it out means anyway. */
export function toStatedSpec(kind: Kind, spec: Spec): Spec {
  return toStatedFields(listSpecFields(kind), spec);
}

function toStatedFields(fields: readonly (readonly [string, Field])[], values: JsonObject): JsonObject {
  const entries = fields.flatMap(([name, field]): [string, Json][] => {
    const value = values[name];
    if (value === undefined || (!field.required && isSameJson(value, toDefault(field)))) return [];
    return [[name, toStated(field.type, value)]];
  });
  return Object.fromEntries(entries);
}

function toStated(type: FieldType, value: Json): Json {
  if (type.type === 'list' && isJsonArray(value)) return value.map((member) => toStated(type.of, member));
  if (!isJsonObject(value)) return value;
  if (type.type === 'map') return sortEntries(value, (member) => toStated(type.of, member));
  if (type.type === 'metadata') return isDeeper(value, MAX_METADATA_DEPTH) ? JSON.stringify(value) : value;
  return type.type === 'object' ? toStatedObject(type.fields, value) : value;
}

/** An object of defaults states them: an empty mapping would look like no value. */
function toStatedObject(fields: Readonly<Record<string, Field>>, value: JsonObject): JsonObject {
  const stated = toStatedFields(Object.entries(fields), value);
  if (Object.keys(stated).length > 0) return stated;
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, field]): [string, Json][] =>
      field.default === undefined ? [] : [[name, value[name] ?? field.default]],
    ),
  );
}

/** The order of a map has no meaning, and a service may show any. */
function sortEntries(value: JsonObject, toMember: (member: Json) => Json): JsonObject {
  const entries = Object.entries(value).sort(([left], [right]) => (left < right ? -1 : 1));
  return Object.fromEntries(entries.map(([key, member]) => [key, toMember(member)]));
}
