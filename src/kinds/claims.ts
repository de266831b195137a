import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { Kind } from './kind.ts';
import { normalizeField } from './normalize.ts';

/** A value of a unique field, which belongs to one resource of its kind at a time. */
export interface Claim {
  readonly field: string;
  readonly value: string;
  /** The same for equal claims, different for all others. */
  readonly key: string;
}

/** What a spec claims, in normal form. */
export function listClaims(kind: Kind, spec: Spec): readonly Claim[] {
  return Object.entries(kind.fields).flatMap(([name, field]) => {
    if (!field.unique || kind.role !== 'owned') return [];
    const values = toTexts(normalizeField(field, spec[name]));
    return values.map((value) => ({ field: name, value, key: `${kind.name} ${name} ${value}` }));
  });
}

function toTexts(value: Json): readonly string[] {
  if (value === null || isJsonObject(value)) return [];
  return isJsonArray(value) ? value.map(String) : [String(value)];
}
