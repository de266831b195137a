import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A lock on a file. It excludes other processes that lock the file before they write it. */
export interface FileLock {
  /**
   * Whether another process took the lock over, because this one did not renew it for `STALE_MS`, such as when the
   * machine slept.
   */
  readonly isLost: () => boolean;
  readonly release: () => Promise<void>;
}

/**
 * The process renews its lock every UPDATE_MS. After STALE_MS without renewal, other processes assume that it was
 * killed.
 */
const UPDATE_MS = 2000;
const STALE_MS = 20_000;

export function toLockPath(file: string): string {
  return `${file}.lock`;
}

/**
 * Locks a file, which need not exist, with a folder next to it: `FILE.lock`. Takes over the lock of a killed process.
 * `undefined` if another process has the lock.
 */
export async function tryLockFile(file: string): Promise<FileLock | undefined> {
  let isLost = false;
  const onCompromised = (): void => {
    isLost = true;
  };
  try {
    const path = await resolveRealPath(file);
    // Loaded only when a lock is taken: the module handles signals that end the process, which runs that only read do
    // not need.
    const { lock } = await import('proper-lockfile');
    const unlock = await lock(path, {
      lockfilePath: toLockPath(path),
      realpath: false,
      update: UPDATE_MS,
      stale: STALE_MS,
      onCompromised,
    });
    return { isLost: () => isLost, release: async () => (isLost ? undefined : unlock()) };
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ELOCKED') return undefined;
    throw error;
  }
}

/** Returns the same path for every name of a file, also if the file does not exist. */
async function resolveRealPath(file: string): Promise<string> {
  return realpath(file).catch(async () => join(await realpath(dirname(file)), basename(file)));
}
