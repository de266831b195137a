import type { Client } from '../client/client.ts';
import { parseListedResource } from '../client/parse-response.ts';
import type { Kind } from '../kinds/kind.ts';
import { toResourcePath } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { ApiError, assertDefined, NetworkError } from '../model/errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, toDigest } from '../model/json.ts';
import { renderMetadata } from '../model/mark.ts';
import type { LiveResource } from '../model/state.ts';
import type { RecordDeliveryWrite, RedeliverWrite, Write } from '../model/write.ts';
import type { ResolvedWrite } from './check-response.ts';
import { type CreatedResource, type DuplicateSearchContext, listUnplannedResourcesWithMark } from './duplicates.ts';
import { type JournalEntry, type JournalWriter, sendWithJournal } from './journal.ts';

interface RequestContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list'> & Partial<Pick<Client, 'get'>>;
  /** Receives an entry before and after each request. Absent: no journal is written. */
  readonly journal?: JournalWriter | undefined;
  /** Called just before a write is sent. */
  readonly onStarted: (write: Write) => void;
  /** When aborted, no further request is sent. Requests under way finish. */
  readonly signal: AbortSignal;
}

/** The sent request and its response. `answer` is `null` if the response has no JSON object. */
interface Exchanged {
  readonly sent: ResolvedWrite;
  readonly answer: JsonObject | null;
}

/**
 * Sends the requests of a run, and writes a journal entry before and after each. All functions reject as the client
 * does, or with `JournalWriteError`.
 */
export interface ApplyRequests {
  /**
   * Sends a write. `resolve` fills in the ids, and is called just before sending. The result is `undefined` if the run
   * is interrupted before the write is sent.
   */
  readonly send: (write: Write, resolve: () => ResolvedWrite) => Promise<Exchanged | undefined>;
  readonly list: (kind: Kind) => Promise<readonly JsonObject[]>;
  /**
   * Lists the newest resources of a kind: the first page of its list. Does not wait for queued writes. `undefined` if
   * `client.get` is absent. A rehearsal has none, because nothing else creates resources in its copy of the account.
   */
  readonly listNewest: ((kind: Kind) => Promise<readonly JsonObject[]>) | undefined;
  readonly remove: (made: CreatedResource) => Promise<void>;
  /** Sends a PATCH to the credential with this id. `write`: the write to which the journal assigns the request. */
  readonly patch: (write: DeliverOrRedeliverWrite, id: string, body: JsonObject) => Promise<void>;
}

export function createApplyRequests(context: RequestContext): ApplyRequests {
  const { client, signal } = context;
  const { get } = client;
  const undo = async ({ id, address }: Write, { method, path, body }: ResolvedWrite, resourceId?: string) => {
    const known = { ...computeBodyDigest(body), ...(resourceId !== undefined && { id: resourceId }) };
    const entry = { request: 'undo', write: id, method, path, address, ...known } as const;
    await client.limit(() => sendAside(context, entry, () => client.send(method, path, body, { waitSignal: signal })));
  };
  return {
    send: (write, resolve) =>
      client.limit(async () => {
        if (signal.aborted) return undefined;
        context.onStarted(write);
        return exchange(context, write, resolve());
      }),
    list: (kind) => {
      const entry = { request: 'look-up', method: 'GET', path: kind.path } as const;
      return sendAside(context, entry, () => client.list(kind, undefined, signal));
    },
    listNewest: get && ((kind) => listNewest(context, kind, get)),
    remove: ({ write, id }) => undo(write, { method: 'DELETE', path: createPath(write, id), body: undefined }, id),
    patch: (write, id, body) => undo(write, { method: 'PATCH', path: createPath(write, id), body }),
  };
}

/** The number of resources that a look-up reads: more than an apply creates at the same time. */
const NEWEST = 100;

async function listNewest(context: RequestContext, kind: Kind, get: Client['get']): Promise<readonly JsonObject[]> {
  const entry = { request: 'look-up', method: 'GET', path: kind.path } as const;
  const page = await sendAside(context, entry, () => get(`${kind.path}?limit=${NEWEST}`, context.signal));
  const list = page[assertDefined(kind.listKey, `list key of ${kind.name}`)];
  if (!isJsonArray(list)) return [];
  return list.map((member) => parseListedResource(kind, member, { place: `GET ${kind.path}` }).json);
}

