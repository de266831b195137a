import { z } from 'zod';
import type { Kind } from '../kinds/kind.ts';
import { convertSnakeToPascalCase, OPERATIONS, type Operation, type OperationAction } from '../kinds/operations.ts';
import { formatIdPattern, listPathParameters } from '../kinds/paths.ts';
import { isReferable } from '../kinds/references.ts';
import { DEFAULT_VERSION_HEADER_NAME, OPERATION_ID_HEADER, SERVICE_API_VERSION } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json, type JsonObject } from '../model/json.ts';
import { createModuleBodySchema, createRequestBodySchema, createResourceResponseSchema } from './field.ts';
import { TIME_SINCE_1970_PATTERN } from './text.ts';

function refToSchema(name: string): JsonObject {
  return { $ref: `#/components/schemas/${name}` };
}

/** Returns the name of the schema of an operation's request body. `undefined` if the operation has no request body. */
function findRequestSchemaName({ action, kind, module }: Operation): string | undefined {
  if (action === 'create') return `${kind.name}Create`;
  if (action === 'update') return `${kind.name}Update`;
  return action === 'replace-module' ? `${toModuleName(kind, module?.name)}Mutate` : undefined;
}

/** Returns the name of the schema of an operation's successful response. `undefined` if the response has no body. */
function findResponseSchemaName({ action, kind, module }: Operation): string | undefined {
  if (action === 'delete' || action === 'delete-module') return undefined;
  if (action === 'list') return `${kind.name}List`;
  return module === undefined ? kind.name : toModuleName(kind, module.name);
}

/** Maps names to schemas: of requests, of responses, of their shared parts, and of errors. */
function createComponentSchemas(): JsonObject {
  const named = OPERATIONS.flatMap((operation) => [
    ...createRequestEntries(operation),
    ...createResponseEntries(operation),
  ]);
  return { ...Object.fromEntries(named), Error: ERROR, Version: VERSION };
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
      description:
        'The operation id and, depending on the error, the field, its value, an id, a module, the resource that has the value already (`held_by`), or the resources that use this one (`used_by`).',
      properties: { operation_id: { type: 'string', description: 'Id of this request.' } },
      required: ['operation_id'],
      additionalProperties: { type: 'string' },
    },
  },
  required: ['error_code', 'status_code', 'msg', 'details'],
  additionalProperties: false,
};

const VERSION: JsonObject = { type: 'string', enum: [SERVICE_API_VERSION], description: 'A version of the API.' };

function createRequestEntries(operation: Operation): readonly Entry[] {
  const { action, kind, module } = operation;
  const name = findRequestSchemaName(operation);
  if (name === undefined) return [];
  if (module !== undefined) return createEntries(name, createModuleBodySchema(module.field, 'request'));
  const isUpdate = action === 'update';
  const schema = createRequestBodySchema(kind, isUpdate ? 'update' : 'create');
  return createEntries(name, schema, (body) => (isUpdate ? { ...body, minProperties: 1 } : body));
}

function createResponseEntries(operation: Operation): readonly Entry[] {
  const { action, kind, module } = operation;
  const name = findResponseSchemaName(operation);
  if (name === undefined) return [];
  if (action === 'list') return [[name, createListResponseSchema(kind)]];
  const schema =
    module === undefined
      ? createResourceResponseSchema(kind, 'document')
      : createModuleBodySchema(module.field, 'document');
  return createEntries(name, schema);
}

function toModuleName(kind: Kind, module = ''): string {
  return `${kind.name}${convertSnakeToPascalCase(module)}`;
}

