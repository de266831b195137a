import type { Client, ClientOptions, ReadingClient } from '../client/client.ts';
import { type LiveRequest, ReadMemory, readLive } from '../client/read-live.ts';
import { InvariantError } from '../model/errors.ts';
import type { Send } from '../model/http.ts';
import type { LiveState } from '../model/state.ts';
import type { ServiceSettings } from '../settings/table.ts';
import { type ConnectionOverrides, createServiceClient, openServiceConnection } from './connect.ts';
import type { Host, ServiceConnection } from './host.ts';

/**
 * An account of the service: what one API key can see there. Any number of stacks may use it, with one client and
 * therefore one rate limit. It remembers lists and modules for the plans that are made together. A write never uses that
 * memory, and ends it.
 */
export interface Account {
  /** Connects on first use. Sends GETs only. */
  readonly open: () => Promise<AccountReader>;
  /** Runs a task with a client that can write. Outside of such tasks, only GET requests are sent. */
  readonly write: <T>(task: (client: Client) => Promise<T>) => Promise<T>;
  /** Forgets what was read: what is opened from now on reads again. */
  readonly forget: () => void;
  /** The number of requests that reads of lists and modules have taken. */
  readonly countReads: () => number;
  /** Closes connections. The embedded server saves its data. */
  readonly close: () => Promise<void>;
}

/** What plans get of an account: nothing that writes. */
export interface AccountReader extends Pick<ReadingClient, 'get' | 'clockSkew'> {
  /** Like `readLive`, with the memory of the account. */
  readonly read: (request: LiveRequest) => Promise<LiveState>;
}

export interface AccountInput {
  readonly settings: ServiceSettings;
  readonly given?: ConnectionOverrides;
  /** Whether plans share what was read until a write or `forget`. Default: what is opened reads everything itself. */
  readonly isShared?: boolean;
  /** Called with the connection before anything is sent. */
  readonly onConnected?: (reached: ServiceConnection) => void;
  readonly notices?: Pick<ClientOptions, 'onRetry' | 'onWait' | 'onRequest' | 'onRead'>;
}

interface Opened extends Pick<ServiceConnection, 'close'> {
  readonly client: Client;
  readonly prepareWrites: () => Promise<void>;
}

export function createAccount(
  { settings, given, isShared = false, onConnected, notices = {} }: AccountInput,
  host: Host,
): Account {
  let opened: Promise<Opened> | undefined;
  let writing = 0;
  let memory = new ReadMemory();
  let forgotten = 0;
  const guard =
    (send: Send): Send =>
    async (request) => {
      if (request.method === 'GET' || writing > 0) return send(request);
      throw new InvariantError(`A command that only reads was about to send a ${request.method} request`);
    };
  const connect = async (): Promise<Opened> => {
    const reached = await openServiceConnection(settings, host, given);
    onConnected?.(reached);
    const { now, sleep, random, secrets } = host;
    const more = { now: () => now().getTime(), date: now, sleep, random, secrets, ...notices };
    const client = createServiceClient(settings, { ...reached, send: guard(reached.send) }, more);
    const { prepareWrites = async () => undefined, close } = reached;
    return { client, prepareWrites, close };
  };
  const openOnce = (): Promise<Opened> => {
    opened ??= connect();
    return opened;
  };
  const forget = (): void => {
    forgotten += memory.requests;
    memory = new ReadMemory();
  };
  return {
    open: async () => {
      const { client } = await openOnce();
      if (!isShared) forget();
      const known = memory;
      return {
        read: (request) => readLive(client, request, known),
        get: client.get,
        clockSkew: client.clockSkew,
      };
    },
    write: async (task) => {
      const { client, prepareWrites } = await openOnce();
      await prepareWrites();
      writing += 1;
      try {
        return await task(client);
      } finally {
        writing -= 1;
        forget();
      }
    },
    forget,
    countReads: () => forgotten + memory.requests,
    close: async () => {
      const last = opened;
      opened = undefined;
      await (await last?.catch(() => undefined))?.close();
    },
  };
}
