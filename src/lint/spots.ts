import { type Field, type FieldType, listFields } from '../kinds/field.ts';
import { type Kind, listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import { listTypes } from '../kinds/walk.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import type { DesiredResource, FieldPath } from '../model/state.ts';

/** A place in a spec that has a type, and what stands there: nothing, where a field is left out whose absence means something. */
export interface Spot {
  /** From the start of the document. */
  readonly path: FieldPath;
  readonly type: FieldType;
  /** Absent at members of lists and maps. */
  readonly field?: Field;
  readonly value: Json | undefined;
}

/** Every place of a spec, outer ones first. Fields that somebody else owns are passed over. */
export function listSpots(kind: Kind, { spec, lifecycle }: DesiredResource): readonly Spot[] {
  const spots: Spot[] = [];
  for (const place of listPlaces(kind)) if (!lifecycle.ignore.includes(place.name)) collectField(spec, place, spots);
  return spots;
}

interface Place {
  readonly path: FieldPath;
  readonly name: string;
  readonly field: Field;
}

/** The places of the fields of a spec. */
const listPlaces = onceForEachKind((kind): readonly Place[] =>
  listSpecFields(kind).map(([name, field]) => ({ path: ['spec', name], name, field })),
);

function collectField(object: JsonObject, { path, name, field }: Place, spots: Spot[]): void {
  const value = toOwn(object, name);
  if (isPlace(field, value)) collect({ path, type: field.type, field, value }, spots);
}

function toOwn(object: JsonObject, name: string): Json | undefined {
  return Object.hasOwn(object, name) ? object[name] : undefined;
}

/** Of the fields that are left out, most by far, only those whose absence means something are places. */
function isPlace({ type, whenUnset }: Field, value: Json | undefined): boolean {
  return value !== undefined || whenUnset !== undefined || (type.type === 'map' && type.isShares);
}

/** Whether any text of a spec that is stated is an expression. Most kinds have none. */
export function hasExpression(kind: Kind, { spec, lifecycle }: DesiredResource): boolean {
  return listExpressionFields(kind).some(
    ([name, field]) =>
      spec[name] !== undefined &&
      !lifecycle.ignore.includes(name) &&
      unfold({ path: [name], type: field.type, field, value: spec[name] }).some(({ type }) => isExpression(type)),
  );
}

const listExpressionFields = onceForEachKind((kind) =>
  listSpecFields(kind).filter(([, { type }]) => listTypes(type).some(isExpression)),
);

function isExpression(type: FieldType): boolean {
  return type.type === 'text' && type.cel !== undefined;
}

function unfold(spot: Spot): readonly Spot[] {
  const spots: Spot[] = [];
  collect(spot, spots);
  return spots;
}

function collect(spot: Spot, spots: Spot[]): void {
  spots.push(spot);
  const { path, type, value } = spot;
  if (value === undefined || value === null) return;
  if (type.type === 'list') {
    const members = isJsonArray(value) ? value : [value];
    for (const [index, member] of members.entries())
      collect({ path: [...path, index], type: type.of, value: member }, spots);
  } else if (type.type === 'object' && isJsonObject(value))
    for (const [name, field] of listFields(type.fields))
      if (isPlace(field, toOwn(value, name))) collectField(value, { path: [...path, name], name, field }, spots);
}
