import { readdirSync, statSync } from 'node:fs';
import { isAbsolute, relative, resolve } from 'node:path';
import { BOUNDARY_REMEDY, listRootsOfPaths, resolvePathWithin, searchRepository } from '../files/boundary.ts';
import { isFileError, type ReadBudget } from '../files/read-input.ts';
import { listAncestors } from '../files/real-path.ts';
import {
  createTrustedUsers,
  DISTRUST_REMEDY,
  type Distrust,
  findDistrust,
  searchUpward,
  type TrustedUsers,
} from '../files/trusted-users.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { STDIN_FILE_NAME } from './environment.ts';
import {
  createStackBudget,
  createUnreadableDiagnostic,
  isManifestName,
  joinShown,
  type LoadContext,
  type LoadedSources,
} from './load.ts';
import type { Source } from './source.ts';
import { createSourceFiles, type SourceFiles } from './source-files.ts';
import { hasStackDocument, mayContainDefaultsDocument, mayContainStackDocument } from './stack-folders.ts';
import type { Path } from './unread-files.ts';

/**
 * Finds files in the folders above the manifests: Defaults, and the Stack to which a manifest belongs. Only files of
 * trusted users are used (see `files/trusted-users.ts`), because any user can put a file into a folder such as `/tmp`.
 */

interface UpwardReading {
  readonly sources: Source[];
  readonly diagnostics: Diagnostic[];
  /** Absolute paths of the files that were already read. */
  readonly seen: Set<string>;
  readonly roots: readonly string[];
  readonly budget: ReadBudget;
  readonly files: SourceFiles;
}

/** A folder from which Defaults are searched upward, and whether the files in this folder were read already. */
export interface DefaultsStart {
  readonly folder: string;
  readonly isRead: boolean;
}

/**
 * Reads files with Defaults in folders and above them, up to the root of the repository. Skips files in `known`. Reports
 * Defaults that are not used because of their user or place, so that no plan lacks settings in silence. `paths`: the paths of
 * the command line, whose repositories count.
 */
export function readDefaultsUpward(
  starts: readonly DefaultsStart[],
  known: readonly string[],
  { paths, ...context }: Omit<LoadContext, 'readStdin' | 'roots'> & { readonly paths: readonly string[] },
): LoadedSources {
  const { cwd, budget, files = createSourceFiles() } = context;
  const reading: UpwardReading = {
    sources: [],
    diagnostics: [],
    seen: new Set(known.filter((file) => file !== STDIN_FILE_NAME).map((file) => resolve(cwd, file))),
    roots: listRootsOfPaths(paths, context),
    budget: budget ?? createStackBudget(),
    files,
  };
  // The same search as if every user were trusted shows which Defaults are left out.
  const widest = listRootsOfPaths(paths, { ...context, uid: undefined });
  const entered = new Set<string>();
  for (const { folder, isRead } of starts) {
    const start = { shown: folder, real: resolve(cwd, folder) };
    const trust = createUpwardTrust(start, reading.roots, context);
    for (const at of [...listUpward(start, widest, cwd)].slice(isRead ? 1 : 0)) {
      if (entered.has(at.real)) continue;
      entered.add(at.real);
      readFilesIn(at, { isSearched: mayContainDefaultsDocument, ...trust(at) }, reading);
    }
  }
  return { sources: reading.sources, diagnostics: reading.diagnostics };
}

/**
 * Finds the nearest file with a `Stack`, beside or above a path, up to the root of the repository. Ignores files that
 * cannot be read or are not trusted.
 */
export function findStackFileUpward(
  path: string,
  context: Pick<LoadContext, 'cwd' | 'uid' | 'root' | 'files'>,
): string | undefined {
  const { cwd } = context;
  const roots = listRootsOfPaths([path], context);
  const budget = createStackBudget();
  const { files = createSourceFiles() } = context;
  const reading: UpwardReading = { sources: [], diagnostics: [], seen: new Set(), roots, budget, files };
  const start = { shown: path, real: resolve(cwd, path) };
  const trust = createUpwardTrust(start, roots, context);
  for (const at of listUpward(start, roots, cwd)) {
    const search = { isSearched: mayContainStackDocument, ...trust(at) };
    if (search.distrust !== undefined) return undefined;
    readFilesIn(at, search, reading);
    const found = reading.sources.find(hasStackDocument);
    if (found !== undefined) return found.file;
  }
  return undefined;
}

