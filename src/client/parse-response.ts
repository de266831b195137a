import type { Field } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { ID_DESCRIPTION, isId } from '../kinds/paths.ts';
import { NetworkError } from '../model/errors.ts';
import { isDeeper, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import { createModuleBodySchema, createResourceResponseSchema } from '../schemas/field.ts';
import { formatPathAndQuery } from './api-error.ts';

export interface ListedResource {
  readonly id: string;
  readonly json: JsonObject;
}

type Schema = ReturnType<typeof createResourceResponseSchema>;

/** Caches the schema of each kind and module, because building a schema takes longer than using it. */
const SCHEMAS = new WeakMap<Kind | Field, Schema>();

/** Where JSON came from, for messages. They do not quote the JSON, which may have values that no output shows. */
export interface ResponseSource {
  readonly place: string;
}

/** Parses a member of a list as a resource. Throws `NetworkError` if the member does not match the kind's schema. */
export function parseListedResource(kind: Kind, json: Json, { place }: ResponseSource): ListedResource {
  const id = isJsonObject(json) ? json['id'] : undefined;
  if (!isJsonObject(json) || typeof id !== 'string' || id === '')
    throw new NetworkError(`${place} is not an object with an id`);
  if (!isId(id)) throw new NetworkError(`${place} has an invalid id. An id is ${ID_DESCRIPTION}`);
  const schema = getResponseSchema(kind, () => createResourceResponseSchema(kind, 'response'));
  expectFit(json, schema, { place: `${place} (${id})` });
  return { id, json };
}

/** Throws `NetworkError` if the JSON of a module does not match the field's schema. */
export function assertModuleMatchesSchema(field: Field, json: JsonObject, origin: ResponseSource): void {
  const schema = getResponseSchema(field, () => createModuleBodySchema(field, 'response'));
  expectFit(json, schema, origin);
}

function getResponseSchema(table: Kind | Field, create: () => Schema): Schema {
  const schema = SCHEMAS.get(table) ?? create();
  SCHEMAS.set(table, schema);
  return schema;
}

/**
 * Throws `NetworkError` if JSON does not match the schema, or is nested so deeply that recursion could exhaust the
 * stack.
 */
function expectFit(json: JsonObject, schema: Schema, { place }: ResponseSource): void {
  if (isDeeper(json, MAX_DEPTH)) throw new NetworkError(`${place} is nested too deeply`);
  const found = schema.safeParse(json).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (found !== undefined) throw new NetworkError(`${place} does not match the API: ${found.join('; ')}`);
}

/** Returns the JSON of a response. Throws `NetworkError` unless the JSON is an object. */
export function expectObject(call: { readonly method: string; readonly url: URL }, json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
  throw new NetworkError(`${call.method} ${formatPathAndQuery(call.url)}: the response is not a JSON object`);
}
