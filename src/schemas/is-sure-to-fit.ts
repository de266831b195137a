import type { Field, FieldType } from '../kinds/field.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** The quick answer of the schemas of responses, as `isSureToConform` is of those of manifests. */

type Fields = Readonly<Record<string, Field>>;

/** Whether what a service answered is sure to fit the fields of a kind, or of a module; `false`: the schema has to say. */
export function isSureToFit(fields: Fields, answered: JsonObject): boolean {
  for (const [name, { type, responseName = name }] of listEntries(fields)) {
    const member = answered[responseName];
    if (member !== undefined && member !== null && !isOfType(type, member)) return false;
  }
  return true;
}

/** The entries of an object of fields: ten thousand resources of a kind have the same ones. */
function listEntries(fields: Fields): readonly (readonly [name: string, field: Field])[] {
  const known = ENTRIES.get(fields) ?? Object.entries(fields);
  ENTRIES.set(fields, known);
  return known;
}

const ENTRIES = new WeakMap<Fields, readonly (readonly [name: string, field: Field])[]>();

function isOfType(type: FieldType, value: Json): boolean {
  switch (type.type) {
    case 'text':
    case 'enum':
    case 'timestamp':
    case 'metadata':
      return typeof value === 'string';
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value);
    case 'reference':
      return typeof value === 'string' || (type.asRef && isRef(value));
    case 'list':
      return isJsonArray(value) ? value.every((member) => isOfType(type.of, member)) : isOfType(type.of, value);
    case 'map':
      return isRecord(value) && Object.values(value).every((member) => isOfType(type.of, member));
    case 'object':
      return isJsonObject(value) && isSureToFit(type.fields, value);
    case 'json':
      return isRecord(value);
    default:
      return assertNever(type);
  }
}

function isRef(value: Json): boolean {
  if (!isJsonObject(value)) return false;
  const { id } = value;
  return id === undefined || id === null || typeof id === 'string';
}

function isRecord(value: Json): value is JsonObject {
  return isJsonObject(value) && !Object.hasOwn(value, '__proto__');
}
