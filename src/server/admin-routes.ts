import { randomUUID } from 'node:crypto';
import { Hono } from 'hono';
import type { HttpRequest, HttpResponse } from '../model/http.ts';
import { type Json, parseJson } from '../model/json.ts';
import type { FaultRule, ServerFaults } from '../model/server-faults.ts';
import { toSend } from '../model/transport.ts';
import { CLOCK_SCHEMA } from '../schemas/seed.ts';
import { type ApiKey, getAuthenticatedApiKey, indexApiKeys } from './admission.ts';
import { createFailureResponse, RequestError } from './failure.ts';
import { parseServerFaults } from './faults.ts';
import type { Server } from './server.ts';

/** The calls of an `AdminServer` as requests below `/_edgewise/`. */

/** What admins may do. */
export interface AdminCalls extends Pick<Server, 'snapshot'> {
  /** Sets everything back to the start: resources, faults and their counts, the clock. Forgets the requests. */
  readonly reset: () => Promise<void>;
  /** Lists the requests since the start or the last reset, oldest first, but those below `/_edgewise/`: at most 1,000. */
  readonly listRequests: () => readonly ReceivedRequest[];
  /** Replaces all faults. Their counts start anew. Throws `RangeError` if a rule can never apply. */
  readonly replaceFaults: (faults: ServerFaults) => void;
  /** Moves the clock, which goes on from there. Returns its time. Throws `RangeError` for a time before 1970 or after 9999. */
  readonly moveClock: (to: ClockMove) => Date;
}

/** A time, or seconds from now; a negative number moves the clock back. */
export type ClockMove = { readonly now: Date } | { readonly advanceSeconds: number };

/** A request that the server received. Contains no API key of eight characters or more, and no value
 * below the name of a secret. */
export interface ReceivedRequest {
  readonly method: string;
  /** Path and query, below the base URL. */
  readonly path: string;
  /** The JSON of the body. Absent if there is none, it is not JSON, or it is larger than 64 KiB. */
  readonly body?: Json | undefined;
  /** When it was received, by the clock of the server, in RFC 3339. */
  readonly at: string;
  /** The status of the response. `null` if there was none yet, or a fault prevented it. */
  readonly status: number | null;
  /** The faults of the request, in the order in which they took effect. */
  readonly faults: readonly FaultRule['fault'][];
}

/** Responds to a request below `/_edgewise/`. `undefined` if the path is not one of an admin, such as that of the health. */
type AdminSend = (request: HttpRequest, basePath: string) => Promise<HttpResponse> | undefined;

/** Creates the function that responds to admins: to requests with a key that is one's of `apiKeys`. */
export function createAdminSend(server: AdminCalls, apiKeys: readonly ApiKey[]): AdminSend {
  const app = createApp(server, apiKeys);
  const send = toSend(async (request) => app.fetch(request));
  return (request, basePath) => {
    const url = new URL(request.url);
    url.pathname = url.pathname.slice(basePath.length);
    return url.pathname === '/_edgewise/health' ? undefined : send({ ...request, url: url.href });
  };
}

function createApp(server: AdminCalls, apiKeys: readonly ApiKey[]): Hono {
  const keyring = indexApiKeys(apiKeys);
  const app = new Hono().basePath('/_edgewise');
  app.use(async ({ req }, next) => {
    const { isAdmin } = getAuthenticatedApiKey(keyring, req.header('authorization'));
    if (!isAdmin) throw new RequestError('This API key is not that of an admin', { code: 'forbidden' });
    await next();
  });
  app.post('/reset', async (context) => {
    await server.reset();
    return context.body(null, 204);
  });
  app.get('/requests', (context) => context.json({ requests: server.listRequests() }));
  app.put('/faults', async (context) => {
    server.replaceFaults(parseServerFaults(await context.req.text()));
    return context.body(null, 204);
  });
  app.post('/clock', async (context) => {
    const move = CLOCK_SCHEMA.safeParse(parseJson(await context.req.text()));
    if (!move.success) throw new RangeError('The body is {"now": "2026-01-01T00:00:00Z"} or {"advance_seconds": 60}');
    const to = 'now' in move.data ? { now: new Date(move.data.now) } : { advanceSeconds: move.data.advance_seconds };
    return context.json({ now: server.moveClock(to).toISOString() });
  });
  app.get('/snapshot', (context) => context.json(server.snapshot()));
  app.notFound(() => toResponse(new RequestError('Nothing has this path and method', { code: 'not_found' })));
  app.onError((error) => toResponse(toFailure(error)));
  return app;
}

function toFailure(error: Error): RequestError {
  if (error instanceof RequestError) return error;
  if (error instanceof RangeError) return new RequestError(error.message, { code: 'invalid_field', cause: error });
  return new RequestError('This is a bug in the server', { code: 'internal_error', cause: error });
}

function toResponse(failure: RequestError): Response {
  const { status, headers, body } = createFailureResponse(failure, `op_${randomUUID().replaceAll('-', '')}`);
  return new Response(body, { status, headers });
}
