import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject, toCanonicalJson } from '../model/json.ts';
import { normalizeUserMetadata } from '../model/mark.ts';
import type { Spec } from '../model/state.ts';
import { type Field, type FieldType, type ListType, listFields, type NamedField, type TextType } from './field.ts';
import { FORMATS } from './formats.ts';
import type { Kind } from './kind.ts';
import { mapDirectMembers } from './walk.ts';

/** What is known about the fields that a spec leaves out. `evidence.ts` lists what can be known of a live spec. */
export interface Evidence {
  /** Returns a field of a canonical spec. `value` is in normal form, and `undefined` if the spec leaves the field out. */
  readonly decide: (field: Field, value: Json | undefined, name: string) => Json | undefined;
  /** What is known of the members of a field, or of a member of a list. If absent, it is the same. */
  readonly inside?: (step: string | number) => Evidence;
  /** The member of a list that is null. If absent, nothing is known of it. */
  readonly findMember?: (index: number) => Json | undefined;
}

/**
 * Returns the spec in normal form: values with the same meaning become equal. Desired and live specs are compared,
 * digested and shown in this form. Sets are sorted, case-insensitive names are lower-case, times are in UTC, and unset
 * modules are null. `evidence` says what an absent field means: its default in a manifest, in a response that it is empty or
 * unknown. The normal form of a normal form is the same, so what is known later can be filled in later.
 */
export function canonical(kind: Kind, spec: Spec, evidence: Evidence): Spec {
  return toCanonicalFields(kind.specFields, spec, evidence);
}

/**
 * A manifest, or a request: a field that is left out has its default. It stays absent if the service chooses the default.
 */
export const AS_WRITTEN: Evidence = {
  decide: (field, value) => {
    if (value !== undefined) return nullIfDisabled(field, value);
    return field.serviceDefault ? undefined : getNormalUnsetFieldValue(field);
  },
};

function toCanonicalFields(fields: readonly NamedField[], values: JsonObject, evidence: Evidence): JsonObject {
  const decided = fields.flatMap(([name, field]): [string, Json][] => {
    const value = values[name];
    const isLeftOut = value === undefined || (field.serviceDefault && isUnset(value));
    const normal = isLeftOut
      ? undefined
      : toCanonicalValue(field.type, value, evidence.inside?.(name) ?? evidence, field.default);
    const result = evidence.decide(field, normal, name);
    return result === undefined ? [] : [[name, result]];
  });
  return Object.fromEntries(decided);
}

