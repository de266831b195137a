import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

interface AtomicFileOptions {
  readonly mode: number;
}

/** Replaces a file atomically: a reader sees either the old or the new text, even after a crash. */
export async function writeAtomically(file: string, text: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = createTemporaryPath(file);
  try {
    await writeNew(temporary, text, mode);
    await removeLeftovers(file, await readClock(temporary));
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Rejects if the file cannot be written now. As a test, creates a temporary file next to it and removes that file. */
export async function checkWritable(file: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = createTemporaryPath(file);
  try {
    await writeNew(temporary, '', mode);
    await removeLeftovers(file, await readClock(temporary));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Returns a path in the same folder. Its name is hidden, and its extension is not that of a manifest. */
function createTemporaryPath(file: string): string {
  return join(dirname(file), `.${basename(file)}.${crypto.randomUUID()}`);
}

async function writeNew(file: string, text: string, mode: number): Promise<void> {
  const handle = await open(file, 'wx', mode);
  try {
    await handle.writeFile(text);
    await handle.sync();
  } finally {
    await handle.close();
  }
}

/**
 * A temporary file older than this counts as abandoned: the process that created it no longer runs. A write takes
 * milliseconds; a minute allows for slow network file systems.
 */
const ABANDONED_MS = 60_000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Removes the temporary files that killed runs left next to `file`. Does not write `file`. */
export async function removeStaleTempFiles(file: string): Promise<void> {
  await removeLeftovers(file, Date.now());
}

/** Returns the time of the file system, from a file just written. It can differ from the clock of this machine. */
async function readClock(temporary: string): Promise<number> {
  return (await stat(temporary)).mtimeMs;
}

/** Removes abandoned temporary files of `file`, because they may contain a secret. Ignores errors. */
async function removeLeftovers(file: string, now: number): Promise<void> {
  const [folder, prefix] = [dirname(file), `.${basename(file)}.`];
  const names = await readdir(folder).catch((): string[] => []);
  const temporaries = names.filter((name) => name.startsWith(prefix) && UUID.test(name.slice(prefix.length)));
  await Promise.allSettled(
    temporaries.map(async (name) => {
      const { mtimeMs } = await stat(join(folder, name));
      if (now - mtimeMs > ABANDONED_MS) await rm(join(folder, name), { force: true });
    }),
  );
}
