import type { Result, Router } from 'hono/router';
import { RegExpRouter } from 'hono/router/reg-exp-router';
import { SmartRouter } from 'hono/router/smart-router';
import { TrieRouter } from 'hono/router/trie-router';
import { getPath } from 'hono/utils/url';
import { OPERATIONS, type Operation } from '../kinds/operations.ts';
import { assertDefined, assertNever } from '../model/errors.ts';
import { once } from '../model/once.ts';
import { toOpenApiDocument } from '../schemas/openapi.ts';
import { OPERATION_ID_HEADER } from '../schemas/openapi-responses.ts';
import { type Admission, admit } from './admission.ts';
import type { ApiKey } from './api-key.ts';
import type { Answer, Ask } from './ask.ts';
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

/** Answers requests. Never rejects. */
export type Routes = (ask: Ask, env: RequestEnv) => Promise<Answer>;

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'];

/** What a path leads to: an operation, or the document that describes all of them. */
type Target = Operation | 'document';

/** All routes of the interface, from its list of operations. */
export function createRoutes(service: Service, admission: Admission): Routes {
  const routes = { service, admission, router: getRouter() };
  return async (ask, env) => {
    const answer = await answerAsk(routes, ask, env).catch((error: unknown) => toFailureAnswer(error, env));
    // A HEAD is answered as a GET, without the body.
    return ask.method === 'HEAD' ? { ...answer, body: null } : answer;
  };
}

interface Routing {
  readonly service: Service;
  readonly admission: Admission;
  readonly router: Matcher;
}

type Matcher = Pick<Router<Target>, 'match'>;

/**
 * The same for all servers, and one for each method: a router is made ready for all that it has by its first match, which takes longer than many requests,
 * and few runs send requests of every method.
 */
const getRouter = once((): Matcher => {
  const routers = new Map(METHODS.map((method) => [method, once(() => createRouter(method))]));
  return { match: (method, path) => routers.get(method)?.().match(method, path) ?? [[]] };
});

function createRouter(method: string): Matcher {
  const router = new SmartRouter<Target>({ routers: [new RegExpRouter(), new TrieRouter()] });
  if (method === 'GET') router.add(method, '/openapi.json', 'document');
  for (const operation of OPERATIONS)
    if (operation.method === method) router.add(method, operation.path.replaceAll(/\{(\w+)\}/g, ':$1'), operation);
  return router;
}

async function answerAsk(routing: Routing, ask: Ask, env: RequestEnv): Promise<Answer> {
  const { service, admission, router } = routing;
  const method = ask.method === 'HEAD' ? 'GET' : ask.method;
  const path = toLocalPath(ask, env.basePath);
  const [found, ids] = toTarget(router.match(method, path));
  if (found === 'document') return toAnswer(env, 200, renderDocument(admission.versionHeader));
  const caller = admit(admission, ask.header);
  if (found === undefined) throw refuseRoute(router, ask.method, path);
  const { status, body, text } = answer(service, found, await readCall(ask, env, { operation: found, ids, caller }));
  return toAnswer(env, status, text ?? body ?? null);
}

function renderDocument(versionHeader: string): string {
  return JSON.stringify(toOpenApiDocument({ versionHeader }));
}

/** What a match leads to, with the ids in the path. */
function toTarget(match: Result<Target>): readonly [Target | undefined, Call['ids']] {
  const [targets, values] = match;
  const [target, params = {}] = targets[0] ?? [];
  const ids: Record<string, string> = {};
  for (const [name, value] of Object.entries(params))
    ids[name] = decode(typeof value === 'number' ? (values?.[value] ?? '') : value);
  return [target, ids];
}

/** A part of a path without its escapes; one that has an invalid escape stays as it is, and is the id of nothing. */
function decode(part: string): string {
  if (!part.includes('%')) return part;
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

async function readCall(
  ask: Ask,
  { baseUrl }: RequestEnv,
  { operation, ids, caller }: { readonly operation: Operation; readonly ids: Call['ids']; readonly caller: ApiKey },
): Promise<Call> {
  const query = toQuery(ask.url);
  checkQuery(query, operation.action === 'list' ? PAGE_PARAMETERS : []);
  const body = hasBody(operation) ? await readBody(ask) : {};
  return { ids, query, body, caller, baseUrl };
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
function toLocalPath({ url }: Ask, basePath: string): string {
  const path = getPath({ url } as Request); // it looks at nothing else
  return path.startsWith(`${basePath}/`) ? path.slice(basePath.length) : '/';
}

function refuseRoute(router: Matcher, method: string, path: string): Failure {
  const allowed = METHODS.filter((candidate) => router.match(candidate, path)[0].length > 0).join(', ');
  if (allowed === '') return new Failure('Nothing has this path', { code: 'not_found' });
  return new Failure(`${method} is not allowed here; allowed: ${allowed}`, {
    code: 'method_not_allowed',
    headers: { allow: allowed },
  });
}

function toFailureAnswer(error: unknown, { operationId, onBug }: RequestEnv): Answer {
  if (error instanceof Failure) return renderFailure(error, operationId);
  onBug(error instanceof Error ? error : new Error(String(error)));
  return renderFailure(new Failure('This is a bug in the server', { code: 'internal_error' }), operationId);
}

function toAnswer({ operationId }: RequestEnv, status: number, body: Answer['body']): Answer {
  const id = { [OPERATION_ID_HEADER]: operationId };
  return { status, headers: body === null ? id : { 'content-type': 'application/json', ...id }, body };
}
