import type { Field, FieldType, JsonType, ListType, MapType, NumberType, TextType } from '../kinds/field.ts';
import { FORMATS } from '../kinds/formats.ts';
import { isIdOf } from '../kinds/ids.ts';
import { type Kind, listSpecFields, onceForEachKind } from '../kinds/kind.ts';
import { listIdPrefixes } from '../kinds/references.ts';
import { findKind } from '../kinds/tables/registry.ts';
import { isAddress, isResourceName, parseAddress } from '../model/address.ts';
import { LINT_RULE_IDS } from '../model/diagnostic-codes.ts';
import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject, toByteLength } from '../model/json.ts';
import { once } from '../model/once.ts';
import { API_VERSION } from './document.ts';
import { isStackSpec } from './stack.ts';

/**
 * The quick answer of a document's schema. Nearly every document conforms, and to build its schema takes longer than to read a hundred
 * such documents. So the schema, which knows what is wrong, is asked only about a document that is not sure to conform.
 */

/** Whether a document is sure to conform to the schema of its kind; `false`: the schema has to say. */
export function isSureToConform(kind: string, document: JsonObject): boolean {
  const { apiVersion, metadata, spec } = document;
  if (apiVersion !== API_VERSION || document['kind'] !== kind || !isNaming(metadata)) return false;
  const table = findKind(kind);
  if (table !== undefined) return isManifest(table, document);
  if (!hasOnly(document, HEADER)) return false;
  if (kind === 'Stack') return spec === undefined || spec === null || (isJsonObject(spec) && isStackSpec(spec));
  return kind === 'External' && isJsonObject(spec) && hasOnly(spec, ['id']) && isExternalId(spec['id']);
}

const HEADER: readonly string[] = ['apiVersion', 'kind', 'metadata', 'spec'];
const RESOURCE: readonly string[] = [...HEADER, 'lifecycle', 'lint'];

function isManifest(kind: Kind, document: JsonObject): boolean {
  const { spec, lifecycle, lint } = document;
  if (!hasOnly(document, RESOURCE)) return false;
  if (lifecycle !== undefined && !isLifecycle(kind, lifecycle)) return false;
  if (lint !== undefined && !isExemption(lint)) return false;
  const fields = findSpecFields(kind);
  if (spec === undefined || spec === null) return Object.values(fields).every(({ required }) => !required);
  return isObject(fields, spec);
}

const findSpecFields = onceForEachKind((kind): Fields => Object.fromEntries(listSpecFields(kind)));

type Fields = Readonly<Record<string, Field>>;

function hasOnly(object: JsonObject, names: readonly string[]): boolean {
  for (const name of Object.keys(object)) if (!names.includes(name)) return false;
  return true;
}

function isNaming(naming: Json | undefined): boolean {
  if (!isJsonObject(naming)) return false;
  const { name, labels, annotations } = naming;
  if (typeof name !== 'string' || !isResourceName(name)) return false;
  return hasOnly(naming, NAMING) && isTexts(labels) && isTexts(annotations);
}

const NAMING: readonly string[] = ['name', 'labels', 'annotations'];

function isTexts(texts: Json | undefined): boolean {
  if (texts === undefined || texts === null) return true;
  return isRecord(texts) && Object.values(texts).every((text) => typeof text === 'string');
}

/** A former name is left to the schema: it is stated for one apply. */
function isLifecycle(kind: Kind, lifecycle: Json): boolean {
  if (!isJsonObject(lifecycle)) return false;
  return Object.entries(lifecycle).every(([name, setting]) => isSetting(kind, name, setting));
}

function isSetting(kind: Kind, name: string, setting: Json): boolean {
  const own = Object.hasOwn(kind.lifecycle, name) ? kind.lifecycle[name] : undefined;
  if (own !== undefined) return isOfType(own.type, setting);
  if (name === 'ignore') return isJsonArray(setting) && setting.every((field) => isIgnorable(kind, field));
  if (kind.role !== 'owned') return false;
  if (name === 'protect') return typeof setting === 'boolean';
  return name === 'adopt' && typeof setting === 'string' && isIdOf({ prefixes: [kind.idPrefix] }, setting);
}

