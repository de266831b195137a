import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createOpenApiDocument } from './openapi.ts';

/**
 * Creates the document of the API in OpenAPI 3.0, for generators that do not read 3.1. It is converted, since zod's own
 * target covers only what zod makes, and not the parts around it.
 */
export function createOpenApi30Document(options: Parameters<typeof createOpenApiDocument>[0] = {}): JsonObject {
  const { openapi: _, paths = {}, components, ...rest } = createOpenApiDocument(options);
  return { openapi: '3.0.3', ...rest, paths: convertSchema(paths), components: convertNames(components ?? {}) };
}

/** Converts the schemas below names that may be those of keywords. */
function convertNames(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, group]) => [name, isJsonObject(group) ? convertMembers(group) : group]),
  );
}

function convertMembers(members: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(members).map(([name, member]) => [name, convertSchema(member)]));
}

/** Converts a schema, and the schemas inside of it or of anything else. */
function convertSchema(value: Json): Json {
  if (isJsonArray(value)) return value.map(convertSchema);
  if (!isJsonObject(value)) return value;
  const { propertyNames: _, properties, ...rest } = value;
  const inside = convertMembers(rest);
  return convertKeywords(isJsonObject(properties) ? { ...inside, properties: convertMembers(properties) } : inside);
}

function convertKeywords({ type, anyOf, examples, $ref, ...rest }: JsonObject): JsonObject {
  const example = isJsonArray(examples) ? examples[0] : undefined;
  const shown = example === undefined ? rest : { ...rest, example };
  if (isJsonArray(anyOf)) return { ...shown, ...convertChoice(anyOf.filter(isJsonObject)) };
  // In 3.0, a reference has nothing beside it.
  if ($ref !== undefined) return Object.keys(shown).length === 0 ? { $ref } : { ...shown, allOf: [{ $ref }] };
  if (!isJsonArray(type)) return type === undefined ? shown : { type, ...shown };
  const [first = 'object'] = type.filter((one) => one !== 'null');
  return { type: first, ...shown, ...(type.includes('null') && { nullable: true }) };
}

/** Converts alternatives of which one may be null. */
function convertChoice(choices: readonly JsonObject[]): JsonObject {
  const [only, ...others] = choices.filter(({ type }) => type !== 'null');
  const nullable = choices.length > 1 + others.length ? { nullable: true } : {};
  if (only === undefined || others.length > 0) return { anyOf: [only ?? {}, ...others], ...nullable };
  return { ...only, ...nullable };
}
