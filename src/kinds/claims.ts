import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { Field } from './field.ts';
import type { Kind } from './kind.ts';
import { isUnset, normalizeField } from './normalize.ts';

/** A unique value of a spec. At most one resource can have it at a time. */
export interface Claim {
  readonly field: string;
  /** The path in the spec to the field, or to one member of its list. */
  readonly path: FieldPath;
  /** The value before normalization. */
  readonly given: string;
  /** The value in normal form. */
  readonly value: string;
  /** Two claims exclude each other if their keys are equal. */
  readonly key: string;
}

/** Lists the values of a spec's unique fields. Attached kinds claim the id of the resource that they attach to. */
export function listClaims(kind: Kind, spec: Spec): readonly Claim[] {
  const claims: Claim[] = [];
  for (const unique of listUniqueFields(kind))
    for (const member of listClaimMembers(unique, spec[unique.name])) {
      const claim = findClaim(kind, member);
      if (claim !== undefined) claims.push(claim);
    }
  return claims;
}

/** A unique field. For a list, `field` describes one member. */
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
interface ClaimMember {
  readonly name: string;
  readonly path: FieldPath;
  readonly field: Field;
  readonly value: Json | undefined;
}

function listClaimMembers({ name, field, isList }: UniqueField, value: Json | undefined): readonly ClaimMember[] {
  if (!isList || !isJsonArray(value)) return [{ name, path: [name], field, value }];
  return value.map((inner, index) => ({ name, path: [name, index], field, value: inner }));
}

function findClaim(kind: Kind, { name, path, field, value }: ClaimMember): Claim | undefined {
  const normal = normalizeField(field, value);
  if (isUnset(normal) || isJsonObject(normal) || isJsonArray(normal)) return undefined;
  const given = String(isUnset(value) ? normal : value);
  return { field: name, path, given, value: String(normal), key: `${kind.name} ${name} ${normal}` };
}
