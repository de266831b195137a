import { z } from 'zod';
import { assertDefined } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import {
  createListSchema,
  DOCUMENT_KINDS,
  findDocumentSchema,
  MANIFEST_API_VERSION,
  MEMBER_KINDS,
} from './document.ts';
import { mergeAlternatives } from './openapi.ts';
import { FROM_ENVIRONMENT } from './text.ts';

/**
 * The JSON Schema of manifests (draft 2020-12), for editors: of one document of any kind, or of one kind. It accepts everything
 * that edgewise accepts; what it cannot express (bytes, what references name, RE2) edgewise checks itself.
 */
export function createManifestJsonSchema(kind?: string): JsonObject {
  const schema = kind === undefined ? toAnySchema() : assertDefined(findDocumentSchema(kind), `document kind ${kind}`);
  const json = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema, path }) => refine(jsonSchema, path) });
  const merged = chooseByType(mergeAlternatives(json as JsonObject)); // a JSON Schema is JSON
  return kind === undefined && isJsonObject(merged) ? chooseByKind(merged) : (merged as JsonObject); // an object stays one
}

/** One document of any kind. */
function toAnySchema(): z.ZodType {
  const named = MEMBER_KINDS.map((name) => assertDefined(findDocumentSchema(name), `document kind ${name}`));
  const any: z.ZodType = z
    .xor([...named, createListSchema(z.lazy(() => any))])
    .meta({ title: 'edgewise manifest', description: 'One document of a manifest file.' });
  return any;
}

/** Only the schema of the document's own kind applies, so that an editor reports nothing about other kinds. */
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

/** The constraints of a string, in addition to its type. */
const CONSTRAINTS = ['enum', 'format', 'maxLength', 'minLength', 'pattern'] as const;

type Schema = z.core.JSONSchema.BaseSchema;

/** Any constrained text may come from the environment instead. Keys may not. A schema is seen again where another is made of it. */
function refine(schema: Schema, path: readonly (string | number)[]): void {
  if (schema.pattern?.endsWith(`|${FROM_ENVIRONMENT}`)) return;
  if (schema.format !== undefined) delete schema.pattern;
  const constraints = CONSTRAINTS.filter((name) => schema[name] !== undefined);
  if (schema.type !== 'string' || constraints.length === 0 || path.at(-1) === 'propertyNames') return;
  if (constraints.every((name) => name === 'pattern')) schema.pattern = `(${schema.pattern})|${FROM_ENVIRONMENT}`;
  else if (schema.enum !== undefined) offerEnvironment(schema, schema.enum);
  else exceptEnvironment(schema, constraints);
}

/** Editors offer the words of a choice, and not those of a condition. */
function offerEnvironment(schema: Schema, words: NonNullable<Schema['enum']>): void {
  delete schema.enum;
  delete schema.type;
  schema.anyOf = [
    { type: 'string', enum: words },
    { type: 'string', pattern: FROM_ENVIRONMENT },
  ];
}

/** With a condition, an editor reports only the violated constraint; with a choice, that neither alternative fits. */
function exceptEnvironment(schema: Schema, constraints: readonly (typeof CONSTRAINTS)[number][]): void {
  const constrained = Object.fromEntries(constraints.map((name) => [name, schema[name]]));
  for (const name of constraints) delete schema[name];
  schema.if = { pattern: FROM_ENVIRONMENT };
  schema.else = constrained;
}

/** Chooses by the type, a list or its single member, so that an editor reports the errors of that alternative only. */
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
