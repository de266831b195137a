import { resolve } from 'node:path';
import { findMadeByAnother } from '../files/boundary.ts';
import { type FileLock, toLockPath, tryLockFile } from '../files/lock-file.ts';
import { readInput } from '../files/read-input.ts';
import { describeError } from '../model/errors.ts';
import { isSuccess, type Send } from '../model/http.ts';
import { once } from '../model/once.ts';
import { parseApiKey } from '../server/admission.ts';
import type { ServerSeed } from '../server/seed.ts';
import { createServer, type Server } from '../server/server.ts';
import { type Host, StackError } from './host.ts';

/** The bundled server inside of the process, with what a client needs to reach it. */
interface EmbeddedServer {
  readonly send: Send;
  readonly baseUrl: string;
  readonly apiKey: string;
  /** Locks the file and reads it again: until then, other processes may have written it. Without that, nothing may be changed. */
  readonly prepareWrites: () => Promise<void>;
  /** Keeps what it holds, when it has a file to keep it in. */
  readonly close: () => Promise<void>;
}

/** Any process that can start the server may do everything on it. */
const API_KEY = 'embedded';

interface EmbeddedOptions {
  readonly file: string;
  readonly host: Host;
  readonly versionHeader: string;
}

/**
 * Opens the bundled server; `file` keeps its data between runs, and none means that it starts empty. What only reads needs no lock, because the file is
 * replaced as a whole.
 */
export async function openEmbeddedServer(options: EmbeddedOptions): Promise<EmbeddedServer> {
  const { file, host } = options;
  let lock: FileLock | undefined;
  let started = await start(options);
  const prepareWrites = once(async () => {
    if (file === '') return;
    lock = await lockSnapshot(resolve(host.cwd, file), file, host);
    started = await start(options, lock);
  });
  return {
    send: (request) => started.send(request),
    baseUrl: 'http://embedded.invalid',
    apiKey: API_KEY,
    prepareWrites,
    close: async () => {
      try {
        await started.keep();
      } finally {
        await lock?.release();
      }
    },
  };
}

async function start({ file, host, versionHeader }: EmbeddedOptions, lock?: FileLock) {
  const keeper = await openSnapshotStore(file === '' ? {} : { snapshot: file }, host, lock);
  const server = await withServerInput(keeper.source, () =>
    createServer({
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      now: host.now,
      versionHeader,
      ...(keeper.seed !== undefined && { seed: keeper.seed }),
    }),
  );
  // A file that cannot be written is reported at the end.
  const { send } = keeper.writeThrough(server, () => undefined);
  return { send, keep: () => keeper.keep(server) };
}

/** Keeps the data of a server in its snapshot file: when it begins with a seed, before each change is answered, and at the end. */
interface SnapshotStore {
  /** What the server starts with: the snapshot, else the seed. */
  readonly seed: ServerSeed | undefined;
  /** Where that came from, for messages. */
  readonly source: string;
  /** The same server, whose answer to a change says that it is kept. A file that cannot be written is told of, and tried again. */
  readonly writeThrough: (server: Server, onFault: (error: unknown) => void) => Server;
  /** Rejects when the file cannot be written. Nothing happens when there is nothing to keep. */
  readonly keep: (server: Server) => Promise<void>;
}

/** The files that a keeper is made of, as they were given. */
interface KeeperFiles {
  readonly seed?: string;
  readonly snapshot?: string;
}

/** Reads what a server starts with; `lock` is of the snapshot. A start from a seed is saved before the first change, because ids were made up for it. */
export async function openSnapshotStore(files: KeeperFiles, context: Host, lock?: FileLock): Promise<SnapshotStore> {
  const { readSnapshotFile, writeSnapshotFile } = await import('../server/index.ts');
  const path = files.snapshot === undefined ? undefined : resolve(context.cwd, files.snapshot);
  if (path !== undefined) refuseOfAnother(path, context.uid);
  const kept = path === undefined ? undefined : await withServerInput('The snapshot', () => readSnapshotFile(path));
  const seed = kept ?? (files.seed === undefined ? undefined : await readSeed(files.seed, context));
  const source = (kept === undefined ? files.seed : files.snapshot) ?? 'The server';
  if (path === undefined) return { seed, source, writeThrough: (server) => server, keep: async () => undefined };
  const write = async (server: Server) => {
    if (lock?.isLost() === true) refuseLost(files.snapshot ?? path);
    await writeSnapshotFile(path, server.snapshot()).catch(refuseSnapshot);
  };
  return { seed, source, ...createWriting(write, kept === undefined && seed !== undefined) };
}

