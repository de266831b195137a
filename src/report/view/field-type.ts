import { type FieldType, objectOf } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { findInnerType } from '../../kinds/walk.ts';
import { parsePath } from '../../model/field-path.ts';

/** The type of a value, where its kind's table gives one; `undefined` for what is free JSON. */
export type KnownType = FieldType | undefined;

/** The type of what stands at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): KnownType {
  const [first, ...rest] = parsePath(path) ?? [];
  if (first === 'lifecycle') return rest.reduce<KnownType>(findInnerType, objectOf(kind.lifecycle));
  return parsePath(path)?.reduce<KnownType>(findInnerType, objectOf(kind.fields));
}
