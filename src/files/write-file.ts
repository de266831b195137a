import fs, { constants } from 'node:fs';
import {
  type FileHandle,
  lstat,
  mkdir,
  mkdtemp,
  open,
  readdir,
  readlink,
  realpath,
  rename,
  rm,
  rmdir,
  stat,
  unlink,
} from 'node:fs/promises';
import { hostname } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { getErrorMessage } from '../model/errors.ts';
import { hashSha256 } from '../model/json.ts';
import { isDevice, resolveWritePath, type WriteBoundary } from './boundary.ts';
import { findTemporaryBase, toAsideName, toTemporaryName } from './file-names.ts';
import { createFileError, isFileError, isOwnFileError } from './read-input.ts';
import { isKeptBySticky } from './trusted-users.ts';

/**
 * Everything that edgewise writes is written here; no other file of src opens a file for writing.
 *
 * | Writer | What | Who names it | How |
 * | --- | --- | --- | --- |
 * | `cli/output/output-files.ts` | reports, plan files, plans of a folder | user | replaced |
 * | `cli/reconcile/plan-folder.ts` | a folder of plans, and the plans of an earlier run | user | created, removed |
 * | `cli/output/new-files.ts` | `init`, `export -o`, the schema for editors | user | created, or replaced with `--force` |
 * | `cli/output/edited-files.ts` | manifests that `accept` edits, which git may track | user | replaced, or removed without documents |
 * | `apply/token-sinks.ts` | token folder | manifests or user | replaced |
 * | `apply/token-sinks.ts` | rescued tokens | edgewise | in a new private folder |
 * | `apply/token-leftovers.ts` | what killed runs left in token folders | manifests or user | removed |
 * | `apply/run-command.ts` | input and errors of a command | edgewise | without a name |
 * | `server/snapshot-file.ts` | data of `embedded:FILE` and `serve --snapshot` | manifests or user | replaced |
 * | `stack/embedded.ts` | changes of that data | the same | appended |
 * | `stack/embedded.ts` | the lock of that file | edgewise | created |
 *
 * Before each write the path is checked again: nothing follows a link that a checkout may contain, writes outside of
 * the boundary, or writes what another user could replace. For such a path, a function rejects with an error of
 * `createFileError`, otherwise with the errors of the system.
 */

/** Describes why a file could not be written: `it is a symbolic link`, or the error of the system. */
export function describeWriteError(error: unknown): string {
  if (isOwnFileError(error)) return error.message;
  // After a comma, the message of Node names resolved paths that the user did not write.
  return getErrorMessage(error).split(',')[0] ?? '';
}

/** Returns the absolute path to write, without symbolic links. Throws an error of `createFileError`. */
export function checkWritePath(path: string, boundary: WriteBoundary, type?: 'folder'): string {
  const place = resolveWritePath(path, boundary, type);
  if ('finding' in place) throw createFileError(place.finding);
  return place.real;
}

export interface WriteOptions extends WriteBoundary {
  /** Permissions of a new file or folder. */
  readonly mode: number;
  /** Whether an existing file that is replaced keeps its permissions and its group instead. Default: false. */
  readonly keepsPermissions?: boolean;
  /** The name from which those of temporary files are made. The next write with it removes abandoned ones. Default: that of the file. */
  readonly temporaryName?: string | undefined;
}

/** Creates a folder and the missing folders above it. Returns its real path. */
export async function createFolder(path: string, options: WriteOptions): Promise<string> {
  const folder = checkWritePath(path, options, 'folder');
  await createMissingFolders(folder, options.mode);
  if (!(await stat(folder)).isDirectory()) throw createFileError('is a file, not a folder');
  return folder;
}

async function createMissingFolders(folder: string, mode: number): Promise<void> {
  if (await exists(folder)) return;
  await createMissingFolders(dirname(folder), mode);
  try {
    await inFolderOf(folder, (path) => mkdir(path, { mode }));
  } catch (error) {
    // Another process created it at the same moment.
    if (!(isFileError(error) && error.code === 'EEXIST')) throw error;
  }
}

