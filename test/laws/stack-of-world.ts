import { readLive } from '../../src/client/read-live.ts';
import type { DesiredState } from '../../src/model/state.ts';
import { StackError } from '../../src/model/user-errors.ts';
import { type Stack, withApply } from '../../src/open-stack.ts';
import { rehearsePlan } from '../../src/rehearse/rehearse.ts';
import { createUnreadFolder, NO_TREE } from '../../src/run/neighbours.ts';
import type { Account } from '../../src/stack/account.ts';
import type { Host } from '../../src/stack/host.ts';
import { createStack } from '../../src/stack/stack.ts';
import { BASE_URL, type World } from './world.ts';

const SETTINGS = {
  baseUrl: BASE_URL,
  versionHeader: 'Service-Version',
  pageSize: 100,
  concurrency: 8,
  rateLimit: 'none',
  ...{ connectTimeout: 1000, headersTimeout: 1000, bodyTimeout: 1000, timeout: 1000, conflictTimeout: 60_000 },
  caFile: undefined,
  keyEnv: undefined,
};

const unused = async (): Promise<never> => {
  throw new StackError('Not part of this world.', { reason: 'failed' });
};

/**
 * Opens the stack of manifests in a world, as the command line and programs do. It sends its requests over the world's transport, and writes
 * tokens and files to the folder.
 */
export function openStackOf(world: World, state: DesiredState, folder: string): Stack {
  const client = world.connect();
  const { get, clockSkew } = client;
  const account: Account = {
    open: async () => ({ read: (request) => readLive(client, request), get, clockSkew }),
    write: (task) => task(client),
    ...{ forget: () => undefined, countReads: () => 0, close: async () => undefined },
  };
  const parts = {
    settings: SETTINGS,
    state: { ...state, roots: [folder] },
    diagnostics: [],
    validateEdited: () => ({ state: undefined, diagnostics: [] }),
    tokens: TOKENS,
    version: '0.0.0',
  };
  const host = toHost(world, folder);
  const stack = createStack(parts, account, host);
  const opened = { folder: createUnreadFolder(folder), tree: NO_TREE, state, settings: SETTINGS, stack, account };
  return withApply(opened, host);
}

const TOKENS = { default: { directory: 'tokens' }, credentials: {} };

function toHost(world: World, folder: string): Host {
  return {
    env: {},
    cwd: folder,
    uid: process.getuid?.(),
    now: () => world.now(),
    sleep: async () => undefined,
    random: () => 0.5,
    readStdin: unused,
    rehearse: rehearsePlan,
    openTransport: unused,
  };
}
