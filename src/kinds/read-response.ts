import {
  findMember,
  isJsonArray,
  isJsonObject,
  isSameJson,
  type Json,
  type JsonObject,
  toJsonText,
} from '../model/json.ts';
import { splitMetadata } from '../model/mark.ts';
import type { ValueConcealer } from '../model/secrets.ts';
import type { LiveResource, Spec } from '../model/state.ts';
import { mapPossibleSecrets } from './conceal.ts';
import { type Field, type FieldType, listFields, type NamedField, type ObjectType } from './field.ts';
import type { Kind } from './kind.ts';
import { getEmptyValue, isDisabledAndEmpty, normalizeField, normalizeSpec } from './normalize.ts';
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
    spec: normalizeLiveSpec(kind, spec),
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
    spec: normalizeLiveSpec(kind, { ...ids, ...readFields(kind.specFields, modules) }),
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

/**
 * Normalizes a live spec. Fields that the response leaves out get no default, because defaults apply only to requests.
 */
function normalizeLiveSpec(kind: Kind, shown: Spec): Spec {
  return keepShown(kind.specFields, shown, normalizeSpec(kind, shown));
}

function keepShown(fields: readonly NamedField[], shown: JsonObject, normal: JsonObject): JsonObject {
  const kept: Record<string, Json> = {};
  for (const [name, field] of fields) {
    const from = shown[name];
    const to = normal[name];
    if (to === undefined || (from === undefined && !field.absentWhenDefault)) continue;
    kept[name] = from === undefined ? to : keepInner(field.type, from, to ?? normalizeDisabled(field, from));
  }
  return kept;
}

/**
 * Returns the normal form of a module that `normalizeSpec` took for unset: null, or the disabled module if some of its
 * fields are unknown. Only a module that is known to be empty equals an unset one.
 */
function normalizeDisabled(field: Field, shown: Json): Json {
  if (field.clear !== 'disable' || !isValueHidden(field.type, shown)) return null;
  return normalizeField({ ...field, clear: undefined }, shown);
}

