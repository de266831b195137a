import { posix, relative, resolve, sep } from 'node:path';
import { resolveLinks } from '../files/real-path.ts';
import { OWNED_KINDS } from '../kinds/tables/registry.ts';
import { parseAddressesForCompletion } from '../manifest/load.ts';
import { suggest } from '../manifest/suggest.ts';
import { parseAddress } from '../model/address.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { mayBeSameStack, type RemovedStack, type StackFolder, type StackTree } from '../model/stack-tree.ts';
import { toServiceId } from '../stack/account-key.ts';
import { type Host, InvalidManifests, StackError } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';
import { type CommitCheckout, openCommitCheckout } from './commit-checkout.ts';
import { type GitRepository, openGitRepository, resolveCommit } from './git.ts';
import { listLeftOutFiles } from './missing-manifests.ts';
import { type GivenConnection, readStackTree, readTreeAround } from './read-stack-tree.ts';

/**
 * The stacks that a commit has and the working tree lacks. What they own stays at the service: no run of another stack
 * deletes it.
 */

interface Search extends GivenConnection {
  readonly repository: GitRepository;
  readonly before: CommitCheckout;
  readonly host: Host;
}

/**
 * Lists the stacks below the root of a tree that the commit has, and that are nowhere in the repository any more. A stack
 * that git did not check out is not removed.
 */
export async function listRemovedStacks(tree: StackTree, search: Search): Promise<readonly RemovedStack[]> {
  const { repository, before, host } = search;
  const root = relative(repository.top, resolveLinks(resolve(host.cwd, tree.root)));
  const candidates = withoutPresent(await readTreeOfCommit(root, search), tree);
  if (candidates.length === 0) return [];
  const leftOut = new Set(await listLeftOutFiles(repository.top, host));
  const gone = candidates.filter(({ file }) => !leftOut.has(resolve(repository.top, file)));
  const removed = withoutPresent(gone, readTreeAround(repository.top, search, host));
  return Promise.all(
    removed.map(async (stack) => ({ stack, resources: await countResources(stack, { ...host, cwd: before.folder }) })),
  );
}

/** Reads the stacks of the commit. Their folders are relative to the root of the repository. */
async function readTreeOfCommit(
  root: string,
  { before, host, baseUrl, keyEnv }: Search,
): Promise<readonly StackFolder[]> {
  const folder = root.split(sep).join('/');
  const above = listFoldersAbove(folder).map((path) => ({ path, below: 'beside' }) as const);
  await before.add([{ path: folder, below: 'manifests' }, ...above]);
  const context = { ...host, cwd: before.folder, root: before.folder, uid: undefined, budget: undefined };
  const { stacks } = readStackTree(folder === '' ? '.' : folder, { ...context, baseUrl, keyEnv });
  return stacks
    .filter(({ name }) => name !== '')
    .map(({ baseUrl: url, ...stack }) => ({
      ...stack,
      baseUrl: url,
      // The path of a data file is relative to the working folder, not to the checkout.
      serviceId: url === undefined ? undefined : toServiceId(url, { cwd: host.cwd }),
    }));
}

function listFoldersAbove(folder: string): readonly string[] {
  if (folder === '') return [];
  const parent = posix.dirname(folder);
  return parent === '.' ? [''] : [parent, ...listFoldersAbove(parent)];
}

/** Leaves out the stacks that a tree has. */
function withoutPresent(stacks: readonly StackFolder[], tree: StackTree): readonly StackFolder[] {
  return stacks.filter((one) => !tree.stacks.some((other) => mayBeSameStack(one, other)));
}

/** Counts the resources that the manifests of a stack describe. `undefined`: a command would have to print them. */
async function countResources({ folder, isRendered }: StackFolder, host: Host): Promise<number | undefined> {
  if (isRendered) return undefined;
  const quiet = {
    cwd: host.cwd,
    root: host.cwd,
    uid: undefined,
    env: host.env,
    readStdin: async () => new Uint8Array(),
  };
  const { sources } = await loadStackManifestSources([folder], quiet);
  const isOwned = (address: string): boolean => OWNED_KINDS.some(({ name }) => name === parseAddress(address)?.kind);
  return parseAddressesForCompletion(sources, () => false).filter(isOwned).length;
}