/** Who made the file decides what the server holds; who made the lock, that it is never released. */
function refuseOfAnother(path: string, uid: Host['uid']): void {
  const foreign = findMadeByAnother(path, uid) ?? findMadeByAnother(toLockPath(path), uid);
  if (foreign === undefined) return;
  throw new StackError(`The snapshot cannot be kept in ${path}: ${foreign} belongs to another user.`, {
    reason: 'invalid',
    remedy: 'Name a file in a folder of your own. Nothing was written.',
  });
}

/** Changes that come while the file is written are written together, right after. */
function createWriting(
  write: (server: Server) => Promise<void>,
  isSeeded: boolean,
): Pick<SnapshotStore, 'writeThrough' | 'keep'> {
  let isChanged = isSeeded;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const start = async (server: Server): Promise<void> => {
    next = undefined;
    if (!isChanged) return;
    isChanged = false;
    await write(server).catch((error: unknown) => {
      isChanged = true;
      throw error;
    });
  };
  const keep = (server: Server): Promise<void> => {
    next ??= running.then(NOTHING, NOTHING).then(() => {
      running = start(server);
      return running;
    });
    return next;
  };
  const writeThrough: SnapshotStore['writeThrough'] = (server, onFault) =>
    server.behind((send) => async (request) => {
      const response = await send(request);
      if (request.method === 'GET' || !isSuccess(response)) return response;
      isChanged = true;
      await keep(server).catch(onFault);
      return response;
    });
  return { writeThrough, keep };
}

const NOTHING = (): void => undefined;

function refuseLost(file: string): never {
  throw new StackError(`The snapshot ${file} was not written: another process has taken it over.`, {
    reason: 'failed',
    remedy:
      'This process did not respond for a while, as when the machine sleeps, and so counted as ended. Run the command again.',
  });
}

function refuseSnapshot(error: unknown): never {
  const why = describeError(error);
  throw new StackError(`The snapshot cannot be written: ${why}`, { reason: 'failed', cause: error });
}

async function readSeed(file: string, context: Host): Promise<ServerSeed> {
  const { parseServerSeed } = await import('../server/index.ts');
  const text = await readServerFile(file, context);
  return withServerInput(file, () => parseServerSeed(text));
}

const PAUSE_MS = 250;
const MAX_TRIES = 240;
const LIMIT_S = (PAUSE_MS * MAX_TRIES) / 1000;

/** Two processes that keep their data in one file would each write over what the other has kept. The second one waits for the first, and says so. */
export async function lockSnapshot(
  path: string,
  shown: string,
  { sleep, onFileInUse, uid }: Pick<Host, 'sleep' | 'onFileInUse' | 'uid'>,
): Promise<FileLock> {
  refuseOfAnother(path, uid);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = await tryLockFile(path).catch((error: unknown) => refuse(shown, error));
    if (found !== undefined) return found;
    if (tries === 0) onFileInUse?.(shown, LIMIT_S);
    await sleep(PAUSE_MS);
  }
  throw new StackError(`Another process uses ${shown}, and did not end within ${LIMIT_S} seconds.`, {
    reason: 'failed',
    remedy: 'Nothing was written. Run the command again when that process has ended, or use another file.',
  });
}

function refuse(shown: string, error: unknown): never {
  throw new StackError(`${shown} cannot be locked: ${describeError(error)}`, { reason: 'failed', cause: error });
}

/** Runs a task on input of the bundled server. The server's `RangeError` becomes an error of the user's input. */
export async function withServerInput<T>(what: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StackError(`${what}: ${error.message}`, { reason: 'invalid', cause: error });
  }
}

/** The text of a file that the bundled server is given. One that cannot be read is the user's to mend. */
export async function readServerFile(file: string, { cwd }: Pick<Host, 'cwd'>): Promise<string> {
  try {
    return readInput(resolve(cwd, file)).toString('utf8');
  } catch (error) {
    const why = describeError(error);
    throw new StackError(`${file} cannot be read: ${why}`, { reason: 'invalid', cause: error });
  }
}
