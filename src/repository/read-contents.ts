import { readdirSync, readlinkSync, statSync } from 'node:fs';
import { join, posix } from 'node:path';
import { resolvePathWithin } from '../files/boundary.ts';
import { createReadBudget, InputBudgetError, type ReadBudget, readInput, toBuffer } from '../files/read-input.ts';
import { findStats } from '../files/real-path.ts';
import { visitManifestFiles } from '../manifest/load.ts';
import { readDefaultsUpward } from '../manifest/load-upward.ts';
import { isAtOrBelow } from '../manifest/path-pattern.ts';
import { hasStackDocument, mayContainStackDocument } from '../manifest/stack-folders.ts';
import { hashSha256 } from '../model/json.ts';
import { StackError } from '../stack/host.ts';

/**
 * What edgewise reads in a folder that is the root of a repository, or of the checkout of a commit. Both sides of a
 * comparison are read by the same functions. Paths are relative to that folder, and have slashes.
 */

/** Digests of files, by path. A path that cannot be read has the reason instead. */
export type Contents = ReadonlyMap<string, string>;

export interface ManifestContents {
  /** By the path of the file, as edgewise reads it: it may lead through a symbolic link. */
  readonly contents: Contents;
  /** Folders with a `Stack` document. */
  readonly stacks: ReadonlySet<string>;
  /** Whether a field may name another file. */
  readonly mayNameFiles: boolean;
}

/** Reads the manifests in and below a folder, or a file of policies. Nothing is there if the path does not exist. */
export function readManifestContents(root: string, path: string): ManifestContents {
  const stats = findStats(join(root, path), statSync);
  const contents = new Map<string, string>();
  const stacks = new Set<string>();
  let mayNameFiles = false;
  if (stats?.isFile() === true) contents.set(path, readDigest(root, path) ?? '');
  if (stats?.isDirectory() !== true) return { contents, stacks, mayNameFiles };
  const context = { cwd: root, root, uid: undefined };
  const findings = visitManifestFiles(path || '.', context, ({ file, folder, bytes }) => {
    contents.set(file, hashSha256(bytes, 'hex'));
    mayNameFiles ||= namesFiles(bytes);
    if (mayContainStackDocument(bytes) && hasStackDocument(bytes)) stacks.add(folder === '.' ? '' : folder);
  });
  for (const { folder, diagnostic } of findings) contents.set(`${folder}/*`, diagnostic.message);
  return { contents, stacks, mayNameFiles };
}

/** Whether a manifest may have a key such as `file` or `ca_file`. A key may be written with escapes. */
function namesFiles(bytes: Uint8Array): boolean {
  return /file\b|\\[ux]/i.test(toBuffer(bytes).toString('utf8'));
}

/** Reads the files with Defaults above the folders, up to the root. Those in a folder are manifests of its stack. */
export function readDefaultsContents(root: string, folders: readonly string[]): Omit<ManifestContents, 'stacks'> {
  const { sources, diagnostics } = readDefaultsUpward(
    folders.map((folder) => ({ folder: folder || '.', isRead: true })),
    [],
    { cwd: root, root, uid: undefined, paths: [] },
  );
  const found = sources.map(({ file, bytes }): [string, string] => [file, hashSha256(bytes, 'hex')]);
  const failed = diagnostics.map(({ message }): [string, string] => [message, message]);
  return { contents: new Map([...found, ...failed]), mayNameFiles: sources.some(({ bytes }) => namesFiles(bytes)) };
}

export interface FileFilter {
  readonly matches: (path: string) => boolean;
  /** Whether to pass over a folder with this path. */
  readonly isSkipped: (folder: string) => boolean;
}

/** Reads all files in and below a folder that match, also hidden and ignored ones. `path` may be a file. */
export function readMatchingContents(root: string, path: string, filter: FileFilter): Contents {
  const found = new Map<string, string>();
  const walk = { root, filter, found, folders: new Set<string>(), budget: createReadBudget(LIMITS) };
  try {
    visit(path, walk);
  } catch (error) {
    if (!(error instanceof InputBudgetError)) throw error;
    throw new StackError(`${path || '.'} ${error.finding}`, {
      reason: 'invalid',
      remedy: 'Let spec.inputs name fewer files, or move other files out of the folder of a stack with spec.render.',
      cause: error,
    });
  }
  return found;
}

/** Charts and generated files are larger than manifests, and are not kept in memory. */
const LIMITS = { maxBytes: 1024 * 1024 * 1024, maxFiles: 200_000, of: 'a comparison with a commit' };

interface Walk {
  readonly root: string;
  readonly filter: FileFilter;
  readonly found: Map<string, string>;
  /** Real paths of visited folders, because symbolic links can form circles. */
  readonly folders: Set<string>;
  readonly budget: ReadBudget;
}

function visit(path: string, walk: Walk): void {
  const { root, filter, found, folders, budget } = walk;
  const place = resolvePathWithin(join(root, path), [root]);
  const stats = 'finding' in place ? undefined : findStats(place.real, statSync);
  if ('real' in place && stats?.isDirectory() === true) {
    if (folders.has(place.real) || filter.isSkipped(path)) return;
    folders.add(place.real);
    const names = listNames(place.real);
    if (names === undefined) found.set(`${path}/*`, crypto.randomUUID());
    for (const name of names ?? []) visit(path === '' ? name : `${path}/${name}`, walk);
    return;
  }
  if (!filter.matches(path)) return;
  // A link that leads nowhere, or out of the folder, is the same as long as its text is.
  const link = stats === undefined && findStats(join(root, path))?.isSymbolicLink() === true;
  const digest = link ? `-> ${readlinkSync(join(root, path))}` : readDigest(root, path, budget);
  if (digest !== undefined) found.set(path, digest);
}

/** `undefined` if the folder cannot be read. */
function listNames(folder: string): readonly string[] | undefined {
  try {
    return readdirSync(folder).filter((name) => name !== '.git');
  } catch (error) {
    if (error instanceof Error && 'code' in error) return undefined;
    throw error;
  }
}

/**
 * Returns the digest of a file. `undefined` if there is none. A file that cannot be read has no digest: it differs from
 * every other.
 */
export function readDigest(root: string, path: string, budget?: ReadBudget): string | undefined {
  const place = resolvePathWithin(join(root, path), [root]);
  if ('finding' in place) return place.finding;
  if (findStats(place.real, statSync)?.isFile() !== true) return undefined;
  try {
    return hashSha256(readInput(place.real, { maxBytes: MAX_FILE_BYTES, onlyFiles: true, budget }), 'hex');
  } catch (error) {
    if (error instanceof InputBudgetError || !(error instanceof Error)) throw error;
    return crypto.randomUUID();
  }
}

const MAX_FILE_BYTES = 256 * 1024 * 1024;

/** Lists the paths whose contents differ, sorted. */
export function listContentDifferences(left: Contents, right: Contents): readonly string[] {
  const paths = new Set([...left.keys(), ...right.keys()]);
  return [...paths].filter((path) => left.get(path) !== right.get(path)).sort();
}

/** Returns the contents of files that are in none of the folders. */
export function withoutFolders(contents: Contents, folders: Iterable<string>): Contents {
  const left = [...folders];
  return new Map([...contents].filter(([path]) => !left.some((folder) => isAtOrBelow(posix.dirname(path), folder))));
}
