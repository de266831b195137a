import { resolve } from 'node:path';
import { describeFileError, isFileError, readInput, UNREADABLE_FILE_REMEDY } from '../files/read-input.ts';
import { findFileReplaceableByOthers } from '../files/trusted-users.ts';
import { appendToFile, describeWriteError, type FileLock, toLockPath, tryLockFile } from '../files/write-file.ts';
import { getErrorMessage } from '../model/errors.ts';
import { addJsonSize, computeUtf8ByteLength, findJsonLimit, measureJsonSize } from '../model/json.ts';
import { StackError } from '../model/user-errors.ts';
import { parseApiKey } from '../server/admission.ts';
import type { ServerSeed } from '../server/seed.ts';
import { createServer, type Server } from '../server/server.ts';
import {
  parseServerSeed,
  readSnapshotContent,
  renderSnapshotLine,
  type SnapshotLog,
  writeSnapshot,
} from '../server/snapshot-file.ts';
import { sealLines } from '../server/snapshot-seal.ts';
import type { ServerChange } from '../server/store.ts';
import type { Host, ServiceConnection } from './host.ts';

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
  const keeper = await openServerFiles(file === '' ? {} : { snapshot: file }, host, { lock });
  const server = await withServerFileErrors(keeper.source, () =>
    createServer({
      apiKeys: [parseApiKey(`${API_KEY}:admin`)],
      now: host.now,
      versionHeader,
      seed: keeper.seed,
      onChange: keeper.save,
    }),
  );
  return { send: server.send, keep: () => keeper.fold(server.snapshot) };
}

/** Saves the data of a server in its snapshot file. */
interface SnapshotStore {
  /** The data that the server starts with: the snapshot if there is one, else the seed. */
  readonly seed: ServerSeed | undefined;
  /** Whether `seed` is what the writer wrote, so that it needs no check. */
  readonly isSeedTrusted: boolean;
  /** The name of the file that `seed` was read from, for messages. `The server` if there is no file. */
  readonly source: string;
  /** Saves a change. If that fails, the whole data is saved at the next change or at the end. */
  readonly save: (change: ServerChange, snapshot: Server['snapshot']) => Promise<void>;
  /** Writes the file as one snapshot, unless it has all data already. Rejects if that fails. */
  readonly begin: (snapshot: Server['snapshot']) => Promise<void>;
  /** Writes the file as one snapshot, unless it is one. Rejects if that fails. */
  readonly fold: (snapshot: Server['snapshot']) => Promise<void>;
  /** Writes the file as one snapshot in any case. Rejects if that fails. */
  readonly replace: (snapshot: Server['snapshot']) => Promise<void>;
}

/** Paths of the server's files, as the user gave them. */
interface ServerFiles {
  readonly seed?: string;
  readonly snapshot?: string;
}

/** How this process uses the snapshot file. */
interface SnapshotUse {
  /** The lock of the file, if this process has it. */
  readonly lock: FileLock | undefined;
  /**
   * The program and its version, which seal what they write, and trust what they sealed. Absent for a file that a Stack
   * names: it may come with a checkout.
   */
  readonly writer?: string;
}

/**
 * Reads the data that a server starts with. Data from a seed is saved even if nothing changes, because the seed's
 * resources got new ids.
 */
export async function openServerFiles(
  files: ServerFiles,
  context: Host,
  { lock, writer }: SnapshotUse,
): Promise<SnapshotStore> {
  const path = files.snapshot === undefined ? undefined : resolve(context.cwd, files.snapshot);
  if (path !== undefined) refuseOtherUser(path, context.uid);
  const kept =
    path === undefined
      ? undefined
      : await withServerFileErrors(
          'The data file of the bundled server',
          () => readSnapshotContent(path, context, { writer, shown: files.snapshot }),
          'Name another file. One that does not exist is made.',
        );
  const seed = kept?.seed ?? (files.seed === undefined ? undefined : await readSeed(files.seed, context));
  const source = (kept === undefined ? files.seed : files.snapshot) ?? 'The server';
  const start = { seed, source, isSeedTrusted: kept?.isSealed === true };
  if (path === undefined) return { ...start, save: IGNORE, begin: IGNORE, fold: IGNORE, replace: IGNORE };
  const refuseIfLost = (): void => {
    if (lock?.isLost() === true) refuseLostLock(files.snapshot ?? path);
  };
  const isFolded = kept === undefined ? seed === undefined : !kept.hasChanges;
  return { ...start, ...createSnapshotWriter({ path, context, refuseIfLost, writer }, isFolded, kept?.log) };
}

/**
 * Throws if the snapshot file or its lock file belongs to another user. The user of the snapshot could change the data, and
 * the user of the lock file could keep the lock forever.
 */
function refuseOtherUser(path: string, uid: Host['uid']): void {
  const replaceable = findFileReplaceableByOthers(path, uid) ?? findFileReplaceableByOthers(toLockPath(path), uid);
  if (replaceable === undefined) return;
  throw new StackError(`The snapshot cannot be kept in ${path}: ${replaceable} belongs to another user.`, {
    reason: 'invalid',
    remedy: 'Name a file in a folder of your own. Nothing was written.',
  });
}

