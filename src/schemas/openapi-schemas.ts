import { z } from 'zod';
import type { Kind } from '../kinds/kind.ts';
import { OPERATIONS, type Operation, toPascalCase } from '../kinds/operations.ts';
import { listPathFields } from '../kinds/paths.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { toModuleSchema, toRequestSchema, toResponseSchema } from './field.ts';
import { mergeAlternatives } from './merge-alternatives.ts';
import { TIMES_TAKEN } from './text.ts';

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

/** Every schema that operations name, by its name, the parts that those have in common, and the one of errors. */
export function toComponentSchemas(): JsonObject {
  const named = OPERATIONS.flatMap((operation) => [...toRequestEntries(operation), ...toResponseEntries(operation)]);
  return { ...Object.fromEntries(named), Error: ERROR };
}

type Entry = readonly [name: string, schema: JsonObject];

const ERROR: JsonObject = {
  type: 'object',
  description: 'Why a request failed.',
  properties: {
    error_code: { type: 'string', description: 'Code of the failure, for programs.' },
    status_code: { type: 'integer', description: 'The HTTP status.' },
    msg: { type: 'string', description: 'Description of the failure, for people.' },
    details: {
      type: 'object',
      description: 'Details: the operation id and, where they apply, the field, the id or the holder of a value.',
      properties: { operation_id: { type: 'string', description: 'Id of this request.' } },
      required: ['operation_id'],
      additionalProperties: { type: 'string' },
    },
  },
  required: ['error_code', 'status_code', 'msg', 'details'],
  additionalProperties: false,
};

function toRequestEntries(operation: Operation): readonly Entry[] {
  const { action, kind, module } = operation;
  const name = toRequestSchemaName(operation);
  if (name === undefined) return [];
  if (module !== undefined)
    return toEntries(name, toModuleSchema(module.field, 'request'), (body) => toReplaceSchema(kind, body));
  const isUpdate = action === 'update';
  const schema = toRequestSchema(kind, isUpdate ? 'update' : 'create');
  return toEntries(name, schema, (body) => toTolerant(body, kind, isUpdate));
}

function toResponseEntries(operation: Operation): readonly Entry[] {
  const { action, kind, module } = operation;
  const name = toResponseSchemaName(operation);
  if (name === undefined) return [];
  if (action === 'list') return [[name, toListSchema(kind)]];
  const schema = module === undefined ? toResponseSchema(kind, 'document') : toModuleSchema(module.field, 'document');
  return toEntries(name, schema);
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
  return { ...body, properties, ...(isUpdate && { anyOf: Object.keys(known).map((name) => toChange(kind, name)) }) };
}

/** That a body changes a field. Null does, where it removes the value. */
function toChange(kind: Kind, name: string): JsonObject {
  const isCleared = kind.fields[name]?.clear === 'null';
  return { required: [name], properties: { [name]: isCleared ? {} : { not: { type: 'null' } } } };
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

/** A schema and its parts, by name. One that is a part itself needs no other name. */
function toEntries(name: string, schema: z.ZodType, change = (body: JsonObject) => body): readonly Entry[] {
  const { $schema: _, $defs = {}, ...whole } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const parts = Object.entries($defs as JsonObject); // what toJSONSchema returns is JSON
  const body = toPlain(mergeAlternatives(whole as JsonObject)) as JsonObject; // and objects stay objects
  const entries = parts.map(([part, inner]) => [part, toPlain(mergeAlternatives(inner)) as JsonObject] as const);
  return name in $defs ? entries : [[name, change(body)], ...entries];
}

const PART = /^#\/\$defs\//;

/** With parts that are found in the document, and without the pattern that zod has beside a format. */
function toPlain(value: Json): Json {
  if (isJsonArray(value)) return value.map(toPlain);
  if (!isJsonObject(value)) return value;
  const { $ref, ...rest } = value;
  const isOfZod = ([name, member]: readonly [string, Json]) =>
    name === 'pattern' && value['format'] === 'date-time' && member !== TIMES_TAKEN;
  const entries = Object.entries(rest).filter((entry) => !isOfZod(entry));
  const members = entries.map(([name, member]) => [name, toPlain(member)] as const);
  return {
    ...Object.fromEntries(members),
    ...(typeof $ref === 'string' && refToSchema($ref.replace(PART, ''))),
  };
}
