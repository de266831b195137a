import { isJsonArray, type Json, toCanonicalJson } from '../model/json.ts';
import { onceForEach } from '../model/once.ts';
import type { Spec } from '../model/state.ts';
import type { FieldType, ListType } from './field.ts';
import type { Kind } from './kind.ts';
import { listTypes, mapFields, mapInner } from './walk.ts';

/** A spec as it is written, with the lists whose order means nothing sorted. */
export function sortSets(kind: Kind, spec: Spec): Spec {
  return mapFields(kind.fields, spec, SORT);
}

/** The same of a value of a type. */
export function sortSetsIn(type: FieldType, value: Json): Json {
  if (!holdsSets(type)) return value;
  const sorted = mapInner(type, value, SORT);
  return isSet(type) && isJsonArray(sorted) ? sortMembers(sorted) : sorted;
}

const SORT = { visit: sortSetsIn };

function isSet(type: FieldType): type is ListType {
  return type.type === 'list' && type.unordered;
}

/** Whether a set may stand in a value of the type. */
const holdsSets = onceForEach((type: FieldType): boolean => listTypes(type).some(isSet));

function sortMembers(members: readonly Json[]): readonly Json[] {
  if (members.length < 2) return members;
  const byText = members.map((member) => ({ member, text: toCanonicalJson(member) }));
  return byText.sort((left, right) => (left.text < right.text ? -1 : 1)).map(({ member }) => member);
}
