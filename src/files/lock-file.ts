import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A lock on a file. It excludes only processes that lock the file too. */
export interface FileLock {
  /** Whether another process may have taken over the lock: it was not renewed for STALE_MS, such as during sleep. */
  readonly isLost: () => boolean;
  readonly release: () => Promise<void>;
}

/**
 * A process renews its lock every UPDATE_MS. A lock that was not renewed for STALE_MS counts as abandoned: ten missed
 * renewals, so that a process on a busy machine keeps its lock. After a process was killed, the next one waits at most
 * these 20 s.
 */
const UPDATE_MS = 2000;
const STALE_MS = 20_000;

export function toLockPath(file: string): string {
  return `${file}.lock`;
}

/**
 * Locks a file by creating the folder `FILE.lock` next to it. The file need not exist. A lock that was not renewed for
 * STALE_MS is taken over. `undefined` if another process has the lock.
 */
export async function tryLockFile(file: string): Promise<FileLock | undefined> {
  let isLost = false;
  const onCompromised = (): void => {
    isLost = true;
  };
  try {
    const path = await resolveRealPath(file);
    // Imported only here, because the module installs signal handlers, which commands that write nothing do not need.
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

/** Resolves symbolic links, because all names of a file must lead to the same lock. The file need not exist. */
async function resolveRealPath(file: string): Promise<string> {
  return realpath(file).catch(async () => join(await realpath(dirname(file)), basename(file)));
}
