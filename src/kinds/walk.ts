import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { isSecretValue } from '../model/secret-value.ts';
import type { FieldPath } from '../model/state.ts';
import {
  type FieldType,
  findField,
  type JsonObjectType,
  type ListType,
  type MapType,
  type NamedField,
  type ObjectType,
  setOf,
} from './field.ts';
import { FORMATS } from './formats.ts';

/**
 * The only code that walks over values by their types. `mapDirectMembers` visits direct members. To go deeper, a visitor calls
 * it again.
 */

export interface TypedValueMapper {
  /** Returns the new value of a member. `at`: its path, or empty for a single value that stands for a list. */
  readonly visit: (type: FieldType, value: Json, at: FieldPath) => Json;
  /** Returns the new fields of an object. If absent, known fields are visited and unknown ones are kept. */
  readonly visitFields?: (type: ObjectType, value: JsonObject) => Json;
  /** Returns the new key for a key of a map. If absent, keys are kept. */
  readonly visitKey?: (type: MapType, key: string) => string;
}

/**
 * Visits the direct members of a value and returns the result. A value without members, or of the wrong type, is
 * returned unchanged.
 */
export function mapDirectMembers(type: FieldType, value: Json, visitor: TypedValueMapper): Json {
  if (isLeaf(type)) return value;
  switch (type.type) {
    case 'list':
      if (isJsonArray(value)) return value.map((member, index) => visitor.visit(type.of, member, [index]));
      return type.orSingle ? visitor.visit(type.of, value, []) : value;
    case 'map':
      return isJsonObject(value) ? mapMembers(type, value, visitor) : value;
    case 'object':
      return isJsonObject(value) ? (visitor.visitFields ?? visitKnownFields(visitor))(type, value) : value;
    case 'json':
      return isJsonObject(value) ? mapKnownLists(type, value, visitor) : value;
    default:
      return assertNever(type);
  }
}

/** Types whose values have no members of a known type. */
type LeafType = Exclude<FieldType, ListType | MapType | ObjectType | JsonObjectType>;

const LEAVES: Readonly<Record<LeafType['type'], true>> = {
  text: true,
  enum: true,
  boolean: true,
  number: true,
  timestamp: true,
  reference: true,
  metadata: true,
};

function isLeaf(type: FieldType): type is LeafType {
  return Object.hasOwn(LEAVES, type.type);
}

/** Visits the fields that the type allows, and keeps all others. */
function mapFields(type: ObjectType, value: JsonObject, { visit }: Pick<TypedValueMapper, 'visit'>): JsonObject {
  return mapEntries(value, (name, member) => {
    const field = findField(type, name);
    return [name, field === undefined ? member : visit(field.type, member, [name])];
  });
}

/** Visits the fields that are present in an object, and keeps everything else. */
export function mapPresentFields(
  fields: readonly NamedField[],
  value: JsonObject,
  visit: (type: FieldType, member: Json, name: string) => Json,
): JsonObject {
  const present = fields.flatMap(([name, { type }]): [string, Json][] => {
    const member = value[name];
    return member === undefined || member === null ? [] : [[name, visit(type, member, name)]];
  });
  return { ...value, ...Object.fromEntries(present) };
}

export function listSelfAndNestedTypes(type: FieldType): readonly FieldType[] {
  return [type, ...listInnerTypes(type).flatMap(listSelfAndNestedTypes)];
}

/** Returns the type of the member at a step of a path. `undefined` if no table describes the member. */
export function findMemberType(type: FieldType | undefined, step: string | number): FieldType | undefined {
  if (type === undefined || isLeaf(type)) return undefined;
  switch (type.type) {
    case 'object':
      return findField(type, step)?.type;
    case 'list':
      return type.of;
    case 'map':
      return findValueType(type, step);
    case 'json':
      return findKnownListType(type, step);
    default:
      return assertNever(type);
  }
}

