import { posix } from 'node:path';
import { isManifestName } from '../manifest/load.ts';
import { isAtOrBelow } from '../manifest/path-pattern.ts';

/** Files that a comparison with a commit needs. Paths are relative to the root of the repository, and have slashes. */
export interface WantedFiles {
  /** A file, or a folder. `''` is the root of the repository. */
  readonly path: string;
  /**
   * The files below the folder: those that edgewise reads as manifests, those of them that are directly in the folder,
   * all files, or those that a function selects by their path.
   */
  readonly below: 'manifests' | 'beside' | 'all' | ((path: string) => boolean);
}

export interface FileSelection {
  /** Whether a file is needed. */
  readonly includes: (path: string) => boolean;
  /** Whether a symbolic link or a submodule is needed: something wanted may be reached through it. */
  readonly touches: (path: string) => boolean;
}

export function createFileSelection(wanted: readonly WantedFiles[]): FileSelection {
  // Many stacks want the same files, such as Defaults above them.
  const different = Map.groupBy(wanted, ({ path }) => path);
  const byPath = new Map(Array.from(different, ([path, all]) => [path, withoutRepetitions(all)]));
  const above = new Set(wanted.flatMap(({ path }) => listPathAndFolders(path)));
  const isSome = (path: string, isNeeded: (one: WantedFiles) => boolean): boolean =>
    ['', ...listPathAndFolders(path)].some((folder) => folder !== path && byPath.get(folder)?.some(isNeeded) === true);
  return {
    includes: (path) => byPath.has(path) || isSome(path, (one) => isFileNeeded(path, one)),
    touches: (path) => above.has(path) || isSome(path, (one) => mayLeadToNeeded(path, one)),
  };
}

function withoutRepetitions(wanted: readonly WantedFiles[]): readonly WantedFiles[] {
  return [...new Map(wanted.map((one) => [one.below, one])).values()];
}

function isFileNeeded(path: string, wanted: WantedFiles): boolean {
  const { below } = wanted;
  if (typeof below === 'function') return below(path);
  const way = cutFolder(path, wanted);
  return below === 'all' || (isReadPath(way) && (below === 'manifests' || !way.includes('/')));
}

/** Whether a link or submodule may lead to something that is needed. A function does not know paths through links. */
function mayLeadToNeeded(path: string, wanted: WantedFiles): boolean {
  const { below } = wanted;
  if (typeof below === 'function' || below === 'all') return true;
  const way = cutFolder(path, wanted);
  return isVisiblePath(way) && (below === 'manifests' || !way.includes('/'));
}

function cutFolder(path: string, { path: folder }: WantedFiles): string {
  return folder === '' ? path : path.slice(folder.length + 1);
}

/** Lists `a`, `a/b` and `a/b/c` for the path `a/b/c`. */
function listPathAndFolders(path: string): readonly string[] {
  const parts = path.split('/');
  return parts.map((_, index) => parts.slice(0, index + 1).join('/'));
}

/** Whether edgewise reads a file when it loads a folder. `path`: relative to the folder. */
export function isReadPath(path: string): boolean {
  return isVisiblePath(path) && isManifestName(posix.basename(path));
}

function isVisiblePath(path: string): boolean {
  return !path.split('/').some((part) => part.startsWith('.') || part === 'node_modules');
}

/**
 * Lists what is wanted at the target of a symbolic link. `target`: relative to the root of the repository. Empty if
 * nothing is new.
 */
export function listWantedAtTarget(
  link: string,
  target: string,
  wanted: readonly WantedFiles[],
): readonly WantedFiles[] {
  const found = wanted.flatMap(({ path, below }): WantedFiles[] => {
    // A wanted path leads through the link.
    if (isAtOrBelow(path, link)) return [{ path: joinPaths(target, path.slice(link.length)), below }];
    // The link is in a wanted folder. A function would have to know the path through the link.
    if (isAtOrBelow(link, path)) return [{ path: target, below: typeof below === 'function' ? 'all' : below }];
    return [];
  });
  return found.filter(({ path, below }) => !wanted.some((one) => one.path === path && one.below === below));
}

function joinPaths(folder: string, rest: string): string {
  return folder === '' ? rest.replace(/^\//, '') : `${folder}${rest}`;
}