function isIgnorable(kind: Kind, name: Json): boolean {
  const fields = findSpecFields(kind);
  if (typeof name !== 'string' || !Object.hasOwn(fields, name)) return false;
  return kind.role === 'owned' || fields[name]?.lifecycle === 'mutable';
}

function isExemption(lint: Json): boolean {
  if (!isJsonObject(lint) || !hasOnly(lint, ['allow']) || !isJsonObject(lint['allow'])) return false;
  const reasons = Object.entries(lint['allow']);
  return reasons.every(([id, reason]) => EXEMPT.includes(id) && typeof reason === 'string' && /\S/.test(reason));
}

const EXEMPT: readonly string[] = LINT_RULE_IDS.filter((id) => id !== 'suppression-unused');

function isExternalId(id: Json | undefined): boolean {
  if (typeof id !== 'string') return false;
  return isIdOf({ prefixes: listPrefixes() }, id) || parseAddress(id)?.kind === 'External';
}

const listPrefixes = once(listIdPrefixes);

/** Null is the same as absent, where that may be. */
function isObject(fields: Fields, value: Json): boolean {
  if (!isJsonObject(value)) return false;
  for (const name of Object.keys(value)) if (!Object.hasOwn(fields, name)) return false;
  for (const name of Object.keys(fields)) {
    const member = value[name];
    const { required, type } = fields[name] ?? { required: true };
    if (member === undefined || member === null) {
      if (required) return false;
    } else if (type === undefined || !isOfType(type, member)) return false;
  }
  return true;
}

function isOfType(type: FieldType, value: Json): boolean {
  switch (type.type) {
    case 'text':
      return typeof value === 'string' && isText(type, value);
    case 'enum':
      return typeof value === 'string' && type.values.includes(value);
    case 'boolean':
      return typeof value === 'boolean';
    case 'number':
      return isNumber(type, value);
    case 'timestamp':
      return typeof value === 'string' && PLAIN_TIME.test(value);
    case 'reference':
      return typeof value === 'string' && (isIdOf(type, value) || isAddress(value));
    case 'list':
      return isList(type, value);
    case 'map':
      return isMap(type, value);
    case 'object':
      return isObject(type.fields, value);
    case 'json':
      return isFreeJson(type, value);
    case 'metadata':
      return typeof value === 'string' ? toByteLength(value) <= type.maxBytes : isRecord(value);
    default:
      return assertNever(type);
  }
}

/** A time that needs no calendar. */
const PLAIN_TIME = /^\d{4}-(0[1-9]|1[0-2])-(0[1-9]|1\d|2[0-8])T([01]\d|2[0-3]):[0-5]\d:[0-5]\dZ$/;

function isText({ maxBytes, format, isPath, known }: TextType, text: string): boolean {
  if (isPath && text === '') return false;
  if (maxBytes !== undefined && toByteLength(text) > maxBytes) return false;
  return known !== undefined || format === undefined || FORMATS[format].check(text) === undefined;
}

function isNumber({ integer, min, max }: NumberType, value: Json): boolean {
  if (typeof value !== 'number' || !Number.isFinite(value)) return false;
  return (!integer || Number.isSafeInteger(value)) && value >= min && value <= max;
}

function isList(type: ListType, value: Json): boolean {
  if (!isJsonArray(value)) return type.orSingle && isOfType(type.of, value);
  return value.length >= type.minItems && value.every((member) => isOfType(type.of, member));
}

function isMap({ keys, of, caseInsensitive }: MapType, value: Json): boolean {
  if (!isRecord(value)) return false;
  const names = Object.keys(value);
  if (caseInsensitive && new Set(names.map((name) => name.toLowerCase())).size < names.length) return false;
  return names.every((name) => isOfType(keys, name) && isOfType(of, value[name] ?? null));
}

function isFreeJson({ references }: JsonType, value: Json): boolean {
  if (!isRecord(value)) return false;
  return Object.entries(references).every(([name, reference]) => {
    const members = value[name];
    return !isJsonArray(members) || members.every((one) => typeof one !== 'string' || isOfType(reference, one));
  });
}

/** An object whose keys are the user's: one of them may be a word that objects have of their own. */
function isRecord(value: Json): value is JsonObject {
  return isJsonObject(value) && !Object.hasOwn(value, '__proto__');
}
