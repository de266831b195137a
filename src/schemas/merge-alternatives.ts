import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';

/** What zod says of the keys of every mapping: they are always text. */
const ANY_KEYS = JSON.stringify({ type: 'string' });

/**
 * A JSON Schema in which alternatives of different types are one schema of several types, and alternatives of alternatives are
 * alternatives of one list: what is wrong in one is then not told of the others too, and there is less to read.
 */
export function mergeAlternatives(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(mergeAlternatives);
  if (!isJsonObject(schema)) return schema;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema)
      .filter(([name, member]) => !(name === 'propertyNames' && JSON.stringify(member) === ANY_KEYS))
      .map(([name, member]) => [name, mergeAlternatives(member)] as const),
  );
  if (!isJsonArray(anyOf)) return rest;
  const { members, notes } = flatten(anyOf.filter(isJsonObject));
  const types = members.map(listTypes);
  const isMerged = types.every((some) => some.length > 0) && new Set(types.flat()).size === types.flat().length;
  return isMerged ? { ...notes, ...toOne(members), ...rest } : { ...notes, ...rest, anyOf: members };
}

/** Keywords that describe a value without restricting it. */
const NOTES: readonly string[] = ['description', 'default', 'examples', 'title'];

/** Alternatives with nested ones flattened, and what those say besides. */
function flatten(alternatives: readonly JsonObject[]): {
  readonly members: readonly JsonObject[];
  readonly notes: JsonObject;
} {
  let notes: JsonObject = {};
  const members = alternatives.flatMap((alternative) => {
    const { anyOf, ...rest } = alternative;
    const isChoice = isJsonArray(anyOf) && Object.keys(rest).every((name) => NOTES.includes(name));
    if (isChoice) notes = { ...notes, ...rest };
    return isChoice ? anyOf.filter(isJsonObject) : [alternative];
  });
  return { members, notes };
}

/** Members of different types as one. Where only some words may stand, null has to be one of them. */
function toOne(members: readonly JsonObject[]): JsonObject {
  const types = members.flatMap(listTypes);
  const { enum: words, ...rest }: JsonObject = Object.assign({}, ...members);
  const isNullable = types.includes('null');
  return {
    ...rest,
    type: types,
    ...(isJsonArray(words) && { enum: isNullable ? [...words, null] : words }),
  };
}

function listTypes({ type = [] }: JsonObject): readonly Json[] {
  return isJsonArray(type) ? type : [type];
}
