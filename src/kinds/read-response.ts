import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { parseMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import type { Field, FieldType } from './field.ts';
import { type Kind, listSpecFields } from './kind.ts';
import { normalizeSpec } from './normalize.ts';
import { mapInner } from './walk.ts';

/** A live resource from the service's JSON for it. The JSON must conform to the kind's response schema. */
export function readResource(kind: Kind, json: JsonObject): LiveResource {
  const metadata = parseMetadata(toText(json['metadata']));
  const spec = { ...readSpec(kind, json), ...('metadata' in kind.fields && { metadata: metadata.user }) };
  const computed = Object.entries(kind.fields).filter(([, field]) => field.lifecycle === 'computed');
  return {
    kind: kind.name,
    id: toText(json['id']),
    createdAt: toText(json['created_at']),
    spec: normalizeSpec(kind, spec),
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
    spec: normalizeSpec(kind, { ...ids, ...readSpec(kind, modules) }),
    mark: undefined,
    markTrouble: undefined,
    computed: {},
  };
}

/** Response fields in the shape that requests have: request names, ids for Refs, null for modules that are not set. */
function readSpec(kind: Kind, json: JsonObject): Spec {
  const entries = listSpecFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = pick(json, name, field);
    return value === undefined ? [] : [[name, readValue(field.type, value)]];
  });
  return Object.fromEntries(entries);
}

function pick(json: JsonObject, name: string, field: Field): Json | undefined {
  return (field.responseName === undefined ? undefined : json[field.responseName]) ?? json[name];
}

function readValue(type: FieldType, value: Json): Json {
  if (type.type === 'reference') return isJsonObject(value) ? (value['id'] ?? null) : value;
  const isSingle = type.type === 'list' && value !== null && !isJsonArray(value);
  return mapInner(type, isSingle ? [value] : value, { visit: readValue, visitFields: readObject });
}

/** An object of nothing but nulls is one that is not set. */
function readObject(fields: Readonly<Record<string, Field>>, value: JsonObject): Json {
  if (Object.values(value).every((member) => member === null)) return null;
  const entries = Object.entries(fields).flatMap(([name, field]): [string, Json][] => {
    const member = pick(value, name, field);
    return member === undefined ? [] : [[name, readValue(field.type, member)]];
  });
  return Object.fromEntries(entries);
}

function toText(value: Json | undefined): string {
  return typeof value === 'string' ? value : '';
}
