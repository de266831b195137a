import { existsSync, readdirSync, statSync } from 'node:fs';
import { join, posix, relative, resolve, sep } from 'node:path';
import { findRepository, isBelow } from '../files/boundary.ts';
import { readInput } from '../files/read-input.ts';
import { findStats, resolveLinks } from '../files/real-path.ts';
import { isManifestName, isVisibleName, visitManifestFiles } from '../manifest/load.ts';
import { isAtOrBelow } from '../manifest/path-pattern.ts';
import { hasStackDocument, mayContainStackDocument } from '../manifest/stack-folders.ts';
import type { MissingManifests } from '../model/plan.ts';
import type { DesiredState } from '../model/state.ts';
import type { ListCollidingNames, ListMissingManifests } from '../stack/host.ts';
import { type GitFailure, type GitHost, isUnanswered, openGitRepository } from './git.ts';

/**
 * Lists files in and below the folders of a stack that git has, but did not write: those that a sparse checkout leaves
 * out, and submodules that were not fetched. Their manifests are missing, not removed. A file that the user deleted is
 * not among them.
 */
export const listMissingManifests: ListMissingManifests = async (state, host) => {
  const missing: MissingManifests[] = [];
  for (const folder of listSearchedFolders(state, host)) missing.push(await listMissingIn(folder, host));
  const doubt = missing.find((one) => one.doubt !== undefined)?.doubt;
  return { files: [...new Set(missing.flatMap(({ files }) => files))], doubt };
};

/** Lists the folders that the manifests were read from, and that are in a repository. */
function listSearchedFolders({ paths = [] }: Pick<DesiredState, 'paths'>, host: GitHost): readonly string[] {
  return paths
    .filter((path) => path !== '-')
    .map((path) => resolveLinks(resolve(host.cwd, path)))
    .filter((path) => findStats(path, statSync)?.isDirectory() === true && findRepository(path, host) !== undefined);
}

async function listMissingIn(folder: string, host: GitHost): Promise<MissingManifests> {
  const missing = await listLeftOutFiles(folder, host);
  if ('error' in missing) {
    const { why, error } = missing;
    // Without git, only an incomplete checkout is a reason for doubt.
    if (isUnanswered(why) && !mayBeIncomplete(folder, findRepository(folder, host) ?? folder)) return { files: [] };
    return { files: [], doubt: error.message };
  }
  const files = missing.length === 0 ? [] : withoutInnerStacks(missing, folder);
  return { files: files.map((file) => relative(host.cwd, file)) };
}

/** Lists the real paths of the manifests in the index that are not in the folder, although they were not deleted. */
export async function listLeftOutFiles(folder: string, host: GitHost): Promise<readonly string[] | GitFailure> {
  const index = await listIndex(folder, host);
  if ('error' in index) return index;
  const { top, entries } = index;
  const missingFiles: string[] = [];
  for (const { tag, mode, path, isRead } of entries) {
    const file = join(top, path);
    if (mode === SUBMODULE) {
      const leftOut = await listLeftOutOfModule(file, host);
      if ('error' in leftOut) return leftOut;
      missingFiles.push(...leftOut);
    }
    // `S` is a file that a sparse checkout leaves out. In lower case: the user told git that it never changes.
    else if ((tag === 'S' || tag !== tag.toUpperCase()) && findStats(file) === undefined) {
      if (isRead) missingFiles.push(file);
    }
  }
  return [...new Set([...missingFiles, ...listFilesHiddenByName(listManifestPaths(entries), top)])];
}

/** A file or submodule in the index of git. */
interface IndexEntry {
  readonly tag: string;
  readonly mode: string;
  /** Relative to the root of the repository. */
  readonly path: string;
  /** Whether edgewise reads it when it loads the folder. */
  readonly isRead: boolean;
}

interface Index {
  readonly top: string;
  readonly entries: readonly IndexEntry[];
}

async function listIndex(folder: string, host: GitHost): Promise<Index | GitFailure> {
  const { top, ask } = openGitRepository(folder, host);
  const below = relative(top, folder).split(sep).join('/');
  const listed = await ask(['ls-files', '-v', '-s', '-z', '--', `:(literal)${below === '' ? '.' : below}`]);
  if (typeof listed !== 'string') return listed;
  const entries = Array.from(
    listed.matchAll(/(\w) (\d+) [^\t]*\t([^\0]*)\0/g),
    ([, tag = '', mode = '', path = '']) => ({
      tag,
      mode,
      path,
      isRead: isReadPath(below === '' ? path : path.slice(below.length + 1)),
    }),
  );
  return { top, entries };
}

function listManifestPaths(entries: readonly IndexEntry[]): readonly string[] {
  const paths = entries.filter(({ mode, isRead }) => mode !== SUBMODULE && isRead).map(({ path }) => path);
  return [...new Set(paths)]; // a file with conflicts has several entries
}

