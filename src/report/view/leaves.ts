import type { Field, ObjectType } from '../../kinds/field.ts';
import { type Kind, toSpecType } from '../../kinds/kind.ts';
import { toDefault } from '../../kinds/normalize.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../../model/json.ts';
import { onceForEach } from '../../model/once.ts';
import type { FieldPath, Spec } from '../../model/state.ts';
import { isEmpty, isScalar, type KnownType } from './value-type.ts';

/** A value with its place in a spec. */
export interface Leaf {
  readonly type: KnownType;
  readonly path: FieldPath;
  readonly value: Json;
}

/** What a spec says beyond defaults, with modules and flat maps taken apart, so that each member has a path of its own. */
export function listLeaves(kind: Kind, spec: Spec): readonly Leaf[] {
  const type = toSpecType(kind);
  const value = withoutDefaults(type, toReadingOrder(type, spec));
  return hasOnlyDefaults(type, spec) ? [] : takeApart({ type, path: [], value });
}

/** The value with the members of its objects in the order of the table, and by name where there is none: a plan file has them by name. */
export function toReadingOrder(type: KnownType, value: Json): Json {
  if (isJsonArray(value)) return value.map((member, index) => toReadingOrder(findInnerType(type, index), member));
  if (!isJsonObject(value)) return value;
  const names = listInOrder(type, value);
  const members = names.map((name): [string, Json] => {
    return [name, toReadingOrder(findInnerType(type, name), value[name] ?? null)];
  });
  return Object.fromEntries(members);
}

function listInOrder(type: KnownType, value: JsonObject): readonly string[] {
  const names = Object.keys(value);
  const ranks = type?.type === 'object' ? toRanks(type.fields) : undefined;
  const isInOrder = names.every((name, at) => at === 0 || compareNames(names[at - 1] ?? '', name, ranks) < 0);
  return isInOrder ? names : names.sort((left, right) => compareNames(left, right, ranks));
}

/** The place of each field in its table. */
const toRanks = onceForEach(
  (fields: Readonly<Record<string, Field>>): ReadonlyMap<string, number> =>
    new Map(Object.keys(fields).map((name, rank) => [name, rank])),
);

function compareNames(left: string, right: string, ranks: ReadonlyMap<string, number> | undefined): number {
  const [first, second] = [ranks?.get(left), ranks?.get(right)];
  if (first !== undefined && second !== undefined) return first - second;
  if (first !== undefined || second !== undefined) return first === undefined ? 1 : -1;
  return left < right ? -1 : 1;
}

/** The value without object members that are at their defaults; as it is when all of them are. */
export function withoutDefaults(type: KnownType, value: Json): Json {
  if (type?.type === 'list' && isJsonArray(value)) return value.map((member) => withoutDefaults(type.of, member));
  if (type?.type !== 'object' || !isJsonObject(value)) return value;
  const kept: [string, Json][] = [];
  for (const name of Object.keys(value)) {
    const member = value[name] ?? null;
    if (!isAtDefault(type, name, member)) kept.push([name, withoutDefaults(findInnerType(type, name), member)]);
  }
  return kept.length === 0 ? value : Object.fromEntries(kept);
}

function hasOnlyDefaults(type: ObjectType, value: JsonObject): boolean {
  return Object.entries(value).every(([name, member]) => isAtDefault(type, name, member));
}

function isAtDefault(type: ObjectType, name: string, member: Json): boolean {
  const field = findField(type, name);
  return field !== undefined && !field.required && isSameJson(member, toDefault(field));
}

function takeApart({ type, path, value }: Leaf): readonly Leaf[] {
  const isTakenApart = isJsonObject(value) && (type?.type === 'object' || Object.values(value).every(isScalar));
  if (!isTakenApart || isEmpty(value)) return [{ type, path, value }];
  return Object.entries(value)
    .filter(([name, member]) => !isEmpty(member) || isTelling(type, name))
    .flatMap(([name, member]) => takeApart({ type: findInnerType(type, name), path: [...path, name], value: member }));
}

/** Whether it says something that there is nothing: not where leaving the member out says it too. */
function isTelling(type: KnownType, name: string): boolean {
  const field = type?.type === 'object' ? findField(type, name) : undefined;
  if (field === undefined) return true;
  const byDefault = toDefault(field);
  return byDefault !== '' && !isEmpty(byDefault);
}

function findField(type: ObjectType, name: string): Field | undefined {
  return Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
}
