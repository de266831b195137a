import {
  type Field,
  type FieldType,
  type JsonType,
  type ListType,
  listFields,
  type MapType,
  type NumberType,
  type TextType,
} from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { isIdOf } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import { isAddress } from '../model/address.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toByteLength } from '../model/json.ts';
import { findRequestFields } from './field.ts';
import type { SchemaUse } from './text.ts';

/**
 * The quick answers of the schemas that are made of the kind tables: whether a value is sure to fit. `false`: the schema has to say. Nearly every value
 * fits, and to build a schema takes longer than to look at a hundred values.
 */

/** What values are looked at for: see `field.ts`. */
export type QuickUse = Exclude<SchemaUse, 'document'>;

/** The fields of an object, by their names in tables. */
export type Fields = Readonly<Record<string, Field>>;

/** Whether a resource of a response is sure to fit its kind. */
export function isSureResponse(kind: Kind, resource: JsonObject): boolean {
  return isSureObject(kind.fields, resource, 'response');
}

/** Whether the body of a request is sure to be one that creates, or changes, a resource of the kind. */
export function isSureRequest(kind: Kind, purpose: 'create' | 'update', body: JsonObject): boolean {
  return isSureObject(findRequestFields(kind, purpose), body, 'request');
}

/** Whether an object is sure to fit. Null is the same as absent, where that may be. */
export function isSureObject(fields: Fields, value: Json, use: QuickUse): boolean {
  if (!isJsonObject(value)) return false;
  const isResponse = use === 'response';
  if (!isResponse) for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) return false;
  for (const [name, field] of listFields(fields)) {
    const member = value[isResponse ? (field.responseName ?? name) : name];
    if (member === undefined || member === null) {
      if (field.required && !isResponse) return false;
    } else if (!isSureOfType(field.type, member, use) && !(use === 'request' && isClearing(field, member)))
      return false;
  }
  return true;
}

/** In a request, an empty text stands for one that is not set. */
function isClearing({ required, type }: Field, value: Json): boolean {
  return value === '' && !required && type.type === 'text' && type.format !== undefined;
}

/** Whether a value is sure to be of a type. */
export function isSureOfType(type: FieldType, value: Json, use: QuickUse): boolean {
  switch (type.type) {
    case 'text':
      return typeof value === 'string' && (use === 'response' || isText(type, value, use));
    case 'enum':
      return typeof value === 'string' && (use === 'response' || type.values.includes(value));
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return typeof value === 'number' && Number.isFinite(value) && (use === 'response' || isInRange(type, value));
    case 'timestamp':
      return typeof value === 'string' && (use === 'response' || PLAIN_TIME.test(value));
    case 'reference':
      if (use === 'response') return typeof value === 'string' || (type.asRef && isRef(value));
      return typeof value === 'string' && (isIdOf(type, value) || (use === 'manifest' && isAddress(value)));
    case 'list':
      return isList(type, value, use);
    case 'map':
      return isMap(type, value, use);
    case 'object':
      return isSureObject(type.fields, value, use);
    case 'json':
      return isFreeJson(type, value, use);
    case 'metadata':
      if (typeof value === 'string') return use === 'response' || toByteLength(value) <= type.maxBytes;
      return use === 'manifest' && isRecord(value);
    default:
      return assertNever(type);
  }
}

/** A time that needs no calendar. */
const PLAIN_TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function isText({ maxBytes, format, isPath, known }: TextType, text: string, use: QuickUse): boolean {
  if (isPath && text === '') return false;
  if (maxBytes !== undefined && toByteLength(text) > maxBytes) return false;
  if (known !== undefined && use === 'manifest') return true;
  return format === undefined || FORMATS[format].check(text) === undefined;
}

function isInRange({ integer, min, max }: NumberType, value: number): boolean {
  return (!integer || Number.isSafeInteger(value)) && value >= min && value <= max;
}

function isRef(value: Json): boolean {
  return isJsonObject(value) && typeof value['id'] === 'string';
}

function isList(type: ListType, value: Json, use: QuickUse): boolean {
  const isResponse = use === 'response';
  if (!isJsonArray(value)) return (type.orSingle || isResponse) && isSureOfType(type.of, value, use);
  if (value.length < type.minItems && !isResponse) return false;
  return value.every((member) => isSureOfType(type.of, member, use));
}

function isMap({ keys, of, caseInsensitive }: MapType, value: Json, use: QuickUse): boolean {
  if (!isRecord(value)) return false;
  const names = Object.keys(value);
  const areSure = names.every((name) => isSureOfType(of, value[name] ?? null, use));
  if (use === 'response' || !areSure) return areSure;
  if (caseInsensitive && new Set(names.map((name) => name.toLowerCase())).size < names.length) return false;
  return names.every((name) => isSureOfType(keys, name, use));
}

function isFreeJson({ references }: JsonType, value: Json, use: QuickUse): boolean {
  if (!isRecord(value)) return false;
  if (use === 'response') return true;
  return Object.entries(references).every(([name, reference]) => {
    const members = value[name];
    return (
      !isJsonArray(members) || members.every((one) => typeof one !== 'string' || isSureOfType(reference, one, use))
    );
  });
}

/** An object whose keys are the user's: one of them may be a word that objects have of their own. */
export function isRecord(value: Json): value is JsonObject {
  return isJsonObject(value) && !Object.hasOwn(value, '__proto__');
}
