import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import { AS_WRITTEN, isUnset, toCanonicalValue } from './canonical.ts';
import type { FieldType, NamedField } from './field.ts';
import type { Kind } from './kind.ts';

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
  for (const unique of kind.uniqueFields)
    for (const member of listClaimMembers(unique, spec[unique[0]])) {
      const claim = findClaim(kind, member);
      if (claim !== undefined) claims.push(claim);
    }
  return claims;
}

/** The value of a unique field, or one member of its list. */
interface ClaimMember {
  readonly path: readonly [name: string] | readonly [name: string, index: number];
  readonly type: FieldType;
  readonly value: Json | undefined;
}

function listClaimMembers([name, { type }]: NamedField, value: Json | undefined): readonly ClaimMember[] {
  if (type.type !== 'list') return [{ path: [name], type, value }];
  if (!isJsonArray(value)) return [{ path: [name], type: type.of, value }];
  return value.map((inner, index) => ({ path: [name, index], type: type.of, value: inner }));
}

function findClaim(kind: Kind, { path, type, value }: ClaimMember): Claim | undefined {
  const [field] = path;
  const normal = toCanonicalValue(type, value, AS_WRITTEN, kind.defaults[field]);
  if (isUnset(normal) || isJsonObject(normal) || isJsonArray(normal)) return undefined;
  const given = String(isUnset(value) ? normal : value);
  return { field, path, given, value: String(normal), key: `${kind.name} ${field} ${normal}` };
}

/** A claim on a unique value, and who has or claims it. Two claims are in conflict if their keys are equal. */
export interface HeldClaim {
  readonly key: string;
  readonly holder: unknown;
}

/** Groups the claims of each value that several holders claim. The claims keep their order, as do the groups. */
export function findConflicts<Held extends HeldClaim>(
  claims: Iterable<Held>,
): readonly (readonly [Held, Held, ...Held[]])[] {
  return Array.from(Map.groupBy(claims, ({ key }) => key).values()).flatMap(([first, second, ...others]) => {
    if (first === undefined || second === undefined) return [];
    const all = [first, second, ...others] as const;
    return all.some(({ holder }) => holder !== first.holder) ? [all] : [];
  });
}
