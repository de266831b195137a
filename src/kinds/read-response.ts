import { findMember, isJsonArray, isJsonObject, type Json, type JsonObject, toJsonText } from '../model/json.ts';
import { splitMetadata } from '../model/mark.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { canonical, getEmptyValue } from './canonical.ts';
import { AS_SHOWN } from './evidence.ts';
import { type Field, type FieldType, listFields, type NamedField } from './field.ts';
import type { Kind } from './kind.ts';
import { mapDirectMembers } from './walk.ts';

/**
 * Reads a live resource from the service's JSON, which must conform to the response schema of the kind. A field that
 * the JSON leaves out is absent from the spec. `ObservedResponseFields` decides later whether the field is empty or unknown.
 */
export function readResource(kind: Kind, json: JsonObject): LiveResource {
  const metadata = splitMetadata(toJsonText(json['metadata']));
  const spec = readFields(kind.specFields, json);
  if ('metadata' in kind.fields) spec['metadata'] = metadata.user;
  return {
    kind: kind.name,
    id: toJsonText(json['id']),
    createdAt: toJsonText(json['created_at']),
    spec: canonical(kind, spec, AS_SHOWN),
    switches: listShownSwitches(kind, spec),
    mark: metadata.mark,
    markError: metadata.error,
    computed: Object.fromEntries(kind.computedFields.map((name) => [name, json[name] ?? null])),
  };
}

/** The modules whose switch a response contains. `undefined` if there are none. */
function listShownSwitches({ specFields }: Kind, shown: Spec): readonly string[] | undefined {
  const names = specFields.flatMap(([name]) => (findMember(shown[name], 'enabled') === undefined ? [] : [name]));
  return names.length === 0 ? undefined : names;
}

/** Reads an attached resource. `modules` has the response to the GET of each module, or null for an unset one. */
export function readAttachedResource(kind: Kind, ids: Spec, modules: JsonObject): LiveResource {
  return {
    kind: kind.name,
    id: toJsonText(ids['id']),
    createdAt: '',
    spec: canonical(kind, { ...ids, ...readFields(kind.specFields, modules) }, AS_SHOWN),
    mark: undefined,
    markError: undefined,
    computed: {},
  };
}

/** Converts response fields to the shape of requests: request names, ids instead of Refs, null for unset modules. */
function readFields(fields: readonly NamedField[], json: JsonObject): Record<string, Json> {
  const read: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const value = findShownValue(json, name, field);
    if (value !== undefined) read[name] = readValue(field.type, value);
  }
  return read;
}

/** Returns the value of a field in a response. `undefined` if the response does not show it. */
export function findShownValue(json: JsonObject, name: string, field: Field): Json | undefined {
  const renamed = field.responseName === undefined ? undefined : json[field.responseName];
  const value = renamed ?? (json[name] === undefined ? renamed : json[name]);
  return value === null && isNullUnknown(field) ? undefined : value;
}

/** Whether null means unknown. It does in a field that always has a value. In a list or map field, it means empty. */
function isNullUnknown({ type, default: byDefault, absentWhenDefault }: Field): boolean {
  const isCollection = type.type === 'list' || type.type === 'map';
  return byDefault !== undefined && !isCollection && !absentWhenDefault;
}

function readValue(type: FieldType, value: Json): Json {
  if (value === null) return type.type === 'list' || type.type === 'map' ? getEmptyValue(type) : null;
  if (type.type === 'reference') return isJsonObject(value) ? (value['id'] ?? null) : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapDirectMembers(type, isSingle ? [value] : value, {
    // In a list, an object is kept even if all its fields are null. Anywhere else, such an object means unset.
    visit: (inner, member) =>
      inner.type === 'object' && isJsonObject(member)
        ? readFields(listFields(inner, member), member)
        : readValue(inner, member),
    visitFields: (object, members) => (isNotSet(members) ? null : readFields(listFields(object, members), members)),
  });
}

/** Whether all members are null. Such an object means unset. */
export function isNotSet(value: JsonObject): boolean {
  return Object.values(value).every((member) => member === null);
}
