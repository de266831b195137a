import { lstat, mkdir, stat } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { ExportFile } from '../../export/lay-out.ts';
import { writeAtomically } from '../../files/atomic-file.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** Where files go. */
export interface NewFilesOptions {
  /** As it was given: relative to the working folder, or absolute. */
  readonly folder: string;
  readonly cwd: string;
  /** Replaces files that exist; absent: nothing does. */
  readonly force?: boolean;
}

/** Writes files, each as a whole, and gives their paths. Without `force` it writes all of them or, when one exists, none. */
export async function writeNewFiles(
  files: readonly ExportFile[],
  { folder, cwd, force }: NewFilesOptions,
): Promise<readonly string[]> {
  await refuseFile(folder, cwd);
  const paths = files.map(({ path }) => join(folder, path));
  if (force !== true) await refuseExisting(paths, { cwd, canForce: force !== undefined });
  for (const [index, { text }] of files.entries()) await write(paths[index] ?? '', text, cwd);
  return paths;
}

/** Files cannot go below a path that is a file, even with `force`. */
async function refuseFile(folder: string, cwd: string): Promise<void> {
  const found = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (found === undefined || found.isDirectory()) return;
  throw new CommandError(`Nothing was written, because ${folder} is not a folder.`, {
    exitCode: EXIT.invalid,
    remedy: 'Name a folder. It is created if it does not exist.',
  });
}

async function refuseExisting(
  paths: readonly string[],
  { cwd, canForce }: { readonly cwd: string; readonly canForce: boolean },
): Promise<void> {
  const found = await Promise.all(paths.map((path) => exists(resolve(cwd, path))));
  const existing = paths.filter((_, index) => found[index]);
  if (existing.length === 0) return;
  throw new CommandError(`Nothing was written, because there is already ${existing.join(', ')}.`, {
    exitCode: EXIT.refused,
    remedy: canForce ? 'Name another folder, or replace the files with --force.' : 'Name another folder.',
  });
}

/** A link counts as existing, even if its target does not exist. */
async function exists(file: string): Promise<boolean> {
  try {
    await lstat(file);
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return false;
    throw error;
  }
}

async function write(path: string, text: string, cwd: string): Promise<void> {
  try {
    const file = resolve(cwd, path);
    await mkdir(dirname(file), { recursive: true });
    await writeAtomically(file, text, { mode: 0o644 });
  } catch (error) {
    // Behind a comma, the message of the system names paths that the user did not write.
    const [why] = (error instanceof Error ? error.message : String(error)).split(',');
    throw new CommandError(`${path} cannot be written: ${why}`, { exitCode: EXIT.failed, cause: error });
  }
}
