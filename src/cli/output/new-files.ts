import { stat } from 'node:fs/promises';
import { dirname, join, relative, resolve } from 'node:path';
import type { ExportFile } from '../../export/layout.ts';
import { findRepository, resolveWritePath, type WriteBoundary } from '../../files/boundary.ts';
import { findFileUpward } from '../../files/trusted-users.ts';
import { createFolder, describeWriteError, exists, replaceFile } from '../../files/write-file.ts';
import { NO_OP_SECRET_REDACTOR } from '../../model/secrets.ts';
import { StackError } from '../../model/user-errors.ts';
import { createManifestJsonSchema } from '../../schemas/manifest.ts';
import type { Context } from '../context.ts';

interface NewFilesOptions extends Pick<Context, 'cwd' | 'root' | 'uid' | 'secrets'> {
  /** As the user wrote it: relative to the working folder, or absolute. */
  readonly folder: string;
  /** Whether to replace files that exist. Absent: the command has no `--force`. */
  readonly force?: boolean | undefined;
}

/**
 * Writes each file atomically, and returns the paths. Writes nothing if a path leads through a link of the checkout or,
 * without `force`, if one of the files exists.
 */
export async function writeNewFiles(
  files: readonly ExportFile[],
  { folder, cwd, root, uid, force, secrets = NO_OP_SECRET_REDACTOR }: NewFilesOptions,
): Promise<readonly string[]> {
  const boundary = { cwd, root, uid };
  await refuseUnwritableFiles(files, { folder, ...boundary, force });
  const paths = files.map(({ path }) => join(folder, path));
  for (const [index, { text }] of files.entries()) await write(paths[index] ?? '', secrets.redact(text), boundary);
  return paths;
}

/** Throws if a path leads through a link of the checkout, if the folder is a file, or, without `force`, if a file exists. */
export async function refuseUnwritableFiles(
  files: readonly ExportFile[],
  { folder, cwd, root, uid, force }: NewFilesOptions,
): Promise<void> {
  await refuseFile(folder, cwd);
  const paths = files.map(({ path }) => join(folder, path));
  for (const path of [folder, ...paths]) refusePath(path, { cwd, root, uid }, path === folder ? 'folder' : 'file');
  if (force !== true) refuseExisting(await listExistingFiles(files, { folder, cwd }), force !== undefined);
}

/** The paths of those files that exist. */
export async function listExistingFiles(
  files: readonly Pick<ExportFile, 'path'>[],
  { folder, cwd }: Pick<NewFilesOptions, 'folder' | 'cwd'>,
): Promise<readonly string[]> {
  const paths = files.map(({ path }) => join(folder, path));
  const presence = await Promise.all(paths.map((path) => exists(resolve(cwd, path))));
  return paths.filter((_, index) => presence[index]);
}

function refusePath(path: string, boundary: WriteBoundary, type: 'file' | 'folder'): void {
  const place = resolveWritePath(path, boundary, type);
  if (!('finding' in place)) return;
  throw new StackError(`Nothing was written, because ${path} ${place.finding}.`, {
    reason: 'invalid',
    remedy: 'Name a folder of your own that is reached without links.',
  });
}

/** Throws if `folder` is a file, which even `force` does not replace. */
async function refuseFile(folder: string, cwd: string): Promise<void> {
  const stats = await stat(resolve(cwd, folder)).catch(() => undefined);
  if (stats === undefined || stats.isDirectory()) return;
  throw new StackError(`Nothing was written, because ${folder} is not a folder.`, {
    reason: 'invalid',
    remedy: 'Name a folder. It is created if it does not exist.',
  });
}

function refuseExisting(existing: readonly string[], canForce: boolean): void {
  if (existing.length === 0) return;
  throw new StackError(
    `Nothing was written, because ${existing.join(', ')} already ${existing.length === 1 ? 'exists' : 'exist'}.`,
    {
      reason: 'refused',
      remedy: canForce ? 'Name another folder, or replace the files with --force.' : 'Name another folder.',
    },
  );
}

async function write(path: string, text: string, boundary: WriteBoundary): Promise<void> {
  try {
    await createFolder(dirname(path), { ...boundary, mode: 0o777 });
    await replaceFile(path, text, { ...boundary, mode: 0o644 });
  } catch (error) {
    throw new StackError(`${path} cannot be written: ${describeWriteError(error)}`, {
      reason: 'failed',
      remedy: 'Name a folder that you may write to.',
      cause: error,
    });
  }
}

/** Where editors find the schema of the manifests in a folder. */
interface EditorSchema {
  /** Path of the schema, relative to the folder. */
  readonly path: string;
  /** The schema file to write. Empty: the schema exists. */
  readonly files: readonly { readonly path: string; readonly text: string }[];
}

const PACKAGED_SCHEMA = 'node_modules/edgewise/schemas/manifest.schema.json';
const WRITTEN_SCHEMA = '.edgewise/manifest.schema.json';

/**
 * Finds the schema of an edgewise package that is installed in the folder or above it, else a schema in `.edgewise`. If
 * there is neither, returns a schema to write to a new `.edgewise`: in the root of the repository, else beside the
 * outermost Defaults or the Stack, else in the folder itself.
 */
export function chooseEditorSchema(folder: string, { defaults, ...context }: EditorSchemaOptions): EditorSchema {
  const { cwd } = context;
  const start = resolve(cwd, folder);
  const packaged = findFileUpward(start, PACKAGED_SCHEMA, context);
  if (packaged !== undefined) return { path: relative(start, packaged), files: [] };
  const top = findRepository(start, context) ?? resolve(cwd, defaults.at(-1) ?? folder);
  const written = findFileUpward(start, WRITTEN_SCHEMA, context);
  const found = written === undefined || relative(top, written).startsWith('..') ? undefined : written;
  const path = relative(start, found ?? join(top, WRITTEN_SCHEMA));
  if (found !== undefined) return { path, files: [] };
  return { path, files: [{ path, text: `${JSON.stringify(createManifestJsonSchema(), null, 2)}\n` }] };
}

interface EditorSchemaOptions extends Pick<Context, 'cwd' | 'uid' | 'root'> {
  /** Folders of the Stack around the folder, and of the Defaults above it, nearest first. */
  readonly defaults: readonly string[];
}