/** Whether a value means the same as no value in a field of any type. */
export function isUnset(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** Returns the value of a field in a manifest, in normal form. */
export function normalizeField(field: Field, value: Json | undefined): Json {
  return nullIfDisabled(field, toCanonicalValue(field.type, value, AS_WRITTEN, field.default));
}

export function getNormalUnsetFieldValue(field: Field): Json {
  return normalizeField(field, undefined);
}

/** Whether a value in normal form is that of a field that a manifest leaves out. */
export function isDefault(field: Field, normal: Json): boolean {
  return isSameJson(normal, getNormalUnsetFieldValue(field));
}

/** Returns null for an empty module that is disabled, if disabling is the only way to unset it. */
export function nullIfDisabled({ clear }: Field, normal: Json): Json {
  return clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal;
}

/** Like `canonical`, for a value of any type. `fallback`: the default. */
export function toCanonicalValue(type: FieldType, value: Json | undefined, evidence: Evidence, fallback?: Json): Json {
  if (isUnset(value)) return fallback ?? getEmptyValue(type);
  switch (type.type) {
    case 'text':
      return typeof value === 'string' ? normalizeText(type, value) : value;
    case 'number':
      return typeof value === 'number' && !type.integer ? toShortestSingle(value) : value;
    case 'timestamp':
      return typeof value === 'string' ? normalizeTimestamp(value) : value;
    case 'metadata':
      return typeof value === 'string' || isJsonObject(value) ? normalizeUserMetadata(value) : value;
    case 'json':
      // Free JSON has no fields that can be left out: whatever it contains was meant.
      return isJsonObject(value) && Object.keys(value).length === 0 ? null : mapByEvidence(type, value, AS_WRITTEN);
    case 'list':
      return toCanonicalList(type, value, evidence);
    case 'map':
    case 'object':
      return mapByEvidence(type, value, evidence);
    case 'boolean':
    case 'enum':
    case 'reference':
      return value;
    default:
      return assertNever(type);
  }
}

function mapByEvidence(type: FieldType, value: Json, evidence: Evidence): Json {
  return mapDirectMembers(type, value, {
    visit: (inner, member, [step = '']) => toCanonicalValue(inner, member, evidence.inside?.(step) ?? evidence),
    visitFields: (inner, fields) => toCanonicalFields(listFields(inner, fields), fields, evidence),
    visitKey: ({ caseInsensitive }, key) => (caseInsensitive ? key.toLowerCase() : key),
  });
}

/** The value that means unset for this type. */
export function getEmptyValue({ type }: FieldType): Json {
  return EMPTY[type];
}

const EMPTY: Readonly<Record<FieldType['type'], Json>> = {
  text: '',
  metadata: '',
  list: [],
  map: {},
  boolean: null,
  enum: null,
  number: null,
  timestamp: null,
  reference: null,
  json: null,
  object: null,
};

function normalizeText({ format, ignoresFinalSpace }: TextType, value: string): string {
  const text = ignoresFinalSpace === true ? value.trimEnd() : value;
  return format === undefined ? text : FORMATS[format].normalize(text);
}

/** A 32-bit float has at most this many significant decimal digits. */
const SINGLE_DIGITS = 9;

/** Returns the shortest decimal number that is the same 32-bit float, as services that store such floats mean it. */
function toShortestSingle(value: number): number {
  const single = Math.fround(value);
  for (let digits = 1; digits < SINGLE_DIGITS; digits += 1) {
    const short = Number(single.toPrecision(digits));
    if (Math.fround(short) === single) return short;
  }
  return Number(single.toPrecision(SINGLE_DIGITS));
}

/** Returns the same time in UTC and whole seconds, as services store it. Text that is not a time is unchanged. */
export function normalizeTimestamp(text: string): string {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? text : `${instant.toISOString().slice(0, -'.000Z'.length)}Z`;
}

function toCanonicalList(type: ListType, value: Json, evidence: Evidence): Json {
  if (!isJsonArray(value) && !type.orSingle) return value;
  const members = (isJsonArray(value) ? value : [value]).map((member, at) =>
    toCanonicalValue(type.of, member ?? evidence.findMember?.(at), evidence.inside?.(at) ?? evidence),
  );
  if (type.unrestricted !== undefined && members.includes(type.unrestricted)) return [];
  return type.unordered ? sortUnique(members) : members;
}

function sortUnique(members: readonly Json[]): readonly Json[] {
  const byText = new Map(members.map((member) => [toCanonicalJson(member), member]));
  return [...byText].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, member]) => member);
}

/**
 * Whether a module is disabled and all its other fields are empty lists. Such a module equals an unset one if it can
 * only be removed by disabling it.
 */
function isDisabledAndEmpty(value: Json): boolean {
  if (!isJsonObject(value) || (value['enabled'] ?? false) !== false) return false;
  return Object.entries(value).every(
    ([name, member]) => name === 'enabled' || (isJsonArray(member) && member.length === 0),
  );
}

/** Lists the fields whose digest a mark contains: all that differ from their default. `normal`: a normalized spec. */
export function listFieldsWithDigest(kind: Kind, normal: Spec): readonly string[] {
  return kind.specFields.flatMap(([name, field]) => {
    const value = normal[name];
    if (value === undefined) return [];
    return field.serviceDefault || !isDefault(field, value) ? [name] : [];
  });
}
