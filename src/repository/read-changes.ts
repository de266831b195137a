import { join, posix, relative, resolve, sep } from 'node:path';
import { isBelow } from '../files/boundary.ts';
import { readInput, toBuffer } from '../files/read-input.ts';
import { findStats, listAncestors, resolveLinks } from '../files/real-path.ts';
import { NO_ENVIRONMENT } from '../manifest/environment.ts';
import { isFileOfOtherTool, isManifestName, isVisibleName } from '../manifest/load.ts';
import { compileInputPattern, isAtOrBelow } from '../manifest/path-pattern.ts';
import { createSourceContent } from '../manifest/source.ts';
import { isOfOwnKind, listReadableDocuments, mayContainDefaultsDocument } from '../manifest/stack-folders.ts';
import { isResourceName } from '../model/address.ts';
import { isJsonObject } from '../model/json.ts';
import {
  createNearestFolderSearch,
  refersToStack,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import { getDocumentSetting } from '../settings/resolve.ts';
import type { Host } from '../stack/host.ts';
import { readManifests } from '../stack/read-manifests.ts';
import {
  type CommitFiles,
  compareFile,
  compareFolder,
  computeFileId,
  followPath,
  type ReadingRule,
  readCommitFiles,
  toFolder,
} from './commit-files.ts';
import { type GitRepository, openGitRepository, resolveCommit } from './git.ts';
import { isReadPath, listLeftOutFiles } from './missing-manifests.ts';
import { type GivenConnection, readTreeAround } from './read-stack-tree.ts';

interface ChangesRequest extends GivenConnection {
  /** The commit, as the user gave it. */
  readonly since: string;
}

/**
 * Finds the stacks of a tree that changed since a commit, with the changed files of each stack. Compares the contents
 * that edgewise reads now, and what it would read in the commit and is gone. One stack too many is right, one too few
 * is not.
 */
export async function readChangedStacks(
  tree: StackTree,
  { since, ...connection }: ChangesRequest,
  host: Host,
): Promise<TreeChanges> {
  const repository = openGitRepository(tree.root, host);
  const files = await readCommitFiles(repository, await resolveCommit(repository, since));
  const inner = indexInnerStacks(tree, { files, host });
  const comparison: Comparison = { tree, files, host, inner, defaults: new Map() };
  const causes = new Map<StackFolder, readonly string[]>();
  for (const stack of tree.stacks) causes.set(stack, await listChangedFiles(stack, comparison));
  const gone = await listGoneManifests(comparison);
  const removed = listRemovedStackFiles(gone, connection, comparison);
  return {
    since,
    changed: listChangedStacks(causes, gone, comparison),
    filesWithoutStack: listFilesWithoutStack({ causes, gone, removed }, comparison),
    removed: removed.map((path) => toShown(path, comparison)),
    renamed: await listRenamedStacks([...causes], removed, { repository, comparison, connection }),
  };
}

/**
 * Lists the names of stacks that the commit has in files which differ or are gone, and that no `Stack` of the repository
 * has, or had. A name is only shown: data of a commit decides nothing.
 */
async function listRenamedStacks(
  causes: readonly (readonly [StackFolder, readonly string[]])[],
  removed: readonly string[],
  { repository, comparison, connection }: RenameSearch,
): Promise<TreeChanges['renamed']> {
  const { files, host } = comparison;
  const own = causes.flatMap(([{ file }, changed]) => {
    const path = toRepositoryPath(file, comparison);
    return path !== undefined && changed.includes(path) && files.entries.get(path)?.type === 'file' ? [path] : [];
  });
  const paths = [...new Set([...own, ...removed])];
  if (paths.length === 0) return [];
  const present = readTreeAround(files.top, connection, host).stacks;
  const known = new Set(present.flatMap(({ name, formerNames }) => [name, ...formerNames]));
  const formerStacks = await Promise.all(
    paths.map(async (path) => {
      const name = await readStackName(files.entries.get(path)?.id ?? '', repository);
      return name === undefined || known.has(name) ? [] : [{ file: toShown(path, comparison), name }];
    }),
  );
  return formerStacks.flat();
}

interface RenameSearch {
  readonly repository: GitRepository;
  readonly comparison: Comparison;
  readonly connection: GivenConnection;
}

/** The name of the stack that a file of a commit describes. `undefined`: it describes none, or cannot be read. */
async function readStackName(id: string, { ask }: GitRepository): Promise<string | undefined> {
  const text = await ask(['cat-file', 'blob', id]);
  // A partial clone may lack the file.
  if (typeof text !== 'string') return undefined;
  const content = createSourceContent(Buffer.from(text, 'utf8'));
  const stack = listReadableDocuments(content, NO_ENVIRONMENT).find((document) => isOfOwnKind(document, 'Stack'));
  const metadata = stack?.['metadata'];
  const name = metadata !== undefined && isJsonObject(metadata) ? metadata['name'] : undefined;
  return typeof name === 'string' && isResourceName(name) ? name : undefined;
}

/** All paths are relative to the root of the repository, and have slashes. */
interface Comparison {
  readonly tree: StackTree;
  readonly files: CommitFiles;
  readonly host: Host;
  readonly inner: ReturnType<typeof indexInnerStacks>;
  /** What differs directly in a folder and may have Defaults, by folder. */
  readonly defaults: Map<string, readonly string[]>;
}

/**
 * Maps folders to those of the stacks inside of them, if the files with their `Stack` are the same: then they were stacks
 * in the commit too. Otherwise they may have belonged to the stack around them.
 */
function indexInnerStacks(
  { stacks }: StackTree,
  context: Pick<Comparison, 'files' | 'host'>,
): ReadonlyMap<string, ReadonlySet<string>> {
  const { files } = context;
  const innerFolders = new Map<string, Set<string>>();
  for (const stack of stacks) {
    const [folder, file] = [toRepositoryPath(stack.folder, context), toRepositoryPath(stack.file, context)];
    if (folder === undefined || file === undefined || compareFile(file, files) !== undefined) continue;
    for (let at = folder; at !== ''; ) {
      at = toFolder(at);
      const inner = innerFolders.get(at) ?? new Set();
      innerFolders.set(at, inner.add(folder).add(followPath(folder, files).real ?? folder));
    }
  }
  return innerFolders;
}

/** As `visitManifestFiles` reads a folder. */
const MANIFESTS: ReadingRule = {
  isFile: (path) => isVisible(path) && isManifestName(posix.basename(path)),
  isFolder: isVisible,
  isUnread: (path, bytes) => isFileOfOtherTool(posix.basename(path), bytes),
};

/** As `readDefaultsUpward` reads a folder. */
const DEFAULTS: ReadingRule = {
  isFile: MANIFESTS.isFile,
  isFolder: () => false,
  isUnread: (_, bytes) => !mayContainDefaultsDocument(bytes),
};

const ALL_FILES: ReadingRule = { isFile: () => true, isFolder: () => true };

function isVisible(path: string): boolean {
  return isVisibleName(posix.basename(path));
}

/** Lists the files, links and submodules that differ and that a stack reads, or would read in the commit. */
async function listChangedFiles(stack: StackFolder, comparison: Comparison): Promise<readonly string[]> {
  const { files } = comparison;
  const folder = toRepositoryPath(stack.folder, comparison);
  if (folder === undefined) return [stack.folder];
  const policies = stack.policies.map((path) => posix.join(stack.folder, path));
  const found = [
    ...compareFolder(folder, createStackRule(folder, comparison), files),
    ...listFoldersAbove(folder, comparison).flatMap((above) => compareDefaults(above, comparison)),
    ...policies.flatMap((path) => comparePolicies(path, comparison)),
    ...compareInputs(stack, folder, comparison),
  ];
  // If manifests differ, the fields may have named other files in the commit.
  return found.length > 0 ? [...new Set(found)] : compareNamedFiles(stack, comparison);
}

/** Stacks inside of this one are left out. */
function createStackRule(folder: string, { inner }: Comparison): ReadingRule {
  const left = inner.get(folder);
  const isFolder = (path: string): boolean => MANIFESTS.isFolder(path) && left?.has(path) !== true;
  return { ...MANIFESTS, isFolder, beyondLinks: MANIFESTS };
}

/** Lists the folders above a folder in which Defaults are searched: up to `--root`, or the root of the repository. */
function listFoldersAbove(folder: string, comparison: Comparison): readonly string[] {
  const { files, host } = comparison;
  const root = toRepositoryPath(host.root ?? files.top, comparison) ?? '';
  const end = followPath(root, files).real ?? '';
  const found: string[] = [];
  for (let at = folder; at !== ''; ) {
    at = toFolder(at);
    if (isAtOrBelow(followPath(at, files).real ?? end, end)) found.push(at);
  }
  return found;
}

function compareDefaults(folder: string, { files, defaults }: Comparison): readonly string[] {
  const found = defaults.get(folder) ?? compareFolder(folder, DEFAULTS, files);
  defaults.set(folder, found);
  return found;
}

/** Compares a file or folder with policies. */
function comparePolicies(named: string, comparison: Comparison): readonly string[] {
  const path = toRepositoryPath(named, comparison);
  if (path === undefined) return [named];
  const changed = compareFile(path, comparison.files);
  return changed === undefined ? compareFolder(path, MANIFESTS, comparison.files) : [changed];
}

/** A pattern is relative to the folder of a document. A tool that runs in a folder behind a link starts where that leads. */
function compareInputs(stack: StackFolder, folder: string, { files }: Comparison): readonly string[] {
  const starts = [...new Set([folder, followPath(folder, files).real ?? folder])];
  const all = stack.inputs.flatMap((pattern) => starts.map((start) => ({ pattern, start })));
  return all.flatMap(({ pattern, start }) => {
    const compiled = compileInputPattern(pattern, start);
    if (compiled === undefined) throw createOutsideError(stack, pattern);
    const { fixed, matches, mayMatchBelow } = compiled;
    const changed = compareFile(fixed, files);
    if (changed !== undefined) return [changed];
    return compareFolder(fixed, { isFile: matches, isFolder: mayMatchBelow, beyondLinks: ALL_FILES }, files);
  });
}

function createOutsideError({ name }: StackFolder, pattern: string): StackError {
  const message = `spec.inputs of the stack ${name} names ${pattern}, which is outside the repository.`;
  return new StackError(message, { reason: 'invalid', remedy: 'Name files of the repository.' });
}

/** Compares every file that the stack reads now, also those that fields of its manifests name. */
async function compareNamedFiles(stack: StackFolder, comparison: Comparison): Promise<readonly string[]> {
  const { host, files } = comparison;
  const read = new Set<string>();
  const { onSubject: _, ...quiet } = host;
  const context = { ...quiet, budget: undefined, onInput: (file: string) => read.add(file) };
  try {
    const { state, diagnostics } = await readManifests([stack.folder], context);
    const caFile = getDocumentSetting('caFile', state?.stack.layers ?? []);
    if (caFile !== undefined) read.add(caFile);
    const errors = diagnostics.filter(({ severity }) => severity === 'error');
    const isUnread = errors.some(({ code }) => code === 'file-unreadable' || code === 'path-refused');
    // A document with an error may name files that are not known, such as one whose variable is not set.
    if (isUnread || (errors.length > 0 && [...read].some((file) => mayNameFiles(file, host)))) return [stack.file];
  } catch (error) {
    if (error instanceof InvalidManifests || error instanceof StackError) return [stack.file];
    throw error;
  }
  return [...read].flatMap((file) => {
    const path = toRepositoryPath(file, comparison);
    return path === undefined ? [file] : (compareFile(path, files) ?? []);
  });
}

/** Whether a manifest may have a field such as `file` or `ca_file`. A key may be written with escapes. */
function mayNameFiles(file: string, { cwd }: Host): boolean {
  const path = resolve(cwd, file);
  return findStats(path)?.isDirectory() !== true && /file\b|\\[ux]/i.test(toBuffer(readInput(path)).toString('utf8'));
}

/**
 * Returns a path relative to the root of the repository, with the links in the repository. `undefined`: it is outside.
 * The user may name the repository through links outside of it.
 */
function toRepositoryPath(
  file: string,
  { files: { top }, host }: Pick<Comparison, 'files' | 'host'>,
): string | undefined {
  const whole = resolve(host.cwd, file);
  if (isBelow(whole, top)) return relative(top, whole).split(sep).join('/');
  const entered = listAncestors(whole).findLast((one) => isBelow(resolveLinks(one), top));
  if (entered === undefined) return undefined;
  const path = resolve(resolveLinks(entered), relative(entered, whole));
  return relative(top, path).split(sep).join('/');
}

function listChangedStacks(
  causes: ReadonlyMap<StackFolder, readonly string[]>,
  gone: readonly string[],
  comparison: Comparison,
): TreeChanges['changed'] {
  const stacks = [...causes.keys()];
  const byName = Map.groupBy(stacks, ({ name }) => name);
  const needed = new Map(
    stacks.map((stack) => {
      const named = stack.dependsOn.flatMap((name) => byName.get(name) ?? []);
      return [stack, named.filter((other) => refersToStack(stack, other))];
    }),
  );
  const users = Map.groupBy(
    [...needed].flatMap(([user, others]) => others.map((other) => ({ user, other }))),
    ({ other }) => other,
  );
  // The name of a stack in the commit is not known. It may be that of one that is gone, or that has another name now.
  const isAnyNameGone = gone.length > 0 || [...causes.values()].some((paths) => paths.length > 0);
  const listLost = ({ dependsOn }: StackFolder): readonly string[] =>
    isAnyNameGone ? dependsOn.filter((name) => !byName.has(name)) : [];
  const changed = new Set(stacks.filter((stack) => causes.get(stack)?.length !== 0 || listLost(stack).length > 0));
  // A loop over a set also visits members that are added during the loop.
  for (const one of changed) for (const { user } of users.get(one) ?? []) changed.add(user);
  return stacks
    .filter((stack) => changed.has(stack))
    .map((stack) => ({
      stack,
      files: [...new Set((causes.get(stack) ?? []).map((path) => toShown(path, comparison)))].sort(),
      through: [
        ...(needed.get(stack) ?? []).filter((one) => changed.has(one)).map(({ name }) => name),
        ...listLost(stack),
      ],
    }));
}

/** Returns a path of the repository relative to the working folder. */
function toShown(path: string, { files: { top }, host }: Comparison): string {
  return relative(resolveLinks(host.cwd), join(top, path));
}

/** Lists the files below the root of the tree that edgewise would read in the commit, and that were removed since. */
async function listGoneManifests(comparison: Comparison): Promise<readonly string[]> {
  const { tree, files, host } = comparison;
  const named = toRepositoryPath(tree.root, comparison) ?? '';
  const root = followPath(named, files).real ?? named;
  const gone = [...files.entries.keys()].filter(
    (path) =>
      isAtOrBelow(path, root) &&
      isReadPath(root === '' ? path : path.slice(root.length + 1)) &&
      findStats(join(files.top, path)) === undefined,
  );
  if (gone.length === 0) return [];
  const leftOut = await listLeftOutFiles(files.top, host);
  if ('error' in leftOut) throw leftOut.error;
  return gone.filter((path) => !leftOut.includes(join(files.top, path)));
}

/**
 * Lists the files that are gone and probably had a `Stack`, by their names: what is in the commit is not read. A file
 * that was moved is not among them.
 */
function listRemovedStackFiles(
  gone: readonly string[],
  connection: GivenConnection,
  comparison: Comparison,
): readonly string[] {
  const { files, host } = comparison;
  const named = gone.filter((path) => /^(?:edgewise|stack)\.(?:ya?ml|json)$/.test(posix.basename(path)));
  if (named.length === 0) return [];
  const present = readTreeAround(files.top, connection, host).stacks.flatMap(
    ({ file }) => toRepositoryPath(file, comparison) ?? [],
  );
  const added = present.filter((path) => !files.entries.has(path));
  const addedIds = new Set(added.map((path) => computeFileId(path, files)));
  return named.filter((path) => !addedIds.has(files.entries.get(path)?.id));
}

/** Lists changed files below the root that belong to no stack, and are not named for another reason. */
function listFilesWithoutStack(
  {
    causes,
    gone,
    removed,
  }: {
    readonly causes: ReadonlyMap<StackFolder, readonly string[]>;
    readonly gone: readonly string[];
    readonly removed: readonly string[];
  },
  comparison: Comparison,
): readonly string[] {
  const { tree, files } = comparison;
  const present = tree.filesWithoutStack.flatMap((file) => {
    const path = toRepositoryPath(file, comparison);
    return path === undefined ? [] : (compareFile(path, files) ?? []);
  });
  const folders = tree.stacks.map(({ folder }) => toRepositoryPath(folder, comparison) || '.');
  const findStackFolder = createNearestFolderSearch([...folders, ...removed.map((path) => toFolder(path) || '.')]);
  const known = new Set([...causes.values()].flat());
  return [...present, ...gone.filter((path) => findStackFolder(toFolder(path) || '.') === undefined)]
    .filter((path) => !known.has(path))
    .map((path) => toShown(path, comparison))
    .sort();
}
