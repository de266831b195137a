import { KINDS } from '../kinds/tables/registry.ts';
import { listSelfAndNestedTypes } from '../kinds/walk.ts';
import { decodeBodyText, type HttpRequest, type Send } from '../model/http.ts';
import { isJsonArray, isJsonObject, type Json, parseJson } from '../model/json.ts';
import { isNameOfSecret } from '../model/secret-names.ts';
import { redactJson } from '../model/secrets.ts';
import type { FaultRule, ServerFaults } from '../model/server-faults.ts';
import { type AdminCalls, type ClockMove, createAdminSend, type ReceivedRequest } from './admin-routes.ts';
import type { ApiKey } from './admission.ts';
import { createFaultDecorator, type FaultInjectionOptions } from './faults.ts';
import { isAdminPath } from './routes.ts';
import { createServer, type Decorate, type Server, type ServerOptions, toPathAndQuery } from './server.ts';

/**
 * A server that tests drive: by functions, and by requests below `/_edgewise/`. Both do the same. No call takes the path of
 * a file.
 */

/** Options of `createAdminServer`. */
export interface AdminServerOptions extends ServerOptions {
  /** One of them must be that of an admin, and none the key `dev`, which everyone knows. */
  readonly apiKeys: readonly ApiKey[];
  /** The faults at the start, and after a reset. Default: none. */
  readonly faults?: ServerFaults | undefined;
  readonly onFault?: FaultInjectionOptions['onFault'];
}

/** A server that tests drive. */
export type AdminServer = Server & AdminCalls;

/** Creates a server that tests drive. Throws `RangeError` for invalid options, an invalid seed, and faults that never apply. */
export function createAdminServer(options: AdminServerOptions): AdminServer {
  refuseKnownAdminKey(options.apiKeys);
  const { faults = { rules: [] }, onFault } = options;
  const clock = createMovableClock(options.now ?? (() => new Date()));
  const records = createRecords(options.apiKeys, clock.now);
  const server = createServer({ ...options, now: clock.now });
  const createFaults = (current: ServerFaults): Decorate =>
    createFaultDecorator(server, current, {
      onFault: (entry) => {
        records.noteFault(entry.fault);
        onFault?.(entry);
      },
    });
  let inject = createFaults(faults);
  const calls: AdminCalls = {
    reset: async () => {
      clock.moveBy(0);
      inject = createFaults(faults);
      await server.reset();
      records.clear();
    },
    listRequests: records.list,
    replaceFaults: (next) => {
      inject = createFaults(next);
    },
    moveClock: (to) => clock.move(to),
    snapshot: server.snapshot,
  };
  const adminSend = createAdminSend(calls, options.apiKeys);
  const decorate: Decorate = (send, basePath) => {
    const record = records.watch((request) => inject(send, basePath)(request), basePath);
    return (request) => {
      if (!isAdminPath(request.url, basePath)) return record(request);
      return adminSend(request, basePath) ?? send(request);
    };
  };
  return { ...server.behind(decorate, { opensAdmin: true }), ...calls };
}

/** The default key of `serve`. It is documented, so it protects nothing. */
export const KNOWN_KEY = 'dev';

function refuseKnownAdminKey(apiKeys: readonly ApiKey[]): void {
  if (apiKeys.some(({ key }) => key === KNOWN_KEY))
    throw new RangeError(`everyone knows the API key \`${KNOWN_KEY}\`: tests need another one`);
  if (!apiKeys.some(({ isAdmin }) => isAdmin))
    throw new RangeError('no API key is that of an admin: add `:admin` to one');
}

function createMovableClock(base: () => Date) {
  let offsetMs = 0;
  const now = (): Date => new Date(base().getTime() + offsetMs);
  const moveBy = (ms: number): void => {
    offsetMs = ms;
  };
  const move = (to: ClockMove): Date => {
    const next = 'now' in to ? to.now.getTime() - base().getTime() : offsetMs + to.advanceSeconds * 1000;
    const time = base().getTime() + next;
    if (!(time >= 0 && time < YEAR_10000)) throw new RangeError('the clock must be between the years 1970 and 9999');
    moveBy(next);
    return now();
  };
  return { now, move, moveBy };
}

const YEAR_10000 = Date.UTC(10_000, 0);

/** A test reads what one program sent. More would fill the memory of a server that runs for days. */
const [MAX_REQUESTS, MAX_BODY_BYTES] = [1_000, 64 * 1024];

/** A shorter key, such as `tests`, is no secret, and would be found in words. */
const LEAST_KEY_LENGTH = 8;

/** A request whose response is under way. */
type OpenRequest = { -readonly [Name in keyof ReceivedRequest]: ReceivedRequest[Name] };

function createRecords(apiKeys: readonly ApiKey[], now: () => Date) {
  let records: OpenRequest[] = [];
  let latest: OpenRequest | undefined;
  const keys = apiKeys.map(({ key }) => key).filter(({ length }) => length >= LEAST_KEY_LENGTH);
  const redact = (text: string): string => keys.reduce((shown, key) => shown.replaceAll(key, '(key)'), text);
  const watch =
    (send: Send, basePath: string): Send =>
    async (request) => {
      const record: OpenRequest = {
        method: request.method,
        path: redact(toPathAndQuery(request.url).slice(basePath.length)),
        body: readBody(request, redact),
        at: now().toISOString(),
        status: null,
        faults: [],
      };
      records = [...records, record].slice(-MAX_REQUESTS);
      latest = record;
      const response = await send(request);
      record.status = response.status;
      return response;
    };
  return {
    watch,
    /** The faults of a request are chosen before anything waits, so they are those of the latest one. */
    noteFault: (fault: FaultRule['fault']): void => {
      if (latest !== undefined) latest.faults = [...latest.faults, fault];
    },
    list: (): readonly ReceivedRequest[] => records.map((record) => ({ ...record })),
    clear: (): void => {
      records = [];
    },
  };
}

function readBody({ body }: HttpRequest, redact: (text: string) => string): Json | undefined {
  if (body === null || body.length === 0 || body.length > MAX_BODY_BYTES) return undefined;
  const json = parseJson(decodeBodyText(body));
  return json === undefined ? undefined : redactJson(hideSecrets(json), redact);
}

/** Replaces what is below a name that looks like that of a secret, unless the API itself has a field of this name. */
function hideSecrets(value: Json): Json {
  if (isJsonArray(value)) return value.map(hideSecrets);
  if (!isJsonObject(value)) return value;
  const members = Object.entries(value).map(
    ([name, member]) =>
      [name, isNameOfSecret(name) && !FIELD_NAMES.has(name) ? '(hidden)' : hideSecrets(member)] as const,
  );
  return Object.fromEntries(members);
}

const FIELD_NAMES: ReadonlySet<string> = new Set(
  KINDS.flatMap(({ fields }) => [
    ...Object.keys(fields),
    ...Object.values(fields).flatMap(({ type }) =>
      listSelfAndNestedTypes(type).flatMap((inner) => (inner.type === 'object' ? Object.keys(inner.fields) : [])),
    ),
  ]),
);
