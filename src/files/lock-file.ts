import { realpath } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** A file that this process alone writes, as long as all processes ask before. */
export interface FileLock {
  /** Another process has taken it over: this one did not say that it lives for `STALE_MS`, as when the machine slept. */
  readonly isLost: () => boolean;
  readonly release: () => Promise<void>;
}

/** How often the process says that it lives, and how long it may be silent: after that, it counts as killed. */
const UPDATE_MS = 2000;
const STALE_MS = 20_000;

/** The folder that locks a file. */
export function toLockPath(file: string): string {
  return `${file}.lock`;
}

/**
 * Locks a file, which need not exist, by a folder beside it: `FILE.lock`. A lock that a killed process left is taken over. `undefined`: another process
 * has it.
 */
export async function tryLockFile(file: string): Promise<FileLock | undefined> {
  let isLost = false;
  const onCompromised = (): void => {
    isLost = true;
  };
  try {
    const path = await toRealPath(file);
    // It listens for the signals that end this process, so it is not loaded by what only reads.
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

/** The same for every name of one file. */
async function toRealPath(file: string): Promise<string> {
  return realpath(file).catch(async () => join(await realpath(dirname(file)), basename(file)));
}