/**
 * Lists the paths of keys `__proto__` in maps whose type does not allow that key, or its value. Schemas overlook this
 * key, because an assignment to it sets the prototype of an object. As the name of a header it is a key like any other.
 */
export function listBadPrototypeKeys(type: FieldType, value: Json, path: FieldPath = []): readonly FieldPath[] {
  const isHere = type.type === 'map' && isJsonObject(value) && Object.hasOwn(value, PROTOTYPE_KEY);
  const found: FieldPath[] = isHere && !allowsPrototypeKey(type, value) ? [[...path, PROTOTYPE_KEY]] : [];
  mapDirectMembers(type, value, {
    visit: (inner, member, at) => {
      found.push(...listBadPrototypeKeys(inner, member, [...path, ...at]));
      return member;
    },
  });
  return found;
}

const PROTOTYPE_KEY = '__proto__';

function allowsPrototypeKey({ keys, of }: MapType, map: JsonObject): boolean {
  if (keys.type === 'reference' || of.type !== 'text') return false;
  const isKey = keys.format === undefined || FORMATS[keys.format].check(PROTOTYPE_KEY) === undefined;
  const value = map[PROTOTYPE_KEY];
  if (!isKey || isSecretValue(value)) return isKey;
  return typeof value === 'string' && (of.format === undefined || FORMATS[of.format].check(value) === undefined);
}

function listInnerTypes(type: FieldType): readonly FieldType[] {
  if (isLeaf(type)) return [];
  switch (type.type) {
    case 'list':
      return [type.of];
    case 'map':
      return [type.keys, type.of, ...Object.values(type.valueTypes)];
    case 'object':
      return [...Object.values(type.fields), ...(type.others === undefined ? [] : [type.others])].map(
        (one) => one.type,
      );
    case 'json':
      return Object.values(type.lists);
    default:
      return assertNever(type);
  }
}

function visitKnownFields(visitor: TypedValueMapper): (type: ObjectType, value: JsonObject) => Json {
  return (type, value) => mapFields(type, value, visitor);
}

function mapMembers(type: MapType, value: JsonObject, { visit, visitKey }: TypedValueMapper): JsonObject {
  return mapEntries(value, (key, member) => [
    visitKey?.(type, key) ?? key,
    visit(findValueType(type, key), member, [key]),
  ]);
}

/** Visits the sets of known members in free JSON, and keeps everything else. */
function mapKnownLists(type: JsonObjectType, value: JsonObject, { visit }: TypedValueMapper): JsonObject {
  return mapEntries(value, (key, member) => {
    const held = findKnownListType(type, key);
    return [key, held === undefined || !isJsonArray(member) ? member : visit(held, member, [key])];
  });
}

function findKnownListType(type: JsonObjectType, key: string | number): FieldType | undefined {
  const member = pickOwn(type.lists, key);
  return member === undefined ? undefined : setOf(member);
}

function mapEntries(value: JsonObject, map: (key: string, member: Json) => [string, Json]): JsonObject {
  return Object.fromEntries(Object.entries(value).map(([key, member]) => map(key, member)));
}

/**
 * Returns the caption of a rule of this type, or `undefined` if it has none. Changing a caption does not affect access.
 */
export function findAccessRuleCaption(type: FieldType | undefined, rule: Json): string | undefined {
  if (type?.type !== 'object' || !isJsonObject(rule)) return undefined;
  const name = Object.entries(type.fields).find(([, { isCaption }]) => isCaption)?.[0];
  const caption = name === undefined ? undefined : rule[name];
  return typeof caption === 'string' && caption !== '' ? caption : undefined;
}

function findValueType({ valueTypes, of, caseInsensitive }: MapType, key: string | number): FieldType {
  return pickOwn(valueTypes, caseInsensitive ? String(key).toLowerCase() : key) ?? of;
}

/** Looks up own keys only, because users choose keys and every object inherits `constructor`. */
function pickOwn<Value>(table: Readonly<Record<string, Value>>, key: string | number): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
