import type { Client } from '../client/client.ts';
import type { Kind } from '../kinds/kind.ts';
import { toResourcePath } from '../kinds/paths.ts';
import { getKind } from '../kinds/tables/registry.ts';
import { NetworkError } from '../model/errors.ts';
import { type JsonObject, toDigest } from '../model/json.ts';
import type { Write } from '../model/write.ts';
import { type Journal, type JournalEntry, journaled } from './journal.ts';
import type { RecordWrite } from './overtaken.ts';
import type { ResolvedWrite } from './resolve-write.ts';
import type { Made } from './rivals.ts';

/** What sending takes. */
export interface RequestContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list'>;
  /** Gets a line before and after each request. */
  readonly journal?: Journal | undefined;
  /** Called just before a write is sent. */
  readonly onStarted: (write: Write) => void;
  /** Aborted: nothing more is sent; what is under way finishes. */
  readonly signal: AbortSignal;
}

/** What was sent, and what was answered to it. */
export interface Exchanged {
  readonly sent: ResolvedWrite;
  readonly answer: JsonObject | null;
}

/** The requests of a run, each between two lines of the journal. All reject as the client does. */
export interface Requests {
  /** Sends a write, resolving its ids only at that moment. `undefined`: interrupted before it was sent. */
  readonly send: (write: Write, resolve: () => ResolvedWrite) => Promise<Exchanged | undefined>;
  /** Everything of a kind. */
  readonly list: (kind: Kind) => Promise<readonly JsonObject[]>;
  /** Takes back what this run itself made. */
  readonly remove: (made: Made) => Promise<void>;
  /** Corrects a mark that claims too much. */
  readonly patch: (write: RecordWrite, id: string, body: JsonObject) => Promise<void>;
}

/** Makes the requests of a run. */
export function createRequests(context: RequestContext): Requests {
  const { client, signal } = context;
  const undo = async ({ id, address }: Write, { method, path, body }: ResolvedWrite, resourceId?: string) => {
    const known = { ...toBodyDigest(body), ...(resourceId !== undefined && { id: resourceId }) };
    const entry = { request: 'undo', write: id, method, path, address, ...known } as const;
    await client.limit(() => sendAside(context, entry, () => client.send(method, path, body, { patience: signal })));
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
    remove: ({ write, id }) => undo(write, { method: 'DELETE', path: toPath(write, id), body: undefined }, id),
    patch: (write, id, body) => undo(write, { method: 'PATCH', path: toPath(write, id), body }),
  };
}

function toPath({ kind }: Write, id: string): string {
  return toResourcePath(getKind(kind), { id });
}

/** An interrupt cancels a write that still waits to be sent, but not one that is under way. */
async function exchange(
  { client, journal, signal }: RequestContext,
  write: Write,
  sent: ResolvedWrite,
): Promise<Exchanged | undefined> {
  const { method, path, body } = sent;
  const send = () => client.send(method, path, body, { patience: signal });
  try {
    return { sent, answer: await journaled(journal, () => toEntry(write, sent), { send, toId, signal }) };
  } catch (error) {
    if (signal.aborted && error === signal.reason) return undefined;
    throw error;
  }
}

/** A request beside the writes of the plan: interrupted before it was sent, it failed. */
async function sendAside<T>(
  { journal, signal }: RequestContext,
  entry: Omit<JournalEntry, 'event'>,
  send: () => Promise<T>,
): Promise<T> {
  try {
    return await journaled(journal, () => entry, { send, signal });
  } catch (error) {
    if (!signal.aborted || error !== signal.reason) throw error;
    throw new NetworkError(`${entry.method} ${entry.path}: not sent, because the run was interrupted`, {
      cause: error,
    });
  }
}

function toEntry(write: Write, { method, path, body }: ResolvedWrite): Omit<JournalEntry, 'event'> {
  const { id, address } = write;
  const resourceId = toResourceId(write);
  const known = resourceId === undefined ? {} : { id: resourceId };
  return { request: 'write', write: id, method, path, address, ...toBodyDigest(body), ...known };
}

/** The id of the resource that a write is about, when the plan knew it. */
export function toResourceId(write: Write): string | undefined {
  if ('resourceId' in write) return write.resourceId;
  return 'ids' in write ? write.ids.id : undefined;
}

function toBodyDigest(body: JsonObject | undefined): Pick<JournalEntry, 'body'> {
  return body === undefined ? {} : { body: toDigest(body) };
}

function toId(answer: JsonObject | null): string | undefined {
  return typeof answer?.['id'] === 'string' ? answer['id'] : undefined;
}
