import { listSpecFields } from '../kinds/kind.ts';
import { OPERATIONS, type Operation } from '../kinds/operations.ts';
import { isReferable } from '../kinds/references.ts';
import type { JsonObject } from '../model/json.ts';
import { refToSchema, toRequestSchemaName, toResponseSchemaName } from './openapi-schemas.ts';

/** The header of every response that names its operation. */
export const OPERATION_ID_HEADER = 'Operation-Id';

/** Every failure that an operation may answer with: what it means, and what its response has besides the error body. */
const FAILURES: Readonly<
  Record<number, { readonly name: string; readonly description: string; readonly header?: string }>
> = {
  400: { name: 'BadRequest', description: 'The request is not valid: its version header, its query or its body.' },
  401: { name: 'Unauthenticated', description: 'The API key is missing or unknown.', header: 'WWW-Authenticate' },
  403: { name: 'Forbidden', description: 'The API key is valid, but this is not allowed.' },
  404: {
    name: 'NotFound',
    description: 'Nothing has this path or id, or the id in `before_id`, or the module is not set.',
  },
  405: { name: 'MethodNotAllowed', description: 'The path exists, but not with this method.', header: 'Allow' },
  408: { name: 'RequestTimeout', description: 'The request took too long to arrive.' },
  409: { name: 'Conflict', description: 'Another resource has this value, or refers to this resource.' },
  413: { name: 'BodyTooLarge', description: 'The body is larger than 1 MiB.' },
  415: { name: 'BadContentType', description: 'The body is not application/json.' },
  417: { name: 'ExpectationFailed', description: 'The only supported expectation is 100-continue.' },
  429: { name: 'RateLimited', description: 'Too many requests.', header: 'Retry-After' },
  431: { name: 'HeadersTooLarge', description: 'The headers of the request are too large.' },
  500: { name: 'InternalError', description: 'A bug in the server.' },
};

/** The headers that responses share. */
export function toComponentHeaders(): JsonObject {
  return { OperationId: { description: 'Id of this request.', schema: { type: 'string' }, required: true } };
}

const HEADERS: JsonObject = { [OPERATION_ID_HEADER]: { $ref: '#/components/headers/OperationId' } };

/** The responses that operations share: one for each body, and one for each failure. Some answer what is no operation, or no request. */
export function toComponentResponses(): JsonObject {
  const successes = OPERATIONS.map((operation) => [toSuccessName(operation), toSuccess(operation)] as const);
  const failures = Object.values(FAILURES).map(({ name, description, header }) => {
    const extra = header === undefined ? {} : { [header]: { schema: { type: 'string' }, required: true } };
    return [name, { description, headers: { ...HEADERS, ...extra }, content: toContent('Error') }] as const;
  });
  return Object.fromEntries([...successes, ...failures]);
}

/** The responses of one operation, by status. */
export function toResponses(operation: Operation): JsonObject {
  const status = operation.action === 'create' ? 201 : toResponseSchemaName(operation) === undefined ? 204 : 200;
  const names = [
    [status, toSuccessName(operation)] as const,
    ...listFailures(operation).map((failure) => [failure, FAILURES[failure]?.name] as const),
  ];
  return Object.fromEntries(names.map(([code, name]) => [code, { $ref: `#/components/responses/${name}` }]));
}

/** A JSON body that conforms to one of the schemas of the document. */
export function toContent(schema: string): JsonObject {
  return { 'application/json': { schema: refToSchema(schema) } };
}

function toSuccessName(operation: Operation): string {
  return toResponseSchemaName(operation) ?? 'Gone';
}

function toSuccess(operation: Operation): JsonObject {
  const schema = toResponseSchemaName(operation);
  if (schema === undefined) return { description: 'Deleted.', headers: HEADERS };
  return { description: operation.kind.description, headers: HEADERS, content: toContent(schema) };
}

function listFailures(operation: Operation): readonly number[] {
  return [
    400,
    401,
    ...(operation.method === 'GET' ? [] : [403]),
    ...(operation.path.includes('{') || operation.action === 'list' ? [404] : []),
    ...(canConflict(operation) ? [409] : []),
    ...(toRequestSchemaName(operation) === undefined ? [] : [413, 415]),
    429,
    500,
  ];
}

/** A value may be taken already, or a resource in use. */
function canConflict({ action, kind }: Operation): boolean {
  const unique = listSpecFields(kind).filter(([, field]) => field.unique);
  if (action === 'create') return unique.length > 0;
  if (action === 'update') return unique.some(([, { lifecycle }]) => lifecycle === 'mutable');
  return action === 'delete' && isReferable(kind);
}
