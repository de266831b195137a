import { toIdPattern } from '../kinds/ids.ts';
import type { Kind } from '../kinds/kind.ts';
import { OPERATIONS, type Operation, type OperationAction } from '../kinds/operations.ts';
import { listPathParameters } from '../kinds/paths.ts';
import type { JsonObject } from '../model/json.ts';
import { API_VERSION, DEFAULT_VERSION_HEADER } from '../model/transport.ts';
import { toComponentHeaders, toComponentResponses, toContent, toResponses } from './openapi-responses.ts';
import { toComponentSchemas, toRequestSchemaName } from './openapi-schemas.ts';

/** The OpenAPI 3.1 document of the interface, with everything that the bundled server may answer. */
export function toOpenApiDocument(options: { readonly versionHeader?: string } = {}): JsonObject {
  return {
    openapi: '3.1.0',
    info: { title: 'Edge management service', version: API_VERSION, description: DESCRIPTION },
    servers: [{ url: '/' }],
    security: [{ apiKey: [] }],
    paths: { ...toPaths(), '/openapi.json': { get: OWN_OPERATION } },
    components: {
      securitySchemes: { apiKey: { type: 'http', scheme: 'bearer', description: 'An API key.' } },
      parameters: toComponentParameters(options.versionHeader ?? DEFAULT_VERSION_HEADER),
      headers: toComponentHeaders(),
      responses: toComponentResponses(),
      schemas: toComponentSchemas(),
    },
  };
}

const DESCRIPTION =
  'Configuration of network ingress. An unknown path gets 404, an unknown method of a known path 405. Input that is not a valid request gets 400, 408, 413, 417 or 431, and the connection is closed.';

/** How this very document is read. */
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
  create: 'Create one.',
  list: 'List them, newest first.',
  get: 'Read one.',
  update: 'Change the given fields and keep the others.',
  delete: 'Delete one.',
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

/** Where a page begins. */
function toBeforeParameter({ idPrefix }: Kind): JsonObject {
  return {
    name: 'before_id',
    in: 'query',
    description: 'List only resources created before the one with this id.',
    schema: toIdSchema([idPrefix]),
  };
}

function toIdSchema(prefixes: readonly string[]): JsonObject {
  return { type: 'string', pattern: `^${toIdPattern({ prefixes })}$` };
}

function toComponentParameters(versionHeader: string): JsonObject {
  const version = {
    name: versionHeader,
    in: 'header',
    required: true,
    description: 'Version of the interface.',
    schema: { type: 'string', const: API_VERSION },
  };
  return { version, limit: LIMIT };
}

function toPaths(): JsonObject {
  const byPath = Map.groupBy(OPERATIONS, ({ path }) => path);
  const items = [...byPath].map(([path, operations]) => {
    const methods = operations.map((operation) => [operation.method.toLowerCase(), toOperation(operation)] as const);
    const parameters = operations.slice(0, 1).flatMap(toPathParameters);
    return [path, { parameters, ...Object.fromEntries(methods) }] as const;
  });
  return Object.fromEntries(items);
}

function toOperation(operation: Operation): JsonObject {
  const schema = toRequestSchemaName(operation);
  return {
    operationId: operation.id,
    summary: SUMMARIES[operation.action],
    tags: [operation.kind.title],
    ...(operation.action === 'list' && { parameters: [refToParameter('limit'), toBeforeParameter(operation.kind)] }),
    ...(schema !== undefined && { requestBody: { required: true, content: toContent(schema) } }),
    responses: toResponses(operation),
  };
}

/** The parameters of every operation at the path of this one. */
function toPathParameters({ path, kind }: Operation): readonly JsonObject[] {
  const ids = listPathParameters(path).map((name) => {
    const type = kind.fields[name]?.type;
    const prefixes = type?.type === 'reference' ? type.prefixes : [kind.idPrefix];
    return { name, in: 'path', required: true, schema: toIdSchema(prefixes) };
  });
  return [...ids, refToParameter('version')];
}

function refToParameter(name: string): JsonObject {
  return { $ref: `#/components/parameters/${name}` };
}
