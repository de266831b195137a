import type { Field } from '../kinds/field.ts';
import type { Kind } from '../kinds/kind.ts';
import { ID_FORM, isId } from '../kinds/paths.ts';
import { NetworkError } from '../model/errors.ts';
import { isDeeper, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import { createModuleSchema, createResponseSchema } from '../schemas/field.ts';

/** A resource of a list, by its id. */
export interface ListedResource {
  readonly id: string;
  readonly json: JsonObject;
}

type Schema = ReturnType<typeof createResponseSchema>;

/** Schemas, built once for each kind and field: building takes longer than using. */
const SCHEMAS = new WeakMap<Kind | Field, Schema>();

/** Where JSON came from, and how it begins, where that may be shown: an answer to a write may hold a token. */
export interface ResponseSource {
  readonly place: string;
  readonly excerpt?: ((json: Json) => string) | undefined;
}

/** A member of a list as the resource that it must be. Throws `NetworkError` when it does not fit. */
export function parseListedResource(kind: Kind, json: Json, { place, excerpt }: ResponseSource): ListedResource {
  const id = isJsonObject(json) ? json['id'] : undefined;
  if (!isJsonObject(json) || typeof id !== 'string' || id === '')
    throw new NetworkError(`${place} is not an object with an id${toShown(json, excerpt)}`);
  if (!isId(id)) throw new NetworkError(`${place} has an invalid id. An id is ${ID_FORM}${toShown(json, excerpt)}`);
  const schema = getSchema(kind, () => createResponseSchema(kind, 'response'));
  expectFit(json, schema, { place: `${place} (${id})`, excerpt });
  return { id, json };
}

/** Throws `NetworkError` when the JSON of a module that is set does not fit. */
export function expectModule(field: Field, json: JsonObject, origin: ResponseSource): void {
  const schema = getSchema(field, () => createModuleSchema(field, 'response'));
  expectFit(json, schema, origin);
}

function getSchema(table: Kind | Field, create: () => Schema): Schema {
  const schema = SCHEMAS.get(table) ?? create();
  SCHEMAS.set(table, schema);
  return schema;
}

/** JSON that is nested too deeply is refused: it would exhaust the stack later. */
function expectFit(json: JsonObject, schema: Schema, { place, excerpt }: ResponseSource): void {
  if (isDeeper(json, MAX_DEPTH)) throw new NetworkError(`${place} is nested too deeply`);
  const found = schema.safeParse(json).error?.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
  if (found !== undefined)
    throw new NetworkError(`${place} does not match the API: ${found.join('; ')}${toShown(json, excerpt)}`);
}

function toShown(json: Json, excerpt: ResponseSource['excerpt']): string {
  return excerpt === undefined ? '' : `: ${excerpt(json)}`;
}
