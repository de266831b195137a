import { randomBytes } from 'node:crypto';
import { DEFAULT_VERSION_HEADER_NAME, type HttpRequest, type HttpResponse, type Send } from '../model/http.ts';
import { measureJsonSize } from '../model/json.ts';
import type { RateLimit } from '../model/stack.ts';
import { type Transport, toTransport } from '../model/transport.ts';
import { AccountSize } from './account-size.ts';
import { type ApiKey, createRateLimit, DEFAULT_USER_ID, indexApiKeys, parseApiKey } from './admission.ts';
import { DEFAULT_ABUSE_REPORT_RULES } from './behaviours.ts';
import { createFailureResponse, RequestError } from './failure.ts';
import { createCertificateAuthorities, createIdGenerator, formatAuthorizedKey } from './id-generator.ts';
import { createResponder, MAX_REQUEST_BYTES, type RequestEnvironment, type Responder } from './routes.ts';
import {
  exportResourcesAsSeed,
  type ImportedResource,
  loadImportedResources,
  loadSeed,
  restoreSeed,
  type ServerSeed,
  type ServerSnapshot,
} from './seed.ts';
import type { Service } from './service.ts';
import { renderSnapshotLine } from './snapshot-file.ts';
import { type ServerChange, Store } from './store.ts';

/**
 * The bundled server: the whole API in memory, without a socket. It is one function from request to response, built
 * from the kind tables. Deliberately left out: traffic through edges, and everything else that API responses do not
 * show.
 */

export type { RateLimit } from '../model/stack.ts';
export { type ApiKey, parseApiKey } from './admission.ts';

/** Options of `createServer`. */
export interface ServerOptions {
  /** The keys that the server accepts. Default: the key `dev`, with the rights of an admin. */
  readonly apiKeys?: readonly ApiKey[];
  /** The server's clock. Default: the system clock. */
  readonly now?: () => Date;
  /**
   * Seed of the ids, the tokens, and the keys of certificate authorities. Servers with the same seed return the same
   * values for the same calls. Default: random.
   */
  readonly idSeed?: string | number;
  /** Name of the request header that contains the API version. Default: DEFAULT_VERSION_HEADER_NAME. */
  readonly versionHeader?: string;
  /** The limit for all keys together. Default: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** The initial content: a seed, or the snapshot of another server. Default: empty. */
  readonly seed?: ServerSeed | undefined;
  /**
   * Whether `seed` is unchanged since a server of this version wrote it: then its resources are not checked. Default:
   * false.
   */
  readonly isSeedTrusted?: boolean;
  /** Resources imported from another service, oldest first. They are loaded without the checks of requests. */
  readonly existing?: readonly ImportedResource[];
  /** Called after each response. */
  readonly onRequest?: (entry: RequestLogEntry) => void;
  /**
   * Called after each change of the account, in the order of the changes. The response is sent when the promise is
   * settled: 500 if it rejects. `snapshot` returns the state of the server.
   */
  readonly onChange?: (change: ServerChange, snapshot: () => ServerSnapshot) => Promise<void>;
  /** Called after a reset. */
  readonly onReset?: (snapshot: () => ServerSnapshot) => Promise<void>;
}

/** A log entry for one request. Contains no secrets. */
export interface RequestLogEntry {
  /** `method` and `path` are empty if the request could not be parsed. */
  readonly method: string;
  /** Path and query of the request. */
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly operationId: string;
  /**
   * The cause of an error response: a bug in the server, the error that interrupted the body of the request, or that of
   * `onChange`. Absent for all other responses.
   */
  readonly error?: Error | undefined;
}