function createListResponseSchema(kind: Kind): JsonObject {
  const key = String(kind.listKey);
  return {
    type: 'object',
    properties: {
      [key]: { type: 'array', items: refToSchema(kind.name), description: 'The resources, newest first.' },
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

/**
 * Returns a schema and its shared parts, each with its name. If the schema is itself one of these parts, it is not
 * repeated.
 */
function createEntries(name: string, schema: z.ZodType, change = (body: JsonObject) => body): readonly Entry[] {
  const { $schema: _, $defs = {}, ...whole } = z.toJSONSchema(schema, { io: 'input', unrepresentable: 'any' });
  const parts = Object.entries($defs as JsonObject); // toJSONSchema returns JSON
  const body = convertZodSchema(mergeAnyOfsInSchema(whole as JsonObject)) as JsonObject; // an object stays an object
  const entries = parts.map(
    ([part, inner]) => [part, convertZodSchema(mergeAnyOfsInSchema(inner)) as JsonObject] as const,
  );
  return name in $defs ? entries : [[name, change(body)], ...entries];
}

const PART = /^#\/\$defs\//;

/** Makes zod's references point to components of the document, and removes the pattern that zod adds to a format. */
function convertZodSchema(value: Json): Json {
  if (isJsonArray(value)) return value.map(convertZodSchema);
  if (!isJsonObject(value)) return value;
  const { $ref, ...rest } = value;
  const isOfZod = ([name, member]: readonly [string, Json]) =>
    name === 'pattern' && value['format'] === 'date-time' && member !== TIME_SINCE_1970_PATTERN;
  const entries = Object.entries(rest).filter((entry) => !isOfZod(entry));
  const members = entries.map(([name, member]) => [name, convertZodSchema(member)] as const);
  return {
    ...Object.fromEntries(members),
    ...(typeof $ref === 'string' && refToSchema($ref.replace(PART, ''))),
  };
}

/** zod's schema for the keys of every mapping. It is redundant, because keys are always text. */
const ANY_KEYS = JSON.stringify({ type: 'string' });

/**
 * Merges alternatives (`anyOf`) of different types into one schema with several types, and nested alternatives into one
 * list. Validators then report only errors in the matching alternative, and the document is shorter.
 */
export function mergeAnyOfsInSchema(schema: Json): Json {
  if (isJsonArray(schema)) return schema.map(mergeAnyOfsInSchema);
  if (!isJsonObject(schema)) return schema;
  const { anyOf, ...rest } = Object.fromEntries(
    Object.entries(schema)
      .filter(([name, member]) => !(name === 'propertyNames' && JSON.stringify(member) === ANY_KEYS))
      .map(([name, member]) => [name, mergeAnyOfsInSchema(member)] as const),
  );
  if (!isJsonArray(anyOf)) return rest;
  const { members, notes } = flatten(anyOf.filter(isJsonObject));
  const types = members.map(listTypes);
  const isMerged = types.every((some) => some.length > 0) && new Set(types.flat()).size === types.flat().length;
  return isMerged ? { ...notes, ...mergeTypes(members), ...rest } : { ...notes, ...rest, anyOf: members };
}

/** Keywords that describe a value without restricting it. */
const NOTES: readonly string[] = ['description', 'default', 'examples', 'title'];

/** Flattens nested alternatives. `notes`: the describing keywords of the nested alternatives. */
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

/** Merges schemas of different types into one. If it has an `enum` and allows null, the `enum` must contain null. */
function mergeTypes(members: readonly JsonObject[]): JsonObject {
  const types = members.flatMap(listTypes);
  const { enum: words, ...rest }: JsonObject = Object.assign({}, ...members);
  const isNullInResponses = types.includes('null');
  return {
    ...rest,
    type: types,
    ...(isJsonArray(words) && { enum: isNullInResponses ? [...words, null] : words }),
  };
}

function listTypes({ type = [] }: JsonObject): readonly Json[] {
  return isJsonArray(type) ? type : [type];
}

/** Maps an HTTP status to its error response. `header`: a header that this response must have. */
const FAILURES: Readonly<
  Record<number, { readonly name: string; readonly description: string; readonly header?: string }>
> = {
  400: { name: 'BadRequest', description: 'The request is not valid: its version header, its query or its body.' },
  401: { name: 'Unauthenticated', description: 'The API key is missing or unknown.', header: 'WWW-Authenticate' },
  403: { name: 'Forbidden', description: 'The API key is valid, but this is not allowed.' },
  404: { name: 'NotFound', description: 'Nothing has this path or id, or the module is not set.' },
  405: { name: 'MethodNotAllowed', description: 'The path exists, but not with this method.', header: 'Allow' },
  408: { name: 'RequestTimeout', description: 'The request took too long to arrive.' },
  409: {
    name: 'Conflict',
    description: 'Another resource has a value that must be unique, or refers to this resource.',
  },
  413: { name: 'BodyTooLarge', description: 'The body is larger than 1 MiB.' },
  415: { name: 'BadContentType', description: 'The body is not application/json.' },
  417: { name: 'ExpectationFailed', description: 'The only supported expectation is 100-continue.' },
  429: { name: 'RateLimited', description: 'Too many requests.', header: 'Retry-After' },
  431: { name: 'HeadersTooLarge', description: 'The headers of the request are too large.' },
  500: { name: 'InternalError', description: 'A bug in the server, or a change that it could not save.' },
  507: { name: 'AccountFull', description: 'The account would be larger than what can be saved and read again.' },
};

function createComponentHeaders(): JsonObject {
  return { OperationId: { description: 'Id of this request.', schema: { type: 'string' }, required: true } };
}

const HEADERS: JsonObject = { [OPERATION_ID_HEADER]: { $ref: '#/components/headers/OperationId' } };

/**
 * Returns the shared responses, by name: one for each response body, and one for each error. This includes errors that
 * no operation can return, because they occur only for unknown operations, or for bytes that are not a request.
 */
function createComponentResponses(): JsonObject {
  const successes = OPERATIONS.map((operation) => [toSuccessName(operation), createSuccess(operation)] as const);
  const failures = Object.values(FAILURES).map(({ name, description, header }) => {
    const extra = header === undefined ? {} : { [header]: { schema: { type: 'string' }, required: true } };
    return [name, { description, headers: { ...HEADERS, ...extra }, content: createContent('Error') }] as const;
  });
  return Object.fromEntries([...successes, ...failures]);
}

/** Maps each HTTP status of an operation to its response. */
function createResponses(operation: Operation): JsonObject {
  const status = operation.action === 'create' ? 201 : findResponseSchemaName(operation) === undefined ? 204 : 200;
  const names = [
    [status, toSuccessName(operation)] as const,
    ...listFailures(operation).map((failure) => [failure, FAILURES[failure]?.name] as const),
  ];
  return Object.fromEntries(names.map(([code, name]) => [code, { $ref: `#/components/responses/${name}` }]));
}

/** Creates the `content` of a JSON body. `schema`: the name of its schema in the document. */
function createContent(schema: string): JsonObject {
  return { 'application/json': { schema: refToSchema(schema) } };
}

function toSuccessName(operation: Operation): string {
  return findResponseSchemaName(operation) ?? 'Gone';
}

function createSuccess(operation: Operation): JsonObject {
  const schema = findResponseSchemaName(operation);
  if (schema === undefined) return { description: 'Deleted.', headers: HEADERS };
  return { description: operation.kind.description, headers: HEADERS, content: createContent(schema) };
}

function listFailures(operation: Operation): readonly number[] {
  return [
    400,
    401,
    ...(operation.method === 'GET' ? [] : [403]),
    ...(operation.path.includes('{') ? [404] : []),
    ...(canConflict(operation) ? [409] : []),
    ...(findRequestSchemaName(operation) === undefined ? [] : [413, 415, 507]),
    429,
    500,
  ];
}

/** Whether an operation can fail with status 409, because a unique value or the resource is in use. */
function canConflict({ action, kind }: Operation): boolean {
  const unique = kind.specFields.filter(([, field]) => field.unique);
  if (action === 'create') return unique.length > 0;
  if (action === 'update') return unique.some(([, { lifecycle }]) => lifecycle === 'mutable');
  return action === 'delete' && isReferable(kind);
}

/**
 * Creates the OpenAPI 3.1 document of the API, with every response that the bundled server may send. `versionHeader`:
 * the name of the request header that contains the API version.
 * @example
 * const document = createOpenApiDocument({ versionHeader: 'Service-Version' });
 */
export function createOpenApiDocument(options: { readonly versionHeader?: string } = {}): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'Edge management service', version: SERVICE_API_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: { ...createPaths(), '/openapi.json': { get: OWN_OPERATION } },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      parameters: createComponentParameters(options.versionHeader ?? DEFAULT_VERSION_HEADER_NAME),
      headers: createComponentHeaders(),
      responses: createComponentResponses(),
      schemas: createComponentSchemas(),
    },
  };
}

