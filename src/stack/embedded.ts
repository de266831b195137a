import { resolve } from 'node:path';
import { findFileReplaceableByOthers } from '../files/owners.ts';
import { readInput } from '../files/read-input.ts';
import { type FileLock, toLockPath, tryLockFile } from '../files/write-file.ts';
import { getErrorMessage } from '../model/errors.ts';
import { type HttpRequest, isSuccess } from '../model/http.ts';
import { toHarmlessJson } from '../model/job-commands.ts';
import { computeUtf8ByteLength, measureJson } from '../model/json.ts';
import { parseApiKey } from '../server/admission.ts';
import { RequestError } from '../server/failure.ts';
import { parseServerSeed, readSnapshotFile, writeSnapshotFile } from '../server/index.ts';
import { renderSnapshot, type ServerSeed, type SnapshotRoom } from '../server/seed.ts';
import { createServer, type Server } from '../server/server.ts';
import { type Host, type ServiceConnection, StackError } from './host.ts';

/** Not a secret: a process that can start the server has access to all of its data anyway. */
const API_KEY = 'embedded';

interface EmbeddedOptions {
  readonly file: string;
  readonly host: Host;
  readonly versionHeader: string;
}

/**
 * Opens the bundled server, which saves its data in `file`. If `file` is empty, the server starts without data and
 * saves nothing. Reading needs no lock, because the file is always replaced as a whole.
 */
export async function openEmbeddedServer(options: EmbeddedOptions): Promise<ServiceConnection> {
  const { file, host } = options;
  let lock: FileLock | undefined;
  let started = await startEmbeddedServer(options);
  let prepared: Promise<void> | undefined;
  // Reads the data file again, because another process may have written it.
  const lockAndStart = async (): Promise<void> => {
    if (file === '') return;
    lock = await waitForSnapshotLock(resolve(host.cwd, file), file, host);
    started = await startEmbeddedServer(options, lock);
  };
  return {
    send: (request) => started.send(request),
    baseUrl: 'http://embedded.invalid',
    apiKey: API_KEY,
    warning: undefined,
    prepareWrites: () => {
      prepared ??= lockAndStart();
      return prepared;
    },
    close: async () => {
      try {
        await started.keep();
      } finally {
        await lock?.release();
      }
    },
  };
}

async function startEmbeddedServer({ file, host, versionHeader }: EmbeddedOptions, lock?: FileLock) {
  const keeper = await openServerFiles(file === '' ? {} : { snapshot: file }, host, lock);
  const server = await withServerFileErrors(keeper.source, () =>
    createServer({
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      now: host.now,
      versionHeader,
      seed: keeper.seed,
    }),
  );
  // Ignore a failed write here: `keep` writes again at the end, and rejects if that fails too.
  const { send } = keeper.writeThrough(server, () => undefined);
  return { send, keep: () => keeper.keep(server) };
}

/** Saves the data of a server in its snapshot file: before the server responds to a change, and at the end. */
interface SnapshotStore {
  /** The data that the server starts with: the snapshot if there is one, else the seed. */
  readonly seed: ServerSeed | undefined;
  /** The name of the file that `seed` was read from, for messages. `The server` if there is no file. */
  readonly source: string;
  /**
   * Wraps the server so that it responds to a change only after the file is written. If writing fails, calls `onFault`,
   * and tries again at the next change or at the end.
   */
  readonly writeThrough: (server: Server, onFault: (error: unknown) => void) => Server;
  /** Writes the file if there are unsaved changes. Rejects if that fails. */
  readonly keep: (server: Server) => Promise<void>;
}

/** Paths of the server's files, as the user gave them. */
interface ServerFiles {
  readonly seed?: string;
  readonly snapshot?: string;
}

/**
 * Reads the data that a server starts with. `lock`: the lock of the snapshot file, if this process has it. Data from a
 * seed is saved even if nothing changes, because the seed's resources got new ids.
 */
