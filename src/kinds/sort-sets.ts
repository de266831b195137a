import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { Field, FieldType, ListType } from './field.ts';
import type { Kind } from './kind.ts';

/** A spec as it is written, but for the lists whose order means nothing: their members stand in one order. */
export function sortSets(kind: Kind, spec: Spec): Spec {
  return sortFields(kind.fields, spec);
}

function sortFields(fields: Readonly<Record<string, Field>>, value: Spec): Spec {
  const entries = Object.entries(value).map(([name, member]): [string, Json] => {
    const field = Object.hasOwn(fields, name) ? fields[name] : undefined;
    return [name, field === undefined ? member : sortValue(field.type, member)];
  });
  return Object.fromEntries(entries);
}

function sortValue(type: FieldType, value: Json): Json {
  switch (type.type) {
    case 'list':
      return isJsonArray(value) ? sortList(type, value) : sortValue(type.of, value);
    case 'object':
      return isJsonObject(value) ? sortFields(type.fields, value) : value;
    case 'map':
      return isJsonObject(value) ? sortMembers(type.of, value) : value;
    case 'text':
    case 'enum':
    case 'boolean':
    case 'number':
    case 'timestamp':
    case 'reference':
    case 'json':
    case 'metadata':
      return value;
    default:
      return assertNever(type);
  }
}

function sortMembers(type: FieldType, value: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, sortValue(type, member)]));
}

function sortList(type: ListType, value: readonly Json[]): readonly Json[] {
  const members = value.map((member) => sortValue(type.of, member));
  if (!type.unordered || members.length < 2) return members;
  const byText = members.map((member) => ({ member, text: toCanonicalJson(member) }));
  return byText.sort((left, right) => (left.text < right.text ? -1 : 1)).map(({ member }) => member);
}
