import { lstatSync, readlinkSync, realpathSync, type Stats, statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, parse, relative, resolve, sep } from 'node:path';
import { InputError } from './read-input.ts';

/**
 * The boundary of files that manifests name. The user who starts edgewise decides it: the repository, or `--root`. The real path counts, with every symbolic
 * link resolved, also of a file that does not exist. A rejected path is not opened: a message never reveals what is there.
 */

/** Where what manifests name may lie. */
interface BoundaryContext {
  readonly cwd: string;
  /** What `--root` says. Absent: the repository of each path that was named. */
  readonly root?: string | undefined;
}

/** A path that may be used, or why not; the finding follows the path in a message: `lies outside of the repository`. */
export type BoundaryResult = { readonly real: string } | { readonly finding: string };

/**
 * Real paths of the folders below which everything lies that the manifests of some paths name: the folder with `.git` above each path. Without one, the working
 * folder; for what lies outside of that, the folder itself. With `--root`, that folder, and what was named outside of it.
 */
export function findRoots(paths: readonly string[], { cwd, root }: BoundaryContext): readonly string[] {
  const starts = paths.map((path) => toStart(path, cwd));
  if (root === undefined) {
    const found = (starts.length === 0 ? [cwd] : starts).flatMap((start) => listRoots(start, cwd));
    return [...new Set(found)];
  }
  const top = resolveLinks(resolve(cwd, root));
  const outside = starts.map((start) => toFolder(resolveLinks(start))).filter((folder) => !isBelow(folder, top));
  return [...new Set([top, ...outside])];
}

function listRoots(start: string, cwd: string): readonly string[] {
  const repository = findRepository(start);
  if (repository !== undefined) return [resolveLinks(repository)];
  const [real, around] = [resolveLinks(start), resolveLinks(cwd)];
  if (!isBelow(start, cwd)) return [toFolder(real)];
  // The user who started the run named a link to a folder elsewhere.
  return isBelow(real, around) || toFolder(real) !== real ? [around] : [around, real];
}

