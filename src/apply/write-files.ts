import { dirname } from 'node:path';
import { listRootsOfPaths, resolveWritePath } from '../files/boundary.ts';
import { InputError, readInput } from '../files/read-input.ts';
import { createFolder, describeWriteError, replaceFile } from '../files/write-file.ts';
import { findKind } from '../kinds/tables/registry.ts';
import type { Change } from '../model/change.ts';
import { getErrorMessage } from '../model/errors.ts';
import type { FileOutcome } from '../model/outcome.ts';
import type { Plan, PlannedFile } from '../model/plan.ts';

interface WriteFilesContext {
  readonly write: WriteFile;
  /** Contents that were unknown when the plan was made, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Writes the files that a plan lists, and no others. Never rejects: the result contains the failures. */
export async function writePlannedFiles(
  { files, changes }: Plan,
  context: WriteFilesContext,
): Promise<readonly FileOutcome[]> {
  if (files.length === 0) return [];
  const byAddress = new Map<string, Change>(changes.map((change) => [change.address, change]));
  return Promise.all(files.map((file) => writePlannedFile(file, byAddress.get(file.address), context)));
}

async function writePlannedFile(
  file: PlannedFile,
  change: Change | undefined,
  context: WriteFilesContext,
): Promise<FileOutcome> {
  const { address, path } = file;
  const text = file.text ?? context.texts.get(address);
  if (context.signal.aborted) return { address, path, outcome: 'skipped', message: 'interrupted' };
  if (text === undefined) return { address, path, outcome: 'skipped', message: `${address} was not created` };
  const finding = checkFileText(text, change);
  if (finding !== undefined)
    return {
      address,
      path,
      outcome: 'failed',
      message: `the file was not written: the certificate from the service ${finding}`,
    };
  try {
    await context.write(path, text);
    return { address, path, outcome: 'applied' };
  } catch (error) {
    return { address, path, outcome: 'failed', message: getErrorMessage(error) };
  }
}

/** Returns the reason not to write a text to its file; `undefined` if the text matches the manifest. */
function checkFileText(text: string, change: Change | undefined): string | undefined {
  return findKind(change?.kind ?? '')?.checkFile(text, change?.desired ?? {});
}

/** Writes a file that a plan lists. `path`: as in the plan. Rejects with the reason if the file cannot be written. */
export type WriteFile = (path: string, text: string) => Promise<void>;

/** Readable by all users, because certificates are public. */
const FILE_MODE = 0o644;
const FOLDER_MODE = 0o777;

interface FileContext {
  /** The user that runs the process, whose repositories count. `undefined`: the system has no user ids. */
  readonly uid: number | undefined;
  /** Relative paths start from this folder. */
  readonly cwd: string;
  /**
   * Real paths of folders. Files outside them are neither written nor read. Default: the repository that contains the
   * working folder.
   */
  readonly roots?: readonly string[] | undefined;
}

/**
 * Creates a function that writes files atomically, and creates missing folders. It follows no symbolic links, because a
 * folder may have been replaced by a link after the plan was made.
 */
export function createPlannedFileWriter(context: FileContext): WriteFile {
  const { cwd, roots = listRootsOfPaths([], context) } = context;
  return async (path, text) => {
    try {
      await createFolder(dirname(path), { cwd, roots, mode: FOLDER_MODE });
      await replaceFile(path, text, { cwd, roots, mode: FILE_MODE });
    } catch (error) {
      throw new Error(`it cannot be written: ${describeWriteError(error)}`, { cause: error });
    }
  };
}

/**
 * Reads existing files, and returns their contents by path. Omits a file that cannot be read or must not be written. A
 * later attempt to write the file reports the error.
 */
export async function readPlannedFiles(
  paths: readonly string[],
  context: FileContext,
): Promise<ReadonlyMap<string, string>> {
  if (paths.length === 0) return new Map();
  const { cwd, roots = listRootsOfPaths([], context) } = context;
  return new Map(
    paths.flatMap((path): [string, string][] => {
      const place = resolveWritePath(path, { cwd, roots });
      const text = 'finding' in place ? undefined : readFileText(place.real);
      return text === undefined ? [] : [[path, text]];
    }),
  );
}

/** Many times the size of a certificate. A longer file is not a certificate, so it counts as absent. */
const MAX_FILE_BYTES = 64 * 1024;

function readFileText(file: string): string | undefined {
  try {
    return readInput(file, { onlyFiles: true, maxBytes: MAX_FILE_BYTES }).toString('utf8');
  } catch (error) {
    if (error instanceof InputError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
