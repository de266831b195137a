import { z } from 'zod';
import { assertDefined } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import {
  createListDocumentSchema,
  DOCUMENT_KINDS,
  findDocumentSchema,
  LIST_MEMBER_KINDS,
  MANIFEST_API_VERSION,
} from './document.ts';
import { mergeAnyOfsInSchema } from './openapi.ts';
import { ENVIRONMENT_REFERENCE_PATTERN } from './text.ts';

/**
 * Creates the JSON Schema (draft 2020-12) of manifests, for editors. `kind`: the kind of document. If absent, the
 * schema describes documents of all kinds. The schema accepts everything that edgewise accepts. Edgewise also checks
 * rules that JSON Schema cannot express: lengths in bytes, the targets of references, and RE2 syntax. Throws an
 * `InvariantError` for an unknown kind.
 * @example
 * const schema = createManifestJsonSchema('TCPEdge');
 */
export function createManifestJsonSchema(kind?: string): JsonObject {
  const schema =
    kind === undefined ? createAnyDocumentSchema() : assertDefined(findDocumentSchema(kind), `document kind ${kind}`);
  const json = z.toJSONSchema(schema, {
    io: 'input',
    override: ({ jsonSchema, path }) => allowEnvironment(jsonSchema, path),
  });
  const merged = chooseByType(mergeAnyOfsInSchema(json as JsonObject)); // a JSON Schema is JSON
  return kind === undefined && isJsonObject(merged) ? chooseByKind(merged) : (merged as JsonObject); // an object stays an object
}

function createAnyDocumentSchema(): z.ZodType {
  const named = LIST_MEMBER_KINDS.map((name) => assertDefined(findDocumentSchema(name), `document kind ${name}`));
  const any: z.ZodType = z
    .xor([...named, createListDocumentSchema(z.lazy(() => any))])
    .meta({ title: 'edgewise manifest', description: 'One document of a manifest file.' });
  return any;
}

/** Applies only the schema of the document's own kind, so that an editor reports nothing about other kinds. */
function chooseByKind({ oneOf, ...schema }: JsonObject): JsonObject {
  const kinds = isJsonArray(oneOf) ? oneOf : [];
  return {
    ...schema,
    type: 'object',
    properties: {
      apiVersion: { description: 'Format of the document.', default: MANIFEST_API_VERSION },
      kind: { description: 'What the document describes.', enum: DOCUMENT_KINDS },
    },
    required: ['kind'],
    allOf: DOCUMENT_KINDS.map((kind, index) => ({
      if: { properties: { kind: { const: kind } }, required: ['kind'] },
      // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema
      then: kinds[index] ?? false,
    })),
  };
}

/** Keywords that constrain a string. */
const CONSTRAINTS = ['enum', 'format', 'maxLength', 'minLength', 'pattern'] as const;

type EditorSchema = z.core.JSONSchema.BaseSchema;

/**
 * Lets a schema of constrained text also accept `${env:…}`, unless the text is a key. Skips a schema that was already
 * changed: zod visits a schema again for each schema that is derived from it.
 */
function allowEnvironment(schema: EditorSchema, path: readonly (string | number)[]): void {
  if (schema.pattern?.endsWith(`|${ENVIRONMENT_REFERENCE_PATTERN}`)) return;
  if (schema.format !== undefined) delete schema.pattern;
  const constraints = CONSTRAINTS.filter((name) => schema[name] !== undefined);
  if (schema.type !== 'string' || constraints.length === 0 || path.at(-1) === 'propertyNames') return;
  if (constraints.every((name) => name === 'pattern'))
    schema.pattern = `(${schema.pattern})|${ENVIRONMENT_REFERENCE_PATTERN}`;
  else if (schema.enum !== undefined) offerEnvironment(schema, schema.enum);
  else exceptEnvironment(schema, constraints);
}

/**
 * Lets a schema with an `enum` also accept `${env:…}`. Uses `anyOf`, because editors offer the words of an `enum`
 * there, but not in `else`.
 */
function offerEnvironment(schema: EditorSchema, words: NonNullable<EditorSchema['enum']>): void {
  delete schema.enum;
  delete schema.type;
  schema.anyOf = [
    { type: 'string', enum: words },
    { type: 'string', pattern: ENVIRONMENT_REFERENCE_PATTERN },
  ];
}

/**
 * Lets a schema with other constraints also accept `${env:…}`. Uses `if` and `else`, because an editor then reports the
 * violated constraint. With `anyOf`, it would report that no alternative matches.
 */
function exceptEnvironment(schema: EditorSchema, constraints: readonly (typeof CONSTRAINTS)[number][]): void {
  const constrained = Object.fromEntries(constraints.map((name) => [name, schema[name]]));
  for (const name of constraints) delete schema[name];
  schema.if = { pattern: ENVIRONMENT_REFERENCE_PATTERN };
  schema.else = constrained;
}

/**
 * Where a value may be a list or a single member, makes the schema choose by the type of the value, so that an editor
 * reports only the errors of the matching alternative.
 */
function chooseByType(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(chooseByType);
  if (!isJsonObject(schema)) return schema;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema).map(([name, member]) => [name, chooseByType(member)] as const),
  );
  const alternatives = isJsonArray(anyOf) ? anyOf.filter(isJsonObject) : [];
  const isNull = ({ type }: JsonObject) => type === 'null';
  const [first, second, ...more] = alternatives.filter((alternative) => !isNull(alternative));
  if (first?.['type'] !== 'array' || second?.['$ref'] === undefined || more.length > 0)
    return anyOf === undefined ? rest : { ...rest, anyOf };
  const { type, ...then } = first;
  return { ...rest, if: { type: alternatives.some(isNull) ? [type, 'null'] : type }, then, else: second };
}
