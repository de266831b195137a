import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Field } from './field.ts';
import type { Kind } from './kind.ts';
import { isUnset, normalizeField } from './normalize.ts';

/** A value that one resource has at a time. */
export interface Claim {
  /** The field that makes it. */
  readonly field: string;
  /** Path inside the spec: the field, or a member of it. */
  readonly path: FieldPath;
  /** As it was given. */
  readonly given: string;
  /** In normal form. */
  readonly value: string;
  /** Equal for claims that exclude each other, different for all others. */
  readonly key: string;
}

/** What a spec claims: each value of its unique fields. For an attached kind that is what it attaches to. */
export function listClaims(kind: Kind, spec: Spec): readonly Claim[] {
  const claims: Claim[] = [];
  for (const unique of listUniqueFields(kind))
    for (const member of listMembers(unique, spec[unique.name])) {
      const claim = toClaim(kind, member);
      if (claim !== undefined) claims.push(claim);
    }
  return claims;
}

/** A unique field; of a list, a field of its members. */
interface UniqueField {
  readonly name: string;
  readonly field: Field;
  readonly isList: boolean;
}

function listUniqueFields({ fields }: Kind): readonly UniqueField[] {
  return Object.entries(fields)
    .filter(([, { unique }]) => unique)
    .map(([name, field]) =>
      field.type.type === 'list'
        ? { name, field: { ...field, type: field.type.of }, isList: true }
        : { name, field, isList: false },
    );
}

/** The value of a unique field, or one member of its list. */
interface Member {
  readonly name: string;
  readonly path: FieldPath;
  readonly field: Field;
  readonly value: Json | undefined;
}

function listMembers({ name, field, isList }: UniqueField, value: Json | undefined): readonly Member[] {
  if (!isList || !isJsonArray(value)) return [{ name, path: [name], field, value }];
  return value.map((inner, index) => ({ name, path: [name, index], field, value: inner }));
}

function toClaim(kind: Kind, { name, path, field, value }: Member): Claim | undefined {
  const normal = normalizeField(field, value);
  if (isUnset(normal) || isJsonObject(normal) || isJsonArray(normal)) return undefined;
  const given = String(isUnset(value) ? normal : value);
  return { field: name, path, given, value: String(normal), key: `${kind.name} ${name} ${normal}` };
}
