import { type Json, mapMembers } from '../model/json.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { FieldType } from './field.ts';
import type { Kind } from './kind.ts';
import { mapDirectMembers, mapPresentFields } from './walk.ts';

/** Finds the values of a spec that may be secret, as the table of its kind says. */

/** A value that may be secret. `isNamed`: whether its key looks like the name of a secret. */
export interface PossibleSecret {
  readonly value: Json;
  readonly isNamed: boolean;
}

/** Replaces each value that may be secret. */
export function mapPossibleSecrets(kind: Kind, spec: Spec, replace: (found: PossibleSecret) => Json): Spec {
  return mapPresentFields(kind.specFields, spec, (type, value) =>
    mapSecretsInValue(type, value, { isNamed: false, replace }),
  );
}

interface Visit {
  readonly isNamed: boolean;
  readonly replace: (found: PossibleSecret) => Json;
}

function mapSecretsInValue(type: FieldType, value: Json, visit: Visit): Json {
  const { isNamed, replace } = visit;
  if (type.type === 'text') return type.mayBeSecret === true && isGiven(value) ? replace({ value, isNamed }) : value;
  if (type.type === 'json') return mapFreeJson(value, visit);
  return mapDirectMembers(type, value, {
    visit: (inner, member, at) =>
      mapSecretsInValue(inner, member, { ...visit, isNamed: isChosenName(type, at) && isNameOfSecret(String(at[0])) }),
  });
}

/** Whether a user chooses the name of a member, and no table. */
function isChosenName(type: FieldType, [name = '']: FieldPath): boolean {
  return type.type === 'map' || (type.type === 'object' && !Object.hasOwn(type.fields, name));
}

/** In free JSON, texts and numbers below a name that looks like that of a secret may be secret. */
function mapFreeJson(value: Json, visit: Visit): Json {
  if (visit.isNamed && isGiven(value)) return visit.replace({ value, isNamed: true });
  return mapMembers(value, (member, at) => {
    return mapFreeJson(member, { ...visit, isNamed: visit.isNamed || isNameOfSecret(String(at)) });
  });
}

function isGiven(value: Json): boolean {
  return (typeof value === 'string' && value !== '') || typeof value === 'number';
}
