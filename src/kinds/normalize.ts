import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { normalizeUserMetadata } from '../model/mark.ts';
import type { Spec } from '../model/state.ts';
import type { Field, FieldType, ListType, MapType, ObjectType } from './field.ts';
import { FORMATS } from './formats.ts';
import { type Kind, listSpecFields } from './kind.ts';

/**
 * Normal form: one value for everything that means the same. Desired and live specs are compared, digested and shown in it.
 * Defaults are filled in, sets are sorted, names without case are lower-case, times are UTC; a module that is not set is null.
 * A field whose omission leaves the choice to the service stays absent.
 */
export function normalizeSpec(kind: Kind, spec: Spec): Spec {
  const entries = listSpecFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = spec[name];
    if (field.serviceDefault && (value === undefined || value === null || value === '')) return [];
    return [[name, normalizeField(field, value)]];
  });
  return Object.fromEntries(entries);
}

/** The normal form of one field's value. */
export function normalizeField(field: Field, value: Json | undefined): Json {
  const normal = normalizeValue(field.type, value, field.default);
  return field.clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal;
}

/** The normal form of a field that is left out. */
export function toDefault(field: Field): Json {
  return normalizeField(field, undefined);
}

function normalizeValue(type: FieldType, value: Json | undefined, fallback: Json | undefined): Json {
  if (value === undefined || value === null || value === '') return fallback ?? toEmpty(type);
  switch (type.type) {
    case 'text':
      return type.format !== undefined && typeof value === 'string' ? FORMATS[type.format].normalize(value) : value;
    case 'timestamp':
      return typeof value === 'string' ? normalizeTimestamp(value) : value;
    case 'metadata':
      return typeof value === 'string' || isJsonObject(value) ? normalizeUserMetadata(value) : value;
    case 'json':
      return isJsonObject(value) && Object.keys(value).length === 0 ? null : value;
    case 'list':
      return normalizeList(type, value);
    case 'map':
      return isJsonObject(value) ? normalizeMap(type, value) : value;
    case 'object':
      return isJsonObject(value) ? normalizeObject(type, value) : value;
    case 'boolean':
    case 'enum':
    case 'number':
    case 'reference':
      return value;
    default:
      return assertNever(type);
  }
}

/** What a value of the type is when there is none. */
export function toEmpty(type: FieldType): Json {
  switch (type.type) {
    case 'text':
    case 'metadata':
      return '';
    case 'list':
      return [];
    case 'map':
      return {};
    case 'boolean':
    case 'enum':
    case 'number':
    case 'timestamp':
    case 'reference':
    case 'json':
    case 'object':
      return null;
    default:
      return assertNever(type);
  }
}

/** The same instant in UTC, with fractions of a second only where there are any. */
function normalizeTimestamp(text: string): string {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? text : instant.toISOString().replace('.000Z', 'Z');
}

function normalizeList(type: ListType, value: Json): Json {
  if (!isJsonArray(value) && !type.orSingle) return value;
  const members = (isJsonArray(value) ? value : [value]).map((member) => normalizeValue(type.of, member, undefined));
  if (type.unrestricted !== undefined && members.includes(type.unrestricted)) return [];
  return type.unordered ? toSet(members) : members;
}

function toSet(members: readonly Json[]): readonly Json[] {
  if (members.length < 2) return members;
  const byText = new Map(members.map((member) => [toCanonicalJson(member), member]));
  return [...byText].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, member]) => member);
}

function normalizeMap(type: MapType, value: JsonObject): JsonObject {
  const entries = Object.entries(value).map(([key, member]): [string, Json] => [
    type.caseInsensitive ? key.toLowerCase() : key,
    normalizeValue(type.of, member, undefined),
  ]);
  return Object.fromEntries(entries);
}

function normalizeObject(type: ObjectType, value: JsonObject): JsonObject {
  return Object.fromEntries(
    Object.entries(type.fields).map(([name, field]) => [name, normalizeField(field, value[name])]),
  );
}

function isDisabledAndEmpty(value: Json): boolean {
  if (!isJsonObject(value) || value['enabled'] !== false) return false;
  return Object.entries(value).every(
    ([name, member]) => name === 'enabled' || (isJsonArray(member) && member.length === 0),
  );
}
