import { getNormalUnsetFieldValue, isDefault } from '../../kinds/canonical.ts';
import type { Field, ObjectType } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findMemberType } from '../../kinds/walk.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../../model/json.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { isAbsentOrEmptyCollection, isScalar, type OptionalFieldType } from './value-text.ts';

/** The parts of a spec that a report shows: in the order of the table, without defaults. */

/** A value and its path in a spec. */
interface Leaf {
  readonly type: OptionalFieldType;
  readonly path: FieldPath;
  readonly value: Json;
}

/** Lists the values of a spec that are not defaults. Splits objects and flat maps: each member has its own path. */
export function listNonDefaultLeaves(kind: Kind, spec: Spec): readonly Leaf[] {
  const type = kind.type;
  const value = withoutDefaults(type, orderMembers(type, spec));
  return hasOnlyDefaults(type, spec) ? [] : takeApart({ type, path: [], value });
}

/**
 * Sorts object members in the order of the kind's table, because a plan file sorts them by name. Unknown members come
 * last, sorted by name.
 */
export function orderMembers(type: OptionalFieldType, value: Json): Json {
  if (isJsonArray(value)) return value.map((member, index) => orderMembers(findMemberType(type, index), member));
  if (!isJsonObject(value)) return value;
  const names = listLinesInOrder(type, value);
  const members = names.map((name): [string, Json] => {
    return [name, orderMembers(findMemberType(type, name), value[name] ?? null)];
  });
  return Object.fromEntries(members);
}

function listLinesInOrder(type: OptionalFieldType, value: JsonObject): readonly string[] {
  const known = Object.keys(type?.type === 'object' ? type.fields : {});
  const others = Object.keys(value).filter((name) => !known.includes(name));
  return [...known.filter((name) => Object.hasOwn(value, name)), ...others.sort()];
}

/** Removes object members at their defaults. If that removes all members, returns the object unchanged. */
export function withoutDefaults(type: OptionalFieldType, value: Json): Json {
  if (type?.type === 'list' && isJsonArray(value)) return value.map((member) => withoutDefaults(type.of, member));
  if (type?.type !== 'object' || !isJsonObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    if (!isAtDefault(type, name, member)) kept.push([name, withoutDefaults(findMemberType(type, name), member)]);
  }
  return kept.length === 0 ? value : Object.fromEntries(kept);
}

function hasOnlyDefaults(type: ObjectType, value: JsonObject): boolean {
  return Object.entries(value).every(([name, member]) => isAtDefault(type, name, member));
}

function isAtDefault(type: ObjectType, name: string, member: Json): boolean {
  const field = findField(type, name);
  return field !== undefined && !field.required && isDefault(field, member);
}

function takeApart({ type, path, value }: Leaf): readonly Leaf[] {
  const isTakenApart = isJsonObject(value) && (type?.type === 'object' || Object.values(value).every(isScalar));
  if (!isTakenApart || isAbsentOrEmptyCollection(value)) return [{ type, path, value }];
  return Object.entries(value)
    .filter(([name, member]) => !isAbsentOrEmptyCollection(member) || isTelling(type, name))
    .flatMap(([name, member]) => takeApart({ type: findMemberType(type, name), path: [...path, name], value: member }));
}

/**
 * Whether an empty member differs from an absent member. It does if the member's default is not empty, or if no table
 * describes the member.
 */
function isTelling(type: OptionalFieldType, name: string): boolean {
  const field = type?.type === 'object' ? findField(type, name) : undefined;
  if (field === undefined) return true;
  const byDefault = getNormalUnsetFieldValue(field);
  return byDefault !== '' && !isAbsentOrEmptyCollection(byDefault);
}

function findField(type: ObjectType, name: string): Field | undefined {
  return Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}
