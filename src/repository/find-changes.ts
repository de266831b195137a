import { lstatSync, realpathSync } from 'node:fs';
import { basename, dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { readInput } from '../files/read-input.ts';
import { isManifestName } from '../manifest/load.ts';
import { holdsStack, mayHoldDefaults } from '../manifest/stack-folders.ts';
import {
  createOwnerSearch,
  type StackChange,
  type StackFolder,
  type StackTree,
  type TreeChanges,
} from '../model/stack-tree.ts';
import type { Host } from '../stack/host.ts';
import { readManifests } from '../stack/read-manifests.ts';
import { type ChangedFiles, listChangedFiles } from './git.ts';

/** Which stacks of a tree differ from a commit, and through what. */
export async function findChanges(tree: StackTree, since: string, context: Host): Promise<TreeChanges> {
  const files = await listChangedFiles(tree.root, since, context);
  const places = new Map(tree.stacks.map((stack) => [toReal(stack.folder, context), stack]));
  const causes: Causes = new Map(tree.stacks.map((stack) => [stack, new Set()]));
  const findOwner = createOwnerSearch(places.keys());
  for (const file of files.all) await blameOwners(file, files, { places, findOwner, causes, context });
  await blameDefaults(files, places, causes);
  await blameInputs(files, causes);
  blamePolicies(files, causes, context);
  await blameNamed(files, { causes, context });
  return {
    since,
    changed: listChanges(causes, context),
    unowned: listUnowned(files, { root: toReal(tree.root, context), findOwner, causes, context }),
  };
}

/** For each stack the files that make it count as changed. */
type Causes = ReadonlyMap<StackFolder, Set<string>>;

interface Places {
  /** Stacks by the real path of their folder. */
  readonly places: ReadonlyMap<string, StackFolder>;
  readonly findOwner: ReturnType<typeof createOwnerSearch>;
  readonly causes: Causes;
  readonly context: Pick<Host, 'cwd'>;
}

/** A manifest belongs to the nearest stack. A file that makes a folder a stack, which was none, takes it from the one around it. */
async function blameOwners(
  file: string,
  files: ChangedFiles,
  { places, findOwner, causes, context }: Places,
): Promise<void> {
  const owner = findOwner(dirname(file));
  const stack = owner === undefined ? undefined : places.get(owner);
  if (owner === undefined || stack === undefined) return;
  if (!stack.isRendered && !files.submodules.has(file) && !isRead(relative(owner, file))) return;
  causes.get(stack)?.add(file);
  if (toReal(stack.file, context) !== file) return;
  const around = findOwner(dirname(owner));
  const outer = around === undefined ? undefined : places.get(around);
  if (outer !== undefined && !(await wasStack(owner, files))) causes.get(outer)?.add(file);
}

/** A Defaults is part of every stack in its folder and below it, also one that is gone. */
async function blameDefaults(files: ChangedFiles, places: Places['places'], causes: Causes): Promise<void> {
  for (const file of files.all) {
    if (!isManifestName(basename(file))) continue;
    const below = [...places].filter(([folder]) => `${folder}${sep}`.startsWith(`${dirname(file)}${sep}`));
    const found = below.flatMap(([, stack]) => causes.get(stack) ?? []).filter((known) => !known.has(file));
    if (found.length === 0 || !(await heldDefaults(file, files))) continue;
    for (const known of found) known.add(file);
  }
}

/** Whether a file holds a Defaults, or held one in the commit. What is no plain file may lead to one. */
async function heldDefaults(file: string, { readBefore }: ChangedFiles): Promise<boolean> {
  const stats = lstatSync(file, { throwIfNoEntry: false });
  if (stats !== undefined && (!stats.isFile() || mayHoldDefaults(readInput(file)))) return true;
  const before = await readBefore(file);
  return before !== undefined && mayHoldDefaults(Buffer.from(before));
}

/** Whether a folder held a `Stack` in the commit, in any of the files that differ now. */
async function wasStack(folder: string, { all, readBefore }: ChangedFiles): Promise<boolean> {
  for (const file of all) {
    if (dirname(file) !== folder || !isManifestName(basename(file))) continue;
    const text = await readBefore(file);
    if (text !== undefined && holdsStack(Buffer.from(text))) return true;
  }
  return false;
}

/** Whether loading a folder reads this file in it, for its name. */
function isRead(path: string): boolean {
  const hidden = path.split(sep).some((part) => part.startsWith('.') || part === 'node_modules');
  return !hidden && isManifestName(basename(path));
}

async function blameInputs(files: ChangedFiles, causes: Causes): Promise<void> {
  for (const [{ folder, inputs }, found] of causes) {
    if (inputs.length === 0) continue;
    for (const file of await files.match(folder, inputs)) found.add(file);
  }
}

/** Policies may lie outside of the folder: named files, and the files in named folders. */
function blamePolicies({ all }: ChangedFiles, causes: Causes, context: Pick<Host, 'cwd'>): void {
  for (const [{ folder, policies }, found] of causes) {
    for (const named of policies.map((path) => toReal(isAbsolute(path) ? path : join(folder, path), context))) {
      const isMeant = (file: string): boolean =>
        file === named || (file.startsWith(`${named}${sep}`) && isRead(relative(named, file)));
      for (const file of all) if (isMeant(file)) found.add(file);
    }
  }
}

/** What fields name is known only when manifests are read, which is done where something may come of it. */
async function blameNamed({ all }: ChangedFiles, { causes, context }: Rest): Promise<void> {
  const known = new Set([...causes.values()].flatMap((found) => [...found]));
  if ([...all].every((file) => known.has(file))) return;
  for (const [{ folder }, found] of causes) {
    if (found.size > 0) continue;
    const named = new Set<string>();
    const { onSubject: _, ...quiet } = context;
    const read = await readManifests([folder], { ...quiet, onInput: (file) => named.add(toReal(file, context)) });
    const { caFile } = read.state?.stack.api ?? {};
    if (caFile !== undefined) named.add(toReal(caFile, context));
    for (const file of named) if (all.has(file)) found.add(file);
  }
}

interface Rest {
  readonly causes: Causes;
  readonly context: Host;
}

function listChanges(causes: Causes, { cwd }: Pick<Host, 'cwd'>): readonly StackChange[] {
  const stacks = [...causes.keys()];
  const changed = new Set(stacks.filter((stack) => (causes.get(stack)?.size ?? 0) > 0));
  // The loop also visits members that are added to a set during it.
  for (const one of changed) for (const user of stacks) if (dependsOn(user, one)) changed.add(user);
  return stacks
    .filter((stack) => changed.has(stack))
    .map((stack) => ({
      stack,
      files: [...(causes.get(stack) ?? [])].map((file) => relative(cwd, file)).sort(),
      through: [...changed].filter((one) => dependsOn(stack, one)).map(({ name }) => name),
    }));
}

/** Whether a stack refers to resources of another one. */
export function dependsOn(stack: StackFolder, other: StackFolder): boolean {
  return stack !== other && stack.needs.includes(other.name) && stack.baseUrl === other.baseUrl;
}

function listUnowned(
  { all }: ChangedFiles,
  { root, findOwner, causes, context }: Omit<Places, 'places'> & { readonly root: string },
): readonly string[] {
  const known = new Set([...causes.values()].flatMap((found) => [...found]));
  return [...all]
    .filter((file) => file.startsWith(`${root}${sep}`) && !known.has(file))
    .filter((file) => findOwner(dirname(file)) === undefined)
    .map((file) => relative(context.cwd, file))
    .sort();
}

/** The real path, also of a file that does not exist: that of the nearest existing folder, and the rest. */
function toReal(path: string, { cwd }: Pick<Host, 'cwd'>): string {
  const whole = resolve(cwd, path);
  try {
    return realpathSync.native(whole);
  } catch (error) {
    if (!(error instanceof Error && 'code' in error) || dirname(whole) === whole) return whole;
    return resolve(toReal(dirname(whole), { cwd }), basename(whole));
  }
}