/**
 * Calls `act` with a path of a file that stays in its folder, even if the folder is replaced by a link in the meantime:
 * on Linux, the path leads through an open handle of the folder. `file`: a path without links. Rejects with
 * an error of `createFileError` if the folder is a link by now.
 */
async function inFolderOf<T>(file: string, act: (path: string) => Promise<T>): Promise<T> {
  const folder = dirname(file);
  const handle = await openFolder(folder);
  if (handle === undefined) return act(file);
  const fixed = `/proc/self/fd/${handle.fd}`;
  try {
    const real = await readlink(fixed);
    if (real !== folder) throw createFileError('became a symbolic link while it was written');
    return await act(join(fixed, basename(file)));
  } catch (error) {
    if (error instanceof Error) error.message = error.message.replaceAll(fixed, folder);
    throw error;
  } finally {
    await handle.close();
  }
}

/** `undefined` if the system has no paths for open folders, or does not let this user read the folder. */
async function openFolder(folder: string): Promise<FileHandle | undefined> {
  if (!(await exists('/proc/self/fd'))) return undefined;
  try {
    return await open(folder, constants.O_RDONLY | constants.O_DIRECTORY | NO_FOLLOW);
  } catch (error) {
    if (isFileError(error) && error.code === 'EACCES') return undefined;
    throw error;
  }
}

/** Windows has no such flag. */
const NO_FOLLOW = constants.O_NOFOLLOW ?? 0;

/** Replaces a file atomically: a reader sees either the old or the new text, even after a crash. */
export async function replaceFile(path: string, text: string | Iterable<string>, options: WriteOptions): Promise<void> {
  await inFolderOf(checkWritePath(path, options), (file) =>
    withTemporaryFile(file, options, async (temporary, handle) => {
      if (options.keepsPermissions === true) await copyPermissions(file, handle);
      await handle.writeFile(text);
      await handle.sync();
      await removeLeftovers(toTemporaryBase(file, options), (await handle.stat()).mtimeMs);
      await rename(temporary, file);
    }),
  );
}

/**
 * Adds a text at the end of a file that has `size` bytes. Returns false, and writes nothing, if the file does not exist or
 * has another size, because another program wrote it. Resolves when the system has the text: the end of this process
 * cannot lose it.
 */
export async function appendToFile(
  path: string,
  text: string,
  { size, ...boundary }: WriteBoundary & { readonly size: number },
): Promise<boolean> {
  return inFolderOf(checkWritePath(path, boundary), async (file) => {
    const handle = await open(file, constants.O_WRONLY | constants.O_APPEND | NO_FOLLOW).catch(ignoreMissing);
    if (handle === undefined) return false;
    try {
      const found = await handle.stat();
      if (!found.isFile() || found.size !== size) return false;
      await handle.writeFile(text);
      return true;
    } finally {
      await handle.close();
    }
  });
}

function ignoreMissing(error: unknown): undefined {
  if (!(isFileError(error) && error.code === 'ENOENT')) throw error;
}

/**
 * Gives an open file the permissions and the group of an existing one, so that who could read it still can. Rejects if
 * this user cannot set a group that may do more than everybody.
 */
async function copyPermissions(file: string, handle: FileHandle): Promise<void> {
  const [found, { gid }] = await Promise.all([stat(file).catch(() => undefined), handle.stat()]);
  if (found === undefined) return;
  try {
    if (found.gid !== gid) await handle.chown(-1, found.gid);
  } catch (error) {
    const isGroupUsed = ((found.mode >> 3) & 0o7 & ~found.mode) !== 0;
    if (isGroupUsed) throw error;
  }
  await handle.chmod(found.mode & 0o777);
}

/** Rejects if a file cannot be replaced now. As a test, creates a temporary file next to it and removes that file. */
export async function checkReplaceable(path: string, options: WriteOptions): Promise<void> {
  await inFolderOf(checkWritePath(path, options), async (file) => {
    const [found, folder] = await Promise.all([lstat(file).catch(() => undefined), stat(dirname(file))]);
    if (found?.isDirectory() === true) throw createFileError('is a folder');
    if (found !== undefined && isKeptBySticky(found, folder, options.uid))
      throw createFileError('belongs to another user');
    await withTemporaryFile(file, options, async (_, handle) =>
      removeLeftovers(toTemporaryBase(file, options), (await handle.stat()).mtimeMs),
    );
  });
}