/** Yields a folder and its parents, up to the root. */
function* listUpward({ shown, real }: Path, roots: readonly string[], cwd: string) {
  for (const at of listAncestors(real)) {
    const place = resolvePathWithin(at, roots);
    if ('finding' in place) return;
    yield { shown: isAbsolute(shown) ? at : relative(cwd, at) || '.', real: at };
    if (roots.includes(place.real)) return;
  }
}

/** Whose files are used, and why those of a folder are not. `distrust` is absent for a folder that is trusted. */
interface UpwardTrust {
  readonly trusted: TrustedUsers | undefined;
  readonly distrust?: Distrust | undefined;
}

/** Returns a function that says whether edgewise uses what it finds in a folder above `start`. */
function createUpwardTrust(
  { real: start }: Path,
  roots: readonly string[],
  context: Pick<LoadContext, 'cwd' | 'uid' | 'root'>,
): (folder: Path) => UpwardTrust {
  const trusted = createTrustedUsers(start, context);
  const { folders, end } = searchUpward(start, context);
  const repository = searchRepository(start, context);
  const distrust = ('distrust' in repository ? repository.distrust : undefined) ?? end;
  return ({ real }) =>
    folders.includes(real) && 'real' in resolvePathWithin(real, roots) ? { trusted } : { trusted, distrust };
}

/** What a search upward looks for in a folder. */
interface UpwardSearch extends UpwardTrust {
  readonly isSearched: (bytes: Uint8Array) => boolean;
}

/** Reads the files in a folder that may contain what is searched. Does nothing if the folder does not exist yet. */
function readFilesIn(folder: Path, search: UpwardSearch, reading: UpwardReading): void {
  if (statSync(folder.real, { throwIfNoEntry: false })?.isDirectory() !== true) return;
  for (const name of listNames(folder.real, search)) {
    if (name.startsWith('.') || !isManifestName(name)) continue;
    const path = { shown: joinShown(folder.shown, name), real: `${folder.real}/${name}` };
    if (reading.seen.has(path.real)) continue;
    reading.seen.add(path.real);
    readSearchedFile(path, search, reading);
  }
}

/** Another user may have closed their folder. Its files would not be used anyway. */
function listNames(folder: string, { distrust }: UpwardTrust): readonly string[] {
  try {
    return readdirSync(folder).sort();
  } catch (error) {
    if (distrust !== undefined && isFileError(error)) return [];
    throw error;
  }
}

/** Reads a file if it contains what is searched. Reports it instead if it is not used. */
function readSearchedFile({ shown, real }: Path, search: UpwardSearch, reading: UpwardReading): void {
  const refusal = findDefaultsRefusal(real, search, reading);
  try {
    const stats = statSync(real, { throwIfNoEntry: false });
    if (stats?.isFile() !== true || stats.size > MAX_SEARCHED_BYTES) return;
    // A file of another user does not use up the budget of the manifests.
    const { budget } = refusal === undefined ? reading : { budget: undefined };
    const content = reading.files.read(real, { maxBytes: MAX_SEARCHED_BYTES, budget });
    if (!search.isSearched(content.bytes)) return;
    if (refusal === undefined) reading.sources.push({ file: shown, ...content, onlyDefaults: true });
    else reading.diagnostics.push(createRefusedDefaultsDiagnostic(shown, refusal));
  } catch (error) {
    if (refusal === undefined) reading.diagnostics.push(createUnreadableDiagnostic(shown, error));
    else if (!(error instanceof Error)) throw error;
  }
}

/** Why a file is not used, as a clause, and what to do. */
interface Refusal {
  readonly why: string;
  readonly remedy: string;
}

/** Returns why a file is not used: its user, or a link that leaves the repository. `undefined` if it is used. */
function findDefaultsRefusal(
  file: string,
  { trusted, distrust }: UpwardTrust,
  { roots }: UpwardReading,
): Refusal | undefined {
  const finding = findDistrust(file, trusted);
  if (finding !== undefined) return { why: `it ${finding}`, remedy: DISTRUST_REMEDY };
  if (distrust !== undefined) return { why: `${distrust.path} ${distrust.finding}`, remedy: DISTRUST_REMEDY };
  const place = resolvePathWithin(file, roots);
  return 'finding' in place ? { why: `it ${place.finding}`, remedy: BOUNDARY_REMEDY } : undefined;
}

function createRefusedDefaultsDiagnostic(file: string, { why, remedy }: Refusal): Diagnostic {
  return {
    code: 'path-refused',
    severity: 'error',
    message: `${file} has Defaults for these manifests, but is not used, because ${why}`,
    remedy,
  };
}

/**
 * The maximum size of a file that is searched for Defaults or a `Stack`. No stack has so many settings that it needs
 * more.
 */
const MAX_SEARCHED_BYTES = 1_048_576;
