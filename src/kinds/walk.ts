import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { FieldPath } from '../model/state.ts';
import {
  type Field,
  type FieldType,
  type JsonType,
  type ListType,
  listOf,
  type MapType,
  type NamedField,
  type ObjectType,
} from './field.ts';

/**
 * The one walk over types and their values: it visits the direct members of a value. A visitor that wants more levels calls it again on a member.
 */

/** The callbacks of a walk over the direct members of a value. */
export interface Visitor {
  /** Returns the new value of a member. `at` leads to it; it is empty for a single value that counts as a list of one. */
  readonly visit: (type: FieldType, value: Json, at: FieldPath) => Json;
  /** Returns the new fields of an object. Left out: the known fields are visited, and unknown ones are kept. */
  readonly visitFields?: (type: ObjectType, value: JsonObject) => Json;
  /** What becomes of a key of a map. Left out: it stays. */
  readonly visitKey?: (type: MapType, key: string) => string;
}

type Fields = Readonly<Record<string, Field>>;

/**
 * The value with everything directly inside of it visited. A value of the wrong shape, and one with nothing inside, stays; so does one in which
 * everything stays: most values are in the form that they are brought into, and ten thousand copies take longer to collect than to make.
 */
export function mapInner(type: FieldType, value: Json, visitor: Visitor): Json {
  if (isLeaf(type)) return value;
  switch (type.type) {
    case 'list':
      if (isJsonArray(value)) return mapList(value, (member, index) => visitor.visit(type.of, member, [index]));
      return type.orSingle ? visitor.visit(type.of, value, []) : value;
    case 'map':
      return isJsonObject(value) ? mapMembers(type, value, visitor) : value;
    case 'object':
      return isJsonObject(value) ? (visitor.visitFields ?? visitStated(visitor))(type, value) : value;
    case 'json':
      return isJsonObject(value) ? mapHeld(type, value, visitor) : value;
    default:
      return assertNever(type);
  }
}

/** The types of values that have nothing of a known type inside. */
type LeafType = Exclude<FieldType, ListType | MapType | ObjectType | JsonType>;

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

/** The fields of a value that are in a table, visited; whatever else is there stays. */
function mapFields(fields: Fields, value: JsonObject, { visit }: Pick<Visitor, 'visit'>): JsonObject {
  return mapEntries(value, (name, member) => {
    const field = pickOwn(fields, name);
    return [name, field === undefined ? member : visit(field.type, member, [name])];
  });
}

/** An object with those of the fields visited that it has; itself where all stay. */
export function mapPresentFields(
  fields: readonly NamedField[],
  value: JsonObject,
  visit: (type: FieldType, member: Json, name: string) => Json,
): JsonObject {
  let mapped: Record<string, Json> | undefined;
  for (const [name, { type }] of fields) {
    const member = value[name];
    if (member === undefined || member === null) continue;
    const visited = visit(type, member, name);
    if (visited === member) continue;
    mapped ??= { ...value };
    mapped[name] = visited;
  }
  return mapped ?? value;
}

/** A type, and every type inside of it. */
export function listTypes(type: FieldType): readonly FieldType[] {
  return [type, ...listInnerTypes(type).flatMap(listTypes)];
}

/** The type at a step inside of a value; `undefined`: no table has it. */
export function findInnerType(type: FieldType | undefined, step: string | number): FieldType | undefined {
  if (type === undefined || isLeaf(type)) return undefined;
  switch (type.type) {
    case 'object':
      return pickOwn(type.fields, step)?.type;
    case 'list':
    case 'map':
      return type.of;
    case 'json':
      return toHeldType(type, step);
    default:
      return assertNever(type);
  }
}

function listInnerTypes(type: FieldType): readonly FieldType[] {
  if (isLeaf(type)) return [];
  switch (type.type) {
    case 'list':
      return [type.of];
    case 'map':
      return [type.keys, type.of];
    case 'object':
      return Object.values(type.fields).map((field) => field.type);
    case 'json':
      return Object.values(type.references);
    default:
      return assertNever(type);
  }
}

function visitStated(visitor: Visitor): (type: ObjectType, value: JsonObject) => Json {
  return ({ fields }, value) => mapFields(fields, value, visitor);
}

function mapMembers(type: MapType, value: JsonObject, { visit, visitKey }: Visitor): JsonObject {
  return mapEntries(value, (key, member) => [visitKey?.(type, key) ?? key, visit(type.of, member, [key])]);
}

/** Free JSON: visits only the known lists of references in it. */
function mapHeld(type: JsonType, value: JsonObject, { visit }: Visitor): JsonObject {
  return mapEntries(value, (key, member) => {
    const held = toHeldType(type, key);
    return [key, held === undefined || !isJsonArray(member) ? member : visit(held, member, [key])];
  });
}

function toHeldType(type: JsonType, key: string | number): FieldType | undefined {
  const member = pickOwn(type.references, key);
  return member === undefined ? undefined : listOf(member);
}

function mapList(list: readonly Json[], map: (member: Json, index: number) => Json): readonly Json[] {
  const mapped = list.map(map);
  return mapped.every((member, index) => member === list[index]) ? list : mapped;
}

function mapEntries(value: JsonObject, map: (key: string, member: Json) => [string, Json]): JsonObject {
  let isSame = true;
  const entries = Object.keys(value).map((key) => {
    const member = value[key] ?? null;
    const entry = map(key, member);
    isSame &&= entry[0] === key && entry[1] === member;
    return entry;
  });
  return isSame ? value : Object.fromEntries(entries);
}

/** Keys come from users: every object inherits `constructor`. */
function pickOwn<Value>(table: Readonly<Record<string, Value>>, key: string | number): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}
