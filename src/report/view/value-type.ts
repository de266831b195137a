import { type FieldType, objectOf } from '../../kinds/field.ts';
import { type Kind, toSpecType } from '../../kinds/kind.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { parsePath } from '../../model/field-path.ts';
import type { Json } from '../../model/json.ts';

/** The type of a value, where its kind's table gives one; `undefined` for what is free JSON. */
export type KnownType = FieldType | undefined;

/** The type of what stands at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): KnownType {
  const steps = parsePath(path);
  if (steps?.[0] !== 'lifecycle') return steps?.reduce<KnownType>(findInnerType, toSpecType(kind));
  return steps.slice(1).reduce<KnownType>(findInnerType, objectOf(kind.lifecycle));
}

/** Whether the keys of a value are ids of something. */
export function isReferenceMap(type: KnownType): boolean {
  return type?.type === 'map' && type.keys.type === 'reference';
}

/** Whether there is nothing: no value, or an empty list or object. */
export function isEmpty(value: Json | undefined): boolean {
  return value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0);
}

/** Whether a value is of one piece: no list or object with something in it. */
export function isScalar(value: Json | undefined): boolean {
  return typeof value !== 'object' || isEmpty(value);
}

/** Whether a value is text of several lines. */
export function isLongText(value: Json | undefined): value is string {
  return typeof value === 'string' && value.includes('\n');
}
