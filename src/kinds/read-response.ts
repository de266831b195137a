import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { parseMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { Field, FieldType, NamedField, ObjectType } from './field.ts';
import type { Kind } from './kind.ts';
import { getEmptyValue, isDisabledAndEmpty, normalizeField, normalizeSpec } from './normalize.ts';
import { mapInner } from './walk.ts';

/**
 * A live resource from the service's JSON, which must conform to the kind's response schema. A field that the JSON leaves out is absent from
 * the spec: `ShownFields` says whether it is empty or unknown.
 */
export function readResource(kind: Kind, json: JsonObject): LiveResource {
  const metadata = parseMetadata(toText(json['metadata']));
  const spec = readFields(kind.specFields, json);
  if ('metadata' in kind.fields) spec['metadata'] = metadata.user;
  return {
    kind: kind.name,
    id: toText(json['id']),
    createdAt: toText(json['created_at']),
    spec: toLiveSpec(kind, spec),
    mark: metadata.mark,
    markError: metadata.error,
    computed: pickComputed(kind, json),
  };
}

function pickComputed(kind: Kind, json: JsonObject): Spec {
  const computed: Record<string, Json> = {};
  for (const name of kind.computedFields) computed[name] = json[name] ?? null;
  return computed;
}

/** The modules of an attached resource, from what a GET of each answered; null where a module is not set. */
export function readAttachment(kind: Kind, ids: Spec, modules: JsonObject): LiveResource {
  return {
    kind: kind.name,
    id: toText(ids['id']),
    createdAt: '',
    spec: toLiveSpec(kind, { ...ids, ...readFields(kind.specFields, modules) }),
    mark: undefined,
    markError: undefined,
    computed: {},
  };
}

/** Response fields in the shape that requests have: request names, ids for Refs, null for modules that are not set. */
function readFields(fields: readonly NamedField[], json: JsonObject): Record<string, Json> {
  const read: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const value = findAnswered(json, name, field);
    if (value !== undefined) read[name] = readValue(field.type, value);
  }
  return read;
}

/** What an answer shows of a field; `undefined`: nothing. */
function findAnswered(json: JsonObject, name: string, field: Field): Json | undefined {
  const value = pick(json, name, field);
  return value === undefined || isUnsaid(field, value) ? undefined : value;
}

function pick(json: JsonObject, name: string, field: Field): Json | undefined {
  const renamed = field.responseName === undefined ? undefined : json[field.responseName];
  return renamed ?? (json[name] === undefined ? renamed : json[name]);
}

/** For a field that always has a value, null means unknown. For a list or a map, null means empty. */
function isUnsaid(field: Field, value: Json): boolean {
  const isCollection = field.type.type === 'list' || field.type.type === 'map';
  return value === null && field.default !== undefined && !isCollection && !field.absentWhenDefault;
}

/** Normal form, without defaults for fields that the response leaves out: those defaults apply to requests only. */
function toLiveSpec(kind: Kind, answered: Spec): Spec {
  return keepAnswered(kind.specFields, answered, normalizeSpec(kind, answered));
}

function keepAnswered(fields: readonly NamedField[], answered: JsonObject, normal: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const from = answered[name];
    const to = normal[name];
    if (to === undefined || (from === undefined && !field.absentWhenDefault)) continue;
    kept[name] = from === undefined ? to : keepInner(field.type, from, to ?? toDisabled(field, from));
  }
  return kept;
}

/** A disabled module is the same as none only if it is known to be empty. */
function toDisabled(field: Field, answered: Json): Json {
  if (field.clear !== 'disable' || !isUnknown(field.type, answered)) return null;
  return normalizeField({ ...field, clear: undefined }, answered);
}

function keepInner(type: FieldType, answered: Json, normal: Json): Json {
  if (type.type === 'object' && isJsonObject(answered) && isJsonObject(normal))
    return keepAnswered(type.namedFields, answered, normal);
  if (type.type !== 'list' || type.unordered || !isJsonArray(answered) || !isJsonArray(normal)) return normal;
  return normal.map((member, index) => keepInner(type.of, answered[index] ?? null, member));
}

function readValue(type: FieldType, value: Json): Json {
  if (value === null) return type.type === 'list' || type.type === 'map' ? getEmptyValue(type) : null;
  if (type.type === 'reference') return isJsonObject(value) ? (value['id'] ?? null) : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapInner(type, isSingle ? [value] : value, { visit: readMember, visitFields: readObject });
}

/** An object in a list is there, even if every field of it is left out. */
function readMember(type: FieldType, value: Json): Json {
  if (type.type === 'object' && isJsonObject(value)) return readFields(type.namedFields, value);
  return readValue(type, value);
}

function readObject({ namedFields }: ObjectType, value: JsonObject): Json {
  return isNotSet(value) ? null : readFields(namedFields, value);
}

/** An object in which everything is null is not set. */
function isNotSet(value: JsonObject): boolean {
  return Object.values(value).every((member) => member === null);
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}

/** A live spec in which fields that the service does not show have the values of another spec in normal form. */
export function fillUnknown(kind: Kind, live: Spec, from: Spec): Spec {
  return fillFields(kind.specFields, live, from);
}

