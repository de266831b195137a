import { assertNever } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json } from '../model/json.ts';
import type { FieldPath, Spec } from '../model/state.ts';
import type { FieldType, ReferenceType } from './field.ts';
import { type Kind, listSpecFields, type NamedField, onceForEachKind } from './kind.ts';
import { KINDS, MANIFEST_KINDS } from './tables/registry.ts';

/** A place in a spec where an id, or the address of what has it, stands. */
export interface Reference {
  readonly path: FieldPath;
  /** An id or an address. */
  readonly value: string;
  readonly type: ReferenceType;
}

type Replace = (reference: Reference) => string;

/** Every reference in a spec, in the order of the kind's table. Values of the wrong shape are passed over. */
export function listReferences(kind: Kind, spec: Spec): readonly Reference[] {
  const found: Reference[] = [];
  mapReferences(kind, spec, (reference) => {
    found.push(reference);
    return reference.value;
  });
  return found;
}

/** The spec with each reference replaced. Also for a part of a spec, such as a request body. */
export function mapReferences(kind: Kind, spec: Spec, replace: Replace): Spec {
  const replaced = listReferenceFields(kind).flatMap(([name, field]): [string, Json][] => {
    const value = spec[name];
    return value === undefined || value === null ? [] : [[name, mapValue(field.type, value, [name], replace)]];
  });
  return replaced.length === 0 ? spec : { ...spec, ...Object.fromEntries(replaced) };
}

const listReferenceFields = onceForEachKind((kind): readonly NamedField[] =>
  listSpecFields(kind).filter(([, { type }]) => listPrefixesOf(type).length > 0),
);

/** The manifest kinds whose resources a reference may name, without `External`. */
export function listReferableKinds(type: ReferenceType): readonly Kind[] {
  return MANIFEST_KINDS.filter(({ idPrefix }) => type.prefixes.includes(idPrefix));
}

/** Whether an id has a prefix that may stand at a reference. */
export function hasPrefixOf(type: ReferenceType, id: string): boolean {
  return type.prefixes.some((prefix) => id.startsWith(`${prefix}_`) && id.length > prefix.length + 1);
}

/** Every id prefix that a kind has or refers to, without the underscore. */
export function listIdPrefixes(): readonly string[] {
  const prefixes = KINDS.flatMap(({ idPrefix, fields }) => [
    idPrefix,
    ...Object.values(fields).flatMap(({ type }) => listPrefixesOf(type)),
  ]);
  return [...new Set(prefixes)].sort();
}

/** Whether a resource may refer to one of the kind, which cannot be deleted while it does. */
export function isReferable({ idPrefix }: Kind): boolean {
  return KINDS.some(({ fields }) => Object.values(fields).some(({ type }) => listPrefixesOf(type).includes(idPrefix)));
}

function listPrefixesOf(type: FieldType): readonly string[] {
  switch (type.type) {
    case 'reference':
      return type.prefixes;
    case 'list':
      return listPrefixesOf(type.of);
    case 'map':
      return [...listPrefixesOf(type.keys), ...listPrefixesOf(type.of)];
    case 'object':
      return Object.values(type.fields).flatMap((field) => listPrefixesOf(field.type));
    case 'json':
      return Object.values(type.references).flatMap(({ prefixes }) => prefixes);
    case 'text':
    case 'enum':
    case 'boolean':
    case 'number':
    case 'timestamp':
    case 'metadata':
      return [];
    default:
      return assertNever(type);
  }
}

function mapValue(type: FieldType, value: Json, path: FieldPath, replace: Replace): Json {
  switch (type.type) {
    case 'reference':
      return typeof value === 'string' ? replace({ path, value, type }) : value;
    case 'list':
      if (isJsonArray(value)) return value.map((member, index) => mapValue(type.of, member, [...path, index], replace));
      return type.orSingle ? mapValue(type.of, value, path, replace) : value;
    case 'map':
      return mapMembers(value, (key, member) => {
        const at = [...path, key];
        const newKey = type.keys.type === 'reference' ? replace({ path: at, value: key, type: type.keys }) : key;
        return [newKey, mapValue(type.of, member, at, replace)];
      });
    case 'object':
      return mapMembers(value, (key, member) => {
        const field = pickOwn(type.fields, key);
        return [key, field === undefined ? member : mapValue(field.type, member, [...path, key], replace)];
      });
    case 'json':
      return mapMembers(value, (key, member) => {
        const held = pickOwn(type.references, key);
        const isList = held !== undefined && isJsonArray(member);
        return [key, isList ? mapValue({ ...LIST, of: held }, member, [...path, key], replace) : member];
      });
    case 'text':
    case 'enum':
    case 'boolean':
    case 'number':
    case 'timestamp':
    case 'metadata':
      return value;
    default:
      return assertNever(type);
  }
}

/** Keys come from users: `constructor` is one that every object seems to have. */
function pickOwn<Value>(table: Readonly<Record<string, Value>>, key: string): Value | undefined {
  return Object.hasOwn(table, key) ? table[key] : undefined;
}

const LIST = { type: 'list', unordered: false, minItems: 0, orSingle: false, unrestricted: undefined } as const;

function mapMembers(value: Json, map: (key: string, member: Json) => [string, Json]): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, member]) => map(key, member)));
}
