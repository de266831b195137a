import { readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, posix } from 'node:path';
import { findStats } from '../files/real-path.ts';
import { createFolder, createPrivateFolder, removePrivateFolder, replaceFile } from '../files/write-file.ts';
import { getErrorMessage } from '../model/errors.ts';
import { StackError } from '../stack/host.ts';
import { createFileSelection, type FileSelection, listWantedAtTarget, type WantedFiles } from './file-selection.ts';
import { GitError, type GitHost, type GitRepository, openGitRepository, resolveCommit } from './git.ts';

/**
 * Files of a commit in a temporary folder, as git would check them out: git applies its own conversions (ends of lines,
 * `ident`, `working-tree-encoding`), by the attributes of that commit. So both sides of a comparison are files that
 * edgewise reads in the same way. Git runs no filter: the content of such a file is unknown.
 */
export interface CommitCheckout {
  /** Real path of the folder. It corresponds to the root of the repository. */
  readonly folder: string;
  /** Paths of all files and links of the commit, without those of submodules. */
  readonly paths: readonly string[];
  /** Checks out more files, also those that symbolic links lead to. Rejects with a `StackError` if one is missing. */
  readonly add: (wanted: readonly WantedFiles[]) => Promise<void>;
  /**
   * What the commit has at a path, but not its content: a file with a filter, or a submodule whose commit is not there.
   * By the path of a file in `folder` that takes its place, and whose content differs from every other.
   */
  readonly unknown: ReadonlyMap<string, string>;
  readonly remove: () => Promise<void>;
}

/** The state of a checkout: a folder, and what has been added to it. */
interface Checkout {
  readonly host: GitHost;
  /** The folder with the files, and the folder around it. */
  readonly folder: string;
  readonly parent: string;
  readonly unknown: Map<string, string>;
  /** Paths that were checked out, or found to be unknown. */
  readonly done: Set<string>;
}

/** Opens a checkout of a commit, in which nothing is checked out yet. Rejects with a `StackError` if git fails. */
export async function openCommitCheckout(
  repository: GitRepository,
  commit: string,
  host: GitHost,
): Promise<CommitCheckout> {
  const top = await openPart(repository, commit, '');
  const parent = await createTemporaryFolder(host);
  const checkout: Checkout = { host, folder: join(parent, 'files'), parent, unknown: new Map(), done: new Set() };
  const wanted: WantedFiles[] = [];
  return {
    folder: checkout.folder,
    unknown: checkout.unknown,
    paths: top.entries.filter(({ type }) => type !== 'submodule').map(({ path }) => path),
    remove: () => removePrivateFolder(parent),
    add: async (more) => {
      for (let next = more, left = MAX_LINKS; next.length > 0 && left > 0; left -= 1) {
        wanted.push(...next);
        const links = await checkOut(top, createFileSelection(wanted), checkout);
        next = links.flatMap((link) => listWantedThrough(link, wanted, checkout.folder));
      }
    },
  };
}

/** Maximum number of symbolic links from one file to the next, as in Linux. */
const MAX_LINKS = 40;

async function createTemporaryFolder({ env }: GitHost): Promise<string> {
  const parent = env['TMPDIR'] ?? tmpdir();
  try {
    const folder = await createPrivateFolder(parent, 'edgewise-');
    await createFolder(join(folder, 'files'), { cwd: folder, mode: FOLDER_MODE });
    return folder;
  } catch (cause) {
    throw new StackError(`No temporary folder can be created in ${parent}: ${getErrorMessage(cause)}`, {
      reason: 'failed',
      remedy: 'Edgewise needs one to compare files with those of a commit. Name a folder with TMPDIR.',
      cause,
    });
  }
}

const FOLDER_MODE = 0o700;
const FILE_MODE = 0o600;

