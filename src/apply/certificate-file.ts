import { mkdir, readFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { toReason } from '../model/errors.ts';
import { writeAtomically } from './atomic-file.ts';

/** Writes a file that a plan lists; rejects with why it cannot be. */
export type WriteFile = (path: string, text: string) => Promise<void>;

/** Certificates are public: everybody may read them. */
const MODE = 0o644;

/** Writes files as a whole, in folders that are made when they are missing. Relative paths are relative to `cwd`. */
export function createFileWriter(cwd: string): WriteFile {
  return async (path, text) => {
    try {
      const file = resolve(cwd, path);
      await mkdir(dirname(file), { recursive: true });
      await writeAtomically(file, text, { mode: MODE });
    } catch (error) {
      // Node appends resolved paths after a comma; drop them.
      const [why] = toReason(error).split(',');
      throw new Error(`it cannot be written: ${why}`, { cause: error });
    }
  };
}

/** The texts of files that are there, by path. One that cannot be read counts as absent: writing it says what is wrong. */
export async function readFiles(paths: readonly string[], cwd: string): Promise<ReadonlyMap<string, string>> {
  const read = await Promise.allSettled(paths.map((path) => readFile(resolve(cwd, path), 'utf8')));
  return new Map(
    read.flatMap((result, index): [string, string][] => {
      const path = paths[index];
      return path !== undefined && result.status === 'fulfilled' ? [[path, result.value]] : [];
    }),
  );
}