function createPath({ kind }: Write, id: string): string {
  return toResourcePath(getKind(kind), { id });
}

/**
 * Sends a write. An interrupt cancels a write that is not sent yet, but not one that is under way. Resolves with
 * `undefined` if the write was cancelled.
 */
async function exchange(
  { client, journal, signal }: RequestContext,
  write: Write,
  sent: ResolvedWrite,
): Promise<Exchanged | undefined> {
  const { method, path, body } = sent;
  const send = () => client.send(method, path, body, { waitSignal: signal });
  try {
    return { sent, answer: await sendWithJournal(journal, () => createEntry(write, sent), { send, findId, signal }) };
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}

/** Sends a request that is not a write of the plan. Rejects with `NetworkError` if interrupted before it is sent. */
async function sendAside<T>(
  { journal, signal }: RequestContext,
  entry: Omit<JournalEntry, 'event'>,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await sendWithJournal(journal, () => entry, { send, signal });
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    const why = error instanceof NetworkError ? error.message : 'the run was interrupted';
    throw new NetworkError(`${entry.method} ${entry.path}: not sent, because ${why}`, { cause: error });
  }
}

function createEntry(write: Write, { method, path, body }: ResolvedWrite): Omit<JournalEntry, 'event'> {
  const { id, address } = write;
  const resourceId = findResourceIdOfWrite(write);
  const known = resourceId === undefined ? {} : { id: resourceId };
  return { request: 'write', write: id, method, path, address, ...computeBodyDigest(body), ...known };
}

/** The id of the resource that a write changes. `undefined` if the plan creates the resource. */
export function findResourceIdOfWrite(write: Write): string | undefined {
  if ('resourceId' in write) return write.resourceId;
  return 'ids' in write ? write.ids.id : undefined;
}

function computeBodyDigest(body: JsonObject | undefined): Pick<JournalEntry, 'body'> {
  return body === undefined ? {} : { body: toDigest(body) };
}

function findId(answer: JsonObject | null): string | undefined {
  return typeof answer?.['id'] === 'string' ? answer['id'] : undefined;
}

/**
 * Two concurrent applies of one stack can overtake each other. Apply A creates a credential and is about to deliver its
 * token. Apply B considers that credential abandoned and replaces it. Both deliver, and the token of the deleted
 * credential may arrive last. Two rules keep that token from staying in the sink, in any order of events. First, an
 * apply that deletes an undelivered credential (B) delivers its own token again afterwards, and records the delivery.
 * Second, an apply whose credential was deleted after the delivery of its token (A) marks the replacement as
 * undelivered, so that the next apply replaces it.
 */

/** A write that records in a mark that a token was delivered. */
export type DeliverOrRedeliverWrite = RecordDeliveryWrite | RedeliverWrite;

export function isNotFoundError(error: unknown): boolean {
  return error instanceof ApiError && error.response.status === 404;
}

interface LostDeliveryContext {
  readonly duplicates: DuplicateSearchContext;
  /** Like `Requests.patch`. */
  readonly patch: (write: DeliverOrRedeliverWrite, id: string, body: JsonObject) => Promise<void>;
}

/**
 * Marks the replacements of a deleted credential as undelivered, so that the next apply replaces them. Returns a
 * message about the replacements. Rejects as the client does.
 */
export async function markReplacementsUndelivered(
  write: DeliverOrRedeliverWrite,
  { duplicates, patch }: LostDeliveryContext,
): Promise<string> {
  const delivered = (await listUnplannedResourcesWithMark(write, duplicates)).filter(
    ({ mark }) => mark?.delivered === true,
  );
  for (const marked of delivered) await patch(write, marked.id, createUndeliveredBody(marked));
  if (delivered.length === 0)
    return 'it was deleted while its token was being delivered, so that token no longer works';
  const ids = delivered.map(({ id }) => id).join(', ');
  return `another apply replaced it by ${ids} while its token was being delivered. It is unknown which token arrived last, so ${ids} counts as not delivered, and the next apply replaces it`;
}

function createUndeliveredBody({ spec, mark }: LiveResource): JsonObject {
  const user = spec['metadata'];
  const kept = typeof user === 'string' || isJsonObject(user) ? user : '';
  return {
    metadata: renderMetadata(kept, { ...assertDefined(mark, 'mark of the undelivered credential'), delivered: false }),
  };
}
