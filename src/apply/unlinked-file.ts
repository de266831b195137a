import { randomUUID } from 'node:crypto';
import { type FileHandle, open, rm } from 'node:fs/promises';
import { join } from 'node:path';

/** A file without a name: it goes away with its last handle, however the run ends. A program that inherits a handle can open it as `/dev/stdin`. */
export interface UnlinkedFile {
  readonly reader: FileHandle;
  /** Appends. */
  readonly writer: FileHandle;
  readonly close: () => Promise<void>;
}

/** Where files stay in memory, on Linux. */
const MEMORY_FOLDER = '/dev/shm';

/** An empty file for its owner only, in memory where the system allows that, else in the folder. Its name is gone before anything is written. */
export async function openUnlinkedFile(folder: string): Promise<UnlinkedFile> {
  try {
    return await openIn(MEMORY_FOLDER);
  } catch {
    return openIn(folder);
  }
}

async function openIn(folder: string): Promise<UnlinkedFile> {
  const path = join(folder, `edgewise-${randomUUID()}`);
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