/** Whether a field of a live spec is not shown, or not all of it. */
export function isUnknown(type: FieldType, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (type.type === 'object' && isJsonObject(value))
    return type.namedFields.some(([name, field]) => isUnknown(field.type, value[name]));
  return type.type === 'list' && isJsonArray(value) && value.some((member) => isUnknown(type.of, member ?? undefined));
}

function fillFields(fields: readonly NamedField[], value: JsonObject, from: JsonObject): JsonObject {
  const all: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const filled = fillValue(field.type, value[name], from[name]);
    if (filled !== undefined) all[name] = from[name] === null ? toSet(field, filled) : filled;
  }
  return all;
}

/** A module that is disabled, and empty as far as it is shown, is none. */
function toSet({ clear }: Field, value: Json): Json {
  return clear === 'disable' && isDisabledAndEmpty(value) ? null : value;
}

/** A list member that the service shows nothing of is null. */
function fillValue(type: FieldType, value: Json | undefined, from: Json | undefined): Json | undefined {
  if (value === undefined) return from;
  if (type.type === 'object' && isJsonObject(value) && isJsonObject(from))
    return fillFields(type.namedFields, value, from);
  if (type.type !== 'list' || !isJsonArray(value) || !isJsonArray(from)) return value;
  return value.map((member, index) => fillValue(type.of, member ?? undefined, from[index]) ?? member);
}

/**
 * A live spec with empty values in the place of fields that are left out and are among those that other answers show; itself if there are none. The modules
 * of an attached resource are read one by one, so that one that is absent was not read.
 */
function fillLeftOut(kind: Kind, live: Spec, shown: ReadonlySet<Field>): Spec {
  const fields = kind.specFields.filter(([name]) => kind.role !== 'attached' || live[name] !== undefined);
  return fillEmpty(fields, live, (field) => shown.has(field));
}

/** A live spec in which every field that is left out and can be empty is empty, whatever other answers show. For comparing two readings. */
export function fillAllLeftOut(kind: Kind, live: Spec): Spec {
  return fillEmpty(kind.specFields, live, () => true);
}

type IsMeant = (field: Field) => boolean;

function fillEmpty(fields: readonly NamedField[], value: JsonObject, isMeant: IsMeant): JsonObject {
  let filled: Record<string, Json> | undefined;
  for (const [name, field] of fields) {
    const from = value[name];
    const to = from === undefined ? toLeftOut(field, isMeant) : fillValueInside(field, from, isMeant);
    if (to === undefined || to === from) continue;
    filled ??= { ...value };
    filled[name] = to;
  }
  return filled ?? value;
}

function fillValueInside(field: Field, value: Json, isMeant: IsMeant): Json {
  const filled = fillInside(field.type, value, isMeant);
  return filled === value || isUnknown(field.type, filled) ? filled : toSet(field, filled);
}

function fillInside(type: FieldType, value: Json, isMeant: IsMeant): Json {
  if (type.type === 'object' && isJsonObject(value)) return fillEmpty(type.namedFields, value, isMeant);
  if (type.type !== 'list' || !isJsonArray(value)) return value;
  const filled = value.map((member) => fillInside(type.of, member, isMeant));
  return filled.some((member, index) => member !== value[index]) ? filled : value;
}

/**
 * What leaving a field out means; `undefined`: nothing, because it always has a value: the service's choice, and what every resource is created with
 * and keeps.
 */
function toLeftOut(field: Field, isMeant: IsMeant): Json | undefined {
  const { type, required, lifecycle, serviceDefault } = field;
  if (!isMeant(field) || serviceDefault || (required && lifecycle === 'immutable')) return undefined;
  if (field.default === undefined) return getEmptyValue(type);
  if (type.type === 'boolean') return false;
  if (type.type === 'number') return type.min <= 0 ? 0 : undefined;
  return type.type === 'enum' ? undefined : getEmptyValue(type);
}

/**
 * The fields that the responses of a run contained, by kind. Many services leave out empty, null or false values, for some resources and not for others. So
 * evidence decides: if any response about a kind contains a field, its absence in another means that it is empty. A field that no response contained is
 * unknown.
 */
export class ShownFields {
  readonly #byKind = new Map<string, Set<Field>>();

  /** Notes what an answer about a resource of a kind shows: all of it, or some of its modules by their names. */
  note(kind: Kind, json: JsonObject): void {
    noteFields(kind.specFields, json, this.#of(kind));
  }

  /** A live resource with empty values in the place of what its answer left out and other answers show. */
  complete(kind: Kind, live: LiveResource): LiveResource {
    const spec = fillLeftOut(kind, live.spec, this.#of(kind));
    return spec === live.spec ? live : { ...live, spec };
  }

  #of({ name }: Kind): Set<Field> {
    const known = this.#byKind.get(name) ?? new Set();
    this.#byKind.set(name, known);
    return known;
  }
}

function noteFields(fields: readonly NamedField[], json: JsonObject, shown: Set<Field>): void {
  for (const [name, field] of fields) {
    const value = findAnswered(json, name, field);
    if (value === undefined) continue;
    shown.add(field);
    noteInside(field.type, value, shown);
  }
}

function noteInside(type: FieldType, value: Json, shown: Set<Field>): void {
  if (type.type === 'object' && isJsonObject(value) && !isNotSet(value)) noteFields(type.namedFields, value, shown);
  if (type.type !== 'list') return;
  for (const member of isJsonArray(value) ? value : [value]) noteInside(type.of, member, shown);
}