/** The path of a file next to `file`, from whose name the names of temporary files are made. */
function toTemporaryBase(file: string, { temporaryName = basename(file) }: WriteOptions): string {
  return join(dirname(file), temporaryName);
}

/** Creates a file next to `file`, with a hidden name and an extension that is not that of a manifest. */
async function withTemporaryFile(
  file: string,
  options: WriteOptions,
  act: (temporary: string, handle: FileHandle) => Promise<void>,
): Promise<void> {
  const base = toTemporaryBase(file, options);
  const temporary = join(dirname(base), toTemporaryName(basename(base), crypto.randomUUID()));
  const handle = await open(temporary, 'wx', options.mode);
  try {
    await act(temporary, handle);
  } finally {
    await handle.close();
    await rm(temporary, { force: true });
  }
}

/**
 * Renames an existing file to `FILE.1`, or to the next number that is free. Returns the new name; `undefined` if there
 * is no file.
 */
export async function keepAside(path: string, boundary: WriteBoundary): Promise<string | undefined> {
  return inFolderOf(checkWritePath(path, boundary), async (file) => {
    if (!(await exists(file))) return undefined;
    let number = 1;
    while (await exists(toAsideName(file, number))) number += 1;
    await rename(file, toAsideName(file, number));
    return toAsideName(basename(file), number);
  });
}

/** Whether a path exists. A symbolic link exists even if its target does not. */
export async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (isFileError(error) && (error.code === 'ENOENT' || error.code === 'ENOTDIR')) return false;
    throw error;
  }
}

/** Removes a file. Does nothing if there is none. */
export async function removeFile(path: string, boundary: WriteBoundary): Promise<void> {
  await inFolderOf(checkWritePath(path, boundary), (file) => rm(file, { force: true }));
}

/**
 * Writes to a device or a pipe. Another user may have replaced the path by a file or a link in the meantime, so this
 * neither creates nor truncates a file, and follows only the links of system devices.
 */
export async function writeToDeviceOrPipe(
  path: string,
  text: Iterable<string>,
  boundary: WriteBoundary,
): Promise<void> {
  const file = checkWritePath(path, boundary);
  const follow = isDevice(file) ? 0 : NO_FOLLOW;
  const handle = await open(file, constants.O_WRONLY | follow);
  try {
    if ((await handle.stat()).isFile())
      throw new Error('it was a device or a pipe, and was replaced by a regular file');
    await handle.writeFile(text);
  } finally {
    await handle.close();
  }
}

/** Creates a folder that only this user can enter, below `parent`. Returns its real path. */
export async function createPrivateFolder(parent: string, prefix: string): Promise<string> {
  return realpath(await mkdtemp(join(parent, prefix)));
}