/** A server in memory: functions from request to response, and access to its state. */
export interface Server {
  /** Responds to a request. The origin of its URL can be any origin. */
  readonly send: Send;
  /** Like `send`, for the `Request` and `Response` of the Fetch API. */
  readonly handle: Transport;
  /** Returns a `handle` for a base URL that has a path. URLs in responses start with this base URL. */
  readonly mountAt: (baseUrl: string) => Transport;
  /**
   * Returns this server with `decorate` around it, so all requests pass through `decorate` first. `opensAdmin`: whether
   * `decorate` answers the paths below `/_edgewise/`.
   */
  readonly behind: (decorate: Decorate, options?: { readonly opensAdmin?: boolean }) => Server;
  /** Whether the paths below `/_edgewise/` are open. Then `listen` accepts loopback addresses only. */
  readonly hasAdmin: boolean;
  /** Sets everything back to the state in which the server started. Ids begin anew. */
  readonly reset: () => Promise<void>;
  /**
   * Returns the error response for bytes that are not a valid HTTP request, and logs it like the response to a request.
   */
  readonly reject: (failure: RequestError, asked: Pick<RequestLogEntry, 'method' | 'path'>) => HttpResponse;
  /** Returns the whole state. It contains the secrets of certificate authorities, but no credential tokens. */
  readonly snapshot: () => ServerSnapshot;
  /**
   * Returns the `send` of a server in the state of a snapshot. That server has the same keys and clock as this server,
   * but no rate limit and no log.
   */
  readonly withSnapshot: (snapshot: ServerSnapshot) => Send;
  /**
   * Returns the public key of an SSH certificate authority in authorized-keys format. A host that trusts this key
   * accepts the certificates of the authority.
   */
  readonly certificateAuthorityKey: (id: string) => string;
}

/** Wraps a function that responds to requests. `basePath`: the path of the base URL, without a slash at the end. */
export type Decorate = (send: Send, basePath: string) => Send;

/** Creates a server. Throws `RangeError` for invalid options or an invalid seed. */
export function createServer(options: ServerOptions = {}): Server {
  let core = createCore(options);
  const front: Front = { core: () => core, options };
  const decorateServer = (decorate: Decorate, hasAdmin: boolean): Server => ({
    ...createFaces(front, decorate),
    behind: (outer, { opensAdmin = hasAdmin } = {}) =>
      decorateServer((send, basePath) => outer(decorate(send, basePath), basePath), opensAdmin),
    hasAdmin,
    reset: async () => {
      core = createCore(options);
      await options.onReset?.(() => createSnapshot(core.service));
    },
    reject: (failure, asked) => rejectRequest(front, failure, asked),
    snapshot: () => createSnapshot(core.service),
    withSnapshot: (seed) => {
      const { rateLimit: _, onRequest: __, existing: ___, onChange: ____, ...rest } = options;
      return createServer({ ...rest, seed, isSeedTrusted: false }).send;
    },
    certificateAuthorityKey: (id) => formatAuthorizedKey(core.service.authorities.getKey(id).toPublic()),
  });
  return decorateServer((send) => send, false);
}

/** The state of a server, and the operations on it. */
interface Core {
  readonly service: RecordingService;
  readonly routes: Responder;
}

function createCore(options: ServerOptions): Core {
  const apiKeys = options.apiKeys ?? [parseApiKey('dev:admin')];
  const service = createService(options, apiKeys);
  (options.isSeedTrusted ? restoreSeed : loadSeed)(service, options.seed ?? {});
  loadImportedResources(service, options.existing ?? []);
  const countRequest = options.rateLimit === undefined ? undefined : createRateLimit(options.rateLimit);
  const routes = createResponder(service, {
    keyring: indexApiKeys(apiKeys),
    versionHeader: options.versionHeader ?? DEFAULT_VERSION_HEADER_NAME,
    countRequest: () => countRequest?.(service.now()),
  });
  return { service, routes };
}

type Faces = Pick<Server, 'send' | 'handle' | 'mountAt'>;

/** Creates the functions that send requests to the server. All requests pass through `decorate`. */
function createFaces(front: Front, decorate: Decorate): Faces {
  const send = decorate(
    (request) => respond(front, request, { baseUrl: new URL(request.url).origin, basePath: '' }),
    '',
  );
  const createHandle = (inner: Send): Transport =>
    toTransport(inner, {
      maxBytes: MAX_REQUEST_BYTES,
      onBroken: ({ method, url }, cause) =>
        rejectRequest(front, createIncompleteBodyError(cause), { method, path: toPathAndQuery(url) }),
    });
  return {
    send,
    handle: createHandle(send),
    mountAt: (baseUrl) => {
      const base = { baseUrl: baseUrl.replace(/\/+$/, ''), basePath: new URL(baseUrl).pathname.replace(/\/+$/, '') };
      return createHandle(decorate((request) => respond(front, request, base), base.basePath));
    },
  };
}

/** The parts of a server that `respond` and `reject` use. */
interface Front {
  /** Returns the current one: a reset makes another. */
  readonly core: () => Core;
  readonly options: Pick<ServerOptions, 'onRequest' | 'onChange'>;
}