/** The nearest folder with `.git`, which is a folder or, in a worktree, a file; `undefined`: there is none. */
export function findRepository(start: string): string | undefined {
  for (let at = start; ; at = dirname(at)) {
    if (findStats(join(at, GIT)) !== undefined) return at;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Whether a path that was named on the command line leads to where it seems to: a checkout may hold a link in its place. What lies in no repository, and is not
 * below `--root`, is not looked into.
 */
export function placeNamed(path: string, { cwd, root }: BoundaryContext): BoundaryResult {
  const whole = resolve(cwd, path);
  const top = root === undefined ? findRepository(toFolder(whole)) : resolve(cwd, root);
  const isSuspect = top !== undefined && isBelow(whole, top) && !isInsideGit(relative(top, whole));
  return isSuspect ? placeWithin(whole, [resolveLinks(top)]) : { real: resolveLinks(whole) };
}

/**
 * Where a path leads that a manifest names, or a symbolic link that stands among manifests. `path` is absolute. The way may be no longer than a path of people: it
 * takes the system the square of its length.
 */
export function placeWithin(path: string, roots: readonly string[]): BoundaryResult {
  if (isLongWay(path)) return { finding: `leads through more than ${MAX_WAY} folders` };
  const real = resolveLinks(path);
  const root = roots.find((one) => isBelow(real, one));
  if (root === undefined || isOfSystem(real, root)) return OUTSIDE;
  return isInsideGit(relative(root, real)) ? { finding: 'lies inside of .git' } : { real };
}

const MAX_WAY = 300;

/** The same for a file that is to be written: no symbolic link may be on the way, so that the path that is shown is the one that is written. */
export function placeForWriting(
  path: string,
  roots: readonly string[],
  { cwd }: Pick<BoundaryContext, 'cwd'>,
): BoundaryResult {
  const whole = resolve(cwd, path);
  const folder = placeWithin(dirname(whole), roots);
  if ('finding' in folder) return folder;
  const file = join(folder.real, basename(whole));
  const isLink = findStats(file)?.isSymbolicLink() === true;
  if (isLink || file !== resolve(resolveLinks(cwd), relative(cwd, whole)))
    return { finding: 'is reached through a symbolic link' };
  return placeWithin(file, roots);
}

const GIT = '.git';

const OUTSIDE = { finding: 'lies outside of the repository' } as const;

/** What to do about a path that is refused. */
export const BOUNDARY_REMEDY =
  'Files that manifests name must be in the repository, with symbolic links resolved. Move the file, or use --root to name a folder that contains all of them.';

/** Whether a path is a folder or lies in it. Both are absolute. */
function isBelow(path: string, folder: string): boolean {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
}

/** Whether a path names a device, as a shell or the system does: nobody else can put anything there. Below some folders of `/dev` everybody can. */
export function isDevice(path: string): boolean {
  return /^\/dev\/(?:[^/]+|(?:fd|pts)\/\d+)$/.test(path);
}

/**
 * Whether another user of the machine created the file at a path, and so may read and replace it. A file of the owner of its folder counts as the user's, as
 * in a container with a folder of its host. `uid`: the current user; absent: the system has no users.
 */
export function isOfAnother(path: string, { uid: owner }: Pick<Stats, 'uid'>, uid: number | undefined): boolean {
  if (uid === undefined || owner === uid || owner === ROOT) return false;
  return findStats(dirname(path), statSync)?.uid !== owner;
}

const ROOT = 0;

/**
 * The first file on the way to a path that another user created in a folder that every user may write to, such as `/tmp`: it may be a link, or become one,
 * between any check and the use of the path. `undefined`: none.
 */
export function findMadeByAnother(path: string, uid: number | undefined): string | undefined {
  return [...listWay(path), ...listWay(resolveLinks(path))].find((at) => {
    const found = findStats(at);
    return found !== undefined && isOfAnother(at, found, uid) && isOpenToAll(dirname(at));
  });
}

/** A path and all folders above it. */
function listWay(path: string): readonly string[] {
  const parent = dirname(path);
  return parent === path ? [path] : [path, ...listWay(parent)];
}

function isOpenToAll(folder: string): boolean {
  return ((findStats(folder, statSync)?.mode ?? 0) & 0o002) !== 0;
}

/** Some file systems ignore the case of names. */
function isInsideGit(way: string): boolean {
  return way.split(sep).some((part) => part.toLowerCase() === GIT);
}

/** What the system makes up holds secrets of the process, and never ends. A root of `/` does not make it a part of a repository. */
const SYSTEM = ['/proc', '/sys', '/dev'];

function isOfSystem(real: string, root: string): boolean {
  return SYSTEM.some((one) => isBelow(real, one) && !isBelow(root, one));
}

/** The time that the system takes for a real path grows with the square of its depth. */
const MAX_DEPTH = 100;

/** Throws for a folder that lies too deep below another one. Both are real paths. */
export function refuseTooDeep(real: string, top: string): void {
  if (relative(top, real).split(sep).length > MAX_DEPTH)
    throw new InputError(`lies more than ${MAX_DEPTH} folders deep`);
}

/** Standard input and pipes are in no folder: what they name is looked for from the working folder. */
function toStart(path: string, cwd: string): string {
  const whole = resolve(cwd, path);
  const found = path === '-' ? undefined : findStats(whole, statSync);
  return path === '-' || (found !== undefined && !found.isFile() && !found.isDirectory()) ? cwd : toFolder(whole);
}

function toFolder(path: string): string {
  return findStats(path)?.isFile() === true ? dirname(path) : path;
}

/** As many as Linux follows. */
const MAX_LINKS = 40;

/** The real path, also of what does not exist. A circle of links leads nowhere, and stays as it is. `path` is absolute. */
export function resolveLinks(path: string): string {
  try {
    return realpathSync.native(path);
  } catch (error) {
    if (error instanceof Error && 'code' in error) return resolveEach(path) ?? path;
    throw error;
  }
}

function isLongWay(path: string): boolean {
  return resolveEach(path, MAX_WAY) === undefined;
}

/** Follows each link on the way, since the last ones may lead to what does not exist. `undefined`: more folders are on it than may be. */
function resolveEach(path: string, most = Number.POSITIVE_INFINITY): string | undefined {
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

/** Of a link itself, unless it is followed; `undefined`: nothing is there, or nothing that may be looked at. */
function findStats(path: string, look: typeof lstatSync | typeof statSync = lstatSync): Stats | undefined {
  try {
    return look(path, { throwIfNoEntry: false });
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}
