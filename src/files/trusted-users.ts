import { type Stats, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { findStats, listAncestors, resolveLinks } from './real-path.ts';

/**
 * Whose files edgewise uses. A file that the user names is used, also that of another user, but not in silence if another user put
 * it into a folder such as `/tmp`; a plan is not used then. A file that edgewise finds by itself, in the folders above the
 * manifests, must belong to a trusted user, and so must each folder on the way. Systems without user ids, such as
 * Windows, have no such checks.
 */

/** Which folder counts as that of the manifests, and for which user. */
export interface UserContext {
  readonly cwd: string;
  /** The folder that `--root` names. Absent: the repository of each path on the command line. */
  readonly root?: string | undefined;
  /** Real paths of further folders in which manifests may name files, in a run over the stacks below `root`. */
  readonly rootsBeside?: readonly string[] | undefined;
  /** The id of the user that runs the process. `undefined`: the system has no user ids, so every file is trusted. */
  readonly uid: number | undefined;
}

/** Users with power over a folder that the user named. Others must not gain it through files that edgewise finds. */
export interface TrustedUsers {
  readonly uids: ReadonlySet<number>;
  /**
   * Whether every user can already replace the manifests, because their folder is open to all and not sticky. Then the
   * same mode of a file or folder above it adds no power. Containers often have such checkouts.
   */
  readonly isOpen: boolean;
}

/**
 * Returns the users that edgewise trusts for manifests in a folder: the user that runs it, root, the user of the folder,
 * and that of `--root`. `undefined` on a system without user ids.
 */
export function createTrustedUsers(folder: string, { cwd, root, uid }: UserContext): TrustedUsers | undefined {
  if (uid === undefined) return undefined;
  const named = findNearestStats(resolve(cwd, folder));
  const chosen = [named, root === undefined ? undefined : findNearestStats(resolve(cwd, root))];
  return {
    uids: new Set([uid, ROOT, ...chosen.flatMap((stats) => (stats === undefined ? [] : [stats.uid]))]),
    isOpen: named !== undefined && isOpen(named) && !isSticky(named),
  };
}

/**
 * Why edgewise does not use a file or folder that it found by itself, such as `belongs to another user (uid 1001)`. In a
 * message, the text follows the path. `undefined` if edgewise uses it, or if it does not exist. A symbolic link must be
 * trusted, and so must its target.
 */
export function findDistrust(path: string, trusted: TrustedUsers | undefined): string | undefined {
  if (trusted === undefined) return undefined;
  const [link, target] = [findStats(path), findStats(path, statSync)];
  const stranger = [link, target].find((stats) => stats !== undefined && !trusted.uids.has(stats.uid));
  if (stranger !== undefined) return `belongs to another user (uid ${stranger.uid})`;
  if (target === undefined || !isOpen(target) || (trusted.isOpen && !isSticky(target))) return undefined;
  return 'can be written by every user';
}

export const DISTRUST_REMEDY =
  'What edgewise finds above the manifests must belong to you, to root or to the user of the manifests, in folders that not every user can write to. Move the manifests elsewhere, or use --root to name the folder above which edgewise looks for nothing.';

/** A file or folder that is not trusted, and why. In a message, `finding` follows the path. */
export interface Distrust {
  readonly path: string;
  readonly finding: string;
}

/** The folders that a search upward visits, nearest first, and what ended it. */
export interface FolderSearch {
  readonly folders: readonly string[];
  /** The first folder that is not trusted, and why. Absent: the search reached the root of the file system. */
  readonly end?: Distrust;
}

/**
 * Lists a folder and those above it, up to the first that is not trusted. The only search upward: what is found in other
 * folders is not used. Folders that the user chose (the given one, the working folder, `--root`) are visited, also
 * those of other users. Check the files found in them with `findDistrust`.
 */
export function searchUpward(start: string, context: UserContext): FolderSearch {
  const { cwd, root } = context;
  const trusted = createTrustedUsers(start, context);
  const named = [start, cwd, ...(root === undefined ? [] : [root])].map((folder) => resolve(cwd, folder));
  const folders: string[] = [];
  for (const folder of listAncestors(resolve(cwd, start))) {
    const finding = named.includes(folder) ? undefined : findDistrust(folder, trusted);
    if (finding !== undefined) return { folders, end: { path: folder, finding } };
    folders.push(folder);
  }
  return { folders };
}

/** Returns the nearest file with a relative path, such as `node_modules/.bin/edgewise`, in a folder or above it. */
export function findFileUpward(start: string, path: string, context: UserContext): string | undefined {
  const trusted = createTrustedUsers(start, context);
  const { folders } = searchUpward(start, context);
  const parts = path.split('/');
  const nearest = folders.find((folder) => findStats(join(folder, path)) !== undefined);
  const isTrusted = (folder: string): boolean =>
    parts.every((_, index) => findDistrust(join(folder, ...parts.slice(0, index + 1)), trusted) === undefined);
  return nearest !== undefined && isTrusted(nearest) ? join(nearest, path) : undefined;
}

/**
 * Whether the file at `path` belongs to a user other than `uid`, the current user. Such a user can read and replace the
 * file. False for files of root. Also false for files whose folder has the same user, because in a container, a
 * mounted folder of the host and its files may belong to another user. `uid` is `undefined` on systems without user
 * ids.
 */
export function isOfAnotherUser(path: string, { uid: user }: Pick<Stats, 'uid'>, uid: number | undefined): boolean {
  if (uid === undefined || user === uid || user === ROOT) return false;
  return findStats(dirname(path), statSync)?.uid !== user;
}

/** Whether the file at `path` belongs to `uid`, the current user. True on systems without user ids. */
export function isOwnFile(path: string, uid: number | undefined): boolean {
  return uid === undefined || findStats(path)?.uid === uid;
}

const ROOT = 0;

/**
 * Searches the files and folders on a path for the first that belongs to another user and lies in a folder that all
 * users can write to, such as `/tmp`. That user could replace it with a link after edgewise checked the path.
 * `undefined` if there is none.
 */
export function findFileReplaceableByOthers(path: string, uid: number | undefined): string | undefined {
  return listPathParts(path).find((at) => findReplacer(at, uid) !== undefined);
}

/** Lists the files and folders on a path, and on its real path, from the file upward. */
function listPathParts(path: string): readonly string[] {
  return [...listAncestors(path), ...listAncestors(resolveLinks(path))];
}

/** Returns the other user whose file or folder is in a folder that all users can write to. */
function findReplacer(path: string, uid: number | undefined): number | undefined {
  const found = findStats(path);
  const isReplaceable = found !== undefined && isOfAnotherUser(path, found, uid) && isOpenToAll(dirname(path));
  return isReplaceable ? found.uid : undefined;
}

/**
 * Returns a function that finds the part of a path which another user put into a folder that all users can write to:
 * that user decides the content of the file. Folders that the user chose (the working folder, `--root`, and those above
 * them) do not count. Looks at each folder once.
 */
export function createStrangerSearch({ cwd, root, uid }: UserContext): (path: string) => Distrust | undefined {
  const chosen = new Set([cwd, ...(root === undefined ? [] : [resolve(cwd, root)])].flatMap(listPathParts));
  const known = new Map<string, number | undefined>();
  const find = (path: string): number | undefined => {
    if (!known.has(path)) known.set(path, findReplacer(path, uid));
    return known.get(path);
  };
  return (file) => {
    if (uid === undefined) return undefined;
    const path = listPathParts(resolve(cwd, file)).find((at) => !chosen.has(at) && find(at) !== undefined);
    if (path === undefined) return undefined;
    return { path, finding: `belongs to another user (uid ${find(path)}), in a folder that every user can write to` };
  };
}

function isOpenToAll(folder: string): boolean {
  const found = findStats(folder, statSync);
  return found !== undefined && isOpen(found);
}

function isOpen({ mode }: Stats): boolean {
  return (mode & 0o002) !== 0;
}

/** In a sticky folder such as `/tmp`, a user can replace only their own files. */
/** Whether a user cannot replace a file: in a sticky folder, only root and the users of the file and the folder can. */
export function isKeptBySticky(file: Stats, folder: Stats, uid: number | undefined): boolean {
  return isSticky(folder) && uid !== undefined && ![file.uid, folder.uid, ROOT].includes(uid);
}

function isSticky({ mode }: Stats): boolean {
  return (mode & 0o1000) !== 0;
}

/** Returns the facts about a path. If it does not exist yet: about the nearest folder that does. */
function findNearestStats(path: string): Stats | undefined {
  return listAncestors(path)
    .map((at) => findStats(at, statSync))
    .find((stats) => stats !== undefined);
}
