import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

/** Who may read a file. */
export interface AtomicFileOptions {
  readonly mode: number;
}

/** Replaces a file as a whole: who reads it finds the old text or the new one, and after a crash too. */
export async function writeAtomically(file: string, text: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = toTemporary(file);
  try {
    await writeNew(temporary, text, mode);
    await rename(temporary, file);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Rejects when a file can't be written there now. Leaves nothing behind. */
export async function tryOutWriting(file: string, { mode }: AtomicFileOptions): Promise<void> {
  const temporary = toTemporary(file);
  try {
    await writeNew(temporary, '', mode);
  } finally {
    await rm(temporary, { force: true });
  }
}

/** Hidden, and not named like a manifest. */
function toTemporary(file: string): string {
  return join(dirname(file), `.${basename(file)}.${randomUUID()}`);
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