const DESCRIPTION =
  'Configuration of network ingress. An unknown path gets 404, an unknown method of a known path 405. Input that is not a valid request gets 400, 408, 413, 417 or 431, and the connection is closed.';

/** The operation that returns this document. */
const OWN_OPERATION: JsonObject = {
  operationId: 'getOpenApi',
  summary: 'Read this document.',
  tags: ['meta'],
  security: [],
  responses: {
    200: { description: 'This document.', content: { 'application/json': { schema: { type: 'object' } } } },
    500: { $ref: '#/components/responses/InternalError' },
  },
};

const SUMMARIES: Readonly<Record<OperationAction, string>> = {
  create: 'Create a resource.',
  list: 'List the resources, newest first.',
  get: 'Read a resource.',
  update: 'Change the given fields and keep the others.',
  delete: 'Delete a resource.',
  'replace-module': 'Set the module, as a whole.',
  'get-module': 'Read the module.',
  'delete-module': 'Remove the module; no effect if it is not set.',
};

const LIMIT: JsonObject = {
  name: 'limit',
  in: 'query',
  description: 'Maximum number of resources in a page.',
  schema: { type: 'integer', minimum: 1, maximum: 100, default: 100 },
};

function createBeforeParameter({ idPrefix }: Kind): JsonObject {
  return {
    name: 'before_id',
    in: 'query',
    description: 'List only resources created before the one with this id.',
    schema: createIdSchema([idPrefix]),
  };
}

