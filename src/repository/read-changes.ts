import { lstatSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { resolveLinks } from '../files/real-path.ts';
import { isManifestName } from '../manifest/load.ts';
import { hasStackDocument, mayContainDefaultsDocument } from '../manifest/stack-folders.ts';
import {
  type ChangedStack,
  createNearestFolderSearch,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import type { Host } from '../stack/host.ts';
import { readManifests } from '../stack/read-manifests.ts';
import { type ChangesSinceCommit, readChangesSinceCommit } from './git.ts';

/** Finds the stacks of a tree that changed since a commit, with the changed files of each stack. */
export async function readChangedStacks(tree: StackTree, since: string, context: Host): Promise<TreeChanges> {
  const files = await readChangesSinceCommit(tree.root, since, context);
  const places = new Map(tree.stacks.map((stack) => [resolveRealPath(stack.folder, context), stack]));
  const causes: Causes = new Map(tree.stacks.map((stack) => [stack, new Set()]));
  const findOwner = createNearestFolderSearch(places.keys());
  for (const file of files.all) await assignToOwners(file, files, { places, findOwner, causes, context });
  await assignDefaults(files, places, causes);
  await assignInputs(files, causes);
  assignPolicies(files, causes, context);
  await assignNamed(files, { causes, context });
  return {
    since,
    changed: listChanges(causes, context),
    filesWithoutStack: listFilesWithoutStack(files, {
      root: resolveRealPath(tree.root, context),
      findOwner,
      causes,
      context,
    }),
  };
}

/** Maps a stack to the changed files that it uses. */
type Causes = ReadonlyMap<StackFolder, Set<string>>;

interface Places {
  /** Maps the real path of a stack's folder to the stack. */
  readonly places: ReadonlyMap<string, StackFolder>;
  readonly findOwner: ReturnType<typeof createNearestFolderSearch>;
  readonly causes: Causes;
  readonly context: Pick<Host, 'cwd'>;
}

/**
 * Assigns a file to the nearest stack above it. If the file contains a new `Stack` document, its folder was part of an
 * outer stack before, so the file is assigned to the outer stack too.
 */
async function assignToOwners(
  file: string,
  files: ChangesSinceCommit,
  { places, findOwner, causes, context }: Places,
): Promise<void> {
  const owner = findOwner(dirname(file));
  const stack = owner === undefined ? undefined : places.get(owner);
  if (owner === undefined || stack === undefined) return;
  if (!stack.isRendered && !files.submodules.has(file) && !isRead(relative(owner, file))) return;
  causes.get(stack)?.add(file);
  if (resolveRealPath(stack.file, context) !== file) return;
  const around = findOwner(dirname(owner));
  const outer = around === undefined ? undefined : places.get(around);
  if (outer !== undefined && !(await wasStack(owner, files))) causes.get(outer)?.add(file);
}

/** Assigns each changed file with a `Defaults` document, even a deleted file, to all stacks in and below its folder. */
async function assignDefaults(files: ChangesSinceCommit, places: Places['places'], causes: Causes): Promise<void> {
  for (const file of files.all) {
    if (!isManifestName(basename(file))) continue;
    const below = [...places].filter(([folder]) => `${folder}${sep}`.startsWith(`${dirname(file)}${sep}`));
    const found = below.flatMap(([, stack]) => causes.get(stack) ?? []).filter((known) => !known.has(file));
    if (found.length === 0 || !(await heldDefaults(file, files))) continue;
    for (const known of found) known.add(file);
  }
}

/**
 * Whether a file contains a `Defaults` document now or did so in the commit. Returns true if the file is not a regular
 * file: a link, for example, may lead to a `Defaults` document.
 */
async function heldDefaults(file: string, { readBefore }: ChangesSinceCommit): Promise<boolean> {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && (!stats.isFile() || mayContainDefaultsDocument(readInput(file)))) return true;
  const before = await readBefore(file);
  return before !== undefined && mayContainDefaultsDocument(Buffer.from(before));
}

/** Whether a changed file in the folder contained a `Stack` document in the commit. */
async function wasStack(folder: string, { all, readBefore }: ChangesSinceCommit): Promise<boolean> {
  for (const file of all) {
    if (dirname(file) !== folder || !isManifestName(basename(file))) continue;
    const text = await readBefore(file);
    if (text !== undefined && hasStackDocument(Buffer.from(text))) return true;
  }
  return false;
}

/** Whether edgewise reads a file when it loads a folder. `path`: the path of the file, relative to the folder. */
function isRead(path: string): boolean {
  const hidden = path.split(sep).some((part) => part.startsWith('.') || part === 'node_modules');
  return !hidden && isManifestName(basename(path));
}

async function assignInputs(files: ChangesSinceCommit, causes: Causes): Promise<void> {
  for (const [{ folder, inputs }, found] of causes) {
    if (inputs.length === 0) continue;
    for (const file of await files.match(folder, inputs)) found.add(file);
  }
}

/**
 * Assigns changed policy files to the stacks whose `spec.policies` names the file or a folder above it. The file may be
 * outside of the stack's folder.
 */
function assignPolicies({ all }: ChangesSinceCommit, causes: Causes, context: Pick<Host, 'cwd'>): void {
  for (const [{ folder, policies }, found] of causes) {
    for (const named of policies.map((path) =>
      resolveRealPath(isAbsolute(path) ? path : join(folder, path), context),
    )) {
      const isNamed = (file: string): boolean =>
        file === named || (file.startsWith(`${named}${sep}`) && isRead(relative(named, file)));
      for (const file of all) if (isNamed(file)) found.add(file);
    }
  }
}

/**
 * Assigns changed files to the stacks that name the files in fields of their manifests. Must read manifests to find
 * these fields, so it runs only if a changed file has no stack yet, and only for stacks without a changed file.
 */
async function assignNamed({ all }: ChangesSinceCommit, { causes, context }: AssignContext): Promise<void> {
  const known = new Set([...causes.values()].flatMap((found) => [...found]));
  if ([...all].every((file) => known.has(file))) return;
  for (const [{ folder }, found] of causes) {
    if (found.size > 0) continue;
    const named = new Set<string>();
    const { onSubject: _, ...quiet } = context;
    const read = await readManifests([folder], {
      ...quiet,
      onInput: (file) => named.add(resolveRealPath(file, context)),
    });
    const { caFile } = read.state?.stack.api ?? {};
    if (caFile !== undefined) named.add(resolveRealPath(caFile, context));
    for (const file of named) if (all.has(file)) found.add(file);
  }
}

interface AssignContext {
  readonly causes: Causes;
  readonly context: Host;
}

function listChanges(causes: Causes, { cwd }: Pick<Host, 'cwd'>): readonly ChangedStack[] {
  const stacks = [...causes.keys()];
  const changed = new Set(stacks.filter((stack) => (causes.get(stack)?.size ?? 0) > 0));
  // A loop over a set also visits members that are added during the loop.
  for (const one of changed) for (const user of stacks) if (refersToStack(user, one)) changed.add(user);
  return stacks
    .filter((stack) => changed.has(stack))
    .map((stack) => ({
      stack,
      files: [...(causes.get(stack) ?? [])].map((file) => relative(cwd, file)).sort(),
      through: [...changed].filter((one) => refersToStack(stack, one)).map(({ name }) => name),
    }));
}

/** Whether `stack` refers to resources of `other`. Both must have the same base URL. */
export function refersToStack(stack: StackFolder, other: StackFolder): boolean {
  return stack !== other && stack.dependsOn.includes(other.name) && stack.baseUrl === other.baseUrl;
}

function listFilesWithoutStack(
  { all }: ChangesSinceCommit,
  { root, findOwner, causes, context }: Omit<Places, 'places'> & { readonly root: string },
): readonly string[] {
  const known = new Set([...causes.values()].flatMap((found) => [...found]));
  return [...all]
    .filter((file) => file.startsWith(`${root}${sep}`) && !known.has(file))
    .filter((file) => findOwner(dirname(file)) === undefined)
    .map((file) => relative(context.cwd, file))
    .sort();
}

function resolveRealPath(path: string, { cwd }: Pick<Host, 'cwd'>): string {
  return resolveLinks(resolve(cwd, path));
}
