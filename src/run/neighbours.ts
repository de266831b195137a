import { dirname, resolve } from 'node:path';
import { findRepository, isBelow } from '../files/boundary.ts';
import { resolveLinks } from '../files/real-path.ts';
import { searchUpward } from '../files/trusted-users.ts';
import { toAddress } from '../model/address.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { Drift, UnownedResource } from '../model/drift.ts';
import type { Locate } from '../model/place.ts';
import { mayBeSameStack, type StackFolder, type StackTree, type TakenOverResource } from '../model/stack-tree.ts';
import type { DesiredState } from '../model/state.ts';
import { InvalidManifests } from '../model/user-errors.ts';
import { isSubmodule } from '../repository/missing-manifests.ts';
import { createDuplicateStackError, type GivenConnection, readTreeAround } from '../repository/read-stack-tree.ts';
import { isEmbedded, parseEmbeddedDataFile } from '../settings/base-url.ts';
import type { ServiceSettings } from '../settings/table.ts';
import { toServiceId } from '../stack/account-key.ts';
import type { Host } from '../stack/host.ts';

/** A stack that was named by its manifests, and the stacks around it. */
export interface StackAmongOthers {
  readonly folder: StackFolder;
  /** The stacks of the repository. */
  readonly tree: StackTree;
  /** Warnings on `Stack` documents that cannot be read. */
  readonly diagnostics: readonly Diagnostic[];
}

export const NO_TREE: StackTree = {
  root: '',
  stacks: [],
  filesWithoutStack: [],
  strays: [],
  unread: [],
  diagnostics: [],
};

/** A stack of which nothing is known before its manifests are read. */
export function createUnreadFolder(path: string): StackFolder {
  return {
    ...{ name: '', folder: path, file: path },
    ...{ inputs: [], policies: [], dependsOn: [], takes: [], formerNames: [] },
    ...{ describes: new Set(), adopts: new Map() },
  };
}

interface NamedStack {
  readonly state: DesiredState;
  readonly locate: Locate;
  /** Absent: as the manifests, the flags and the environment say. */
  readonly settings?: Pick<ServiceSettings, 'baseUrl' | 'keyEnv'> | undefined;
}

/**
 * Looks for the other stacks of the repository or `--root`, or else in the folders beside that of the stack. Only their
 * `Stack` documents are checked. Throws if another stack has the same name at the same service. Finds no other stacks if the manifests come
 * from standard input or from memory, because files may be their source.
 */
export function findStackAmongOthers(named: NamedStack, host: Host, given: GivenConnection = {}): StackAmongOthers {
  const described = describeStack(named, host);
  const { paths = [], roots: [root] = [] } = named.state;
  if (paths.length === 0 || paths.includes('-') || root === undefined)
    return { folder: described, tree: NO_TREE, diagnostics: [] };
  const { cwd } = host;
  const tree = readTreeAround(findCommonFolder(described, root, host), given, host);
  const toReal = (file: string): string => resolveLinks(resolve(cwd, file));
  const found = tree.stacks.find(({ file }) => toReal(file) === toReal(described.file));
  const { baseUrl, serviceId, keyEnv } = named.settings === undefined ? (found ?? {}) : described;
  const own: StackFolder = { ...described, baseUrl, serviceId, keyEnv };
  // A checkout inside of this one, such as a worktree, has the same stacks. A submodule has its own.
  const repository = findRepository(resolve(cwd, dirname(own.file)), host);
  const isHere = (file: string): boolean => {
    const other = findRepository(resolve(cwd, dirname(file)), host);
    return other === repository || (other !== undefined && repository !== undefined && isSubmodule(other, repository));
  };
  const stacks = tree.stacks.filter((one) => one !== found && isHere(one.file));
  for (const { file } of [...stacks, ...tree.strays]) host.onInput?.(file);
  refuseDuplicate(own, stacks);
  return {
    folder: own,
    tree: { ...tree, stacks: [own, ...stacks] },
    diagnostics: tree.unread.filter(isHere).map(createUnreadWarning),
  };
}

