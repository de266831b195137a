import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { InputError } from './read-input.ts';

/**
 * Manifests may name only files inside a boundary: the repository, or the folder of `--root`. Only the user who starts
 * edgewise sets the boundary. Checks compare real paths (all symbolic links resolved), even for files that do not exist. A
 * rejected file is never opened, so no message reveals its content.
 */

interface BoundaryContext {
  readonly cwd: string;
  /** The folder that `--root` names. Absent: the repository of each path on the command line. */
  readonly root?: string | undefined;
}

/**
 * `real`: the path is allowed, with its symbolic links resolved. `finding`: the path is rejected; the text follows the
 * path in a message, such as `lies outside of the repository`.
 */
export type BoundaryResult = { readonly real: string } | { readonly finding: string };

/**
 * Returns the real paths of the folders in which manifests may name files. `paths` are the manifest paths of the
 * command line.
 * - With `root`: that folder, and the folder of each path outside of it.
 * - Without `root`: the repository of each path. For a path in no repository, the working folder if the path is below
 *   it, otherwise the folder of the path.
 */
export function listRootsOfPaths(paths: readonly string[], { cwd, root }: BoundaryContext): readonly string[] {
  const starts = paths.map((path) => resolveStartFolder(path, cwd));
  if (root === undefined) {
    const found = (starts.length === 0 ? [cwd] : starts).flatMap((start) => listRootsOfPath(start, cwd));
    return [...new Set(found)];
  }
  const top = resolveLinks(resolve(cwd, root));
  const outside = starts.map((start) => resolveFolder(resolveLinks(start))).filter((folder) => !isBelow(folder, top));
  return [...new Set([top, ...outside])];
}

function listRootsOfPath(start: string, cwd: string): readonly string[] {
  const repository = findRepository(start);
  if (repository !== undefined) return [resolveLinks(repository)];
  const [real, around] = [resolveLinks(start), resolveLinks(cwd)];
  if (!isBelow(start, cwd)) return [resolveFolder(real)];
  // If the path is a link out of the working folder, its target is allowed too, because the user named it.
  return isBelow(real, around) || resolveFolder(real) !== real ? [around] : [around, real];
}

