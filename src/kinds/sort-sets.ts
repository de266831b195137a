import { isJsonArray, type Json, toCanonicalJson } from '../model/json.ts';
import type { Spec } from '../model/state.ts';
import type { FieldType } from './field.ts';
import type { Kind } from './kind.ts';
import { mapFields, mapInner } from './walk.ts';

/** A spec as it is written, with the lists whose order means nothing sorted. */
export function sortSets(kind: Kind, spec: Spec): Spec {
  return mapFields(kind.fields, spec, { visit: sortSetsIn });
}

/** The same of a value of a type. */
export function sortSetsIn(type: FieldType, value: Json): Json {
  const sorted = mapInner(type, value, { visit: sortSetsIn });
  return type.type === 'list' && type.unordered && isJsonArray(sorted) ? sortMembers(sorted) : sorted;
}

function sortMembers(members: readonly Json[]): readonly Json[] {
  if (members.length < 2) return members;
  const byText = members.map((member) => ({ member, text: toCanonicalJson(member) }));
  return byText.sort((left, right) => (left.text < right.text ? -1 : 1)).map(({ member }) => member);
}
