import { randomUUID } from 'node:crypto';
import { open, rename, rm } from 'node:fs/promises';
import { readInput, toFileFault } from '../files/read-input.ts';
import { parseServerSeed, type ServerSeed, type ServerSnapshot } from './seed.ts';

/** Reads a snapshot or seed; `undefined` when there is no such file. Throws `RangeError`, naming the file, on a bad one. */
export async function readSnapshotFile(path: string): Promise<ServerSeed | undefined> {
  const text = await readText(path);
  if (text === undefined) return undefined;
  try {
    return parseServerSeed(text);
  } catch (error) {
    if (error instanceof RangeError) throw new RangeError(`${path}: ${error.message}`, { cause: error });
    throw error;
  }
}

/** Writes a snapshot so that the file is either the old one or the new one. Only its owner may read it: it holds keys. */
export async function writeSnapshotFile(path: string, snapshot: ServerSnapshot): Promise<void> {
  const draft = `${path}.${randomUUID()}`;
  try {
    await writeDurably(draft, `${JSON.stringify(snapshot)}\n`);
    await rename(draft, path);
  } catch (error) {
    await rm(draft, { force: true });
    throw error;
  }
}

async function readText(path: string): Promise<string | undefined> {
  try {
    return readInput(path).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new RangeError(`${path} ${toFileFault(error)}`, { cause: error });
  }
}

async function writeDurably(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
