import { createHash } from 'node:crypto';
import { readdirSync, readlinkSync, type Stats } from 'node:fs';
import { join, posix } from 'node:path';
import { createReadBudget, isFileError, type ReadBudget, readInput } from '../files/read-input.ts';
import { findStats } from '../files/real-path.ts';
import { StackError } from '../model/user-errors.ts';

import { type GitRepository, isUnanswered } from './git.ts';

/**
 * Compares files with those of a commit. Git only lists the tree of the commit. The id of a file is computed here, from
 * the bytes that edgewise reads: no filter, attribute, index or setting of git decides whether it changed. What is not
 * certainly the same counts as changed.
 *
 * Paths are relative to the root of the repository, and have slashes. The root is `''`.
 */
export interface CommitFiles {
  /** Real path of the root of the repository. */
  readonly top: string;
  readonly entries: ReadonlyMap<string, Entry>;
  /** The names in each folder of the commit. */
  readonly folders: ReadonlyMap<string, ReadonlySet<string>>;
  readonly objectFormat: 'sha1' | 'sha256';
  /** What was found out so far, by path. */
  readonly resolved: Map<string, ResolvedPath>;
  readonly sameFiles: Map<string, boolean>;
  /** The `.gitattributes` that differs in a folder or above it, by folder. */
  readonly conversions: Map<string, string | undefined>;
  readonly budget: ReadBudget;
}

/** What a commit has at a path. */
interface Entry {
  readonly type: 'file' | 'link' | 'submodule';
  readonly id: string;
}

/** Where a path leads. */
interface ResolvedPath {
  /** The path without links. Absent: it leads nowhere, or elsewhere than in the commit. */
  readonly real?: string;
  /** The path of what differs on the way: a link, a submodule, or a file in the place of a folder. */
  readonly changed?: string;
}

/** Lists the files of a commit, given by its full id. Rejects with a `StackError` if git does not have all of it. */
export async function readCommitFiles({ top, ask }: GitRepository, commit: string): Promise<CommitFiles> {
  const listed = await ask(['ls-tree', '-r', '-z', '--full-tree', commit]);
  if (typeof listed !== 'string') {
    const { why, said, error: cause } = listed;
    if (isUnanswered(why)) throw cause;
    throw new StackError(`git cannot list the files of the commit ${commit.slice(0, 12)}: ${said}`.split('\n'), {
      reason: 'invalid',
      remedy: 'If trees of the commit are missing, clone without --filter, or with --filter=blob:none.',
      cause,
    });
  }
  const entries = new Map<string, Entry>();
  for (const [, mode = '', id = '', path = ''] of listed.matchAll(/(\d+) \w+ ([0-9a-f]+)\t([^\0]*)\0/g))
    entries.set(path, { type: TYPES[mode] ?? 'file', id });
  return {
    top,
    entries,
    folders: indexFolders(entries.keys()),
    objectFormat: commit.length === SHA256_LENGTH ? 'sha256' : 'sha1',
    resolved: new Map(),
    sameFiles: new Map(),
    conversions: new Map(),
    budget: createReadBudget(LIMITS),
  };
}

const TYPES: Readonly<Record<string, Entry['type']>> = { '120000': 'link', '160000': 'submodule' };

/** The length of an id in hexadecimal. */
const SHA256_LENGTH = 64;

/** What is beyond these limits counts as changed. No file is kept in memory. */
const LIMITS = { maxBytes: 4 * 1024 * 1024 * 1024, maxFiles: 1_000_000, of: 'a comparison with a commit' };
const MAX_FILE_BYTES = 256 * 1024 * 1024;

function indexFolders(paths: Iterable<string>): CommitFiles['folders'] {
  const found = new Map<string, Set<string>>();
  for (const path of paths) {
    for (let at = path; at !== ''; at = toFolder(at)) {
      const names = found.get(toFolder(at)) ?? new Set();
      found.set(toFolder(at), names.add(posix.basename(at)));
    }
  }
  return found;
}

/** Returns the folder of a path. `''` is the root of the repository. */
export function toFolder(path: string): string {
  return path.includes('/') ? posix.dirname(path) : '';
}

