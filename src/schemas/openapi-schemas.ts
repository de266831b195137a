import { z } from 'zod';
import type { Kind } from '../kinds/kind.ts';
import { OPERATIONS, type Operation, toPascalCase } from '../kinds/operations.ts';
import { listPathFields } from '../kinds/paths.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { toModuleSchema, toRequestSchema, toResponseSchema } from './field.ts';

/** A reference to one of the schemas of the document. */
export function refToSchema(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** The name of the schema of an operation's request body; `undefined`: it takes none. */
export function toRequestSchemaName({ action, kind, module }: Operation): string | undefined {
  if (action === 'create') return `${kind.name}Create`;
  if (action === 'update') return `${kind.name}Update`;
  return action === 'replace-module' ? `${toModuleName(kind, module?.name)}Replace` : undefined;
}

/** The name of the schema of an operation's successful response; `undefined`: it has no body. */
export function toResponseSchemaName({ action, kind, module }: Operation): string | undefined {
  if (action === 'delete' || action === 'delete-module') return undefined;
  if (action === 'list') return `${kind.name}List`;
  return module === undefined ? kind.name : toModuleName(kind, module.name);
}

/** Every schema that operations name, by its name, and the one of errors. */
export function toComponentSchemas(): JsonObject {
  const named = OPERATIONS.flatMap((operation) => [...toRequestEntry(operation), ...toResponseEntry(operation)]);
  return { ...Object.fromEntries(named), Error: ERROR };
}

const ERROR: JsonObject = {
  type: 'object',
  description: 'Why a request failed.',
  properties: {
    error_code: { type: 'string', description: 'What failed, in one word for programs.' },
    status_code: { type: 'integer', description: 'The HTTP status.' },
    msg: { type: 'string', description: 'What failed, for people.' },
    details: {
      type: 'object',
      description: 'More about it: the operation id, and where it applies the field, the id or who holds a value.',
      properties: { operation_id: { type: 'string', description: 'Names this request.' } },
      required: ['operation_id'],
      additionalProperties: { type: 'string' },
    },
  },
  required: ['error_code', 'status_code', 'msg', 'details'],
  additionalProperties: false,
};

function toRequestEntry(operation: Operation): readonly (readonly [string, JsonObject])[] {
  const { action, kind, module } = operation;
  const name = toRequestSchemaName(operation);
  if (name === undefined) return [];
  if (module !== undefined)
    return [[name, toReplaceSchema(kind, toJsonSchema(toModuleSchema(module.field, 'request')))]];
  const body = toJsonSchema(toRequestSchema(kind, action === 'update' ? 'update' : 'create'));
  return [[name, toTolerant(body, kind, action === 'update')]];
}

function toResponseEntry(operation: Operation): readonly (readonly [string, JsonObject])[] {
  const { action, kind, module } = operation;
  const name = toResponseSchemaName(operation);
  if (name === undefined) return [];
  if (action === 'list') return [[name, toListSchema(kind)]];
  const schema = module === undefined ? toResponseSchema(kind, 'document') : toModuleSchema(module.field, 'document');
  return [[name, toJsonSchema(schema)]];
}

function toModuleName(kind: Kind, module = ''): string {
  return `${kind.name}${toPascalCase(module)}`;
}

function toListSchema(kind: Kind): JsonObject {
  const key = String(kind.listKey);
  return {
    type: 'object',
    properties: {
      [key]: { type: 'array', items: refToSchema(kind.name), description: 'Newest first.' },
      uri: { type: 'string', format: 'uri', description: 'URI of the list.' },
      next_page_uri: {
        type: ['string', 'null'],
        format: 'uri',
        description: 'URI of the next page; null on the last one.',
      },
    },
    required: [key, 'uri', 'next_page_uri'],
    additionalProperties: false,
  };
}

/** Bodies may carry what clients send back from responses: the id, and nulls for fields that are not set. */
function toTolerant(body: JsonObject, kind: Kind, isUpdate: boolean): JsonObject {
  const known = isJsonObject(body['properties']) ? body['properties'] : {};
  const ignored = Object.keys(kind.fields).filter((name) => name !== 'id' && !(name in known));
  const nulls = ignored.map((name) => [name, { type: 'null', description: 'Ignored.' }] as const);
  const properties = { ...known, id: { description: 'Ignored.' }, ...Object.fromEntries(nulls) };
  return { ...body, properties, ...(isUpdate && { minProperties: 1 }) };
}

/** A module stands in the body alone, or under `module` with the ids of the path beside it. */
function toReplaceSchema(kind: Kind, module: JsonObject): JsonObject {
  const ids = listPathFields(kind).map((name) => [name, { description: 'Ignored.' }] as const);
  const wrapped = {
    type: 'object',
    properties: { ...Object.fromEntries(ids), module },
    required: ['module'],
    additionalProperties: false,
  };
  return { anyOf: [module, wrapped] };
}

function toJsonSchema(schema: z.ZodType): JsonObject {
  const { $schema: _, $defs: _defs, ...body } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  return toPlain(body as JsonObject) as JsonObject; // what toJSONSchema returns is JSON, and objects stay objects
}

/** Without what only zod needs: its recursive schema of any JSON, and the pattern beside a format. */
function toPlain(value: Json): Json {
  if (isJsonArray(value)) return value.map(toPlain);
  if (!isJsonObject(value)) return value;
  if (typeof value['$ref'] === 'string') return {};
  const entries = Object.entries(value).filter(([name]) => !(name === 'pattern' && value['format'] === 'date-time'));
  return Object.fromEntries(entries.map(([name, member]) => [name, toPlain(member)]));
}
