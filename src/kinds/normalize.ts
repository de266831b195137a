import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { normalizeUserMetadata } from '../model/mark.ts';
import type { Spec } from '../model/state.ts';
import {
  type Field,
  type FieldType,
  findField,
  type ListType,
  listFields,
  type NamedField,
  type ObjectType,
  type TextType,
} from './field.ts';
import { FORMATS, toRequestText } from './formats.ts';
import type { Kind } from './kind.ts';
import { mapDirectMembers, mapPresentFields, type TypedValueMapper } from './walk.ts';

/**
 * Returns the spec in normal form: values with the same meaning become equal. Desired and live specs are compared,
 * digested and shown in this form. Defaults are filled in, sets are sorted, case-insensitive names are lower-case,
 * times are in UTC, and unset modules are null. A field stays absent if the service chooses its default.
 */
export function normalizeSpec(kind: Kind, spec: Spec): Spec {
  return normalizeFields(kind.specFields, spec);
}

/** A field whose default the service chooses stays absent. */
function normalizeFields(fields: readonly NamedField[], values: JsonObject): JsonObject {
  const compared = fields.filter(([name, { serviceDefault }]) => !serviceDefault || !isUnset(values[name]));
  return Object.fromEntries(compared.map(([name, field]) => [name, normalizeField(field, values[name])]));
}

/** Whether a value means the same as no value in a field of any type. */
export function isUnset(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

export function normalizeField(field: Field, value: Json | undefined): Json {
  const normal = normalizeValue(field.type, value, field.default);
  return field.clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal;
}

export function getNormalUnsetFieldValue(field: Field): Json {
  return normalizeField(field, undefined);
}

/** Like `normalizeField`, for a value of any type. `fallback`: the default. */
export function normalizeValue(type: FieldType, value: Json | undefined, fallback?: Json): Json {
  if (isUnset(value)) return fallback ?? getEmptyValue(type);
  switch (type.type) {
    case 'text':
      return typeof value === 'string' ? normalizeText(type, value) : value;
    case 'number':
      return typeof value === 'number' && !type.integer ? toShortestSingle(value) : value;
    case 'timestamp':
      return typeof value === 'string' ? normalizeTimestamp(value) : value;
    case 'metadata':
      return typeof value === 'string' || isJsonObject(value) ? normalizeUserMetadata(value) : value;
    case 'json':
      return isJsonObject(value) && Object.keys(value).length === 0 ? null : mapDirectMembers(type, value, NORMALIZE);
    case 'list':
      return normalizeList(type, value);
    case 'map':
    case 'object':
      return mapDirectMembers(type, value, NORMALIZE);
    case 'boolean':
    case 'enum':
    case 'reference':
      return value;
    default:
      return assertNever(type);
  }
}

const NORMALIZE: TypedValueMapper = {
  visit: (type, value) => normalizeValue(type, value, undefined),
  visitFields: (type, value) => normalizeFields(listFields(type, value), value),
  visitKey: ({ caseInsensitive }, key) => (caseInsensitive ? key.toLowerCase() : key),
};

/** The value that means unset for this type. */
export function getEmptyValue({ type }: FieldType): Json {
  return EMPTY[type];
}

const EMPTY: Readonly<Record<FieldType['type'], Json>> = {
  text: '',
  metadata: '',
  list: [],
  map: {},
  boolean: null,
  enum: null,
  number: null,
  timestamp: null,
  reference: null,
  json: null,
  object: null,
};

function normalizeText({ format, ignoresFinalSpace }: TextType, value: string): string {
  const text = ignoresFinalSpace === true ? value.trimEnd() : value;
  return format === undefined ? text : FORMATS[format].normalize(text);
}

/** A 32-bit float has at most this many significant decimal digits. */
const SINGLE_DIGITS = 9;

/** Returns the shortest decimal number that is the same 32-bit float, as services that store such floats mean it. */
function toShortestSingle(value: number): number {
  const single = Math.fround(value);
  for (let digits = 1; digits < SINGLE_DIGITS; digits += 1) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number(single.toPrecision(SINGLE_DIGITS));
}

/** Returns the same time in UTC and whole seconds, as services store it. Text that is not a time is unchanged. */
function normalizeTimestamp(text: string): string {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? text : `${instant.toISOString().slice(0, -'.000Z'.length)}Z`;
}

function normalizeList(type: ListType, value: Json): Json {
  if (!isJsonArray(value) && !type.orSingle) return value;
  const members = (isJsonArray(value) ? value : [value]).map((member) => normalizeValue(type.of, member, undefined));
  if (type.unrestricted !== undefined && members.includes(type.unrestricted)) return [];
  return type.unordered ? sortUnique(members) : members;
}

function sortUnique(members: readonly Json[]): readonly Json[] {
  const byText = new Map(members.map((member) => [toCanonicalJson(member), member]));
  return [...byText].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, member]) => member);
}

/**
 * Whether a module is disabled and all its other fields are empty lists. Such a module equals an unset one if it can
 * only be removed by disabling it.
 */
export function isDisabledAndEmpty(value: Json): boolean {
  if (!isJsonObject(value) || (value['enabled'] ?? false) !== false) return false;
  return Object.entries(value).every(
    ([name, member]) => name === 'enabled' || (isJsonArray(member) && member.length === 0),
  );
}

/** Lists the fields whose digest a mark contains: all that differ from their default. `normal`: a normalized spec. */
export function listFieldsWithDigest(kind: Kind, normal: Spec): readonly string[] {
  return kind.specFields.flatMap(([name, field]) => {
    const value = normal[name];
    if (value === undefined) return [];
    return field.serviceDefault || !isSameJson(value, getNormalUnsetFieldValue(field)) ? [name] : [];
  });
}

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
