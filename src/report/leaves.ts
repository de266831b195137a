import { objectOf } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { toDefault } from '../kinds/normalize.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { type KnownType, toMemberType } from './field-type.ts';
import { isEmpty, isScalar } from './value-lines.ts';

/** A value with its place in a spec. */
export interface Leaf {
  readonly type: KnownType;
  readonly path: FieldPath;
  readonly value: Json;
}

/** What a spec says beyond defaults, with modules and flat maps taken apart, so that each member has a path of its own. */
export function listLeaves(kind: Kind, spec: Spec): readonly Leaf[] {
  const type = objectOf(kind.fields);
  const value = withoutDefaults(type, spec);
  return isJsonObject(value) && value !== spec ? takeApart({ type, path: [], value }) : [];
}

/** The value without object members that are at their defaults, in the order of the table; as it is when all of them are. */
export function withoutDefaults(type: KnownType, value: Json): Json {
  if (type?.type === 'list' && isJsonArray(value)) return value.map((member) => withoutDefaults(type.of, member));
  if (type?.type !== 'object' || !isJsonObject(value)) return value;
  const names = new Set([
    ...Object.keys(type.fields).filter((name) => Object.hasOwn(value, name)),
    ...Object.keys(value),
  ]);
  const kept = [...names].flatMap((name): [string, Json][] => {
    const member = value[name] ?? null;
    const field = Object.hasOwn(type.fields, name) ? type.fields[name] : undefined;
    const isDefault = field !== undefined && !field.required && isSameJson(member, toDefault(field));
    return isDefault ? [] : [[name, withoutDefaults(field?.type, member)]];
  });
  return kept.length === 0 ? value : Object.fromEntries(kept);
}

function takeApart({ type, path, value }: Leaf): readonly Leaf[] {
  if (isEmpty(value)) return [];
  const isTakenApart = isJsonObject(value) && (type?.type === 'object' || Object.values(value).every(isScalar));
  if (!isTakenApart) return [{ type, path, value }];
  return Object.entries(value).flatMap(([name, member]) =>
    takeApart({ type: toMemberType(type, name), path: [...path, name], value: member }),
  );
}