/**
 * Lists the tracked manifests in and below folders whose paths differ only in case or in the form of Unicode, in groups.
 * Paths are relative to the working folder. Empty without git.
 */
export const listCollidingNames: ListCollidingNames = async (paths, host) => {
  const groups: (readonly string[])[] = [];
  for (const folder of listSearchedFolders({ paths }, host)) {
    const index = await listIndex(folder, host);
    if ('error' in index) continue;
    const colliding = groupCollidingPaths(listManifestPaths(index.entries));
    groups.push(...colliding.map((group) => group.map((path) => relative(host.cwd, join(index.top, path)))));
  }
  return groups;
};

/** Groups the paths that a file system without case, or with one form of Unicode, takes for one. */
function groupCollidingPaths(paths: readonly string[]): readonly (readonly string[])[] {
  const groups = Map.groupBy(paths, (path) => path.normalize('NFD').toUpperCase().toLowerCase().normalize('NFC'));
  return [...groups.values()].filter((group) => group.length > 1);
}

/**
 * Lists files that are not in the checkout under their own name, because another tracked name takes their place. Where
 * one file answers to both names, only the names in the folders tell.
 */
function listFilesHiddenByName(tracked: readonly string[], top: string): readonly string[] {
  const entries = new Map<string, ReadonlySet<string>>();
  const listEntries = (folder: string): ReadonlySet<string> => {
    const known = entries.get(folder);
    if (known !== undefined) return known;
    const isFolder = findStats(folder, statSync)?.isDirectory() === true;
    const names = new Set(isFolder ? readdirSync(folder) : []);
    entries.set(folder, names);
    return names;
  };
  const isThere = (path: string): boolean => {
    const steps = path.split('/');
    return steps.every((step, index) => listEntries(join(top, ...steps.slice(0, index))).has(step));
  };
  return groupCollidingPaths(tracked)
    .flat()
    .filter((path) => !isThere(path))
    .map((path) => join(top, path));
}

/** Whether edgewise reads a file when it loads a folder. `path`: relative to the folder. */
export function isReadPath(path: string): boolean {
  return path.split('/').every(isVisibleName) && isManifestName(posix.basename(path));
}

const SUBMODULE = '160000';

async function listLeftOutOfModule(folder: string, host: GitHost): Promise<readonly string[] | GitFailure> {
  if (isEmptyFolder(folder)) return [folder];
  return findStats(join(folder, '.git')) === undefined ? [] : listLeftOutFiles(folder, host);
}

function isEmptyFolder(folder: string): boolean {
  return !existsSync(folder) || (statSync(folder).isDirectory() && readdirSync(folder).length === 0);
}

/** Leaves out what belongs to another stack, whose folder is below. */
function withoutInnerStacks(files: readonly string[], folder: string): readonly string[] {
  const inner = new Set<string>();
  visitManifestFiles(folder, { cwd: folder, root: folder, uid: undefined }, (found) => {
    if (mayContainStackDocument(found.bytes) && hasStackDocument(found)) inner.add(found.folder);
  });
  inner.delete(folder);
  return files.filter((file) => ![...inner].some((one) => isAtOrBelow(file, one)));
}

/**
 * Whether a checkout looks incomplete to edgewise itself: it is sparse, or has submodules and an empty folder among the
 * manifests. Git creates an empty folder only for a submodule.
 */
function mayBeIncomplete(folder: string, top: string): boolean {
  const isSparse = ['config', 'config.worktree'].some((name) => {
    const file = join(findGitFolder(top), name);
    return (
      existsSync(file) && /^\s*sparseCheckout\s*=\s*(?:true|yes|on|1)\s*$/im.test(readInput(file).toString('utf8'))
    );
  });
  return isSparse || (existsSync(join(top, '.gitmodules')) && hasEmptyFolder(folder));
}

/** Whether the checkout `inner` is a submodule of the checkout `top`, and no worktree or clone that only lies in it. */
export function isSubmodule(inner: string, top: string): boolean {
  return isBelow(resolveLinks(findGitFolder(inner)), resolveLinks(join(findGitFolder(top), 'modules')));
}

/** Follows the file `.git` of a linked worktree or a submodule. */
function findGitFolder(top: string): string {
  const path = join(top, '.git');
  if (findStats(path, statSync)?.isFile() !== true) return path;
  const [, target = '.'] = /^gitdir: (.+)$/m.exec(readInput(path).toString('utf8')) ?? [];
  return resolve(top, target);
}

function hasEmptyFolder(folder: string): boolean {
  const entries = readdirSync(folder, { withFileTypes: true });
  const folders = entries.filter(
    (entry) => entry.isDirectory() && entry.name !== '.git' && entry.name !== 'node_modules',
  );
  return entries.length === 0 || folders.some(({ name }) => hasEmptyFolder(join(folder, name)));
}
