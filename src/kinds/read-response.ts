import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { parseMetadata } from '../model/mark.ts';
import { onceInARow } from '../model/once.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { type Field, type FieldType, listFields, type NamedField } from './field.ts';
import { type Kind, listComputedNames, listSpecFields, onceForEachKind } from './kind.ts';
import { normalizeSpec, toEmpty } from './normalize.ts';
import { mapInner } from './walk.ts';

/**
 * A live resource from the service's JSON, which must conform to the kind's response schema. A field that the JSON leaves out is unknown,
 * and absent from the spec.
 */
export function readResource(kind: Kind, json: JsonObject): LiveResource {
  return readerOf(kind)(json);
}

/** What a rehearsal answers is read by those who wait for the answer, and by those who watch. */
const readerOf = onceForEachKind((kind) => onceInARow((json: JsonObject) => toLiveResource(kind, json)));

function toLiveResource(kind: Kind, json: JsonObject): LiveResource {
  const metadata = parseMetadata(toText(json['metadata']));
  const spec = readFields(listSpecFields(kind), json);
  if ('metadata' in kind.fields) spec['metadata'] = metadata.user;
  return {
    kind: kind.name,
    id: toText(json['id']),
    createdAt: toText(json['created_at']),
    spec: toLiveSpec(kind, spec),
    mark: metadata.mark,
    markTrouble: metadata.trouble,
    computed: pickComputed(kind, json),
  };
}

function pickComputed(kind: Kind, json: JsonObject): Spec {
  const computed: Record<string, Json> = {};
  for (const name of listComputedNames(kind)) computed[name] = json[name] ?? null;
  return computed;
}

/** The live resources of a list, as the service gave it. */
export function readResources(kind: Kind, list: readonly JsonObject[]): readonly LiveResource[] {
  return list.map((json, listIndex) => ({ ...readResource(kind, json), listIndex }));
}

/** The modules of an attached resource, from what a GET of each answered; null where a module is not set. */
export function readAttachment(kind: Kind, ids: Spec, modules: JsonObject): LiveResource {
  return {
    kind: kind.name,
    id: toText(ids['id']),
    createdAt: '',
    spec: toLiveSpec(kind, { ...ids, ...readFields(listSpecFields(kind), modules) }),
    mark: undefined,
    markTrouble: undefined,
    computed: {},
  };
}

/** Response fields in the shape that requests have: request names, ids for Refs, null for modules that are not set. */
function readFields(fields: readonly NamedField[], json: JsonObject): Record<string, Json> {
  const read: Record<string, Json> = {};
  // Each resource comes through here several times: to take an entry apart by destructuring takes longer where code is not optimized yet.
  for (const entry of fields) {
    const name = entry[0];
    const field = entry[1];
    const value = pick(json, name, field);
    if (value !== undefined && !isUnsaid(field, value)) read[name] = readValue(field.type, value);
  }
  return read;
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
  return keepAnswered(listSpecFields(kind), answered, normalizeSpec(kind, answered));
}

function keepAnswered(fields: readonly NamedField[], answered: JsonObject, normal: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  for (const entry of fields) {
    const name = entry[0];
    const field = entry[1];
    const from = answered[name];
    const to = normal[name];
    if (to === undefined || (from === undefined && !field.absentWhenDefault)) continue;
    kept[name] = from === undefined ? to : keepInner(field.type, from, to);
  }
  return kept;
}

function keepInner(type: FieldType, answered: Json, normal: Json): Json {
  if (type.type === 'object' && isJsonObject(answered) && isJsonObject(normal))
    return keepAnswered(listFields(type.fields), answered, normal);
  if (type.type !== 'list' || type.unordered || !isJsonArray(answered) || !isJsonArray(normal)) return normal;
  return normal.map((member, index) => keepInner(type.of, answered[index] ?? null, member));
}

function readValue(type: FieldType, value: Json): Json {
  if (value === null) return type.type === 'list' || type.type === 'map' ? toEmpty(type) : null;
  if (type.type === 'reference') return isJsonObject(value) ? (value['id'] ?? null) : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapInner(type, isSingle ? [value] : value, { visit: readValue, visitFields: readObject });
}

/** An object in which everything is null is not set. */
function readObject(fields: Readonly<Record<string, Field>>, value: JsonObject): Json {
  return hasOnlyNulls(value) ? null : readFields(listFields(fields), value);
}

function hasOnlyNulls(value: JsonObject): boolean {
  for (const name in value) if (value[name] !== null) return false;
  return true;
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
