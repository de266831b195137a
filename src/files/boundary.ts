import { statSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { createFileError } from './read-input.ts';
import { findStats, resolveEachLink, resolveLinks } from './real-path.ts';
import type { UserContext } from './trusted-users.ts';
import {
  createTrustedUsers,
  type Distrust,
  findDistrust,
  findFileReplaceableByOthers,
  searchUpward,
} from './trusted-users.ts';
import { listOtherWorktrees } from './worktrees.ts';

/**
 * Manifests may name only files inside a boundary: the repository, or the folder of `--root`. Only the user who starts
 * edgewise sets the boundary. Checks compare real paths (all symbolic links resolved), even for files that do not exist. A
 * rejected file is never opened, so no message reveals its content.
 */

/**
 * `real`: the path is allowed, with its symbolic links resolved. `finding`: the path is rejected; the text follows the
 * path in a message, such as `is outside the repository`.
 */
export type BoundaryResult = { readonly real: string } | { readonly finding: string };

/**
 * Returns the real paths of the folders in which manifests may name files. `paths` are the manifest paths of the
 * command line.
 * - With `root`: that folder, and the folder of each path outside of it.
 * - Without `root`: the repository of each path. For a path in no repository, the working folder if the path is below
 *   it, otherwise the folder of the path.
 */
export function listRootsOfPaths(paths: readonly string[], context: UserContext): readonly string[] {
  const { cwd, root, rootsBeside = [] } = context;
  const starts = paths.map((path) => resolveStartFolder(path, cwd));
  if (root === undefined) {
    const roots = (starts.length === 0 ? [cwd] : starts).flatMap((start) => listRootsOfPath(start, context));
    return [...new Set(roots)];
  }
  const top = resolveLinks(resolve(cwd, root));
  const outside = starts.map((start) => resolveFolder(resolveLinks(start))).filter((folder) => !isBelow(folder, top));
  return [...new Set([top, ...outside, ...rootsBeside])];
}

function listRootsOfPath(start: string, context: UserContext): readonly string[] {
  const { cwd } = context;
  const repository = findRepository(start, context);
  if (repository !== undefined) return [resolveLinks(repository)];
  const [real, around] = [resolveLinks(start), resolveLinks(cwd)];
  if (!isBelow(start, cwd)) return [resolveFolder(real)];
  // If the path is a link out of the working folder, its target is allowed too, because the user named it.
  return isBelow(real, around) || resolveFolder(real) !== real ? [around] : [around, real];
}

/** Returns the nearest folder with `.git`, from `start` upwards. `undefined` if there is none that is trusted. */
export function findRepository(start: string, context: UserContext): string | undefined {
  const search = searchRepository(start, context);
  return 'top' in search ? search.top : undefined;
}

/** `top`: a folder with `.git`. `distrust`: the path that ended the search before it. Neither: there is no repository. */
type RepositorySearch = { readonly top: string } | { readonly distrust?: Distrust | undefined };

/**
 * Searches for the nearest folder with `.git` (a file in worktrees), from `start` upwards. The search ends at a folder
 * that is not trusted, and at a `.git` that is not, because whoever wrote it could choose Defaults for the manifests.
 */
export function searchRepository(start: string, context: UserContext): RepositorySearch {
  const { folders, end } = searchUpward(start, context);
  const top = folders.find((folder) => findStats(join(folder, GIT)) !== undefined);
  if (top === undefined) {
    const isHidden = end !== undefined && findRepository(end.path, { ...context, uid: EVERY_USER }) !== undefined;
    return isHidden ? { distrust: end } : {};
  }
  const path = join(top, GIT);
  const finding = findDistrust(path, createTrustedUsers(start, context));
  return finding === undefined ? { top } : { distrust: { path, finding } };
}

/**
 * Checks a path from the command line. If the path is inside a repository or `--root`, its real path must be too,
 * because a symbolic link in a checkout must not lead outside. Any other path is allowed.
 */
export function checkCommandLinePath(path: string, context: UserContext): BoundaryResult {
  const { cwd, root } = context;
  const whole = resolve(cwd, path);
  const top = root === undefined ? findRepository(resolveFolder(whole), context) : resolve(cwd, root);
  const mustCheck = top !== undefined && isBelow(whole, top) && !isInsideGit(relative(top, whole));
  return mustCheck ? resolvePathWithin(whole, [resolveLinks(top)]) : { real: resolveLinks(whole) };
}

/**
 * Resolves the links of an absolute path, and checks that the real path is inside a root. For paths that manifests
 * name, and for symbolic links in folders of manifests. Rejects a path through too many folders, because the time to
 * resolve it is quadratic in its length.
 */
export function resolvePathWithin(path: string, roots: readonly string[]): BoundaryResult {
  if (resolveEachLink(path, { most: MAX_PATH_FOLDERS }) === undefined) return TOO_MANY_FOLDERS;
  const real = resolveLinks(path);
  const root = roots.find((one) => isBelow(real, one));
  if (root === undefined || isVirtual(real, root)) return OUTSIDE_FINDING;
  return isInsideGit(relative(root, real)) ? { finding: 'is inside .git' } : { real };
}

/**
 * Real paths are far shorter: MAX_DEPTH allows 100 folders below a folder of the user, and 200 remain for that folder.
 */
const MAX_PATH_FOLDERS = 300;

const TOO_MANY_FOLDERS = { finding: `goes through more than ${MAX_PATH_FOLDERS} folders` } as const;

/** The rule for a path that will be written. */
export interface WriteBoundary extends Omit<UserContext, 'uid'> {
  /** Real paths of folders, if a manifest names the path: it must be in one of them. Absent: the user names it. */
  readonly roots?: readonly string[] | undefined;
  /** User id of the process. Default: users are not checked. */
  readonly uid?: number | undefined;
}

/**
 * Resolves a path that will be written, and checks it.
 * - No part of it is a symbolic link that a checkout may contain, so that the path shown to the user is the path that
 *   is written. A file is no link anywhere.
 * - A path that a manifest names is inside `roots`, and not inside `.git`. The user may name any other path.
 * - No other user can replace a part of it in a folder that all users can write to.
 */
export function resolveWritePath(
  path: string,
  boundary: WriteBoundary,
  type: 'file' | 'folder' = 'file',
): BoundaryResult {
  const { cwd, roots, uid } = boundary;
  const whole = resolve(cwd, path);
  if (roots === undefined && isDevice(whole)) return { real: whole };
  const replaceable = findFileReplaceableByOthers(whole, uid);
  if (replaceable !== undefined)
    return { finding: replaceable === whole ? BY_ANOTHER : `is in ${replaceable}, which ${BY_ANOTHER}` };
  const links: string[] = [];
  // The path is resolved once: it may be replaced by a link at any time.
  const real = resolveEachLink(whole, { most: MAX_PATH_FOLDERS, onLink: (link) => links.push(link) });
  if (real === undefined) return TOO_MANY_FOLDERS;
  const inside = roots === undefined ? { real } : resolvePathWithin(real, roots);
  if ('finding' in inside) return inside;
  const own = join(resolveLinks(dirname(whole)), basename(whole));
  const link = links.find((at) => (type === 'file' && at === own) || isInCheckout(dirname(at), boundary));
  if (link === own) return { finding: 'is a symbolic link' };
  if (link === undefined) return { real };
  const around = resolveLinks(cwd);
  return { finding: `is reached through the symbolic link ${isBelow(link, around) ? relative(around, link) : link}` };
}

const BY_ANOTHER = 'belongs to another user';

/** Whether a folder, given by its real path, may have been filled by a stranger's commit. */
function isInCheckout(folder: string, { cwd, root, roots = [] }: WriteBoundary): boolean {
  const around = resolveLinks(cwd);
  const tops = [...roots, ...(root === undefined ? [] : [resolveLinks(resolve(cwd, root))])];
  // Nobody checks out into the root of the file system, which has links of the system.
  if (dirname(around) !== around) tops.push(around);
  return tops.some((top) => isBelow(folder, top)) || findRepository(folder, { cwd, uid: EVERY_USER }) !== undefined;
}

/** What decides which folders are checkouts. */
export interface CheckoutContext extends Pick<UserContext, 'cwd' | 'root'> {
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Files and folders that the user names for the run, such as manifests. */
  readonly namedPaths?: readonly string[] | undefined;
}

/**
 * The folders whose files the author of a commit may decide: the repositories around these folders and the named paths,
 * also those of other users and around a submodule; their other worktrees; and `--root`. Of a folder in no repository, the folder itself. None that
 * contains the home folder of the user, unless it is the nearest repository.
 */
export function listCheckouts(
  folders: readonly string[],
  { cwd, root, env, namedPaths = [] }: CheckoutContext,
): readonly string[] {
  const home = env['HOME'] ?? env['USERPROFILE'];
  const holdsHome = (folder: string): boolean => home !== undefined && isBelow(resolveLinks(home), folder);
  const named = root === undefined ? [] : [resolve(cwd, root)];
  const around = [...folders, ...namedPaths.map((path) => resolveFolder(resolve(cwd, path)))].flatMap((folder) => {
    const real = resolveLinks(resolve(cwd, folder));
    const repositories = listRepositories(real, cwd);
    const [nearest, ...outer] = repositories;
    const more = [...outer, ...repositories.flatMap(listOtherWorktrees)];
    const others = [...(nearest === undefined ? [real] : []), ...more].filter((one) => !holdsHome(one));
    return nearest === undefined ? others : [nearest, ...others];
  });
  // Nobody checks out into the root of the file system.
  return [...new Set([...named, ...around])].filter((folder) => dirname(folder) !== folder);
}

/** The repositories around a folder, nearest first. */
function listRepositories(folder: string, cwd: string): readonly string[] {
  const top = findRepository(folder, { cwd, uid: EVERY_USER });
  return top === undefined ? [] : [top, ...(dirname(top) === top ? [] : listRepositories(dirname(top), cwd))];
}

/** Whose repository it is does not matter where a repository only makes a rule stricter. */
const EVERY_USER = undefined;

const GIT = '.git';

const OUTSIDE_FINDING = { finding: 'is outside the repository' } as const;

export const BOUNDARY_REMEDY =
  'Files that manifests name must be in the repository, with symbolic links resolved; one that edgewise writes is reached through no link. Move the file, or use --root to name a folder that contains all of them.';

interface PathRules {
  readonly relative: (from: string, to: string) => string;
  readonly sep: string;
  readonly isAbsolute: (path: string) => boolean;
}

/** Whether a path is a folder, or something in it. Both are real paths. `rules`: default those of this platform. */
export function isBelow(path: string, folder: string, rules: PathRules = { relative, sep, isAbsolute }): boolean {
  const way = rules.relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${rules.sep}`) || rules.isAbsolute(way));
}

/**
 * Whether a path names a device that no other user can replace, such as `/dev/stdout` or `/dev/fd/3`. False in other
 * subfolders of `/dev`, because all users can write to some of them.
 */
export function isDevice(path: string): boolean {
  return /^\/dev\/(?:[^/]+|(?:fd|pts)\/\d+)$/.test(path);
}

/** Whether some file system takes a part of the path for `.git`, so that the same manifests are refused everywhere. */
function isInsideGit(way: string): boolean {
  return way.split(sep).some(isNameOfGit);
}

/**
 * Some file systems ignore case. That of Windows also ignores dots and spaces at the end and what follows a colon, and
 * has a short name; that of macOS ignores invisible characters.
 */
function isNameOfGit(name: string): boolean {
  const visible = name.replace(/\p{Default_Ignorable_Code_Point}/gu, '').toLowerCase();
  const bare = visible.replace(/:.*$/s, '').replace(/[. ]+$/, '');
  return bare === GIT || /^git~\d+$/.test(bare);
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

/** Throws an error of `createFileError` if `real` is more than MAX_DEPTH folders below `top`. Both are real paths. */
export function checkPathDepth(real: string, top: string): void {
  if (relative(top, real).split(sep).length > MAX_DEPTH)
    throw createFileError(`is more than ${MAX_DEPTH} folders deep`);
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