function joinPaths(folder: string, name: string): string {
  return folder === '' ? name : `${folder}/${name}`;
}

function findStatsOf(path: string, { top }: CommitFiles): Stats | undefined {
  return findStats(join(top, path));
}

/** Computes the id that git gives to these bytes. */
function computeId(bytes: Uint8Array, { objectFormat }: CommitFiles): string {
  return createHash(objectFormat).update(`blob ${bytes.byteLength}\0`).update(bytes).digest('hex');
}

/** Computes the id of a file, which is no link. `undefined`: there is none, or it cannot be read. */
export function computeFileId(path: string, files: CommitFiles): string | undefined {
  const bytes = findStatsOf(path, files)?.isFile() === true ? findBytes(path, files) : undefined;
  return bytes && computeId(bytes, files);
}

function findBytes(path: string, { top, budget }: CommitFiles): Uint8Array | undefined {
  try {
    return readInput(join(top, path), { maxBytes: MAX_FILE_BYTES, onlyFiles: true, budget });
  } catch (error) {
    if (error instanceof Error) return undefined;
    throw error;
  }
}

/**
 * Follows the links on a path, and compares each as an entry of the commit. If none differs, the path leads to the same
 * place in the commit. `links`: how many links led to the path.
 */
export function followPath(path: string, files: CommitFiles, links = 0): ResolvedPath {
  const known = files.resolved.get(path);
  if (known !== undefined) return known;
  // Links in a circle lead nowhere. If all of them are those of the commit, they led nowhere there too.
  files.resolved.set(path, {});
  const place = resolvePath(path, files, links);
  files.resolved.set(path, place);
  return place;
}

function resolvePath(path: string, files: CommitFiles, links: number): ResolvedPath {
  if (path === '') return { real: '' };
  // The name is not UTF-8. Others may look the same.
  if (path.includes('\u{FFFD}')) return { changed: path };
  const parent = followPath(toFolder(path), files, links);
  if (parent.real === undefined) return parent;
  const here = joinPaths(parent.real, posix.basename(path));
  if (here !== path) return followPath(here, files, links);
  const [entry, stats] = [files.entries.get(path), findStatsOf(path, files)];
  if (stats?.isSymbolicLink() === true) {
    const text = readlinkSync(join(files.top, path), 'buffer');
    const isSame = entry?.type === 'link' && entry.id === computeId(text, files);
    return isSame && links < MAX_LINKS
      ? followLink(path, text.toString('utf8'), { files, links: links + 1 })
      : { changed: path };
  }
  const isFile = entry?.type === 'file' && stats?.isFile() === true;
  return entry === undefined || isFile ? { real: path } : { changed: path };
}

/** Maximum number of links that lead to each other, as in Linux. What is behind more of them counts as changed. */
const MAX_LINKS = 40;

function followLink(
  link: string,
  text: string,
  { files, links }: { readonly files: CommitFiles; readonly links: number },
): ResolvedPath {
  if (posix.isAbsolute(text)) return { changed: link };
  let at = toFolder(link);
  for (const part of text.split('/')) {
    if (part === '' || part === '.') continue;
    if (part === '..') {
      // The system goes up only from a folder that exists.
      const isFolder = findStatsOf(at, files)?.isDirectory() === true;
      if (at === '' || isFolder !== files.folders.has(at)) return { changed: link };
      if (!isFolder) return {};
      at = toFolder(at);
      continue;
    }
    const next = followPath(joinPaths(at, part), files, links);
    if (next.real === undefined) return next;
    at = next.real;
  }
  return { real: at };
}

/**
 * Compares a file, with all links on its path. Returns the path of what differs: the file, or what differs on the way, or
 * a `.gitattributes` in its folder or above.
 * Two folders are the same, whatever is in them, also if one does not exist.
 */
export function compareFile(path: string, files: CommitFiles): string | undefined {
  const { real } = followPath(path, files);
  return findDifference(path, files) ?? (real === undefined ? undefined : findChangedAttributes(real, files));
}

