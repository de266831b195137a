import { isUtf8 } from 'node:buffer';
import { TrieRouter } from 'hono/router/trie-router';
import { getPath } from 'hono/utils/url';
import { OPERATIONS, type Operation } from '../kinds/operations.ts';
import { assertDefined, assertNever } from '../model/errors.ts';
import type { HttpRequest, HttpResponse } from '../model/http.ts';
import { OPERATION_ID_HEADER } from '../model/http.ts';
import { isDeeper, isJsonObject, type Json, type JsonObject, MAX_DEPTH } from '../model/json.ts';
import { createOpenApiDocument } from '../schemas/openapi.ts';
import { type AdmissionSettings, type ApiKey, authenticateAndCountRequest } from './admission.ts';
import { createFailureResponse, RequestError } from './failure.ts';
import {
  checkQuery,
  handleCreate,
  handleDelete,
  handleDeleteModule,
  handleGet,
  handleGetModule,
  handleList,
  handleReplaceModule,
  handleUpdate,
  PAGE_PARAMETERS,
} from './handlers.ts';
import type { HandlerRequest, HandlerResponse, Service } from './service.ts';

export interface RequestEnvironment {
  /** The base URL of the request, without a slash at the end. */
  readonly baseUrl: string;
  /** The path in `baseUrl`. Empty if the base URL is an origin. */
  readonly basePath: string;
  readonly operationId: string;
  /** Called with an unexpected error, which is a bug in the server. */
  readonly onBug: (error: Error) => void;
}

/** Responds to a request. Never throws: errors become responses. */
export type Responder = (request: HttpRequest, env: RequestEnvironment) => HttpResponse;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** An operation, `document` for the OpenAPI document of all operations, or `health`. */
type Target = Operation | 'document' | 'health';

/** Below this path are requests to the server as a program, not to its account. */
const ADMIN_PATH = '/_edgewise/';

/** Whether the path of a URL is below `/_edgewise/`. `basePath`: the path of the base URL. */
export function isAdminPath(url: string, basePath: string): boolean {
  return new URL(url).pathname.startsWith(`${basePath}${ADMIN_PATH}`);
}

/** Creates the function that routes requests to all operations of the API. */
export function createResponder(service: Service, admission: AdmissionSettings): Responder {
  const routes = { service, admission, router: createRouter() };
  return (request, env) => {
    const response = answerOrRefuse(routes, request, env);
    // The response to HEAD is the response to GET without its body.
    return request.method === 'HEAD' ? { ...response, body: '' } : response;
  };
}

interface Routing {
  readonly service: Service;
  readonly admission: AdmissionSettings;
  readonly router: Router;
}

type Router = TrieRouter<Target>;

function createRouter(): Router {
  const router: Router = new TrieRouter();
  router.add('GET', '/openapi.json', 'document');
  router.add('GET', `${ADMIN_PATH}health`, 'health');
  for (const operation of OPERATIONS)
    router.add(operation.method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), operation);
  return router;
}

function answerOrRefuse(routing: Routing, request: HttpRequest, env: RequestEnvironment): HttpResponse {
  try {
    return answerRequest(routing, request, env);
  } catch (error) {
    if (error instanceof RequestError) return createFailureResponse(error, env.operationId);
    env.onBug(error instanceof Error ? error : new Error(String(error)));
    return createFailureResponse(
      new RequestError('This is a bug in the server', { code: 'internal_error' }),
      env.operationId,
    );
  }
}

function answerRequest(routing: Routing, request: HttpRequest, env: RequestEnvironment): HttpResponse {
  const { service, admission, router } = routing;
  const method = request.method === 'HEAD' ? 'GET' : request.method;
  const path = toLocalPath(request, env.basePath);
  const [found, ids] = findTarget(router, method, path);
  if (found === 'document')
    return createResponse(env, 200, createOpenApiDocument({ versionHeader: admission.versionHeader }));
  if (found === 'health') return createResponse(env, 200, { status: 'ok' });
  const caller = authenticateAndCountRequest(admission, request.headers);
  if (found === undefined) throw createNoRouteError(router, request.method, path);
  const { status, body } = answer(service, found, readCall(request, env, { operation: found, ids, caller }));
  return createResponse(env, status, body);
}

/** Returns the target of a path, and the ids in it. The target is `undefined` if no route matches the path. */
function findTarget(
  router: Router,
  method: string,
  path: string,
): readonly [Target | undefined, HandlerRequest['ids']] {
  const [target, ids = {}] = router.match(method, path)[0][0] ?? [];
  return [target, Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, decodePath(id)]))];
}

