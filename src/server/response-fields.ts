import type { Field, FieldType, NamedField } from '../kinds/field.ts';
import { OPERATIONS, type Operation } from '../kinds/operations.ts';
import type { HttpRequest } from '../model/http.ts';
import { isJsonArray, isJsonObject, isSameJson, type Json, type JsonObject } from '../model/json.ts';

/** A field in a response of the server. */
export interface ShownField {
  readonly name: string;
  /** `undefined` if the kind's table does not have the field. */
  readonly field: Field | undefined;
  readonly value: Json;
  /** Position in the response. It distinguishes fields with the same name in different resources and objects. */
  readonly place: string;
}

/** Returns the new value of a field. `undefined`: the response does not contain the field. */
type ChangeField = (shown: ShownField) => Json | undefined;

/**
 * Returns the JSON of a response with the fields that `change` returns, outer fields first. The response is a page of a
 * list, a resource, or a module.
 */
export function changeResponseFields(
  json: Json,
  request: Pick<HttpRequest, 'method' | 'url'>,
  change: ChangeField,
): Json {
  const operation = findRequestedOperation(request);
  if (operation === undefined || !isJsonObject(json)) return json;
  const { kind, module, action } = operation;
  if (module !== undefined) return changeInside(module.field.type, json, { place: module.name, change });
  const fields = Object.entries(kind.fields);
  const key = kind.listKey ?? '';
  const list = action === 'list' ? json[key] : undefined;
  if (list === undefined) return changeMembers(fields, json, { place: '', change });
  const changeOne = (one: Json, at: number): Json =>
    isJsonObject(one) ? changeMembers(fields, one, { place: `${at} `, change }) : one;
  return { ...json, [key]: changeEach(list, changeOne) };
}

/** Returns the operation of a request. `undefined` if the API does not have it. */
export function findRequestedOperation({ method, url }: Pick<HttpRequest, 'method' | 'url'>): Operation | undefined {
  const { pathname } = new URL(url);
  return OPERATIONS.find(
    (one) => one.method === method && new RegExp(`${one.path.replace(/\{\w+\}/g, '[^/]+')}$`).test(pathname),
  );
}

/**
 * Whether a service may omit a value from a response. The value must be empty, null or false. If clients read an absent
 * field as its default, the value must also be equal to that default.
 */
export function isOmittableEmptyField({ field, value }: Pick<ShownField, 'field' | 'value'>): boolean {
  if (field?.absentWhenDefault === true && field.default !== undefined && !isSameJson(field.default, value))
    return false;
  // What the absence of a switch means that is on by default depends on what other responses show.
  if (field?.default === true) return false;
  if (typeof value === 'object') return value === null || Object.keys(value).length === 0;
  return value === '' || value === false;
}

interface Walk {
  readonly place: string;
  readonly change: ChangeField;
}

function changeMembers(fields: readonly NamedField[], json: JsonObject, { place, change }: Walk): JsonObject {
  const byName = new Map(
    fields.flatMap(([name, field]) => [[name, field] as const, [field.responseName ?? name, field] as const]),
  );
  const entries = Object.entries(json).flatMap(([name, value]): [string, Json][] => {
    const field = byName.get(name);
    const here = `${place}.${name}`;
    const changed = change({ name, field, value, place: here });
    if (changed === undefined) return [];
    return [[name, field === undefined ? changed : changeInside(field.type, changed, { place: here, change })]];
  });
  return Object.fromEntries(entries);
}

function changeInside(type: FieldType, value: Json, walk: Walk): Json {
  if (type.type === 'object' && isJsonObject(value)) return changeMembers(Object.entries(type.fields), value, walk);
  if (type.type !== 'list') return value;
  return changeEach(value, (one, at) => changeInside(type.of, one, { ...walk, place: `${walk.place}[${at}]` }));
}

function changeEach(list: Json, change: (member: Json, at: number) => Json): Json {
  return isJsonArray(list) ? list.map(change) : list;
}
