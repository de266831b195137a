import type { Client, ReliedState } from '../client/client.ts';
import { parseListedResource } from '../client/parse-response.ts';
import type { Kind } from '../kinds/kind.ts';
import { toResourcePath } from '../kinds/paths.ts';
import { readResource } from '../kinds/read-response.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject } from '../model/json.ts';
import { hasDeliveredToken, isEqualMark, renderMetadata } from '../model/mark.ts';
import type { LiveResource } from '../model/state.ts';
import type { MarkWrite, Write } from '../model/write.ts';
import type { ResolvedWrite } from './check-response.ts';
import {
  type CreatedResource,
  type DuplicateSearchContext,
  listUnplannedResourcesWithMark,
  PAUSES_MS,
} from './duplicates.ts';
import { createStaleError } from './external-error.ts';
import { createUndoReliance, type Reliance } from './relied-state.ts';

interface RequestContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'> & Partial<Pick<Client, 'get'>>;
  /** Called just before a write is sent. */
  readonly onStarted: (write: Write) => void;
  /** When aborted, no further request is sent. Requests under way finish. */
  readonly signal: AbortSignal;
}

/** The sent request and its response. `answer` is `null` if the response has no JSON object. */
export interface Exchanged {
  readonly sent: ResolvedWrite;
  readonly answer: JsonObject | null;
}

/** Sends the requests of a run. All functions reject as the client does. */
export interface ApplyRequests {
  /**
   * Sends a write. `resolve` fills in the ids, and is called just before sending: for a write with a reliance, with the
   * write that the reliance returns. `check`: called with the response before a waiting write is sent. The result is
   * `undefined` if the run is interrupted before the write is sent.
   */
  readonly send: (
    write: Write,
    resolve: (write: Write) => ResolvedWrite,
    more?: { readonly reliance?: Reliance | undefined; readonly check?: (exchanged: Exchanged) => Promise<void> },
  ) => Promise<Exchanged | undefined>;
  readonly list: (kind: Kind) => Promise<readonly JsonObject[]>;
  /**
   * Lists the newest resources of a kind: the first page of its list. Does not wait for queued writes. `undefined` if
   * `client.get` is absent. A rehearsal has none, because nothing else creates resources in its copy of the account.
   */
  readonly listNewest: ((kind: Kind) => Promise<readonly JsonObject[]>) | undefined;
  /** Reads the resource of a write. `undefined` if `client.get` is absent. */
  readonly read: ((write: Write, id: string) => Promise<LiveResource>) | undefined;
  readonly remove: (made: CreatedResource) => Promise<void>;
  /**
   * Sends a PATCH with the mark of a resource. `prepare`: returns the body, given the state of the resource if it had to be
   * read again. Returns the resource in the response or, if that has no mark, in the response to a GET.
   */
  readonly record: (write: Write, id: string, recording: Recording) => Promise<LiveResource>;
  /** Marks a credential as undelivered. */
  readonly markUndelivered: (name: Kind['name'], marked: LiveResource) => Promise<void>;
}

interface Recording {
  readonly body: JsonObject;
  readonly prepare?: (shown: LiveResource) => JsonObject;
}

export function createApplyRequests(context: RequestContext): ApplyRequests {
  const { client, signal } = context;
  const { get } = client;
  const read: ApplyRequests['read'] =
    get &&
    (async ({ kind: name }, id) => {
      const kind = getKind(name);
      const path = toResourcePath(kind, { id });
      const json = await sendAside(context, `GET ${path}`, () => get(path, signal));
      return readResource(kind, parseListedResource(kind, json, { place: `GET ${path}: the resource` }).json);
    });
  return {
    send: (write, resolve, { reliance, check } = {}) =>
      client.limit(async () => {
        if (signal.aborted) return undefined;
        context.onStarted(write);
        const exchanged = await exchange(context, write, { resolve, reliance });
        if (exchanged !== undefined) await check?.(exchanged);
        return exchanged;
      }),
    list: (kind) => sendAside(context, `GET ${kind.path}`, () => client.list(kind, undefined, signal)),
    listNewest: get && ((kind) => listNewest(context, kind, get)),
    read,
    record: async (write, id, { body, prepare }) => {
      const kind = getKind(write.kind);
      const path = toResourcePath(kind, { id });
      const reliesOn = prepare && {
        path,
        isModule: false,
        prepare: async (shown: JsonObject | null) => prepare(readResource(kind, shown ?? {})),
      };
      const send = () => client.send('PATCH', path, body, { waitSignal: signal, reliesOn });
      const answer = await client.limit(() => sendAside(context, `PATCH ${path}`, send));
      const live = readResource(kind, answer ?? {});
      return live.mark === undefined && read !== undefined ? read(write, id) : live;
    },
    remove: async ({ write, id }) => {
      const { path, check } = createUndoReliance(write, id, client.shown);
      const prepare = async (shown: JsonObject | null) => {
        check(shown);
        return undefined;
      };
      await undo(context, { method: 'DELETE', path, body: undefined, prepare });
    },
    markUndelivered: async (name, marked) => {
      const kind = getKind(name);
      const path = toResourcePath(kind, { id: marked.id });
      const prepare = async (shown: JsonObject | null) =>
        createUndeliveredBody(readResource(kind, shown ?? {}), marked);
      await undo(context, { method: 'PATCH', path, body: createUndeliveredBody(marked, marked), prepare });
    },
  };
}

