import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, toCanonicalJson } from '../model/json.ts';
import { normalizeUserMetadata } from '../model/mark.ts';
import { onceForEach } from '../model/once.ts';
import type { Spec } from '../model/state.ts';
import { type Field, type FieldType, type ListType, listFields } from './field.ts';
import { FORMATS } from './formats.ts';
import { type Kind, listSpecFields } from './kind.ts';
import { mapInner, type Visitor } from './walk.ts';

/**
 * Normal form: one value for everything that means the same. Desired and live specs are compared, digested and shown in it.
 * Defaults are filled in, sets are sorted, names without case are lower-case, times are UTC; a module that is not set is null.
 * A field whose omission leaves the choice to the service stays absent.
 */
export function normalizeSpec(kind: Kind, spec: Spec): Spec {
  const normal: Record<string, Json> = {};
  for (const entry of listSpecFields(kind)) {
    const name = entry[0];
    const field = entry[1];
    const value = spec[name];
    if (!field.serviceDefault || !isUnset(value)) normal[name] = normalizeField(field, value);
  }
  return normal;
}

/** Whether a value means the same as leaving it out, whatever its type. */
export function isUnset(value: Json | undefined): value is undefined | null | '' {
  return value === undefined || value === null || value === '';
}

/** The normal form of one field's value. */
export function normalizeField(field: Field, value: Json | undefined): Json {
  if (value === undefined) return toDefault(field);
  return toNormal(field, value);
}

/** The normal form of a field that is left out. */
export const toDefault = onceForEach((field: Field): Json => toNormal(field, undefined));

function toNormal(field: Field, value: Json | undefined): Json {
  const normal = normalizeValue(field.type, value, field.default);
  return field.clear === 'disable' && isDisabledAndEmpty(normal) ? null : normal;
}

function normalizeValue(type: FieldType, value: Json | undefined, fallback: Json | undefined): Json {
  if (isUnset(value)) return fallback ?? toEmpty(type);
  switch (type.type) {
    case 'text':
      return type.format !== undefined && typeof value === 'string' ? FORMATS[type.format].normalize(value) : value;
    case 'timestamp':
      return typeof value === 'string' ? normalizeTimestamp(value) : value;
    case 'metadata':
      return typeof value === 'string' || isJsonObject(value) ? normalizeUserMetadata(value) : value;
    case 'json':
      return isJsonObject(value) && Object.keys(value).length === 0 ? null : value;
    case 'list':
      return normalizeList(type, value);
    case 'map':
    case 'object':
      return mapInner(type, value, NORMALIZE);
    case 'boolean':
    case 'enum':
    case 'number':
    case 'reference':
      return value;
    default:
      return assertNever(type);
  }
}

const NORMALIZE: Visitor = {
  visit: (type, value) => normalizeValue(type, value, undefined),
  visitFields: (fields, value) => {
    const normal: Record<string, Json> = {};
    for (const entry of listFields(fields)) normal[entry[0]] = normalizeField(entry[1], value[entry[0]]);
    return normal;
  },
  visitKey: ({ caseInsensitive }, key) => (caseInsensitive ? key.toLowerCase() : key),
};

/** The value of the type when none is given. */
export function toEmpty({ type }: FieldType): Json {
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

/** The same instant in UTC and whole seconds, as services keep it. */
function normalizeTimestamp(text: string): string {
  const instant = new Date(text);
  return Number.isNaN(instant.getTime()) ? text : `${instant.toISOString().slice(0, -'.000Z'.length)}Z`;
}

function normalizeList(type: ListType, value: Json): Json {
  if (!isJsonArray(value) && !type.orSingle) return value;
  const members = (isJsonArray(value) ? value : [value]).map((member) => normalizeValue(type.of, member, undefined));
  if (type.unrestricted !== undefined && members.includes(type.unrestricted)) return [];
  return type.unordered ? toSet(members) : members;
}

function toSet(members: readonly Json[]): readonly Json[] {
  if (members.length < 2) return members;
  const texts = members.map(toCanonicalJson);
  // What was sent, and what comes back, is in order already.
  if (texts.every((text, at) => at === 0 || (texts[at - 1] ?? '') < text)) return members;
  const byText = new Map(members.map((member, at) => [texts[at] ?? '', member]));
  return [...byText].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, member]) => member);
}

function isDisabledAndEmpty(value: Json): boolean {
  if (!isJsonObject(value) || value['enabled'] !== false) return false;
  return Object.entries(value).every(
    ([name, member]) => name === 'enabled' || (isJsonArray(member) && member.length === 0),
  );
}
