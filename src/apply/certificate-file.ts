import { mkdir } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { writeAtomically } from '../files/atomic-file.ts';
import { InputError, readInput } from '../files/read-input.ts';
import { toReason } from '../model/errors.ts';

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
  return new Map(
    paths.flatMap((path): [string, string][] => {
      const text = readText(resolve(cwd, path));
      return text === undefined ? [] : [[path, text]];
    }),
  );
}

function readText(file: string): string | undefined {
  try {
    return readInput(file, { onlyFiles: true }).toString('utf8');
  } catch (error) {
    if (error instanceof InputError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
