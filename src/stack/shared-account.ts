import { AsyncLocalStorage } from 'node:async_hooks';
import { shareLists } from '../apply/share-lists.ts';
import type { Client } from '../client/client.ts';
import type { RequestNotice } from '../client/request-notice.ts';
import type { Kind } from '../kinds/kind.ts';
import type { JsonObject } from '../model/json.ts';
import { type Account, type AccountParts, createAccount, createSavedApply } from './account.ts';
import type { Reader } from './plan-live.ts';
import type { RunSettings } from './settings.ts';
import type { Surroundings } from './surroundings.ts';

/** An account that several stacks use in one run: one client, one rate limit, and each list is read once. */
export interface SharedAccount {
  /** The account as one stack sees it: each counts the requests that it would have taken alone. */
  readonly toView: (settings: RunSettings) => Account;
  /** How many requests reading took. */
  readonly countReads: () => number;
  /** Something was written: whoever asks from now on reads again. */
  readonly forget: () => void;
  readonly close: () => Promise<void>;
}

/** What was read once, and how many requests that took. */
interface ReadOnce<T> {
  readonly value: T;
  readonly requests: number;
}

/** The reads of an account by what was read: a kind's list, or a module by its path. */
interface Readings {
  readonly lists: Map<string, Promise<ReadOnce<readonly JsonObject[]>>>;
  readonly modules: Map<string, Promise<ReadOnce<JsonObject | null>>>;
}

function createReadings(): Readings {
  return { lists: new Map(), modules: new Map() };
}

/** An account for several stacks. `signal` ends every read of it. */
export function shareAccount(parts: AccountParts, surroundings: Surroundings, signal: AbortSignal): SharedAccount {
  const { notices, countSent, countReads } = createCounter(parts);
  const account = createAccount({ ...parts, notices }, surroundings);
  let readings = createReadings();
  const write = shareLooks(account.write);
  return {
    toView: (settings) => {
      const open = async (): Promise<Reader> => toOwnReader(await account.open(), { readings, countSent, signal });
      return { ...account, settings, open, write, apply: createSavedApply({ open, write }, surroundings) };
    },
    countReads,
    forget: () => {
      readings = createReadings();
    },
    close: account.close,
  };
}

/** What is listed while plans are applied is listed for all of them that ask at the same time. */
function shareLooks(write: Account['write']): Account['write'] {
  const shared = new WeakMap<Client, Client>();
  const toShared = (client: Client): Client => {
    const known = shared.get(client) ?? { ...client, list: shareLists(client.list) };
    shared.set(client, known);
    return known;
  };
  return (task) => write((client) => task(toShared(client)));
}

/** Runs a read, and counts the requests that are sent for it and for nothing else. */
type CountSent = <T>(read: () => Promise<T>) => Promise<ReadOnce<T>>;

/** Reads run side by side: which of them a request is sent for is known by the call that it is a part of. */
function createCounter({ notices = {} }: AccountParts): {
  readonly notices: NonNullable<AccountParts['notices']>;
  readonly countSent: CountSent;
  readonly countReads: () => number;
} {
  let all = 0;
  const current = new AsyncLocalStorage<{ sent: number }>();
  const onRequest = (notice: RequestNotice): void => {
    const count = current.getStore();
    if (count !== undefined && notice.event === 'sent') {
      count.sent += 1;
      all += 1;
    }
    notices.onRequest?.(notice);
  };
  return {
    notices: { ...notices, onRequest },
    countReads: () => all,
    countSent: async (read) => {
      const count = { sent: 0 };
      const value = await current.run(count, read);
      return { value, requests: count.sent };
    },
  };
}

interface Sharing {
  readonly readings: Readings;
  readonly countSent: CountSent;
  readonly signal: AbortSignal;
}

/** A reader that takes part in what others read, and counts as if it had read alone. */
function toOwnReader(client: Reader, { readings, countSent, signal }: Sharing): Reader {
  let requests = 0;
  const take = async <T>(reading: Promise<ReadOnce<T>>): Promise<T> => {
    const { value, requests: taken } = await reading;
    requests += taken;
    return value;
  };
  const own = () => toStop(signal);
  return {
    ...client,
    list: (kind: Kind) => take(readOnce(readings.lists, kind.name, () => countSent(() => client.list(kind, own())))),
    readModule: (path) => take(readOnce(readings.modules, path, () => countSent(() => client.readModule(path, own())))),
    requestCount: () => requests,
  };
}

function readOnce<T>(known: Map<string, Promise<T>>, name: string, read: () => Promise<T>): Promise<T> {
  const found = known.get(name) ?? read();
  known.set(name, found);
  return found;
}

/** One that fails ends no other: each stack fails for what it needs itself. */
function toStop(signal: AbortSignal): AbortController {
  const stop = new AbortController();
  if (signal.aborted) stop.abort(signal.reason);
  else signal.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
  return stop;
}
