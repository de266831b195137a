import { randomBytes } from 'node:crypto';
import { getElapsedMs } from '../model/elapsed.ts';
import { DEFAULT_VERSION_HEADER, type HttpRequest, type HttpResponse, type Send } from '../model/http.ts';
import type { RateLimit } from '../model/stack.ts';
import { type Transport, toTransport } from '../model/transport.ts';
import { type ApiKey, createRateLimit, DEFAULT_USER_ID, indexApiKeys, parseApiKey } from './admission.ts';
import { DEFAULT_ABUSE_REPORT_RULES } from './behaviours.ts';
import { RequestError, renderFailure } from './failure.ts';
import { createCertificateAuthorities, createIdGenerator, toAuthorizedKey } from './id-generator.ts';
import { createRoutes, MAX_REQUEST_BYTES, type RequestEnv, type Routes } from './routes.ts';
import {
  type ImportedResource,
  listSeedResources,
  loadExisting,
  loadSeed,
  type ServerSeed,
  type ServerSnapshot,
} from './seed.ts';
import type { Service } from './service.ts';
import { Store } from './store.ts';

/**
 * The bundled server: the whole interface in memory, without a socket. One function from request to response, made of the kind tables.
 * Absent on purpose: edges that carry traffic, and whatever the interface does not show.
 */

export type { RateLimit } from '../model/stack.ts';
export { type ApiKey, parseApiKey } from './admission.ts';

/** What a server is made of. */
export interface ServerOptions {
  /** Default: one key, `dev`, that is an admin's. */
  readonly apiKeys?: readonly ApiKey[];
  /** The server's clock. Default: the real one. */
  readonly now?: () => Date;
  /** Makes ids, tokens and keys of certificate authorities the same for the same calls. Default: nobody can guess them. */
  readonly idSeed?: string | number;
  /** The name of the header that carries the version. */
  readonly versionHeader?: string;
  /** For all keys together. Default: none. */
  readonly rateLimit?: RateLimit;
  /** What it begins with. Also the snapshot of another server. */
  readonly seed?: ServerSeed;
  /** Imported resources, the oldest first: loaded without the checks of requests. */
  readonly existing?: readonly ImportedResource[];
  /** Called after each request. */
  readonly onRequest?: (entry: RequestLogEntry) => void;
}

/** What can be told of a request. Holds no secrets. */
export interface RequestLogEntry {
  /** Empty, as the path, when it could not be read. */
  readonly method: string;
  /** With the query. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly operationId: string;
  /** A bug in the server. */
  readonly error?: Error;
}

/** The interface in memory: a function from request to response, and what it holds. */
export interface Server {
  /** Answers a request to any origin. */
  readonly send: Send;
  /** The same for requests of the web. */
  readonly handle: Transport;
  /** The same below a base URL that has a path, which its answers then name. */
  readonly at: (baseUrl: string) => Transport;
  /** The same server behind something that every request passes. Paths are below the base path. */
  readonly behind: (decorate: Decorate) => Server;
  /** The error response for bytes that do not form a valid HTTP request. Logged like a request. */
  readonly refuse: (failure: RequestError, asked: Pick<RequestLogEntry, 'method' | 'path'>) => HttpResponse;
  /** Everything that it knows, as a value. Tokens are not in it; the secrets of certificate authorities are. */
  readonly snapshot: () => ServerSnapshot;
  /** A server like this one that holds a snapshot: it has the same keys and clock, no limit, and is not logged. */
  readonly asOf: (snapshot: ServerSnapshot) => Send;
  /** The public key of an SSH certificate authority, in authorized-keys format, for those who trust it. */
  readonly certificateAuthorityKey: (id: string) => string;
}

/** Puts something between a server and those who use it. */
type Decorate = (send: Send, basePath: string) => Send;

/** A new server. Throws `RangeError` on options or a seed that contradict themselves. */
export function createServer(options: ServerOptions = {}): Server {
  const apiKeys = options.apiKeys ?? [parseApiKey('dev:admin')];
  const service = createService(options, apiKeys);
  loadSeed(service, options.seed ?? {});
  loadExisting(service, options.existing ?? []);
  const countRequest = options.rateLimit === undefined ? undefined : createRateLimit(options.rateLimit);
  const routes = createRoutes(service, {
    keyring: indexApiKeys(apiKeys),
    versionHeader: options.versionHeader ?? DEFAULT_VERSION_HEADER,
    countRequest: () => countRequest?.(service.now()),
  });
  const front = { service, routes, onRequest: options.onRequest };
  const toServer = (decorate: Decorate): Server => ({
    ...createFaces(front, decorate),
    behind: (outer) => toServer((send, basePath) => outer(decorate(send, basePath), basePath)),
    refuse: (failure, asked) => refuse(front, failure, asked),
    snapshot: () => toSnapshot(service),
    asOf: (seed) => {
      const { rateLimit: _, onRequest: __, existing: ___, ...rest } = options;
      return createServer({ ...rest, seed }).send;
    },
    certificateAuthorityKey: (id) => toAuthorizedKey(service.authorities.getKey(id).toPublic()),
  });
  return toServer((send) => send);
}

