import { open, readdir, rename, rm, stat } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Who may read a file. */
interface AtomicFileOptions {
  readonly mode: number;
}

/** Replaces a file atomically: a reader finds the old text or the new one, even after a crash. */
export async function writeAtomically(file: string, text: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = toTemporary(file);
  try {
    await writeNew(temporary, text, mode);
    await removeLeftovers(file, await readClock(temporary));
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Rejects when a file cannot be written there now. Leaves nothing behind. */
export async function checkWritable(file: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = toTemporary(file);
  try {
    await writeNew(temporary, '', mode);
    await removeLeftovers(file, await readClock(temporary));
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Hidden, and not named like a manifest. */
function toTemporary(file: string): string {
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

/** A temporary file older than this belongs to no running process. */
const LEFT_OVER_MS = 60_000;

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/;

/** Removes what runs that were killed left beside a file that is not written now. */
export async function removeStaleTempFiles(file: string): Promise<void> {
  await removeLeftovers(file, Date.now());
}

/** The clock of the file system, which sets the times of its files. */
async function readClock(temporary: string): Promise<number> {
  return (await stat(temporary)).mtimeMs;
}

/** Removes abandoned temporary files of this file, because they may hold a secret. A failure to remove them is ignored. */
async function removeLeftovers(file: string, now: number): Promise<void> {
  const [folder, prefix] = [dirname(file), `.${basename(file)}.`];
  const names = await readdir(folder).catch((): string[] => []);
  const temporaries = names.filter((name) => name.startsWith(prefix) && UUID.test(name.slice(prefix.length)));
  await Promise.allSettled(
    temporaries.map(async (name) => {
      const { mtimeMs } = await stat(join(folder, name));
      if (now - mtimeMs > LEFT_OVER_MS) await rm(join(folder, name), { force: true });
    }),
  );
}
