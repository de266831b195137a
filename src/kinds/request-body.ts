import { isJsonObject, type Json } from '../model/json.ts';
import type { Write, WriteMethod } from '../model/write.ts';
import { getEmptyValue, isUnset } from './canonical.ts';
import type { Field } from './field.ts';
import { isId, listPathIdNamesOfKind, toModulePath, toResourcePath, UNKNOWN_ID_PLACEHOLDER } from './paths.ts';
import { getKind } from './tables/registry.ts';

/**
 * Returns the value that resets a field in a PATCH. `undefined` if the reset needs a DELETE of the field's own path.
 */
export function findPatchClearValue(field: Field): Json | undefined {
  switch (field.clear) {
    case 'delete':
      return undefined;
    case 'null':
      return null;
    case 'disable':
      return { enabled: false };
    default:
      return field.default ?? getEmptyValue(field.type);
  }
}

/**
 * Returns the value of a field in a request. Parts of a module that the manifest leaves to the service keep their live
 * values, because a request that leaves them out might change them.
 */
export function keepServiceChoices({ type }: Field, value: Json, live: Json | undefined): Json {
  if (type.type !== 'object' || !isJsonObject(value) || !isJsonObject(live)) return value;
  const chosen = Object.entries(type.fields).flatMap(([name, field]): [string, Json][] => {
    const shown = live[name];
    return field.serviceDefault && isUnset(value[name]) && shown !== undefined ? [[name, shown]] : [];
  });
  return chosen.length === 0 ? value : { ...value, ...Object.fromEntries(chosen) };
}

export interface WriteRequestLine {
  readonly method: WriteMethod;
  /** The path relative to the base URL. `{id}` is the placeholder for an id that is known only after apply. */
  readonly path: string;
}

/** The ids of created resources, by address. */
export type CreatedIds = ReadonlyMap<string, string>;

/** Whether the ids of a write, such as those in a plan file, can stand in the path of its request. */
export function hasUsableIds({ kind, method, ids }: Pick<Write, 'kind' | 'method' | 'ids'>): boolean {
  if (method === 'POST' || ids === undefined) return true;
  const all: Readonly<Record<string, string>> = ids;
  return listPathIdNamesOfKind(getKind(kind)).every((name) => isId(all[name]) || all[name] === UNKNOWN_ID_PLACEHOLDER);
}

/** Returns method and path of the request for a write. Throws `InvariantError` if an id in the path is invalid. */
export function createWriteRequestLine(write: Write, created: CreatedIds = new Map()): WriteRequestLine {
  return { method: write.method, path: createWritePath(write, created) };
}

function createWritePath(write: Write, created: CreatedIds): string {
  const kind = getKind(write.kind);
  if (write.method === 'POST') return kind.path;
  const ids = write.ids ?? { id: created.get(write.address) ?? UNKNOWN_ID_PLACEHOLDER };
  return write.module === undefined ? toResourcePath(kind, ids) : toModulePath(kind, ids, write.module);
}