export async function openServerFiles(files: ServerFiles, context: Host, lock?: FileLock): Promise<SnapshotStore> {
  const path = files.snapshot === undefined ? undefined : resolve(context.cwd, files.snapshot);
  if (path !== undefined) refuseOtherOwner(path, context.uid);
  const kept =
    path === undefined ? undefined : await withServerFileErrors('The snapshot', () => readSnapshotFile(path, context));
  const seed = kept ?? (files.seed === undefined ? undefined : await readSeed(files.seed, context));
  const source = (kept === undefined ? files.seed : files.snapshot) ?? 'The server';
  if (path === undefined) return { seed, source, writeThrough: (server) => server, keep: async () => undefined };
  const write = async (server: Server) => {
    if (lock?.isLost() === true) refuseLostLock(files.snapshot ?? path);
    return writeSnapshotFile(path, server.snapshot(), context).catch(refuseSnapshot);
  };
  return { seed, source, ...createSnapshotWriter(write, kept === undefined && seed !== undefined) };
}

/**
 * Throws if another user owns the snapshot file or its lock file. The owner of the snapshot could change the data, and
 * the owner of the lock file could keep the lock forever.
 */
function refuseOtherOwner(path: string, uid: Host['uid']): void {
  const foreign = findFileReplaceableByOthers(path, uid) ?? findFileReplaceableByOthers(toLockPath(path), uid);
  if (foreign === undefined) return;
  throw new StackError(`The snapshot cannot be kept in ${path}: ${foreign} belongs to another user.`, {
    reason: 'invalid',
    remedy: 'Name a file in a folder of your own. Nothing was written.',
  });
}

/**
 * Creates the functions that write a snapshot. Changes that arrive during a write are written together afterwards. A
 * change for which the file has no room is refused before it is made.
 */
function createSnapshotWriter(
  write: (server: Server) => Promise<SnapshotRoom>,
  isSeeded: boolean,
): Pick<SnapshotStore, 'writeThrough' | 'keep'> {
  const room = new AccountRoom();
  let isChanged = isSeeded;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const start = async (server: Server): Promise<void> => {
    next = undefined;
    if (!isChanged) return;
    isChanged = false;
    await room
      .measure(() => write(server))
      .catch((error: unknown) => {
        isChanged = true;
        throw error;
      });
  };
  const keep = (server: Server): Promise<void> => {
    next ??= running.then(IGNORE, IGNORE).then(() => {
      running = start(server);
      return running;
    });
    return next;
  };
  const writeThrough: SnapshotStore['writeThrough'] = (server, onFault) =>
    server.behind((send) => async (request) => {
      const response = await room.use(server, request, () => send(request));
      if (response === undefined)
        return server.reject(createFullError(), { ...request, path: new URL(request.url).pathname });
      if (request.method === 'GET' || !isSuccess(response)) return response;
      isChanged = true;
      await keep(server).catch(onFault);
      return response;
    });
  return { writeThrough, keep };
}

function createFullError(): RequestError {
  return new RequestError(
    'There is no room for this: the file of the account would be larger than what can be read again',
    { code: 'account_full' },
  );
}

/**
 * How much the snapshot of an account may still grow. A request counts with the most that it can add, until the next
 * snapshot shows what it added. Before one is refused, what the server has by then is measured.
 */
class AccountRoom {
  #room: SnapshotRoom | undefined;
  /** What was taken since `#room` was measured. */
  #taken = NOTHING;
  /** The part of it whose requests are not answered yet. */
  #open = NOTHING;
  /** Counts the measurements before a refusal: a snapshot that is older than one says nothing new. */
  #measured = 0;