/** A commit of a repository, or of one of its submodules. */
interface Part {
  readonly repository: GitRepository;
  readonly commit: string;
  /** The path of the submodule with a slash at its end. `''` for the repository itself. */
  readonly prefix: string;
  readonly entries: readonly Entry[];
  /** The submodules that were looked at. `undefined`: their content is unknown. */
  readonly modules: Map<string, Part | undefined>;
}

/** A file of a commit. `path`: relative to the root of the outermost repository. */
interface Entry {
  readonly type: 'file' | 'link' | 'submodule';
  readonly mode: string;
  readonly id: string;
  readonly path: string;
}

async function openPart(repository: GitRepository, commit: string, prefix: string): Promise<Part> {
  try {
    const listed = await repository.run(['ls-tree', '-r', '-z', '--full-tree', commit]);
    const lines = Array.from(listed.matchAll(/(\d+) \w+ ([0-9a-f]+)\t([^\0]*)\0/g));
    const entries = lines.map(([, mode = '', id = '', path = '']): Entry => {
      return { type: TYPES[mode] ?? 'file', mode, id, path: `${prefix}${path}` };
    });
    return { repository, commit, prefix, entries, modules: new Map() };
  } catch (error) {
    throw createMissingBlobError(error, { commit, entries: [] });
  }
}

const TYPES: Readonly<Record<string, Entry['type']>> = { '120000': 'link', '160000': 'submodule' };

/** Checks out the selected files of a commit and its submodules. Returns the symbolic links among them. */
async function checkOut(part: Part, selection: FileSelection, checkout: Checkout): Promise<readonly string[]> {
  const needed = part.entries.filter(({ type, path }) =>
    type === 'file' ? !checkout.done.has(path) && selection.includes(path) : selection.touches(path),
  );
  const files = needed.filter(({ type, path }) => type !== 'submodule' && !checkout.done.has(path));
  if (files.length > 0) await checkOutFiles(part, files, checkout);
  const links = needed.filter(({ type }) => type === 'link').map(({ path }) => path);
  for (const { type, path, id } of needed) {
    if (type !== 'submodule') continue;
    const module = await getSubmodule(part, { path, commit: id }, checkout);
    if (module !== undefined) links.push(...(await checkOut(module, selection, checkout)));
    else await markUnknown(path, `${path}/edgewise-unknown.yaml`, checkout);
  }
  return links;
}

/** Opens a submodule. `undefined` if it is not there, or lacks the commit. */
async function getSubmodule(
  { repository, modules }: Part,
  { path, commit }: { readonly path: string; readonly commit: string },
  { host }: Checkout,
): Promise<Part | undefined> {
  if (!modules.has(path)) modules.set(path, await openModule(repository, { path, commit }, host));
  return modules.get(path);
}

async function openModule(
  { top }: GitRepository,
  { path, commit }: { readonly path: string; readonly commit: string },
  host: GitHost,
): Promise<Part | undefined> {
  const folder = join(top, path);
  if (findStats(join(folder, '.git')) === undefined) return undefined;
  const repository = openGitRepository(folder, host);
  const id = await resolveCommit(repository, commit).catch((error: unknown) => {
    if (error instanceof StackError && !(error instanceof GitError)) return undefined;
    throw error;
  });
  return id === undefined ? undefined : openPart(repository, id, `${path}/`);
}

/** Writes a file that differs from every other in the place of something whose content is unknown. */
async function markUnknown(path: string, place: string, { folder, unknown, done }: Checkout): Promise<void> {
  if (unknown.has(place)) return;
  unknown.set(place, path);
  done.add(path);
  const boundary = { cwd: folder, roots: [folder] };
  await createFolder(join(folder, posix.dirname(place)), { ...boundary, mode: FOLDER_MODE });
  await replaceFile(join(folder, place), `kind: ${crypto.randomUUID()}\n`, { ...boundary, mode: FILE_MODE });
}

/**
 * Has git write files. A temporary index contains them and the `.gitattributes` of the commit, so that git finds no other
 * attributes, and the index of the repository is not touched.
 */