type Faces = Pick<Server, 'send' | 'handle' | 'at'>;

/** The ways to send a request to a server, all of which pass `decorate`. */
function createFaces(front: Front, decorate: Decorate): Faces {
  const send = decorate(
    (request) => respond(front, request, { baseUrl: new URL(request.url).origin, basePath: '' }),
    '',
  );
  const toHandle = (inner: Send): Transport =>
    toTransport(inner, {
      maxBytes: MAX_REQUEST_BYTES,
      onBroken: ({ method, url }, cause) => refuse(front, createBodyError(cause), { method, path: toTarget(url) }),
    });
  return {
    send,
    handle: toHandle(send),
    at: (baseUrl) => {
      const base = { baseUrl: baseUrl.replace(/\/+$/, ''), basePath: new URL(baseUrl).pathname.replace(/\/+$/, '') };
      return toHandle(decorate((request) => respond(front, request, base), base.basePath));
    },
  };
}

/** The part of the server in front of the routes. */
interface Front {
  readonly service: Service;
  readonly routes: Routes;
  readonly onRequest: ServerOptions['onRequest'];
}

function createService(options: ServerOptions, apiKeys: readonly ApiKey[]): Service {
  const { externals, certificate_authorities: secrets = {}, sequence = 0, abuse_report_rules } = options.seed ?? {};
  const idSeed = options.idSeed === undefined ? randomBytes(32) : String(options.idSeed);
  const identities = createIdGenerator(idSeed, sequence);
  return {
    now: options.now ?? (() => new Date()),
    store: new Store(),
    identities,
    authorities: createCertificateAuthorities(identities.derive, secrets),
    externals: externals && new Set([...externals, DEFAULT_USER_ID, ...apiKeys.map(({ userId }) => userId)]),
    abuseReportRules: abuse_report_rules ?? DEFAULT_ABUSE_REPORT_RULES,
  };
}

async function respond(
  { service, routes, onRequest }: Front,
  request: HttpRequest,
  base: Pick<RequestEnv, 'baseUrl' | 'basePath'>,
): Promise<HttpResponse> {
  const start = onRequest === undefined ? 0 : getElapsedMs();
  const operationId = service.identities.createOperationId();
  let bug: Error | undefined;
  const onBug = (error: Error): void => {
    bug = error;
  };
  const response = routes(request, { ...base, operationId, onBug });
  onRequest?.({
    method: request.method,
    path: toTarget(request.url),
    status: response.status,
    durationMs: getElapsedMs() - start,
    operationId,
    ...(bug !== undefined && { error: bug }),
  });
  return response;
}

function refuse(
  { service, onRequest }: Pick<Front, 'service' | 'onRequest'>,
  failure: RequestError,
  asked: Pick<RequestLogEntry, 'method' | 'path'>,
): HttpResponse {
  const operationId = service.identities.createOperationId();
  const response = renderFailure(failure, operationId);
  const error = failure.cause instanceof Error ? { error: failure.cause } : {};
  onRequest?.({ ...asked, status: failure.status, durationMs: 0, operationId, ...error });
  return { ...response, headers: { ...response.headers, connection: 'close' } };
}

/** The failure of a request that did not come to its end. */
export function createBodyError(cause: unknown): RequestError {
  return new RequestError('The body of the request is incomplete', { code: 'bad_body', cause });
}

/** Path and query. */
function toTarget(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function toSnapshot(service: Service): ServerSnapshot {
  const { externals, abuseReportRules } = service;
  return {
    ...(externals !== undefined && { externals: [...externals] }),
    resources: listSeedResources(service),
    ...(abuseReportRules !== DEFAULT_ABUSE_REPORT_RULES && { abuse_report_rules: abuseReportRules }),
    certificate_authorities: service.authorities.listSecrets(),
    sequence: service.identities.sequence(),
  };
}
