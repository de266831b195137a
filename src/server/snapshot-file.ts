import { tidyBeside, writeAtomically } from '../files/atomic-file.ts';
import { readInput, toFileFault } from '../files/read-input.ts';
import { parseServerSeed, type ServerSeed, type ServerSnapshot } from './seed.ts';

/** Reads a snapshot or seed, and removes what a killed run left beside it; `undefined` when there is no such file. Throws `RangeError`, naming the file, on a bad one. */
export async function readSnapshotFile(path: string): Promise<ServerSeed | undefined> {
  await tidyBeside(path);
  const text = readText(path);
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
  await writeAtomically(path, `${JSON.stringify(snapshot)}\n`, { mode: 0o600 });
}

function readText(path: string): string | undefined {
  try {
    return readInput(path).toString('utf8');
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined;
    throw new RangeError(`${path} ${toFileFault(error)}`, { cause: error });
  }
}