/**
 * Decodes the percent-encoding of a path segment. Returns a segment with invalid encoding unchanged, because no
 * resource has such an id.
 */
function decodePath(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function readCall(
  request: HttpRequest,
  { baseUrl }: RequestEnvironment,
  {
    operation,
    ids,
    caller,
  }: { readonly operation: Operation; readonly ids: HandlerRequest['ids']; readonly caller: ApiKey },
): HandlerRequest {
  const query = new URL(request.url).searchParams;
  checkQuery(query, operation.action === 'list' ? PAGE_PARAMETERS : []);
  const body = hasBody(operation) ? readBody(request) : {};
  return { ids, query, body, caller, baseUrl };
}

function hasBody({ method }: Operation): boolean {
  return method === 'POST' || method === 'PATCH' || method === 'PUT';
}

function answer(service: Service, { action, kind, module }: Operation, call: HandlerRequest): HandlerResponse {
  switch (action) {
    case 'create':
      return handleCreate(service, kind, call);
    case 'list':
      return handleList(service, kind, call);
    case 'get':
      return handleGet(service, kind, call);
    case 'update':
      return handleUpdate(service, kind, call);
    case 'delete':
      return handleDelete(service, kind, call);
    case 'replace-module':
      return handleReplaceModule(service, kind, assertDefined(module, 'module'), call);
    case 'get-module':
      return handleGetModule(service, kind, assertDefined(module, 'module'), call);
    case 'delete-module':
      return handleDeleteModule(service, kind, assertDefined(module, 'module'), call);
    default:
      return assertNever(action);
  }
}

/** Returns the path below the base URL. A path outside the base URL becomes `/`, which matches no route. */
function toLocalPath({ url }: HttpRequest, basePath: string): string {
  const path = getPath({ url } as Request); // getPath reads only `url`
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '/';
}

function createNoRouteError(router: Router, method: string, path: string): RequestError {
  const allowed = METHODS.filter((candidate) => router.match(candidate, path)[0].length > 0).join(', ');
  if (allowed === '') return new RequestError('Nothing has this path', { code: 'not_found' });
  return new RequestError(`${method} is not allowed here; allowed: ${allowed}`, {
    code: 'method_not_allowed',
    headers: { allow: allowed },
  });
}

function createResponse({ operationId }: RequestEnvironment, status: number, body: unknown): HttpResponse {
  const id = { [OPERATION_ID_HEADER.toLowerCase()]: operationId };
  if (body === undefined) return { status, headers: id, body: '' };
  return { status, headers: { 'content-type': 'application/json', ...id }, body: JSON.stringify(body) };
}

/** Maximum size of a request body. A longer body is rejected, so it need not be read to its end. */
export const MAX_REQUEST_BYTES = 1024 * 1024;

/**
 * Parses the JSON object in a request body. Throws `RequestError` if the content type is not JSON, the body is larger
 * than 1 MiB, or it is not a JSON object.
 */
export function readBody({ headers, body }: HttpRequest): JsonObject {
  const [contentType = ''] = (headers['content-type'] ?? '').split(';');
  if (contentType.trim().toLowerCase() !== 'application/json')
    throw new RequestError('The body of this request needs the content type application/json', {
      code: 'bad_content_type',
    });
  const bytes = Buffer.from(body ?? '');
  if (bytes.length > MAX_REQUEST_BYTES)
    throw new RequestError(`The body of a request may have at most ${MAX_REQUEST_BYTES} bytes`, {
      code: 'body_too_large',
    });
  return parseBody(bytes);
}

function createDepthError(): RequestError {
  return new RequestError(`The body is nested more than ${MAX_DEPTH} levels deep`, { code: 'bad_body' });
}

function parseBody(body: Buffer): JsonObject {
  if (!isUtf8(body)) throw new RequestError('The body is not UTF-8', { code: 'bad_body' });
  try {
    const value: Json = JSON.parse(body.toString());
    if (isDeeper(value, MAX_DEPTH)) throw createDepthError();
    if (isJsonObject(value)) return value;
  } catch (error) {
    if (error instanceof SyntaxError)
      throw new RequestError(`The body is not JSON: ${error.message}`, { code: 'bad_body', cause: error });
    throw error;
  }
  throw new RequestError('The body is not a JSON object', { code: 'bad_body' });
}