async function checkOutFiles(part: Part, files: readonly Entry[], checkout: Checkout): Promise<void> {
  const { repository, prefix, entries, commit } = part;
  const { folder, parent, done } = checkout;
  for (const { path } of files) done.add(path);
  const variables = {
    GIT_INDEX_FILE: join(parent, `index-${prefix.replaceAll('/', '-')}`),
    GIT_WORK_TREE: join(folder, prefix),
  };
  await createFolder(join(folder, prefix), { cwd: folder, roots: [folder], mode: FOLDER_MODE });
  const git = (args: readonly string[], lines: readonly string[]): Promise<string> =>
    repository.run([...INDEX_SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
      input: lines.map((line) => `${line}\0`).join(''),
      variables,
    });
  const cut = (path: string): string => path.slice(prefix.length);
  const attributes = entries.filter(({ type, path }) => type === 'file' && posix.basename(path) === '.gitattributes');
  try {
    const added = [...attributes, ...files].map(({ mode, id, path }) => `${mode} ${id}\t${cut(path)}`);
    await git(['update-index', '-z', '--index-info'], added);
    const regular = files.filter(({ type }) => type === 'file').map(({ path }) => cut(path));
    const filtered = parseFiltered(await git(['check-attr', '--cached', '-z', '--stdin', 'filter'], regular));
    for (const path of filtered) await markUnknown(`${prefix}${path}`, `${prefix}${path}`, checkout);
    const rest = files.map(({ path }) => cut(path)).filter((path) => !filtered.has(path));
    await git(['checkout-index', '--force', '-z', '--stdin'], rest);
  } catch (error) {
    throw createMissingBlobError(error, { commit, entries: [...attributes, ...files] });
  }
}

/** Settings of a checkout that would leave files out of the temporary index, or write them with other programs. */
const INDEX_SETTINGS: readonly string[] = [
  'checkout.workers=1',
  'core.ignoreCase=false',
  'core.sparseCheckout=false',
  'core.splitIndex=false',
  'index.sparse=false',
];

/** Returns the paths whose attribute `filter` names a program. The output has the path, `filter` and the value. */
function parseFiltered(output: string): ReadonlySet<string> {
  const found = Array.from(output.matchAll(/([^\0]*)\0filter\0([^\0]*)\0/g));
  return new Set(found.flatMap(([, path = '', value = '']) => (NO_FILTER.has(value) ? [] : [path])));
}

const NO_FILTER: ReadonlySet<string> = new Set(['unspecified', 'unset']);

function listWantedThrough(link: string, wanted: readonly WantedFiles[], folder: string): readonly WantedFiles[] {
  const path = join(folder, link);
  // Git writes a text file on systems without symbolic links.
  if (findStats(path)?.isSymbolicLink() !== true) return [];
  const text = readlinkSync(path);
  const target = posix.normalize(posix.join(posix.dirname(link), text)).replace(/^\.$|\/$/, '');
  return posix.isAbsolute(text) || target.startsWith('..') ? [] : listWantedAtTarget(link, target, wanted);
}

/** Returns the error about an object that a partial clone lacks, or the error itself if it is another one. */
function createMissingBlobError(error: unknown, { commit, entries }: Pick<Part, 'commit' | 'entries'>): unknown {
  if (!(error instanceof GitError)) return error;
  const ids: readonly string[] = error.said.match(/\b[0-9a-f]{40,64}\b/g) ?? [];
  const missing = entries.find(({ id }) => ids.includes(id));
  if (missing === undefined && !/promisor|unable to read|could not read/i.test(error.said)) return error;
  const what = missing === undefined ? 'A part of the commit' : `The content of ${missing.path} in the commit`;
  return new StackError(`${what} ${commit.slice(0, 12)} is not in this clone.`, {
    reason: 'invalid',
    remedy: `Fetch it, for example with git diff --stat ${commit.slice(0, 12)}, or clone without --filter.`,
    cause: error,
  });
}
