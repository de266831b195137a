import { z } from 'zod';
import { assertDefined } from '../model/errors.ts';
import type { JsonObject } from '../model/json.ts';
import { findDocumentSchema, NAMED_KINDS, toListSchema } from './document-schema.ts';

/**
 * The JSON Schema of manifests (draft 2020-12), for editors: of one document of any kind, or of one kind. It accepts everything
 * that edgewise accepts; what it can't express (bytes, references, patterns of the service) edgewise checks itself.
 */
export function toManifestJsonSchema(kind?: string): JsonObject {
  const schema = kind === undefined ? toAnySchema() : assertDefined(findDocumentSchema(kind), `document kind ${kind}`);
  const json = z.toJSONSchema(schema, { io: 'input', override: ({ jsonSchema, path }) => refine(jsonSchema, path) });
  return json as JsonObject; // a JSON Schema is JSON
}

/** One document of any kind. Kinds stand side by side, each with its name as a constant, so that an editor can tell which is meant. */
function toAnySchema(): z.ZodType {
  const named = NAMED_KINDS.map((name) => assertDefined(findDocumentSchema(name), `document kind ${name}`));
  const any: z.ZodType = z
    .xor([...named, toListSchema(z.lazy(() => any))])
    .meta({ title: 'edgewise manifest', description: 'One document of a manifest file.' });
  return any;
}

/** What a string can be told by besides its type. */
const CONSTRAINTS = ['enum', 'format', 'maxLength', 'minLength', 'pattern'] as const;

/** The form of a text that is only known once the environment is. */
const FROM_ENVIRONMENT = { type: 'string', pattern: '\\$\\{env:' } as const;

type Schema = z.core.JSONSchema.BaseSchema;

/** Any constrained text may come from the environment instead. Keys may not. */
function refine(schema: Schema, path: readonly (string | number)[]): void {
  if (schema.format !== undefined) delete schema.pattern;
  const constraints = CONSTRAINTS.filter((name) => schema[name] !== undefined);
  if (schema.type !== 'string' || constraints.length === 0 || path.at(-1) === 'propertyNames') return;
  const constrained = Object.fromEntries(constraints.map((name) => [name, schema[name]]));
  for (const name of constraints) delete schema[name];
  delete schema.type;
  schema.anyOf = [{ type: 'string', ...constrained }, { ...FROM_ENVIRONMENT }];
}
