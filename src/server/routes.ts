import { type Context, Hono } from 'hono';
import { getPath } from 'hono/utils/url';
import { OPERATIONS, type Operation } from '../kinds/operations.ts';
import { assertDefined, assertNever } from '../model/errors.ts';
import { toOpenApiDocument } from '../schemas/openapi.ts';
import { OPERATION_ID_HEADER } from '../schemas/openapi-responses.ts';
import { type Admission, admit } from './admission.ts';
import type { ApiKey } from './api-key.ts';
import { Failure, renderFailure } from './failure.ts';
import { deleteModule, getModule, replaceModule } from './module-handlers.ts';
import { checkQuery, PAGE_PARAMETERS } from './page.ts';
import { readBody } from './read-body.ts';
import { createResource, deleteResource, getResource, listResources, updateResource } from './resource-handlers.ts';
import type { Call, Reply, Service } from './service.ts';

/** What a request brings with it besides itself. */
export interface RequestEnv {
  /** The base URL that it came by, without a slash at its end. */
  readonly baseUrl: string;
  /** The path of that URL. */
  readonly basePath: string;
  readonly operationId: string;
  /** Told about what is a bug in the server. */
  readonly onBug: (error: Error) => void;
}

type Env = { Bindings: RequestEnv };

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** All routes of the interface, from its list of operations. */
export function createRoutes(service: Service, admission: Admission): Hono<Env> {
  const app = new Hono<Env>({ getPath: (request, options) => toLocalPath(request, options?.env?.basePath ?? '') });
  app.get('/openapi.json', (context) => {
    const document = toOpenApiDocument({ versionHeader: admission.versionHeader });
    return toResponse(context, 200, JSON.stringify(document));
  });
  for (const operation of OPERATIONS) {
    const path = operation.path.replaceAll(/\{(\w+)\}/g, ':$1');
    app.on(operation.method, path, async (context) => {
      const caller = admit(admission, context.req.raw.headers);
      const { status, body } = answer(service, operation, await readCall(context, operation, caller));
      return toResponse(context, status, body === undefined ? null : JSON.stringify(body));
    });
  }
  app.notFound((context) => {
    admit(admission, context.req.raw.headers);
    throw refuseRoute(app, context.req.method, context.req.path);
  });
  app.onError((error, context) => toFailureResponse(error, context));
  return app;
}

async function readCall(context: Context<Env>, operation: Operation, caller: ApiKey): Promise<Call> {
  const { raw } = context.req;
  const query = toQuery(raw.url);
  checkQuery(query, operation.action === 'list' ? PAGE_PARAMETERS : []);
  const body = hasBody(operation) ? await readBody(raw) : {};
  return { ids: context.req.param(), query, body, caller, baseUrl: context.env.baseUrl };
}

/** All behind the first `?`, without the cost of parsing the rest of the URL. */
function toQuery(url: string): URLSearchParams {
  const start = url.indexOf('?');
  return new URLSearchParams(start < 0 ? '' : url.slice(start + 1));
}

/** Whether requests of the operation have a body. */
function hasBody({ method }: Operation): boolean {
  return method === 'POST' || method === 'PATCH' || method === 'PUT';
}

function answer(service: Service, { action, kind, module }: Operation, call: Call): Reply {
  switch (action) {
    case 'create':
      return createResource(service, kind, call);
    case 'list':
      return listResources(service, kind, call);
    case 'get':
      return getResource(service, kind, call);
    case 'update':
      return updateResource(service, kind, call);
    case 'delete':
      return deleteResource(service, kind, call);
    case 'replace-module':
      return replaceModule(service, kind, assertDefined(module, 'module'), call);
    case 'get-module':
      return getModule(service, kind, assertDefined(module, 'module'), call);
    case 'delete-module':
      return deleteModule(service, kind, assertDefined(module, 'module'), call);
    default:
      return assertNever(action);
  }
}

/** The path below the base URL. Any other path becomes one that no route has. */
function toLocalPath(request: Request, basePath: string): string {
  const path = getPath(request);
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '/';
}

function refuseRoute(app: Hono<Env>, method: string, path: string): Failure {
  const allowed = METHODS.filter((candidate) => app.router.match(candidate, path)[0].length > 0).join(', ');
  if (allowed === '') return new Failure('Nothing has this path', { code: 'not_found' });
  return new Failure(`${method} is not allowed here; allowed: ${allowed}`, {
    code: 'method_not_allowed',
    headers: { allow: allowed },
  });
}

function toFailureResponse(error: Error, context: Context<Env>): Response {
  if (!(error instanceof Failure)) context.env.onBug(error);
  const failure =
    error instanceof Failure ? error : new Failure('This is a bug in the server', { code: 'internal_error' });
  return renderFailure(failure, context.env.operationId);
}

function toResponse(context: Context<Env>, status: number, body: string | null): Response {
  const type = body === null ? undefined : { 'content-type': 'application/json' };
  return new Response(body, {
    status,
    headers: { ...type, [OPERATION_ID_HEADER]: context.env.operationId },
  });
}