/** Rejects if a file cannot be written to a private folder below `parent` now. Leaves nothing. */
export async function checkPrivateFolder(parent: string, prefix: string): Promise<void> {
  const folder = await createPrivateFolder(parent, prefix);
  try {
    const handle = await open(join(folder, 'probe'), 'wx', 0o600);
    try {
      await handle.writeFile('\n');
      await handle.sync();
    } finally {
      await handle.close();
    }
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

/**
 * A file without a name. The system deletes it when its last handle is closed, even after a crash. A program whose
 * standard input is such a handle can open it as `/dev/stdin`.
 */
export interface UnlinkedFile {
  readonly reader: FileHandle;
  /** Opened in append mode. */
  readonly writer: FileHandle;
  readonly close: () => Promise<void>;
}

/** On Linux, the files in this folder are kept in memory. */
const MEMORY_FOLDER = '/dev/shm';

/**
 * Creates an empty file that only its user can read, in memory if the system allows that, otherwise in `folder`.
 * Removes the name of the file before anything is written.
 */
export async function openUnlinkedFile(folder: string): Promise<UnlinkedFile> {
  try {
    return await openUnlinkedFileIn(MEMORY_FOLDER);
  } catch {
    return openUnlinkedFileIn(folder);
  }
}

async function openUnlinkedFileIn(folder: string): Promise<UnlinkedFile> {
  const path = join(folder, `edgewise-${crypto.randomUUID()}`);
  const writer = await open(path, 'ax', 0o600);
  try {
    const reader = await open(path, 'r');
    return { reader, writer, close: async () => void (await Promise.all([reader.close(), writer.close()])) };
  } catch (error) {
    await writer.close();
    throw error;
  } finally {
    await rm(path, { force: true });
  }
}

/**
 * A temporary file older than this counts as abandoned: the process that created it no longer runs. A write takes
 * milliseconds; a minute allows for slow network file systems.
 */
const ABANDONED_MS = 60_000;

/** Removes the temporary files that killed runs left next to a file, unless the file must not be written. */
export async function removeStaleTempFiles(path: string, boundary: WriteBoundary): Promise<void> {
  const place = resolveWritePath(path, boundary);
  if ('real' in place) await removeLeftovers(place.real, Date.now());
}

/**
 * Removes abandoned temporary files of `file`, because they may contain a secret. `now`: the time of the file system,
 * which can differ from the clock of this machine. Ignores errors.
 */
async function removeLeftovers(file: string, now: number): Promise<void> {
  const folder = dirname(file);
  const names = await readdir(folder).catch((): string[] => []);
  const temporaries = names.filter((name) => findTemporaryBase(name) === basename(file));
  await Promise.allSettled(temporaries.map((name) => removeIfAbandoned(join(folder, name), now)));
}

/** Removes a temporary file if it is abandoned. Returns whether it was. A link is neither followed nor removed. */
async function removeIfAbandoned(file: string, now: number): Promise<boolean> {
  const found = await lstat(file);
  if (!found.isFile() || now - found.mtimeMs <= ABANDONED_MS) return false;
  await rm(file, { force: true });
  return true;
}

/** The abandoned temporary files of a folder, by their names. `kept`: those that could not be removed, with the reason. */
export interface AbandonedFiles {
  readonly removed: readonly string[];
  readonly kept: ReadonlyMap<string, string>;
}

/**
 * Removes the temporary files that killed runs left in a folder, of the files whose names `isOwn` accepts. The age of a
 * file is measured by the clock of the file system: a probe is written beside it, but only if there is a file to judge.
 * Finds nothing in a folder that does not exist or must not be written.
 */
export async function removeAbandonedFiles(
  folder: string,
  isOwn: (name: string) => boolean,
  boundary: WriteBoundary,
): Promise<AbandonedFiles> {
  const removed: string[] = [];
  const kept = new Map<string, string>();
  const place = resolveWritePath(join(folder, 'probe'), boundary);
  if ('finding' in place || !(await exists(dirname(place.real)))) return { removed, kept };
  await inFolderOf(place.real, async (probe) => {
    const around = dirname(probe);
    const names = (await readdir(around)).filter((name) => isOwn(findTemporaryBase(name) ?? ''));
    const files = await Promise.all(names.map(async (name) => ((await isFile(join(around, name))) ? [name] : [])));
    if (files.flat().length === 0) return;
    const now = await readFileSystemTime(probe, boundary);
    for (const name of files.flat().sort())
      try {
        if (await removeIfAbandoned(join(around, name), now)) removed.push(name);
      } catch (error) {
        kept.set(name, describeWriteError(error));
      }
  });
  return { removed, kept };
}

async function isFile(path: string): Promise<boolean> {
  return (await lstat(path)).isFile();
}

/** The time of the file system, which can differ from the clock of this machine: that of a file that was just written. */
async function readFileSystemTime(probe: string, boundary: WriteBoundary): Promise<number> {
  let time = 0;
  await withTemporaryFile(probe, { ...boundary, mode: 0o600 }, async (_, handle) => {
    await handle.writeFile('\n');
    await handle.sync();
    time = (await handle.stat()).mtimeMs;
  });
  return time;
}

/** A lock on a file. It excludes only processes that lock the file too. */
export interface FileLock {
  /** Whether another process may have taken over the lock: it was not renewed for STALE_MS, such as during sleep. */
  readonly isLost: () => boolean;
  readonly release: () => Promise<void>;
}

/** The processes that this one can see. */
export interface Processes {
  /** The id of this process. */
  readonly pid: number;
  readonly isRunning: (pid: number) => boolean;
}

/**
 * A process renews its lock every UPDATE_MS. A lock that was not renewed for STALE_MS counts as abandoned: ten missed
 * renewals, so that a process on a busy machine keeps its lock. That is for locks of other machines and containers: on
 * this one, the lock of a process that no longer runs is free at once.
 */
const UPDATE_MS = 2000;
const STALE_MS = 20_000;

export function toLockPath(file: string): string {
  return `${file}.lock`;
}

/**
 * Locks a file by creating the folder `FILE.lock` next to it, with an empty file whose name says which process has the
 * lock. The file need not exist. `undefined` if another process has the lock.
 */
export async function tryLockFile(
  file: string,
  { processes, ...boundary }: WriteBoundary & { readonly processes?: Processes | undefined },
): Promise<FileLock | undefined> {
  let isLost = false;
  const onCompromised = (): void => {
    isLost = true;
  };
  try {
    // All names of a file must lead to the same lock.
    const path = checkWritePath(file, boundary);
    // The folder must exist, so that a wrong path is an error and not a new folder.
    await realpath(dirname(path));
    if (processes !== undefined) await freeLockOfDeadProcess(toLockPath(path), processes);
    // Imported only here, because the module installs signal handlers, which commands that write nothing do not need.
    const { lock } = await import('proper-lockfile');
    const unlock = await lock(path, {
      lockfilePath: toLockPath(path),
      realpath: false,
      update: UPDATE_MS,
      stale: STALE_MS,
      onCompromised,
      fs: createLockFileSystem(processes),
    });
    HELD_LOCKS.add(toLockPath(path));
    const release = async (): Promise<void> => {
      HELD_LOCKS.delete(toLockPath(path));
      if (!isLost) await unlock();
    };
    return { isLost: () => isLost, release };
  } catch (error) {
    if (isFileError(error) && error.code === 'ELOCKED') return undefined;
    throw error;
  }
}

/** The locks of this process. */
const HELD_LOCKS = new Set<string>();

type Done = (error?: Error | null) => void;

/** The file system for locks: a lock is created with the name of its process, and removed with it. */
function createLockFileSystem(processes: Processes | undefined): typeof fs {
  const mkdir = (path: string, done: Done): void => {
    fs.mkdir(path, (failure) => {
      if (failure !== null || processes === undefined) done(failure);
      else fs.writeFile(join(path, toLockName(processes.pid)), '', { mode: 0o600 }, done);
    });
  };
  const rmdir = (path: string, done: Done): void => fs.rm(path, { recursive: true }, done);
  const rmdirSync = (path: string): void => fs.rmSync(path, { recursive: true });
  return { ...fs, mkdir, rmdir, rmdirSync } as typeof fs; // proper-lockfile calls these functions only so
}

/** The name of the file in the lock of a process. Where processes have other ids, such as in containers, it differs. */
function toLockName(pid: number): string {
  const namespace = resolveLink('/proc/self/ns/pid');
  return `${pid}@${hashSha256(`${hostname()} ${namespace}`, 'hex').slice(0, 16)}`;
}

function resolveLink(path: string): string {
  try {
    return fs.readlinkSync(path);
  } catch {
    return '';
  }
}

/** Removes a lock if its process ran on this machine, and no longer does. */
async function freeLockOfDeadProcess(lockPath: string, { pid, isRunning }: Processes): Promise<void> {
  const [name = ''] = await readdir(lockPath).catch((): string[] => []);
  const holder = Number(/^(\d+)@/.exec(name)?.[1] ?? pid);
  const isHeld = holder === pid ? HELD_LOCKS.has(lockPath) : isRunning(holder);
  if (name !== toLockName(holder) || isHeld) return;
  try {
    // Of several processes that find the lock, one removes the file. A lock that is new by then has another one.
    await unlink(join(lockPath, name));
    await rmdir(lockPath);
  } catch (error) {
    if (!(isFileError(error) && (error.code === 'ENOENT' || error.code === 'ENOTEMPTY'))) throw error;
  }
}