function findDifference(path: string, files: CommitFiles): string | undefined {
  const { real, changed } = followPath(path, files);
  if (real === undefined) return changed;
  const isSame = files.sameFiles.get(real) ?? isSameFile(real, files);
  files.sameFiles.set(real, isSame);
  return isSame ? undefined : real;
}

/**
 * Finds a `.gitattributes` that differs, in the folder of a path or above. Such a change may let git write a file as the
 * commit contains it that git wrote in another encoding before.
 */
function findChangedAttributes(path: string, files: CommitFiles): string | undefined {
  const folder = toFolder(path);
  if (!files.conversions.has(folder)) {
    const above = folder === '' ? undefined : findChangedAttributes(folder, files);
    files.conversions.set(folder, above ?? findDifference(joinPaths(folder, '.gitattributes'), files));
  }
  return files.conversions.get(folder);
}

function isSameFile(path: string, files: CommitFiles): boolean {
  const entry = files.entries.get(path);
  if (entry !== undefined) return entry.id === computeFileId(path, files);
  const stats = findStatsOf(path, files);
  return stats === undefined || stats.isDirectory();
}

/** Which paths are read in and below a folder. */
export interface ReadingRule {
  readonly isFile: (path: string) => boolean;
  /** Whether a folder is entered. Also asked for links and submodules, which may be folders. */
  readonly isFolder: (path: string) => boolean;
  /** Whether a file that the commit does not have is not read, because of its content. Default: it is read. */
  readonly isUnread?: (path: string, bytes: Uint8Array) => boolean;
  /** The rule in a folder that a link leads to. Default: this one. */
  readonly beyondLinks?: ReadingRule;
}

/** Compares what is read in a folder and below it, now and in the commit. Returns the paths of what differs. */
export function compareFolder(folder: string, rule: ReadingRule, files: CommitFiles): readonly string[] {
  const { real, changed } = followPath(folder, files);
  if (real === undefined) return changed === undefined ? [] : [changed];
  return compareMembers(real, real === folder ? rule : (rule.beyondLinks ?? rule), { files, entered: new Map() });
}

interface Walk {
  readonly files: CommitFiles;
  /** The folders that were entered, each with the last rule, because links can form circles. */
  readonly entered: Map<string, ReadingRule>;
}

/** `folder`: without links. */
function compareMembers(folder: string, rule: ReadingRule, walk: Walk): readonly string[] {
  const { files, entered } = walk;
  if (entered.get(folder) === rule) return [];
  entered.set(folder, rule);
  const isThere = findStatsOf(folder, files)?.isDirectory() === true;
  const names = isThere ? listNames(join(files.top, folder)) : [];
  if (names === undefined) return [folder];
  const all = new Set([...names, ...(files.folders.get(folder) ?? [])]);
  return [...all].flatMap((name) => compareMember(joinPaths(folder, name), rule, walk));
}

/** Lists the names in a folder. `undefined` if it cannot be read. */
function listNames(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder).filter((name) => name !== '.git');
  } catch (error) {
    if (isFileError(error)) return undefined;
    throw error;
  }
}

function compareMember(path: string, rule: ReadingRule, walk: Walk): readonly string[] {
  const { files } = walk;
  const [entry, stats] = [files.entries.get(path), findStatsOf(path, files)];
  const isNoFolder =
    (stats === undefined || stats.isFile()) &&
    (entry === undefined || entry.type === 'file') &&
    !files.folders.has(path);
  const isEntered = !isNoFolder && rule.isFolder(path);
  if (!isEntered && !rule.isFile(path)) return [];
  const difference = compareFile(path, files);
  if (difference !== undefined) {
    const bytes = isNoFolder && entry === undefined && rule.isUnread !== undefined ? findBytes(path, files) : undefined;
    return bytes !== undefined && rule.isUnread?.(path, bytes) === true ? [] : [difference];
  }
  const { real } = followPath(path, files);
  if (!isEntered || real === undefined) return [];
  return compareMembers(real, real === path ? rule : (rule.beyondLinks ?? rule), walk);
}
