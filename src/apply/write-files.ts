import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import { writeAtomically } from '../files/atomic-file.ts';
import { findRoots, placeForWriting } from '../files/boundary.ts';
import { InputError, readInput } from '../files/read-input.ts';
import { findKind } from '../kinds/tables/registry.ts';
import type { Change } from '../model/change.ts';
import { describeError } from '../model/errors.ts';
import type { FileOutcome } from '../model/outcome.ts';
import type { Plan, PlannedFile } from '../model/plan.ts';

/** What writing the files of a plan takes. */
interface WriteFilesContext {
  readonly write: WriteFile;
  /** Texts that were not known when the plan was made, by address. */
  readonly texts: ReadonlyMap<string, string>;
  readonly signal: AbortSignal;
}

/** Writes the files that a plan lists, and no others. Never rejects: failures are in the result. */
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
  const finding = findFinding(text, change);
  if (finding !== undefined)
    return { address, path, outcome: 'failed', message: `it was not written: what the service issued ${finding}` };
  try {
    await context.write(path, text);
    return { address, path, outcome: 'applied' };
  } catch (error) {
    return { address, path, outcome: 'failed', message: describeError(error) };
  }
}

/** Other programs read the file: it holds what was asked for, or nothing is written. */
function findFinding(text: string, change: Change | undefined): string | undefined {
  return findKind(change?.kind ?? '')?.checkFile(text, change?.desired ?? {});
}

/** Writes a file that a plan lists; rejects with why it cannot be. */
export type WriteFile = (path: string, text: string) => Promise<void>;

/** Certificates are public: everybody may read them. */
const MODE = 0o644;

/** Where files may be written. */
interface FileContext {
  /** What relative paths are relative to. */
  readonly cwd: string;
  /** Real paths of the folders below which files may lie. Default: the repository that the working folder is in. */
  readonly roots?: readonly string[] | undefined;
}

/**
 * Writes files as a whole, in folders that are made when they are missing. No symbolic link is followed: what was a folder when the plan was made may be a link
 * by now.
 */
export function createFileWriter(context: FileContext): WriteFile {
  const { cwd, roots = findRoots([], context) } = context;
  return async (path, text) => {
    try {
      const file = toWritable(path, roots, cwd);
      await mkdir(dirname(file), { recursive: true });
      await writeAtomically(toWritable(path, roots, cwd), text, { mode: MODE });
    } catch (error) {
      // Node appends resolved paths after a comma; drop them.
      const [why] = describeError(error).split(',');
      throw new Error(`it cannot be written: ${why}`, { cause: error });
    }
  };
}

function toWritable(path: string, roots: readonly string[], cwd: string): string {
  const place = placeForWriting(path, roots, { cwd });
  if ('finding' in place) throw new Error(`it ${place.finding}`);
  return place.real;
}

/** The texts of existing files, by path. A file that cannot be read, or may not be written, counts as absent: writing it reports the error. */
export async function readFiles(paths: readonly string[], context: FileContext): Promise<ReadonlyMap<string, string>> {
  if (paths.length === 0) return new Map();
  const { cwd, roots = findRoots([], context) } = context;
  return new Map(
    paths.flatMap((path): [string, string][] => {
      const place = placeForWriting(path, roots, { cwd });
      const text = 'finding' in place ? undefined : readText(place.real);
      return text === undefined ? [] : [[path, text]];
    }),
  );
}

/** Many times the size of a certificate. A longer file has other content, and writing to it is an error. */
const MAX_FILE_BYTES = 64 * 1024;

function readText(file: string): string | undefined {
  try {
    return readInput(file, { onlyFiles: true, maxBytes: MAX_FILE_BYTES }).toString('utf8');
  } catch (error) {
    if (error instanceof InputError || (error instanceof Error && 'code' in error)) return undefined;
    throw error;
  }
}
