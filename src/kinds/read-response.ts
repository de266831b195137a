import { findMember, isJsonArray, isJsonObject, type Json, type JsonObject, toJsonText } from '../model/json.ts';
import { splitMetadata } from '../model/mark.ts';
import type { ValueConcealer } from '../model/secrets.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { canonical, type Evidence, getEmptyValue } from './canonical.ts';
import { mapPossibleSecrets } from './conceal.ts';
import { AS_SHOWN, createLeftOutEvidence } from './evidence.ts';
import { type Field, type FieldType, listFields, type NamedField, type ObjectType } from './field.ts';
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
    computed: pickComputed(kind, json),
  };
}

/** The modules whose switch a response contains. `undefined` if there are none. */
function listShownSwitches({ specFields }: Kind, shown: Spec): readonly string[] | undefined {
  const names = specFields.flatMap(([name]) => (findMember(shown[name], 'enabled') === undefined ? [] : [name]));
  return names.length === 0 ? undefined : names;
}

function pickComputed(kind: Kind, json: JsonObject): Spec {
  return Object.fromEntries(kind.computedFields.map((name) => [name, json[name] ?? null]));
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
function findShownValue(json: JsonObject, name: string, field: Field): Json | undefined {
  const value = pick(json, name, field);
  return value === undefined || isUnknownNull(field, value) ? undefined : value;
}

function pick(json: JsonObject, name: string, field: Field): Json | undefined {
  const renamed = field.responseName === undefined ? undefined : json[field.responseName];
  return renamed ?? (json[name] === undefined ? renamed : json[name]);
}

/** Whether null means unknown. It does in a field that always has a value. In a list or map field, it means empty. */
function isUnknownNull(field: Field, value: Json): boolean {
  const isCollection = field.type.type === 'list' || field.type.type === 'map';
  return value === null && field.default !== undefined && !isCollection && !field.absentWhenDefault;
}

function readValue(type: FieldType, value: Json): Json {
  if (value === null) return type.type === 'list' || type.type === 'map' ? getEmptyValue(type) : null;
  if (type.type === 'reference') return isJsonObject(value) ? (value['id'] ?? null) : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapDirectMembers(type, isSingle ? [value] : value, { visit: readMember, visitFields: readObject });
}

/** Keeps an object in a list even if all its fields are null. Anywhere else, such an object means unset. */
function readMember(type: FieldType, value: Json): Json {
  if (type.type === 'object' && isJsonObject(value)) return readFields(listFields(type, value), value);
  return readValue(type, value);
}

function readObject(type: ObjectType, value: JsonObject): Json {
  return isNotSet(value) ? null : readFields(listFields(type, value), value);
}

/** Whether all members are null. Such an object means unset. */
function isNotSet(value: JsonObject): boolean {
  return Object.values(value).every((member) => member === null);
}

/**
 * The fields that the responses of a run contained, by kind. Many services leave out empty, null or false values, for
 * some resources and not for others. So if any response about a kind contains a field, the absence of the field in
 * another response means that it is empty. A field that no response contained is unknown. A switch that has a default may
 * be left out for either value: its absence means the value that no response contains while others contain the opposite.
 */
export class ObservedResponseFields {
  readonly #byKind = new Map<string, Map<Field, Set<Json>>>();
  readonly #hideLive: ValueConcealer['hideLive'];

  /** `hideLive` conceals the live values that may be secret. */
  constructor({ hideLive }: Pick<ValueConcealer, 'hideLive'>) {
    this.#hideLive = hideLive;
  }

  /** Records which fields a response shows. `json` is a whole resource, or some of its modules by name. */
  note(kind: Kind, json: JsonObject): void {
    noteFields(kind.specFields, json, this.#of(kind));
  }

  /**
   * Sets a field to empty if the response about this resource left it out and another response showed it. Conceals the
   * values that may be secret.
   */
  complete(kind: Kind, live: LiveResource): LiveResource {
    const shown = this.#of(kind);
    const leftOut = createLeftOutEvidence((field) => shown.get(field));
    const whole = canonical(kind, live.spec, kind.role === 'attached' ? ofReadModules(leftOut) : leftOut);
    const spec = mapPossibleSecrets(kind, whole, ({ value }) => this.#hideLive(value));
    return { ...live, spec };
  }

  /**
   * Reads the resources of a list. First notes all of them: a field that one resource shows is empty where another one
   * leaves it out.
   */
  readList(kind: Kind, list: readonly JsonObject[]): readonly LiveResource[] {
    for (const json of list) this.note(kind, json);
    return list.map((json) => this.complete(kind, readResource(kind, json)));
  }

  #of({ name }: Kind): Map<Field, Set<Json>> {
    const known = this.#byKind.get(name) ?? new Map<Field, Set<Json>>();
    this.#byKind.set(name, known);
    return known;
  }
}

/** What is known of an attached resource: a module that is absent was not read. */
function ofReadModules(leftOut: Evidence): Evidence {
  return {
    decide: (field, value, name) => (value === undefined ? undefined : leftOut.decide(field, value, name)),
    inside: () => leftOut,
  };
}

function noteFields(fields: readonly NamedField[], json: JsonObject, shown: Map<Field, Set<Json>>): void {
  for (const [name, field] of fields) {
    const value = findShownValue(json, name, field);
    if (value === undefined) continue;
    const values = shown.get(field) ?? new Set();
    if (field.type.type === 'boolean') values.add(value);
    shown.set(field, values);
    noteInside(field.type, value, shown);
  }
}

function noteInside(type: FieldType, value: Json, shown: Map<Field, Set<Json>>): void {
  if (type.type === 'object' && isJsonObject(value) && !isNotSet(value))
    noteFields(Object.entries(type.fields), value, shown);
  if (type.type !== 'list') return;
  for (const member of isJsonArray(value) ? value : [value]) noteInside(type.of, member, shown);
}
