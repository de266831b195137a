import { existsSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, posix, relative, resolve, sep } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { resolveLinks } from '../files/real-path.ts';
import { isFileOfOtherTool } from '../manifest/load.ts';
import { compileInputPattern, type InputPattern, isAtOrBelow } from '../manifest/path-pattern.ts';
import {
  type ChangedStack,
  createNearestFolderSearch,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import { getDocumentSetting } from '../settings/resolve.ts';
import { type Host, StackError } from '../stack/host.ts';
import { readManifests } from '../stack/read-manifests.ts';
import { type CommitCheckout, openCommitCheckout } from './commit-checkout.ts';
import { isReadPath, type WantedFiles } from './file-selection.ts';
import { type GitRepository, openGitRepository, resolveCommit } from './git.ts';
import {
  type Contents,
  listContentDifferences,
  type ManifestContents,
  readDefaultsContents,
  readDigest,
  readManifestContents,
  readMatchingContents,
  withoutFolders,
} from './read-contents.ts';
import type { GivenConnection } from './read-stack-tree.ts';
import { listRemovedStacks } from './removed-stacks.ts';

interface ChangesRequest extends GivenConnection {
  /** The commit, as the user gave it. */
  readonly since: string;
}

/**
 * Finds the stacks of a tree that changed since a commit, with the changed files of each stack. Compares what edgewise
 * reads now with what it would read in a checkout of the commit: the contents of files, whether git tracks, ignores or
 * overlooks them.
 */
export async function readChangedStacks(
  tree: StackTree,
  { since, ...connection }: ChangesRequest,
  host: Host,
): Promise<TreeChanges> {
  const repository = openGitRepository(tree.root, host);
  const before = await openCommitCheckout(repository, await resolveCommit(repository, since), host);
  try {
    const comparison = await createComparison(tree, repository, { before, host });
    await before.add(comparison.places.flatMap(listWanted));
    const causes = await listChangeCauses(comparison);
    const removed = await listRemovedStacks(tree, { repository, before, host, ...connection });
    const folders = removed.map(({ stack }) => toShown(stack.folder, comparison));
    const files = await listFilesWithoutStack(causes, comparison);
    return {
      since,
      changed: listChangedFiles(causes, comparison),
      // The files of a removed stack are named with it.
      filesWithoutStack: files.filter((file) => !folders.some((folder) => file.startsWith(`${folder}/`))),
      removed,
    };
  } finally {
    await before.remove();
  }
}

/** Maps a stack to the changed files that it uses. */
type Causes = ReadonlyMap<StackFolder, Set<string>>;

/** Paths are relative to the root of the repository, and have slashes. */
interface Comparison {
  readonly tree: StackTree;
  readonly places: readonly Place[];
  /** The root of the repository: what is there now. */
  readonly top: string;
  readonly before: CommitCheckout;
  /** Folders called `node_modules` with files that git tracks, now or in the commit. Others are not compared. */
  readonly trackedModules: ReadonlySet<string>;
  readonly host: Host;
}

/** Where a stack reads files. */
interface Place {
  readonly stack: StackFolder;
  readonly folder: string;
  readonly policies: readonly string[];
  readonly inputs: readonly InputPattern[];
  /** Folders of other stacks below this one. */
  readonly inner: readonly string[];
}

async function createComparison(
  tree: StackTree,
  { top, run }: GitRepository,
  { before, host }: Pick<Comparison, 'before' | 'host'>,
): Promise<Comparison> {
  const places = createPlaces(tree, top, host);
  const areAllFilesRead = places.some(({ stack, inputs }) => stack.isRendered || inputs.length > 0);
  const tracked = areAllFilesRead ? await run(['ls-files', '-z', '--', ':(glob)**/node_modules/**']) : '';
  const trackedModules = new Set([...before.paths, ...tracked.split('\0')].flatMap(listModuleFolders));
  return { tree, places, top, before, trackedModules, host };
}

/** Lists the folders called `node_modules` on a path. */
function listModuleFolders(path: string): readonly string[] {
  return Array.from(path.matchAll(/(?<=^|\/)node_modules(?=\/)/g), ({ index, 0: name }) =>
    path.slice(0, index + name.length),
  );
}

function createPlaces({ stacks }: StackTree, top: string, host: Host): readonly Place[] {
  const folders = stacks.map(({ folder }) => toRepositoryPath(resolve(host.cwd, folder), top));
  const inner = Map.groupBy(
    folders.flatMap((folder) => listAbove(folder).map((above) => ({ folder, above }))),
    ({ above }) => above,
  );
  const patterns = new Map<string, InputPattern>();
  return stacks.map((stack, index) => {
    const folder = folders[index] ?? '';
    const place = createPlace(stack, folder, { top, host });
    // Patterns that select the same files are one, so that these are read once.
    for (const pattern of place.inputs) if (!patterns.has(pattern.text)) patterns.set(pattern.text, pattern);
    const inputs = place.inputs.map((pattern) => patterns.get(pattern.text) ?? pattern);
    return { ...place, inputs, inner: (inner.get(folder) ?? []).map((one) => one.folder) };
  });
}

function createPlace(
  stack: StackFolder,
  folder: string,
  { top, host: { cwd } }: Pick<Comparison, 'top' | 'host'>,
): Omit<Place, 'inner'> {
  const policies = stack.policies.map((path) => toRepositoryPath(resolve(cwd, stack.folder, path), top));
  const inputs = stack.inputs.map((pattern) => {
    const compiled = compileInputPattern(pattern, folder);
    if (compiled !== undefined) return compiled;
    throw new StackError(
      `spec.inputs of the stack ${stack.name} names ${pattern}, which lies outside of the repository.`,
      {
        reason: 'invalid',
        remedy: 'Name files of the repository.',
      },
    );
  });
  return { stack, folder, policies: policies.filter(isInside), inputs };
}

/** Returns a path relative to the root of the repository. Starts with `..` if the path is outside. */
function toRepositoryPath(file: string, top: string): string {
  const way = relative(top, join(resolveLinks(dirname(file)), basename(file)));
  return isAbsolute(way) ? '..' : way.split(sep).join('/');
}

function isInside(path: string): boolean {
  return path !== '..' && !path.startsWith('../');
}

/** Lists what a stack may read in the commit, except files that its fields name. */
function listWanted({ stack, folder, policies, inputs }: Place): readonly WantedFiles[] {
  return [
    { path: folder, below: stack.isRendered ? 'all' : 'manifests' },
    ...listAbove(folder).map((path): WantedFiles => ({ path, below: 'beside' })),
    ...policies.map((path): WantedFiles => ({ path, below: 'manifests' })),
    ...inputs.map(({ fixed, matches }): WantedFiles => ({ path: fixed, below: matches })),
  ];
}

/** Lists the folders above a folder, up to the root of the repository. */
function listAbove(folder: string): readonly string[] {
  const parts = folder.split('/');
  return folder === '' ? [] : parts.map((_, index) => parts.slice(0, index).join('/'));
}

/** Returns the folder of a file. `''` is the root of the repository. */
function toFolder(path: string): string {
  return path.includes('/') ? posix.dirname(path) : '';
}

async function listChangeCauses(comparison: Comparison): Promise<Causes> {
  const { places, top, before } = comparison;
  const folders = places.map(({ folder }) => folder);
  const defaultsNow = readDefaultsContents(top, folders);
  const defaults = listContentDifferences(defaultsNow.contents, readDefaultsContents(before.folder, folders).contents);
  const policies = new Map(
    Array.from(new Set(places.flatMap((place) => place.policies)), (path) => [path, comparePolicies(path, comparison)]),
  );
  const inputs = new Map(
    Array.from(new Set(places.flatMap((place) => place.inputs)), (one) => [one, compareInputs(one, comparison)]),
  );
  const causes: Causes = new Map(places.map(({ stack }) => [stack, new Set()]));
  const unchanged: Place[] = [];
  for (const place of places) {
    const { stack, folder } = place;
    const manifests = compareManifests(place, comparison);
    const found = [
      ...manifests.paths,
      ...defaults.filter((path) => isAtOrBelow(folder, toFolder(path))),
      ...place.policies.flatMap((path) => policies.get(path) ?? []),
      ...place.inputs.flatMap((pattern) => inputs.get(pattern) ?? []),
    ];
    for (const path of found) causes.get(stack)?.add(path);
    const mayNameFiles = stack.isRendered || manifests.mayNameFiles || defaultsNow.mayNameFiles;
    if (found.length === 0 && mayNameFiles) unchanged.push(place);
  }
  await addNamedFiles(unchanged, causes, comparison);
  return causes;
}

/**
 * Compares the manifests of a stack; with `spec.render`, all files in its folder. Files of a stack inside of it do not
 * count if that was a stack in the commit too. Otherwise these files were manifests of the outer stack, or its command
 * may have read them.
 */
function compareManifests(
  { stack, folder, inner }: Place,
  { top, before, trackedModules }: Comparison,
): Pick<ManifestContents, 'mayNameFiles'> & { readonly paths: readonly string[] } {
  const [now, then] = [readManifestContents(top, folder), readManifestContents(before.folder, folder)];
  const always = inner.filter((one) => then.stacks.has(one));
  const filter = {
    matches: () => true,
    isSkipped: (path: string) => posix.basename(path) === 'node_modules' && !trackedModules.has(path),
  };
  const read = (root: string): Contents => withoutFolders(readMatchingContents(root, folder, filter), always);
  const paths = stack.isRendered
    ? listContentDifferences(read(top), read(before.folder))
    : listContentDifferences(withoutFolders(now.contents, inner), withoutFolders(then.contents, always));
  return { paths, mayNameFiles: now.mayNameFiles };
}

function comparePolicies(path: string, { top, before }: Comparison): readonly string[] {
  return listContentDifferences(
    readManifestContents(top, path).contents,
    readManifestContents(before.folder, path).contents,
  );
}

function compareInputs(
  { fixed, matches }: InputPattern,
  { top, before, trackedModules }: Comparison,
): readonly string[] {
  const isSkipped = (path: string): boolean => posix.basename(path) === 'node_modules' && !trackedModules.has(path);
  const read = (root: string): Contents => readMatchingContents(root, fixed, { matches, isSkipped });
  const isPart = (path: string): boolean => isAtOrBelow(path, fixed) || isAtOrBelow(fixed, path);
  const unknown = [...before.unknown].filter(([place, path]) => place !== path && isPart(path));
  return [...listContentDifferences(read(top), read(before.folder)), ...unknown.map(([place]) => place)];
}

/**
 * Compares the files that the fields of stacks name. Must read their manifests, so it does this only for stacks of which
 * nothing else changed: then the fields name the same files in the commit.
 */
async function addNamedFiles(
  places: readonly Place[],
  causes: Causes,
  { top, before, host }: Comparison,
): Promise<void> {
  const named = new Map<StackFolder, ReadonlySet<string>>();
  for (const { stack } of places) named.set(stack, await listNamedFiles(stack, top, host));
  await before.add([...named.values()].flatMap((paths) => [...paths].map((path) => ({ path, below: 'beside' }))));
  for (const [stack, paths] of named)
    for (const path of paths)
      if (readDigest(top, path) !== readDigest(before.folder, path)) causes.get(stack)?.add(path);
}

async function listNamedFiles(stack: StackFolder, top: string, host: Host): Promise<ReadonlySet<string>> {
  const { onSubject: _, ...quiet } = host;
  const named = new Set<string>();
  const add = (file: string): void => {
    const path = toRepositoryPath(resolve(host.cwd, file), top);
    if (isInside(path)) named.add(path);
  };
  const { state } = await readManifests([stack.folder], { ...quiet, onInput: add });
  const caFile = getDocumentSetting('caFile', state?.stack.layers ?? []);
  if (caFile !== undefined) add(caFile);
  return named;
}

function listChangedFiles(causes: Causes, comparison: Comparison): readonly ChangedStack[] {
  const stacks = [...causes.keys()];
  const changed = new Set(stacks.filter((stack) => (causes.get(stack)?.size ?? 0) > 0));
  // A loop over a set also visits members that are added during the loop.
  for (const one of changed) for (const user of stacks) if (refersToStack(user, one)) changed.add(user);
  return stacks
    .filter((stack) => changed.has(stack))
    .map((stack) => ({
      stack,
      files: [...new Set(Array.from(causes.get(stack) ?? [], (path) => toShown(path, comparison)))].sort(),
      through: [...changed].filter((one) => refersToStack(stack, one)).map(({ name }) => name),
    }));
}

/** Returns the real path of a changed file or submodule, relative to the working folder. */
function toShown(path: string, { top, before, host }: Comparison): string {
  return relative(host.cwd, resolveLinks(join(top, before.unknown.get(path) ?? path)));
}

/** Whether `stack` refers to resources of `other`. Both must be at the same service. */
export function refersToStack(stack: StackFolder, other: StackFolder): boolean {
  return stack !== other && stack.dependsOn.includes(other.name) && stack.serviceId === other.serviceId;
}

/**
 * Lists changed manifest files below the root that belong to no stack, and are not Defaults or policies of one. Not all
 * files: only those that edgewise would read.
 */
async function listFilesWithoutStack(causes: Causes, comparison: Comparison): Promise<readonly string[]> {
  const { tree, places, top, before, host } = comparison;
  const root = toRepositoryPath(resolve(host.cwd, tree.root), top);
  const findOwner = createNearestFolderSearch(places.map(({ folder }) => folder || '.'));
  const present = tree.filesWithoutStack.map((file) => toRepositoryPath(resolve(host.cwd, file), top));
  const removed = before.paths.filter(
    (path) =>
      isAtOrBelow(path, root) &&
      isReadPath(path.slice(root === '' ? 0 : root.length + 1)) &&
      findOwner(posix.dirname(path)) === undefined &&
      !existsSync(join(top, path)),
  );
  await before.add([...present, ...removed].map((path) => ({ path, below: 'beside' })));
  const isOther = (path: string): boolean =>
    existsSync(join(before.folder, path)) && isFileOfOtherTool(path, readInput(join(before.folder, path)));
  const known = new Set([...causes.values()].flatMap((paths) => [...paths]));
  return [
    ...present.filter((path) => readDigest(top, path) !== readDigest(before.folder, path)),
    ...removed.filter((path) => !isOther(path)),
  ]
    .filter((path) => !known.has(path))
    .map((path) => toShown(path, comparison))
    .sort();
}