/**
 * Returns the folder in which the stacks around a stack are: the repository or `--root`. If there is neither, the parent of
 * the stack's folder, because the working folder may be a whole file system. `root`: the boundary of the stack.
 */
function findCommonFolder({ file }: StackFolder, root: string, host: Host): string {
  const folder = resolve(host.cwd, dirname(file));
  if (host.root !== undefined || findRepository(folder, host) !== undefined) return root;
  const [, parent = folder] = searchUpward(folder, host).folders;
  return isBelow(resolveLinks(parent), root) && dirname(parent) !== parent ? parent : folder;
}

function describeStack({ state, locate, settings }: NamedStack, { cwd }: Host): StackFolder {
  const { baseUrl, keyEnv } = settings ?? {};
  const { stack, resources, paths = [], crossStackReferences = new Map() } = state;
  const takes = [...resources.values()].flatMap(({ kind, address, lifecycle: { takenFrom } }): TakenOverResource[] =>
    takenFrom === undefined ? [] : [{ stack: takenFrom.stack, resource: toAddress(kind, takenFrom.name), as: address }],
  );
  return {
    name: stack.name,
    folder: paths[0] ?? '.',
    file: locate(undefined)?.file ?? '.',
    baseUrl,
    serviceId: baseUrl === undefined ? undefined : toServiceId(baseUrl, { cwd }),
    keyEnv,
    inputs: [],
    policies: [],
    dependsOn: Array.from(crossStackReferences.values(), (reference) => reference.stack),
    takes,
    formerNames: stack.formerNames ?? [],
    describes: new Set<string>(resources.keys()),
    adopts: new Map(
      [...resources].flatMap(
        ([
          address,
          {
            lifecycle: { adopt },
          },
        ]) => (adopt === undefined ? [] : [[adopt, address]]),
      ),
    ),
  };
}

/** A server in memory has only this run, so there is nothing that the other stack could delete. */
function refuseDuplicate(own: StackFolder, others: readonly StackFolder[]): void {
  const { baseUrl = '' } = own;
  if (isEmbedded(baseUrl) && parseEmbeddedDataFile(baseUrl) === '') return;
  const other = others.find(({ name, serviceId }) => name === own.name && serviceId === own.serviceId);
  if (other !== undefined) throw new InvalidManifests([createDuplicateStackError(own, other)]);
}

function createUnreadWarning(file: string): Diagnostic {
  return {
    code: 'duplicate-stack',
    severity: 'warning',
    message: `${file} seems to contain a Stack, and its name cannot be read`,
    remedy: 'Correct the file: if that stack has the name of this one, each deletes what the other creates.',
  };
}

/**
 * Says of each live resource with the mark of another stack whether that stack is not in this repository. Several
 * repositories may share an account, so that is no drift. `listAround` lists the stacks of the repository.
 */
export function noteAbsentStacks(
  drift: Drift,
  { tree, listAround }: { readonly tree: StackTree; readonly listAround: () => readonly StackFolder[] },
  host: Host,
): Drift {
  const serviceId = toServiceId(drift.baseUrl, host);
  const hasStack = (stacks: readonly StackFolder[], name: string): boolean =>
    stacks.some((one) => mayBeSameStack(one, { name, serviceId }));
  const unowned = drift.unowned.map((one): UnownedResource => {
    const { stack } = one;
    const isHere = stack === undefined || hasStack(tree.stacks, stack) || hasStack(listAround(), stack);
    return isHere ? one : { ...one, absence: 'not-here' };
  });
  return { ...drift, unowned };
}

/** Lists the stacks of the repository around a folder. */
export function listStacksOfRepository(root: string, given: GivenConnection, host: Host): readonly StackFolder[] {
  const top = findRepository(resolve(host.cwd, root), host);
  return top === undefined ? [] : readTreeAround(top, given, host).stacks;
}