function createIdSchema(prefixes: readonly string[]): JsonObject {
  return { type: 'string', pattern: `^${formatIdPattern({ prefixes })}$` };
}

function createComponentParameters(versionHeader: string): JsonObject {
  const version = {
    name: versionHeader,
    in: 'header',
    required: true,
    description: 'Version of the API.',
    schema: refToSchema('Version'),
  };
  return { version, limit: LIMIT };
}

function createPaths(): JsonObject {
  const byPath = Map.groupBy(OPERATIONS, ({ path }) => path);
  const items = [...byPath].map(([path, operations]) => {
    const methods = operations.map(
      (operation) => [operation.method.toLowerCase(), createOperationObject(operation)] as const,
    );
    const parameters = operations.slice(0, 1).flatMap(createPathParameters);
    return [path, { parameters, ...Object.fromEntries(methods) }] as const;
  });
  return Object.fromEntries(items);
}

function createOperationObject(operation: Operation): JsonObject {
  const schema = findRequestSchemaName(operation);
  return {
    operationId: operation.id,
    summary: SUMMARIES[operation.action],
    tags: [operation.kind.title],
    ...(operation.action === 'list' && {
      parameters: [refToParameter('limit'), createBeforeParameter(operation.kind)],
    }),
    ...(schema !== undefined && { requestBody: { required: true, content: createContent(schema) } }),
    responses: createResponses(operation),
  };
}

/** The parameters that all operations at the same path share. */
function createPathParameters({ path, kind }: Operation): readonly JsonObject[] {
  const ids = listPathParameters(path).map((name) => {
    const type = kind.fields[name]?.type;
    const prefixes = type?.type === 'reference' ? type.prefixes : [kind.idPrefix];
    return { name, in: 'path', required: true, schema: createIdSchema(prefixes) };
  });
  return [...ids, refToParameter('version')];
}

function refToParameter(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}