interface SnapshotPlace {
  readonly path: string;
  readonly context: Host;
  readonly refuseIfLost: () => void;
  readonly writer: string | undefined;
}

/**
 * Creates the functions that write a snapshot file. A change is one line at the end of the file: the system has it before
 * the response is sent, so that killing the process loses no change. Only a snapshot is flushed to the disk as well, since
 * a flush for each change would take longer than all else, and only a failure of the machine makes a difference. Changes
 * that arrive during a write are written together afterwards.
 */
function createSnapshotWriter(
  { path, context, refuseIfLost, writer }: SnapshotPlace,
  isFolded: boolean,
  opened: SnapshotLog | undefined,
): Pick<SnapshotStore, 'save' | 'begin' | 'fold' | 'replace'> {
  /** The lines of changes that are not in the file. */
  let lines: string[] = [];
  /** The file. `undefined`: it must be written as a snapshot before a line is added. */
  let log = opened;
  let isWhole = isFolded;
  let running: Promise<void> = Promise.resolve();
  let next: Promise<void> | undefined;
  const writeWhole = async (snapshot: Server['snapshot']): Promise<void> => {
    [lines, log] = [[], undefined];
    isWhole = false;
    log = await writeSnapshot(path, snapshot(), context, writer);
    isWhole = true;
  };
  const writeLines = async (snapshot: Server['snapshot']): Promise<void> => {
    if (lines.length === 0 && (log !== undefined || isWhole)) return;
    if (log === undefined) return writeWhole(snapshot);
    const sealed = writer === undefined ? lines.map((text) => ({ text, digest: '' })) : sealLines(lines, log.digest);
    const text = sealed.map((line) => `${line.text}\n`).join('');
    const changes = addJsonSize(log.changes, measureJsonSize(text));
    const isAppended =
      findJsonLimit(changes) === undefined &&
      (await appendToFile(path, text, { ...context, size: log.bytes }).catch(() => false));
    if (!isAppended) return writeWhole(snapshot);
    lines = lines.slice(sealed.length);
    log = { bytes: log.bytes + computeUtf8ByteLength(text), changes, digest: sealed.at(-1)?.digest ?? '' };
    isWhole = false;
  };
  const inTurn = (write: () => Promise<void>): Promise<void> => {
    running = running.then(IGNORE, IGNORE).then(() => {
      refuseIfLost();
      return write();
    });
    return running.catch(refuseSnapshot);
  };
  return {
    save: (change, snapshot) => {
      lines.push(renderSnapshotLine(change));
      next ??= inTurn(() => {
        next = undefined;
        return writeLines(snapshot);
      });
      return next;
    },
    begin: (snapshot) => inTurn(() => writeLines(snapshot)),
    replace: (snapshot) => inTurn(() => writeWhole(snapshot)),
    fold: (snapshot) => inTurn(async () => (isWhole && lines.length === 0 ? undefined : writeWhole(snapshot))),
  };
}

const IGNORE = async (): Promise<void> => undefined;

function refuseLostLock(file: string): never {
  throw new StackError(`The snapshot ${file} was not written: another process uses it now.`, {
    reason: 'failed',
    remedy:
      'This process was paused for a while, perhaps because the machine was asleep, so the other process treated it as ended. Run the command again.',
  });
}

function refuseSnapshot(error: unknown): never {
  if (error instanceof StackError) throw error;
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
  { sleep, onFileInUse, ...boundary }: Pick<Host, 'sleep' | 'onFileInUse' | 'cwd' | 'root' | 'uid' | 'processes'>,
): Promise<FileLock> {
  refuseOtherUser(path, boundary.uid);
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
  if (isFileError(error) && error.code === 'ENOENT')
    throw new StackError(`The folder of the data file ${shown} does not exist.`, {
      reason: 'failed',
      remedy: 'Nothing was written. Create the folder, and run the command again.',
      cause: error,
    });
  throw new StackError(`${shown} cannot be locked: ${describeWriteError(error)}`, {
    reason: 'failed',
    remedy: 'Nothing was written. Name a file in a folder that you may write to.',
    cause: error,
  });
}

/**
 * Runs a task on a file of the bundled server. Converts the server's `RangeError` into a `StackError` that names the
 * file.
 */
export async function withServerFileErrors<T>(what: string, task: () => T | Promise<T>, remedy?: string): Promise<T> {
  try {
    return await task();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new StackError(`${what}: ${error.message}`, { reason: 'invalid', remedy, cause: error });
  }
}

/** Reads a file for the bundled server. Throws `StackError` if that fails. */
export async function readServerFileText(file: string, { cwd }: Pick<Host, 'cwd'>): Promise<string> {
  try {
    return readInput(resolve(cwd, file)).toString('utf8');
  } catch (error) {
    throw new StackError(`${file} ${describeFileError(error)}.`, {
      reason: 'invalid',
      remedy: UNREADABLE_FILE_REMEDY,
      cause: error,
    });
  }
}