  /** Runs a request, if there is room for it. Resolves with `undefined` if there is none. */
  async use<T>(server: Server, { method, body }: HttpRequest, run: () => Promise<T>): Promise<T | undefined> {
    if (method === 'GET' || method === 'DELETE') return run();
    const most = computeMostAdded(typeof body === 'string' ? body : Buffer.from(body ?? '').toString('utf8'));
    if (!this.#fits(server, most)) return undefined;
    this.#taken = addRoom(this.#taken, most);
    this.#open = addRoom(this.#open, most);
    try {
      return await run();
    } finally {
      this.#open = addRoom(this.#open, most, -1);
    }
  }

  #fits(server: Server, most: SnapshotRoom): boolean {
    if (this.#room !== undefined && isWithin(addRoom(this.#taken, most), this.#room)) return true;
    this.#room = renderSnapshot(server.snapshot()).room;
    this.#taken = this.#open;
    this.#measured += 1;
    return isWithin(addRoom(this.#taken, most), this.#room);
  }

  /** Writes a snapshot. What was taken before counts until it is written. */
  async measure(write: () => Promise<SnapshotRoom>): Promise<void> {
    // What is not answered yet may not be in the snapshot.
    const [before, measured] = [addRoom(this.#taken, this.#open, -1), this.#measured];
    const room = await write();
    if (measured !== this.#measured) return;
    this.#room = room;
    this.#taken = addRoom(this.#taken, before, -1);
  }
}

/** The most that a request can add to a snapshot. What the server adds, such as a certificate, is in no request. */
function computeMostAdded(body: string): SnapshotRoom {
  return {
    bytes: 2 * computeUtf8ByteLength(toHarmlessJson(body)) + 16_384,
    values: measureJson(body).values + 100,
    members: 1,
  };
}

function isWithin(taken: SnapshotRoom, { bytes, values, members }: SnapshotRoom): boolean {
  return taken.bytes <= bytes && taken.values <= values && taken.members <= members;
}

const NOTHING: SnapshotRoom = { bytes: 0, values: 0, members: 0 };

function addRoom(left: SnapshotRoom, right: SnapshotRoom, sign: 1 | -1 = 1): SnapshotRoom {
  return {
    bytes: left.bytes + sign * right.bytes,
    values: left.values + sign * right.values,
    members: left.members + sign * right.members,
  };
}

const IGNORE = (): void => undefined;

function refuseLostLock(file: string): never {
  throw new StackError(`The snapshot ${file} was not written: another process uses it now.`, {
    reason: 'failed',
    remedy:
      'This process was paused for a while, perhaps because the machine was asleep, so the other process treated it as ended. Run the command again.',
  });
}

function refuseSnapshot(error: unknown): never {
  const why = getErrorMessage(error);
  throw new StackError(`The snapshot cannot be written: ${why}`, { reason: 'failed', cause: error });
}

async function readSeed(file: string, context: Host): Promise<ServerSeed> {
  const text = await readServerFileText(file, context);
  return withServerFileErrors(file, () => parseServerSeed(text));
}

/** Waits up to a minute: most commands on the bundled server end sooner. */
const PAUSE_MS = 250;
const MAX_TRIES = 240;
const LIMIT_S = (PAUSE_MS * MAX_TRIES) / 1000;

/**
 * Locks a snapshot file, because two processes would overwrite each other's data. If another process has the lock,
 * calls `onFileInUse` and waits.
 */
export async function waitForSnapshotLock(
  path: string,
  shown: string,
  { sleep, onFileInUse, ...boundary }: Pick<Host, 'sleep' | 'onFileInUse' | 'cwd' | 'root' | 'uid'>,
): Promise<FileLock> {
  refuseOtherOwner(path, boundary.uid);
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const found = await tryLockFile(path, boundary).catch((error: unknown) => refuseLock(shown, error));
    if (found !== undefined) return found;
    if (tries === 0) onFileInUse?.(shown, LIMIT_S);
    await sleep(PAUSE_MS);
  }
  throw new StackError(`Another process uses ${shown}, and did not end within ${LIMIT_S} seconds.`, {
    reason: 'failed',
    remedy: 'Nothing was written. Run the command again when that process has ended, or use another file.',
  });
}

function refuseLock(shown: string, error: unknown): never {
  if (error instanceof Error && 'code' in error && error.code === 'ENOENT')
    throw new StackError(`The folder of the data file ${shown} does not exist.`, {
      reason: 'failed',
      remedy: 'Nothing was written. Create the folder, and run the command again.',
      cause: error,
    });
  throw new StackError(`${shown} cannot be locked: ${getErrorMessage(error)}`, { reason: 'failed', cause: error });
}

/**
 * Runs a task on a file of the bundled server. Converts the server's `RangeError` into a `StackError` that names the
 * file.
 */
export async function withServerFileErrors<T>(what: string, task: () => T | Promise<T>): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StackError(`${what}: ${error.message}`, { reason: 'invalid', cause: error });
  }
}

/** Reads a file for the bundled server. Throws `StackError` if that fails. */
export async function readServerFileText(file: string, { cwd }: Pick<Host, 'cwd'>): Promise<string> {
  try {
    return readInput(resolve(cwd, file)).toString('utf8');
  } catch (error) {
    const why = getErrorMessage(error);
    throw new StackError(`${file} cannot be read: ${why}`, { reason: 'invalid', cause: error });
  }
}
