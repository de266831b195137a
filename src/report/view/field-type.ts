import { type FieldType, listOf, objectOf } from '../../kinds/field.ts';
import type { Kind } from '../../kinds/kind.ts';
import { parsePath } from '../../model/field-path.ts';

/** The type of a value, where its kind's table gives one; `undefined` for what is free JSON. */
export type KnownType = FieldType | undefined;

/** The type of what stands at a path of a kind's spec, such as `policy.inbound[0].name`. */
export function findFieldType(kind: Kind, path: string): KnownType {
  const [first, ...rest] = parsePath(path) ?? [];
  if (first === 'lifecycle') return rest.reduce<KnownType>(toMemberType, objectOf(kind.lifecycle));
  return parsePath(path)?.reduce<KnownType>(toMemberType, objectOf(kind.fields));
}

/** The type of a member of a value: of a field, a map's value, a list's member. */
export function toMemberType(type: KnownType, step: string | number): KnownType {
  switch (type?.type) {
    case 'object':
      return type.fields[step]?.type;
    case 'list':
    case 'map':
      return type.of;
    case 'json': {
      const member = type.references[step];
      return member === undefined ? undefined : listOf(member);
    }
    default:
      return undefined;
  }
}
