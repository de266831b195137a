import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { parseMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { Field, FieldType } from './field.ts';
import { type Kind, listSpecFields, type NamedField } from './kind.ts';
import { normalizeSpec, toEmpty } from './normalize.ts';
import { mapInner } from './walk.ts';

/**
 * A live resource from the service's JSON, which must conform to the kind's response schema. A field that the JSON leaves out is unknown,
 * and absent from the spec.
 */
export function readResource(kind: Kind, json: JsonObject): LiveResource {
  const metadata = parseMetadata(toText(json['metadata']));
  const spec = { ...readSpec(kind, json), ...('metadata' in kind.fields && { metadata: metadata.user }) };
  const computed = Object.entries(kind.fields).filter(([, field]) => field.lifecycle === 'computed');
  return {
    kind: kind.name,
    id: toText(json['id']),
    createdAt: toText(json['created_at']),
    spec: toLiveSpec(kind, spec),
    mark: metadata.mark,
    markTrouble: metadata.trouble,
    computed: Object.fromEntries(computed.map(([name]) => [name, json[name] ?? null])),
  };
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
    spec: toLiveSpec(kind, { ...ids, ...readSpec(kind, modules) }),
    mark: undefined,
    markTrouble: undefined,
    computed: {},
  };
}

/** Response fields in the shape that requests have: request names, ids for Refs, null for modules that are not set. */
function readSpec(kind: Kind, json: JsonObject): Spec {
  return readFields(listSpecFields(kind), json);
}

function readFields(fields: readonly NamedField[], json: JsonObject): JsonObject {
  const entries = fields.flatMap(([name, field]): [string, Json][] => {
    const value = pick(json, name, field);
    return value === undefined || isUnsaid(field, value) ? [] : [[name, readValue(field.type, value)]];
  });
  return Object.fromEntries(entries);
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
  const entries = fields.flatMap(([name, field]): [string, Json][] => {
    const [from, to] = [answered[name], normal[name]];
    if (to === undefined || (from === undefined && !field.absentWhenDefault)) return [];
    return [[name, from === undefined ? to : keepInner(field.type, from, to)]];
  });
  return Object.fromEntries(entries);
}

function keepInner(type: FieldType, answered: Json, normal: Json): Json {
  if (type.type === 'object' && isJsonObject(answered) && isJsonObject(normal))
    return keepAnswered(Object.entries(type.fields), answered, normal);
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
  if (Object.values(value).every((member) => member === null)) return null;
  return readFields(Object.entries(fields), value);
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
