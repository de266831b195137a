import { randomBytes } from 'node:crypto';
import { toElapsedMs } from '../model/elapsed.ts';
import type { RateLimit } from '../model/rate-limit.ts';
import { DEFAULT_VERSION_HEADER, type Transport } from '../model/transport.ts';
import { DEFAULT_ABUSE_REPORT_RULES } from './abuse-report-rules.ts';
import { type ApiKey, DEFAULT_USER_ID, parseApiKey, toKeyring } from './api-key.ts';
import { type Answer, type Ask, toResponse, toTransport } from './ask.ts';
import { createCertificateAuthorities, toAuthorizedKey } from './certificate-authority.ts';
import { type ExistingResource, loadExisting } from './existing.ts';
import { type Failure, renderFailure } from './failure.ts';
import { createIdentities } from './identities.ts';
import { loadSeed, toSeedResources } from './load-seed.ts';
import { createRateLimit } from './rate-limit.ts';
import { createRoutes, type RequestEnv, type Routes } from './routes.ts';
import type { ServerSeed, ServerSnapshot } from './seed.ts';
import type { Service } from './service.ts';
import { ShownTexts } from './shown-texts.ts';
import { Store } from './store.ts';

/**
 * The bundled server: the whole interface in memory, without a socket. One function from request to response, made of the kind tables.
 * Absent on purpose: edges that carry traffic, and whatever the interface does not show.
 */

export type { RateLimit } from '../model/rate-limit.ts';
export { type ApiKey, parseApiKey } from './api-key.ts';

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
  /** What it holds besides, the oldest first: taken as it is, whatever this server would not have accepted. */
  readonly existing?: readonly ExistingResource[];
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
  readonly handle: Transport;
  /** The same server below a base URL that has a path, which its answers then name. */
  readonly at: (baseUrl: string) => Transport;
  /** The answer to what came over a connection and is no request that `handle` could take. It is logged like one. */
  readonly refuse: (failure: Failure, asked: Pick<RequestLogEntry, 'method' | 'path'>) => Response;
  /** Everything that it knows, as a value. Tokens are not in it; the secrets of certificate authorities are. */
  readonly snapshot: () => ServerSnapshot;
  /** A server like this one that holds a snapshot: it has the same keys and clock, no limit, and is not logged. */
  readonly asOf: (snapshot: ServerSnapshot) => Transport;
  /** The public key of an SSH certificate authority, in authorized-keys format, for those who trust it. */
  readonly certificateAuthorityKey: (id: string) => string;
}

/** A new server. Throws `RangeError` on options or a seed that contradict themselves. */
export function createServer(options: ServerOptions = {}): Server {
  const apiKeys = options.apiKeys ?? [parseApiKey('dev:admin')];
  const service = createService(options, apiKeys);
  loadSeed(service, options.seed ?? {});
  loadExisting(service, options.existing ?? []);
  const countRequest = options.rateLimit === undefined ? undefined : createRateLimit(options.rateLimit);
  const routes = createRoutes(service, {
    keyring: toKeyring(apiKeys),
    versionHeader: options.versionHeader ?? DEFAULT_VERSION_HEADER,
    countRequest: () => countRequest?.(service.now()),
  });
  const front = { service, routes, onRequest: options.onRequest };
  return {
    handle: toTransport((ask) => respond(front, ask, { baseUrl: toOrigin(ask.url), basePath: '' })),
    at: (baseUrl) => {
      const base = { baseUrl: baseUrl.replace(/\/+$/, ''), basePath: new URL(baseUrl).pathname.replace(/\/+$/, '') };
      return toTransport((ask) => respond(front, ask, base));
    },
    refuse: (failure, asked) => toResponse(refuse(front, failure, asked)),
    snapshot: () => toSnapshot(service),
    asOf: (seed) => {
      const { rateLimit: _, onRequest: __, existing: ___, ...rest } = options;
      return createServer({ ...rest, seed }).handle;
    },
    certificateAuthorityKey: (id) => toAuthorizedKey(service.authorities.getKey(id).toPublic()),
  };
}

/** What stands between a request and the routes. */
interface Front {
  readonly service: Service;
  readonly routes: Routes;
  readonly onRequest: ServerOptions['onRequest'];
}

function createService(options: ServerOptions, apiKeys: readonly ApiKey[]): Service {
  const { externals, certificate_authorities: secrets = {}, sequence = 0, abuse_report_rules } = options.seed ?? {};
  const idSeed = options.idSeed === undefined ? randomBytes(32) : String(options.idSeed);
  const identities = createIdentities(idSeed, sequence);
  return {
    now: options.now ?? (() => new Date()),
    store: new Store(),
    shownTexts: new ShownTexts(),
    identities,
    authorities: createCertificateAuthorities(identities.derive, secrets),
    externals: externals && new Set([...externals, DEFAULT_USER_ID, ...apiKeys.map(({ userId }) => userId)]),
    abuseReportRules: abuse_report_rules ?? DEFAULT_ABUSE_REPORT_RULES,
  };
}

async function respond(
  { service, routes, onRequest }: Front,
  ask: Ask,
  base: Pick<RequestEnv, 'baseUrl' | 'basePath'>,
): Promise<Answer> {
  const start = onRequest === undefined ? 0 : toElapsedMs();
  const operationId = service.identities.createOperationId();
  let bug: Error | undefined;
  const onBug = (error: Error): void => {
    bug = error;
  };
  const answer = await routes(ask, { ...base, operationId, onBug });
  onRequest?.({
    method: ask.method,
    path: ask.url.slice(toOrigin(ask.url).length),
    status: answer.status,
    durationMs: toElapsedMs() - start,
    operationId,
    ...(bug !== undefined && { error: bug }),
  });
  return answer;
}

function refuse(
  { service, onRequest }: Pick<Front, 'service' | 'onRequest'>,
  failure: Failure,
  asked: Pick<RequestLogEntry, 'method' | 'path'>,
): Answer {
  const operationId = service.identities.createOperationId();
  const answer = renderFailure(failure, operationId);
  const error = failure.cause instanceof Error ? { error: failure.cause } : {};
  onRequest?.({ ...asked, status: failure.status, durationMs: 0, operationId, ...error });
  return { ...answer, headers: { ...answer.headers, connection: 'close' } };
}

/** `https://host:port` of a URL, without the cost of parsing all of it. */
function toOrigin(url: string): string {
  const end = url.indexOf('/', url.indexOf('//') + 2);
  return end < 0 ? url : url.slice(0, end);
}

function toSnapshot(service: Service): ServerSnapshot {
  const { externals, abuseReportRules } = service;
  return {
    ...(externals !== undefined && { externals: [...externals] }),
    resources: toSeedResources(service),
    ...(abuseReportRules !== DEFAULT_ABUSE_REPORT_RULES && { abuse_report_rules: abuseReportRules }),
    certificate_authorities: service.authorities.listSecrets(),
    sequence: service.identities.sequence(),
  };
}