/** Returns the nearest folder with `.git` (a file in worktrees), from `start` upwards. `undefined` if there is none. */
export function findRepository(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    if (findStats(join(at, GIT)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Checks a path from the command line. If the path is inside a repository or `--root`, its real path must be too,
 * because a symbolic link in a checkout must not lead outside. Any other path is allowed.
 */
export function checkCommandLinePath(path: string, { cwd, root }: BoundaryContext): BoundaryResult {
  const whole = resolve(cwd, path);
  const top = root === undefined ? findRepository(resolveFolder(whole)) : resolve(cwd, root);
  const mustCheck = top !== undefined && isBelow(whole, top) && !isInsideGit(relative(top, whole));
  return mustCheck ? resolvePathWithin(whole, [resolveLinks(top)]) : { real: resolveLinks(whole) };
}

/**
 * Resolves the links of an absolute path, and checks that the real path is inside a root. For paths that manifests
 * name, and for symbolic links in folders of manifests. Rejects a path through too many folders, because the time to
 * resolve it is quadratic in its length.
 */
export function resolvePathWithin(path: string, roots: readonly string[]): BoundaryResult {
  if (hasTooManyFolders(path)) return { finding: `leads through more than ${MAX_PATH_FOLDERS} folders` };
  const real = resolveLinks(path);
  const root = roots.find((one) => isBelow(real, one));
  if (root === undefined || isVirtual(real, root)) return OUTSIDE_FINDING;
  return isInsideGit(relative(root, real)) ? { finding: 'lies inside of .git' } : { real };
}

/**
 * Real paths are far shorter: MAX_DEPTH allows 100 folders below a folder of the user, and 200 remain for that folder.
 */
const MAX_PATH_FOLDERS = 300;

/**
 * Like `resolvePathWithin`, for a file that will be written. Also rejects symbolic links on the path, so that the path shown
 * to the user is the path that is written.
 */
export function resolveWritePathWithin(
  path: string,
  roots: readonly string[],
  { cwd }: Pick<BoundaryContext, 'cwd'>,
): BoundaryResult {
  const whole = resolve(cwd, path);
  const folder = resolvePathWithin(dirname(whole), roots);
  if ('finding' in folder) return folder;
  const file = join(folder.real, basename(whole));
  const isLink = findStats(file)?.isSymbolicLink() === true;
  if (isLink || file !== resolve(resolveLinks(cwd), relative(cwd, whole)))
    return { finding: 'is reached through a symbolic link' };
  return resolvePathWithin(file, roots);
}

const GIT = '.git';

const OUTSIDE_FINDING = { finding: 'lies outside of the repository' } as const;

export const BOUNDARY_REMEDY =
  'Files that manifests name must be in the repository, with symbolic links resolved. Move the file, or use --root to name a folder that contains all of them.';

/** Whether a path equals a folder or is below it. Both paths are absolute. */
function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/**
 * Whether a path names a device that no other user can replace, such as `/dev/stdout` or `/dev/fd/3`. False in other
 * subfolders of `/dev`, because all users can write to some of them.
 */
export function isDevice(path: string): boolean {
  return /^\/dev\/(?:[^/]+|(?:fd|pts)\/\d+)$/.test(path);
}

/**
 * Whether the file at `path` belongs to a user other than `uid`, the current user. Such a user can read and replace the
 * file. False for files of root. Also false for files whose folder has the same owner, because in a container, a
 * mounted folder of the host and its files may belong to another user. `uid` is `undefined` on systems without user
 * ids.
 */
export function isOwnedByAnotherUser(
  path: string,
  { uid: owner }: Pick<Stats, 'uid'>,
  uid: number | undefined,
): boolean {
  if (uid === undefined || owner === uid || owner === ROOT) return false;
  return findStats(dirname(path), statSync)?.uid !== owner;
}

const ROOT = 0;

/**
 * Searches the files and folders on a path for the first that belongs to another user and lies in a folder that all
 * users can write to, such as `/tmp`. That user could replace it with a link after edgewise checked the path.
 * `undefined` if there is none.
 */
export function findFileReplaceableByOthers(path: string, uid: number | undefined): string | undefined {
  return [...listAncestors(path), ...listAncestors(resolveLinks(path))].find((at) => {
    const found = findStats(at);
    return found !== undefined && isOwnedByAnotherUser(at, found, uid) && isOpenToAll(dirname(at));
  });
}

/** Starts with the path itself. */
function listAncestors(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...listAncestors(parent)];
}

function isOpenToAll(folder: string): boolean {
  return ((findStats(folder, statSync)?.mode ?? 0) & 0o002) !== 0;
}

/** Ignores case, because some file systems do. */
function isInsideGit(way: string): boolean {
  return way.split(sep).some((part) => part.toLowerCase() === GIT);
}

/**
 * Virtual file systems. Their files can contain secrets of the process, or be endless. Such a file is allowed only if
 * the root itself is in the same file system. The root `/` does not allow it.
 */
const VIRTUAL_FOLDERS = ['/proc', '/sys', '/dev'];

function isVirtual(real: string, root: string): boolean {
  return VIRTUAL_FOLDERS.some((one) => isBelow(real, one) && !isBelow(root, one));
}

/** Maximum depth of a file below a folder that the user named. Resolving a path takes time quadratic in its depth. */
const MAX_DEPTH = 100;

/** Throws `InputError` if `real` is more than MAX_DEPTH folders below `top`. Both are real paths. */
export function checkPathDepth(real: string, top: string): void {
  if (relative(top, real).split(sep).length > MAX_DEPTH)
    throw new InputError(`lies more than ${MAX_DEPTH} folders deep`);
}

/**
 * Returns the folder in which the search for a repository starts: the path itself if it is a folder, otherwise its
 * folder. For standard input (`-`), pipes and devices: the working folder.
 */
function resolveStartFolder(path: string, cwd: string): string {
  const whole = resolve(cwd, path);
  const found = path === '-' ? undefined : findStats(whole, statSync);
  return path === '-' || (found !== undefined && !found.isFile() && !found.isDirectory()) ? cwd : resolveFolder(whole);
}

function resolveFolder(path: string): string {
  return findStats(path)?.isFile() === true ? dirname(path) : path;
}

/** Maximum number of symbolic links on a path, as in Linux. */
const MAX_LINKS = 40;

/** Returns the real path of an absolute path, also of a missing file. If its links form a cycle: the path unchanged. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return resolveEachLink(path) ?? path;
    throw error;
  }
}

function hasTooManyFolders(path: string): boolean {
  return resolveEachLink(path, MAX_PATH_FOLDERS) === undefined;
}

/**
 * Resolves link by link, because `realpath` fails for a missing file. `undefined` if the path leads through more than
 * `most` folders.
 */
function resolveEachLink(path: string, most = Number.POSITIVE_INFINITY): string | undefined {
  const { root } = parse(path);
  const parts = path.slice(root.length).split(sep);
  let real = root;
  for (let left = MAX_LINKS; parts.length > 0; ) {
    if (parts.length + real.split(sep).length > most) return undefined;
    const part = parts.shift() ?? '';
    const next = resolve(real, part);
    const target = part === '..' ? undefined : readLink(next);
    if (target === undefined) {
      real = next;
      continue;
    }
    left -= 1;
    if (left === 0) return path;
    if (isAbsolute(target)) real = root;
    parts.unshift(...target.split(sep));
  }
  return real;
}

function readLink(path: string): string | undefined {
  if (findStats(path)?.isSymbolicLink() !== true) return undefined;
  return readlinkSync(path);
}

/** Follows a symbolic link only if `look` is `statSync`. `undefined` if the file is missing or cannot be accessed. */
function findStats(path: string, look: typeof lstatSync | typeof statSync = lstatSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