interface Undo extends ResolvedWrite, Pick<ReliedState, 'prepare'> {}

/** Sends a request that undoes a creation or a delivery, to a resource that was just shown, or is read again. */
async function undo(context: RequestContext, { method, path, body, prepare }: Undo): Promise<void> {
  const { client, signal } = context;
  const reliesOn = { path, isModule: false, prepare };
  const send = () => client.send(method, path, body, { waitSignal: signal, reliesOn });
  await client.limit(() => sendAside(context, `${method} ${path}`, send));
}

/** The number of resources that a look-up reads: more than an apply creates at the same time. */
const NEWEST = 100;

async function listNewest(context: RequestContext, kind: Kind, get: Client['get']): Promise<readonly JsonObject[]> {
  const read = () => get(`${kind.path}?limit=${NEWEST}`, context.signal);
  const page = await sendAside(context, `GET ${kind.path}`, read);
  const list = page[assertDefined(kind.listKey, `list key of ${kind.name}`)];
  if (!isJsonArray(list)) return [];
  return list.map((member) => parseListedResource(kind, member, { place: `GET ${kind.path}` }).json);
}

/**
 * Sends a write. An interrupt cancels a write that is not sent yet, but not one that is under way. Resolves with
 * `undefined` if the write was cancelled.
 */
async function exchange(
  { client, signal }: RequestContext,
  write: Write,
  { resolve, reliance }: { readonly resolve: (write: Write) => ResolvedWrite; readonly reliance: Reliance | undefined },
): Promise<Exchanged | undefined> {
  let sent = resolve(write);
  const prepare = async (shown: JsonObject | null): Promise<JsonObject | undefined> => {
    sent = resolve(reliance?.check(shown) ?? write);
    return sent.body;
  };
  const reliesOn = reliance && { ...reliance, prepare };
  const { method, path, body } = sent;
  try {
    const answer = await client.send(method, path, body, { waitSignal: signal, reliesOn });
    return { sent, answer };
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}

/**
 * Sends a request that is not a write of the plan. `what`: its method and path. Rejects with `NetworkError` if
 * interrupted before it is sent.
 */
async function sendAside<T>({ signal }: RequestContext, what: string, send: () => Promise<T>): Promise<T> {
  try {
    return await send();
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    const why = error instanceof NetworkError ? error.message : 'the run was interrupted';
    throw new NetworkError(`${what}: not sent, because ${why}`, { cause: error });
  }
}

export function isNotFoundError(error: unknown): boolean {
  return error instanceof ApiError && error.response.status === 404;
}

interface LostDeliveryContext {
  readonly duplicates: DuplicateSearchContext;
  readonly markUndelivered: ApplyRequests['markUndelivered'];
}

/**
 * Marks the replacements of a deleted credential as undelivered, so that the next apply replaces them: its own token may
 * have arrived after theirs. Returns a message about the replacements. Rejects as the client does.
 */
export async function markReplacementsUndelivered(
  write: MarkWrite,
  { duplicates, markUndelivered }: LostDeliveryContext,
): Promise<string> {
  const delivered = (await listReplacements(write, duplicates)).filter(hasDeliveredToken);
  for (const marked of delivered) await markUndelivered(write.kind, marked);
  if (delivered.length === 0)
    return 'it was deleted while its token was being delivered, so that token no longer works';
  const ids = delivered.map(({ id }) => id).join(', ');
  return `another apply replaced it by ${ids} while its token was being delivered. It is unknown which token arrived last, so ${ids} counts as not delivered, and the next apply replaces it`;
}

/**
 * Lists the replacements of a deleted credential. While one is undelivered, the apply that created it may be about to
 * record its delivery, so lists them again after a pause, for at most half a minute. Rejects as the client does.
 */
async function listReplacements(
  write: MarkWrite,
  duplicates: DuplicateSearchContext,
): Promise<readonly LiveResource[]> {
  let found = await listUnplannedResourcesWithMark(write, duplicates);
  for (const pauseMs of PAUSES_MS) {
    if (found.every(hasDeliveredToken)) break;
    await duplicates.sleep(pauseMs);
    found = await listUnplannedResourcesWithMark(write, duplicates);
  }
  return found;
}

/** `live`: the credential as it is now. `marked`: as it was listed. */
function createUndeliveredBody({ spec, mark }: LiveResource, marked: LiveResource): JsonObject {
  const user = spec['metadata'];
  const kept = typeof user === 'string' || isJsonObject(user) ? user : '';
  if (!isEqualMark(mark, marked.mark)) throw createStaleError('its mark was changed');
  return {
    metadata: renderMetadata(kept, { ...assertDefined(mark, 'mark of the undelivered credential'), delivered: false }),
  };
}
