import { existsSync } from 'node:fs';
import { lstat, mkdir, stat } from 'node:fs/promises';
import { basename, delimiter, dirname, join, relative, resolve } from 'node:path';
import type { ExportFile } from '../../export/export-live.ts';
import { writeAtomically } from '../../files/atomic-file.ts';
import { findFileReplaceableByOthers, findRepository } from '../../files/boundary.ts';
import { createManifestJsonSchema } from '../../schemas/manifest.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT } from '../exit-code.ts';

interface NewFilesOptions extends Pick<Context, 'cwd' | 'uid'> {
  /** As the user wrote it: relative to the working folder, or absolute. */
  readonly folder: string;
  /** Whether to replace files that exist. Absent: the command has no `--force`. */
  readonly force?: boolean;
}

/** Writes each file atomically, and returns the paths. Without `force`, writes nothing if one of the files exists. */
export async function writeNewFiles(
  files: readonly ExportFile[],
  { folder, cwd, uid, force }: NewFilesOptions,
): Promise<readonly string[]> {
  await refuseFile(folder, cwd);
  const paths = files.map(({ path }) => join(folder, path));
  if (force !== true) await refuseExisting(paths, { cwd, canForce: force !== undefined });
  for (const [index, { text }] of files.entries()) await write(paths[index] ?? '', text, { cwd, uid });
  return paths;
}

/** Throws if `folder` is a file, which even `force` does not replace. */
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
  throw new CommandError(
    `Nothing was written, because ${existing.join(', ')} already ${existing.length === 1 ? 'exists' : 'exist'}.`,
    {
      exitCode: EXIT.refused,
      remedy: canForce ? 'Name another folder, or replace the files with --force.' : 'Name another folder.',
    },
  );
}

/** Whether a path exists. A symbolic link exists even if its target does not. */
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

async function write(path: string, text: string, { cwd, uid }: Pick<Context, 'cwd' | 'uid'>): Promise<void> {
  try {
    const file = resolve(cwd, path);
    await mkdir(dirname(file), { recursive: true });
    const foreign = findFileReplaceableByOthers(file, uid);
    if (foreign !== undefined) throw new Error(`${foreign} belongs to another user`);
    await writeAtomically(file, text, { mode: 0o644 });
  } catch (error) {
    // After a comma, the message of Node names resolved paths that the user did not write.
    const [why] = (error instanceof Error ? error.message : String(error)).split(',');
    throw new CommandError(`${path} cannot be written: ${why}`, { exitCode: EXIT.failed, cause: error });
  }
}

/** Where editors find the schema of the manifests in a folder. */
interface EditorSchema {
  /** Path of the schema, relative to the folder. */
  readonly path: string;
  /** The schema file to write. Empty: the schema exists. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const PACKAGED_SCHEMA = join('node_modules', 'edgewise', 'schemas', 'manifest.schema.json');
const WRITTEN_SCHEMA = join('.edgewise', 'manifest.schema.json');

/**
 * Finds the schema of an edgewise package that is installed in the folder or above it, else a schema in `.edgewise`. If
 * there is neither, returns a schema to write to a new `.edgewise`: in the root of the repository, else beside the
 * outermost Defaults, else in the folder itself.
 */
export function chooseEditorSchema(folder: string, { cwd, defaults }: EditorSchemaOptions): EditorSchema {
  const start = resolve(cwd, folder);
  const packaged = listParents(start)
    .map((at) => join(at, PACKAGED_SCHEMA))
    .find((file) => existsSync(file));
  if (packaged !== undefined) return { path: relative(start, packaged), files: [] };
  const top = findRepository(start) ?? resolve(cwd, defaults.at(-1) ?? folder);
  const above = listParents(start).filter((at) => !relative(top, at).startsWith('..'));
  const found = [...above, top].map((at) => join(at, WRITTEN_SCHEMA)).find((file) => existsSync(file));
  const path = relative(start, found ?? join(top, WRITTEN_SCHEMA));
  if (found !== undefined) return { path, files: [] };
  return { path, files: [{ path, text: `${JSON.stringify(createManifestJsonSchema(), null, 2)}\n` }] };
}

interface EditorSchemaOptions extends Pick<Context, 'cwd'> {
  /** Folders of the Defaults above the folder, nearest first. */
  readonly defaults: readonly string[];
}

const NAMES = ['edgewise', 'edgewise.cmd'];
const PROJECT_BIN = join('node_modules', '.bin');

/**
 * Returns how the user can call edgewise in the working folder. Chooses npx if edgewise is not on PATH, and npx either
 * started this run or would find edgewise in a `node_modules` here or above. Ignores folders that npm adds to PATH only
 * for this command. `--no-install` keeps npx from running a package of that name from a registry.
 */
export function detectInvocation({ env, cwd }: Pick<Context, 'env' | 'cwd'>): 'edgewise' | 'npx --no-install edgewise' {
  const folders = (env['PATH'] ?? env['Path'] ?? '').split(delimiter).filter((folder) => folder !== '');
  if (folders.some((folder) => !isOfNpm(folder) && hasCommand(resolve(cwd, folder)))) return 'edgewise';
  const isFound = env['npm_command'] === 'exec' || listParents(cwd).some((at) => hasCommand(join(at, PROJECT_BIN)));
  return isFound ? 'npx --no-install edgewise' : 'edgewise';
}

function isOfNpm(folder: string): boolean {
  return basename(folder) === '.bin' && basename(dirname(folder)) === 'node_modules';
}

function hasCommand(folder: string): boolean {
  return NAMES.some((name) => existsSync(join(folder, name)));
}

function listParents(folder: string): readonly string[] {
  const parent = dirname(folder);
  return parent === folder ? [folder] : [folder, ...listParents(parent)];
}
