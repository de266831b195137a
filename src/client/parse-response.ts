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

/**
 * Where JSON came from, for messages. `excerpt` formats the beginning of the JSON; it is absent for a response to a
 * write, which may contain a token.
 */
export interface ResponseSource {
  readonly place: string;
  readonly excerpt?: ((json: Json) => string) | undefined;
}

/** Parses a member of a list as a resource. Throws `NetworkError` if the member does not match the kind's schema. */
export function parseListedResource(kind: Kind, json: Json, { place, excerpt }: ResponseSource): ListedResource {
  const id = isJsonObject(json) ? json['id'] : undefined;
  if (!isJsonObject(json) || typeof id !== 'string' || id === '')
    throw new NetworkError(`${place} is not an object with an id${formatExcerpt(json, excerpt)}`);
  if (!isId(id))
    throw new NetworkError(`${place} has an invalid id. An id is ${ID_DESCRIPTION}${formatExcerpt(json, excerpt)}`);
  const schema = getResponseSchema(kind, () => createResourceResponseSchema(kind, 'response'));
  expectFit(json, schema, { place: `${place} (${id})`, excerpt });
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
function expectFit(json: JsonObject, schema: Schema, { place, excerpt }: ResponseSource): void {
  if (isDeeper(json, MAX_DEPTH)) throw new NetworkError(`${place} is nested too deeply`);
  const found = schema.safeParse(json).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (found !== undefined)
    throw new NetworkError(`${place} does not match the API: ${found.join('; ')}${formatExcerpt(json, excerpt)}`);
}

function formatExcerpt(json: Json, excerpt: ResponseSource['excerpt']): string {
  return excerpt === undefined ? '' : `: ${excerpt(json)}`;
}

/** Returns the JSON of a response. Throws `NetworkError` unless the JSON is an object. */
export function expectObject(call: { readonly method: string; readonly url: URL }, json: Json | undefined): JsonObject {
  if (isJsonObject(json)) return json;
  throw new NetworkError(`${call.method} ${formatPathAndQuery(call.url)}: the response is not a JSON object`);
}
