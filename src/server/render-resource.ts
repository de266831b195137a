import { type Field, type FieldType, listFields } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { toDefault } from '../kinds/normalize.ts';
import { toExternalPath, toResourcePath } from '../kinds/paths.ts';
import { mapInner } from '../kinds/walk.ts';
import { isJsonArray, type Json, type JsonObject } from '../model/json.ts';
import { isNullable } from '../schemas/field.ts';
import { findOwnedKind, type StoredResource } from './store.ts';

/** A resource as responses show it: every field of its kind. `computed` has the fields that are the service's alone. */
export function renderResource(
  kind: Kind,
  resource: StoredResource,
  options: { readonly computed: JsonObject; readonly baseUrl: string },
): JsonObject {
  const path = toResourcePath(kind, { id: resource.id });
  const known: JsonObject = {
    ...resource.spec,
    ...options.computed,
    id: resource.id,
    uri: kind.uri === 'path' ? path : `${options.baseUrl}${path}`,
    created_at: resource.createdAt,
  };
  return renderFields(kind.fields, known, options.baseUrl);
}

/** The value of one field as responses show it, set or not. */
export function renderField(field: Field, value: Json | undefined, baseUrl: string): Json {
  const given = value ?? field.default ?? null;
  if (given !== null) return renderValue(field.type, given, baseUrl);
  return isNullable(field) ? null : toDefault(field);
}

type Fields = Readonly<Record<string, Field>>;

function renderFields(fields: Fields, values: JsonObject, baseUrl: string): JsonObject {
  const shown: Record<string, Json> = {};
  for (const [name, field] of listFields(fields))
    shown[field.responseName ?? name] = renderField(field, values[name], baseUrl);
  return shown;
}

function renderValue(type: FieldType, value: Json, baseUrl: string): Json {
  if (type.type === 'reference') return type.asRef ? { id: value, uri: toReferenceUri(String(value), baseUrl) } : value;
  const isSingle = type.type === 'list' && !isJsonArray(value);
  return mapInner(type, isSingle ? [value] : value, {
    visit: (inner, member) => renderValue(inner, member, baseUrl),
    visitFields: (fields, values) => renderFields(fields, values, baseUrl),
  });
}

function toReferenceUri(id: string, baseUrl: string): string {
  const kind = findOwnedKind(id);
  return `${baseUrl}${kind === undefined ? toExternalPath(id) : toResourcePath(kind, { id })}`;
}