interface RemovedSelection extends GivenConnection {
  /** The names of the stacks. Absent: all below the root. */
  readonly names?: readonly string[];
  /** The commit that has them. */
  readonly from: string;
}

/** Stacks that only a commit has, with a checkout of their manifests. */
export interface OpenedRemovedStacks {
  readonly selected: { readonly tree: StackTree; readonly stacks: readonly StackFolder[] };
  /** The full id of the commit. */
  readonly commit: string;
  /** The context in which their manifests are read. */
  readonly host: Pick<Host, 'cwd' | 'root' | 'uid'>;
  readonly close: () => Promise<void>;
}

/**
 * Opens removed stacks by their names, for a run that deletes what they own. The tree of the run is that of the
 * repository now, whose stacks may take over resources. Rejects if a stack is still there, or may be.
 */
export async function openRemovedStacks(
  root: string,
  { names, from, ...connection }: RemovedSelection,
  host: Host,
): Promise<OpenedRemovedStacks> {
  const repository = openGitRepository(root, host);
  const commit = await resolveCommit(repository, from);
  const before = await openCommitCheckout(repository, commit, host);
  try {
    const search = { repository, before, host, ...connection };
    const tree = readTreeAround(repository.top, connection, host);
    if (hasErrors(tree.diagnostics)) throw new InvalidManifests(tree.diagnostics);
    refuseUnknownStacks(tree);
    const removed = await listRemovedStacks({ ...tree, root: names === undefined ? root : repository.top }, search);
    const found = names?.map((name) => findRemoved(name, { removed, tree, from })) ?? removed.map(({ stack }) => stack);
    // What it took over from other stacks is its own by now.
    const stacks = found.map((stack): StackFolder => ({ ...stack, takes: [], removedSince: from }));
    for (const { folder, isRendered } of stacks)
      await before.add([{ path: folder === '.' ? '' : folder, below: isRendered ? 'all' : 'manifests' }]);
    return {
      selected: { tree: { ...tree, stacks: [...tree.stacks, ...stacks] }, stacks },
      commit,
      host: { cwd: before.folder, root: before.folder, uid: undefined },
      close: before.remove,
    };
  } catch (error) {
    await before.remove();
    throw error;
  }
}

/** Throws if the name of a stack of the repository cannot be read: it may be the one that is removed. */
function refuseUnknownStacks({ unread }: StackTree): void {
  if (unread.length === 0) return;
  throw new StackError(`${unread.join(', ')} seems to contain a Stack, and its name cannot be read.`, {
    reason: 'invalid',
    remedy: 'Correct the file first: that stack may be the one to delete, or may take over a resource of it.',
  });
}

function findRemoved(
  name: string,
  {
    removed,
    tree,
    from,
  }: { readonly removed: readonly RemovedStack[]; readonly tree: StackTree; readonly from: string },
): StackFolder {
  const found = removed.find(({ stack }) => stack.name === name)?.stack;
  if (found !== undefined) return found;
  const present = tree.stacks.find((stack) => stack.name === name);
  if (present !== undefined)
    throw new StackError(`The stack ${name} is not removed: it is in ${present.folder}.`, {
      reason: 'invalid',
      remedy: '`edgewise destroy` with that folder deletes what it owns, as its manifests are now.',
    });
  const nearest = suggest(
    name,
    removed.map(({ stack }) => stack.name),
  );
  throw new StackError(`${from} has no stack ${name}.`, {
    reason: 'invalid',
    remedy:
      nearest === undefined
        ? 'Name a commit that has it, such as the last one before the stack was removed.'
        : `Did you mean ${nearest}?`,
  });
}
