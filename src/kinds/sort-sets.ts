import { isJsonArray, type Json, toCanonicalJson } from '../model/json.ts';
import { onceForEach } from '../model/once.ts';
import type { Spec } from '../model/state.ts';
import { type Field, type FieldType, type ListType, listFields } from './field.ts';
import type { Kind } from './kind.ts';
import { listTypes, mapGiven, mapInner, type Visitor } from './walk.ts';

/** A spec as it is written, with the lists whose order means nothing sorted. */
export function sortSets(kind: Kind, spec: Spec): Spec {
  return mapGiven(listSetFields(kind.fields), spec, sortSetsIn);
}

/** The same of a value of a type. */
export function sortSetsIn(type: FieldType, value: Json): Json {
  const sorted = mapInner(type, value, SORT);
  return isSet(type) && isJsonArray(sorted) ? sortMembers(sorted) : sorted;
}

const SORT: Visitor = {
  visit: (type, value) => (holdsSets(type) ? sortSetsIn(type, value) : value),
  visitFields: (fields, value) => mapGiven(listSetFields(fields), value, sortSetsIn),
};

/** The fields in whose values a set may stand. */
const listSetFields = onceForEach((fields: Readonly<Record<string, Field>>) =>
  listFields(fields).filter(([, { type }]) => holdsSets(type)),
);

function isSet(type: FieldType): type is ListType {
  return type.type === 'list' && type.unordered;
}

/** Whether a set may stand in a value of the type. */
const holdsSets = onceForEach((type: FieldType): boolean => listTypes(type).some(isSet));

function sortMembers(members: readonly Json[]): readonly Json[] {
  if (members.length < 2) return members;
  const byText = members.map((member) => ({ member, text: toCanonicalJson(member) }));
  if (byText.every(({ text }, at) => at === 0 || (byText[at - 1]?.text ?? '') <= text)) return members;
  return byText.sort((left, right) => (left.text < right.text ? -1 : 1)).map(({ member }) => member);
}