function keepInner(type: FieldType, shown: Json, normal: Json): Json {
  if (type.type === 'object' && isJsonObject(shown) && isJsonObject(normal))
    return keepShown(listFields(type, normal), shown, normal);
  if (type.type !== 'list' || type.unordered || !isJsonArray(shown) || !isJsonArray(normal)) return normal;
  return normal.map((member, index) => keepInner(type.of, shown[index] ?? null, member));
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
 * Returns a live spec for the comparison with a spec in normal form: what the service does not show is as in `spec`, a
 * time that the service stored a little earlier is that of `spec`, and what the service chose is absent where `spec`
 * leaves the choice to the service.
 */
export function alignLiveSpec(kind: Kind, live: Spec, spec: Spec): Spec {
  return alignFields(kind.specFields, live, spec);
}

/** Whether the service does not show a field of a live spec, or shows only a part of it. */
export function isValueHidden(type: FieldType, value: Json | undefined): boolean {
  if (value === undefined) return true;
  if (type.type === 'object' && isJsonObject(value))
    return Object.entries(type.fields).some(([name, field]) => isValueHidden(field.type, value[name]));
  return (
    type.type === 'list' && isJsonArray(value) && value.some((member) => isValueHidden(type.of, member ?? undefined))
  );
}

function alignFields(fields: readonly NamedField[], live: JsonObject, spec: JsonObject): JsonObject {
  const aligned: Record<string, Json> = {};
  for (const [name, field] of fields) {
    if (field.serviceDefault && spec[name] === undefined) continue;
    const isEarlier = isAllowedEarlier(field, live[name], spec[name]);
    const value = alignValue(field.type, isEarlier ? undefined : live[name], spec[name]);
    if (value !== undefined) aligned[name] = spec[name] === null ? nullIfDisabled(field, value) : value;
  }
  return aligned;
}

/** Returns null for an empty module that is disabled, if disabling is the only way to unset it. */
function nullIfDisabled({ clear }: Field, value: Json): Json {
  return clear === 'disable' && isDisabledAndEmpty(value) ? null : value;
}

/** Whether a live time is earlier than the other one, by no more than the field allows. */
export function isAllowedEarlier({ earlierByMs }: Field, live: Json | undefined, spec: Json | undefined): boolean {
  if (earlierByMs === 0 || typeof live !== 'string' || typeof spec !== 'string') return false;
  const earlierMs = Date.parse(spec) - Date.parse(live);
  return earlierMs >= 0 && earlierMs <= earlierByMs;
}

/** Aligns one value. A value that the service does not show is `undefined`, or null as a member of a list. */
function alignValue(type: FieldType, live: Json | undefined, spec: Json | undefined): Json | undefined {
  if (live === undefined) return spec;
  if (type.type === 'object' && isJsonObject(live) && isJsonObject(spec))
    return alignFields(listFields(type, live), live, spec);
  if (type.type !== 'list' || !isJsonArray(live) || !isJsonArray(spec)) return live;
  return live.map((member, index) => alignValue(type.of, member ?? undefined, spec[index]) ?? member);
}

/** Returns a live value with the parts that the service does not show and that are empty in `spec`. */
export function fillEmptyMembers(type: FieldType, live: Json, spec: Json | undefined): Json {
  if (type.type === 'object' && isJsonObject(live) && isJsonObject(spec)) {
    const filled = listFields(type, live, spec).flatMap(([name, field]): [string, Json][] => {
      const [from, to] = [live[name], spec[name]];
      if (from !== undefined) return [[name, fillEmptyMembers(field.type, from, to)]];
      return to !== undefined && isSameJson(to, getEmptyValue(field.type)) ? [[name, to]] : [];
    });
    return Object.fromEntries(filled);
  }
  if (type.type !== 'list' || !isJsonArray(live) || !isJsonArray(spec)) return live;
  return live.map((member, index) => fillEmptyMembers(type.of, member, spec[index]));
}

/** The values of a boolean field that responses contained; empty for a field of another type. `undefined`: none contained it. */
type FindShownValues = (field: Field) => ReadonlySet<Json> | undefined;

const NO_VALUES: ReadonlySet<Json> = new Set();

/**
 * Sets each left-out field to the value that its absence means, as if a response had shown every field. Makes reads
 * comparable.
 */
export function fillOmittedFields(kind: Kind, live: Spec): Spec {
  return fillFields(kind.specFields, live, () => NO_VALUES);
}

/** Like `fillOmittedFields`, for a value of any type. */
export function fillOmittedMembers(type: FieldType, value: Json): Json {
  return fillMembers(type, value, () => NO_VALUES);
}

function fillFields(fields: readonly NamedField[], value: JsonObject, findShown: FindShownValues): JsonObject {
  const filled = fields.flatMap(([name, field]): [string, Json][] => {
    const from = value[name];
    const to = from === undefined ? findLeftOutValue(field, findShown) : fillMembers(field.type, from, findShown);
    if (to === undefined) return [];
    const isWhole = from === undefined || isSameJson(to, from) || isValueHidden(field.type, to);
    return [[name, isWhole ? to : nullIfDisabled(field, to)]];
  });
  return { ...value, ...Object.fromEntries(filled) };
}

function fillMembers(type: FieldType, value: Json, findShown: FindShownValues): Json {
  if (type.type === 'object' && isJsonObject(value)) return fillFields(Object.entries(type.fields), value, findShown);
  if (type.type !== 'list' || !isJsonArray(value)) return value;
  return value.map((member) => fillMembers(type.of, member, findShown));
}

/**
 * What the absence of a field means: its empty value, zero, the value that no response contained although others contained
 * the opposite, or nothing that is known.
 */
type Absence = 'empty' | 'zero' | 'opposite' | 'unknown';

/** What a left-out field means, by type. `hasDefault`: the API has a default. `isChosen`: the service chooses a value. */
const ABSENCES: Readonly<
  Partial<Record<FieldType['type'], { readonly hasDefault: Absence; readonly isChosen: Absence }>>
> = {
  number: { hasDefault: 'zero', isChosen: 'zero' },
  boolean: { hasDefault: 'opposite', isChosen: 'unknown' },
  enum: { hasDefault: 'unknown', isChosen: 'unknown' },
};
const OTHER_ABSENCE = { hasDefault: 'empty', isChosen: 'unknown' } as const;

/** The value that the absence of a field means. `undefined`: no response shows the field, or each resource has it. */
function findLeftOutValue(field: Field, findShown: FindShownValues): Json | undefined {
  const { type, required, lifecycle, serviceDefault } = field;
  const values = findShown(field);
  if (values === undefined || (required && lifecycle === 'immutable')) return undefined;
  const { hasDefault, isChosen } = ABSENCES[type.type] ?? OTHER_ABSENCE;
  const withDefault = field.default === undefined ? 'empty' : hasDefault;
  switch (serviceDefault ? isChosen : withDefault) {
    case 'empty':
      return getEmptyValue(type);
    case 'zero':
      return type.type === 'number' && type.min <= 0 ? 0 : undefined;
    case 'opposite':
      if (field.default === false) return false;
      return values.size === 1 ? !values.has(true) : undefined;
    default:
      return undefined;
  }
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
    // An absent module of an attached resource was not read.
    const fields = kind.specFields.filter(([name]) => kind.role !== 'attached' || live.spec[name] !== undefined);
    const filled = fillFields(fields, live.spec, (field) => shown.get(field));
    const spec = mapPossibleSecrets(kind, filled, ({ value }) => this.#hideLive(value));
    return { ...live, spec };
  }

  #of({ name }: Kind): Map<Field, Set<Json>> {
    const known = this.#byKind.get(name) ?? new Map<Field, Set<Json>>();
    this.#byKind.set(name, known);
    return known;
  }
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