/** A service that remembers what changed. */
interface RecordingService extends Service {
  /** Returns what changed since the last call. `undefined`: nothing. */
  readonly takeChange: () => ServerChange | undefined;
}

function createService(options: ServerOptions, apiKeys: readonly ApiKey[]): RecordingService {
  const { externals, certificate_authorities: secrets = {}, sequence = 0, abuse_report_rules } = options.seed ?? {};
  const idSeed = options.idSeed === undefined ? randomBytes(32) : String(options.idSeed);
  const identities = createIdGenerator(idSeed, sequence);
  // What another service has is never written to a file of this one.
  const isLimited = options.existing === undefined;
  const size = isLimited
    ? new AccountSize(() => measureJsonSize(renderSnapshotLine(createSnapshot(service))))
    : undefined;
  let newSecrets: Readonly<Record<string, string>> = {};
  let change: ServerChange | undefined;
  const service: RecordingService = {
    now: options.now ?? (() => new Date()),
    store: new Store(),
    identities,
    authorities: createCertificateAuthorities(identities.derive, secrets, (secret) => {
      newSecrets = { ...newSecrets, ...secret };
      size?.add(JSON.stringify(secret));
    }),
    externals: externals && new Set([...externals, DEFAULT_USER_ID, ...apiKeys.map(({ userId }) => userId)]),
    abuseReportRules: abuse_report_rules ?? DEFAULT_ABUSE_REPORT_RULES,
    size,
    onChange: (changed) => {
      change = { ...changed, certificate_authorities: newSecrets, sequence: identities.sequence() };
      newSecrets = {};
    },
    takeChange: () => {
      const taken = change;
      change = undefined;
      return taken;
    },
  };
  return service;
}

async function respond(
  { core, options }: Front,
  request: HttpRequest,
  base: Pick<RequestEnvironment, 'baseUrl' | 'basePath'>,
): Promise<HttpResponse> {
  const { service, routes } = core();
  const start = performance.now();
  const operationId = service.identities.createOperationId();
  let bug: Error | undefined;
  const onBug = (error: Error): void => {
    bug = error;
  };
  const answered = routes(request, { ...base, operationId, onBug });
  const change = service.takeChange();
  const failure = change && (await saveChange(options, change, service));
  if (failure !== undefined) onBug(failure);
  const response = failure === undefined ? answered : createFailureResponse(createUnsavedError(failure), operationId);
  options.onRequest?.({
    method: request.method,
    path: toPathAndQuery(request.url),
    status: response.status,
    durationMs: performance.now() - start,
    operationId,
    ...(bug !== undefined && { error: bug }),
  });
  return { ...response, headers: { ...response.headers, date: service.now().toUTCString() } };
}

/** Resolves with the error if the change could not be saved. */
async function saveChange(
  { onChange }: Front['options'],
  change: ServerChange,
  service: Service,
): Promise<Error | undefined> {
  try {
    await onChange?.(change, () => createSnapshot(service));
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}

function createUnsavedError(cause: Error): RequestError {
  return new RequestError('The change took effect, and could not be saved', { code: 'not_saved', cause });
}

function rejectRequest(
  { core, options }: Front,
  failure: RequestError,
  asked: Pick<RequestLogEntry, 'method' | 'path'>,
): HttpResponse {
  const { service } = core();
  const operationId = service.identities.createOperationId();
  const response = createFailureResponse(failure, operationId);
  const error = failure.cause instanceof Error ? { error: failure.cause } : {};
  options.onRequest?.({ ...asked, status: failure.status, durationMs: 0, operationId, ...error });
  return { ...response, headers: { ...response.headers, connection: 'close' } };
}

/** Creates the failure for a request whose body ended too early. `cause`: the error of the connection. */
export function createIncompleteBodyError(cause: unknown): RequestError {
  return new RequestError('The body of the request is incomplete', { code: 'bad_body', cause });
}

export function toPathAndQuery(url: string): string {
  const { pathname, search } = new URL(url);
  return pathname + search;
}

function createSnapshot(service: Service): ServerSnapshot {
  const { externals, abuseReportRules } = service;
  return {
    ...(externals !== undefined && { externals: [...externals] }),
    resources: exportResourcesAsSeed(service),
    ...(abuseReportRules !== DEFAULT_ABUSE_REPORT_RULES && { abuse_report_rules: abuseReportRules }),
    certificate_authorities: service.authorities.getSecrets(),
    sequence: service.identities.sequence(),
  };
}
