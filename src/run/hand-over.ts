import { resolve } from 'node:path';
import { parseAddressesForCompletion } from '../manifest/load.ts';
import type { Address } from '../model/address.ts';
import {
  type ClaimingStack,
  mayBeSameStack,
  mayShareService,
  type OtherStacks,
  type StackFolder,
  type StackTree,
  type TakenOverResource,
  type TakingOverStack,
} from '../model/stack-tree.ts';
import type { CrossStackReference } from '../model/state.ts';
import { StackError } from '../model/user-errors.ts';
import type { Host } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';

/**
 * Finds the manifest of the repository that takes over a resource of the stack `folder`: `lifecycle.renamed_from` names
 * both, or its stack had the name of this one. Or the resource moved here, and its former stack describes `former`, what it
 * was there. `undefined` if there is none.
 */
export function findTakingOverStack(
  folder: StackFolder,
  {
    tree,
    address,
    former,
  }: { readonly tree: StackTree; readonly address: Address; readonly former?: CrossStackReference | undefined },
): TakingOverStack | undefined {
  const isMeant = ({ stack, resource }: TakenOverResource): boolean => stack === folder.name && resource === address;
  const others = tree.stacks.filter((other) => other !== folder && mayMean(other, folder, tree));
  const strays = tree.strays.map(({ file, takes }) => ({ name: '', folder: file, takes }));
  const byLine = [...others, ...strays].flatMap(({ name, folder: place, takes }) => {
    const takeOver = takes.find(isMeant);
    return takeOver === undefined ? [] : [{ stack: name, folder: place, as: takeOver.as }];
  });
  const byName = others
    .filter(({ formerNames, describes }) => formerNames.includes(folder.name) && describes.has(address))
    .map(({ name, folder: place }) => ({ stack: name, folder: place, as: address }));
  const byMark = others
    .filter(({ name, describes }) => name === former?.stack && describes.has(former.resource))
    .map(({ name, folder: place }) => ({
      stack: name,
      folder: place,
      as: former?.resource ?? address,
      isByMark: true as const,
    }));
  return [...byLine, ...byName, ...byMark][0];
}

/**
 * Whether a stack means the stack `folder` by its name: both are at one service, or no stack at its own service has that
 * name, as after a slip in the URL.
 */
function mayMean({ serviceId }: StackFolder, folder: StackFolder, { stacks }: StackTree): boolean {
  if (serviceId === folder.serviceId) return true;
  return !stacks.some((one) => one.name === folder.name && one.serviceId === serviceId);
}

/**
 * Creates what the plan of the stack `folder` asks about others. `listStacks`: those of the whole repository. It is called
 * only if the plan takes something over, or manifests have an id that is gone.
 */
export function createOtherStacks(folder: StackFolder, listStacks: () => readonly StackFolder[]): OtherStacks {
  const listOthers = (): readonly StackFolder[] =>
    listStacks().filter((one) => resolve(one.file) !== resolve(folder.file));
  const { serviceId } = folder;
  return {
    has: (name) => listOthers().some((one) => mayBeSameStack(one, { name, serviceId })),
    listClaiming: (owner, address) =>
      listOthers().flatMap(({ folder: place, ...one }): readonly ClaimingStack[] => {
        if (!mayShareService(one, folder)) return [];
        const by = findReason(one, owner, address);
        return by === undefined ? [] : [{ stack: one.name, folder: place, by }];
      }),
    findAdopting: (id) => {
      const found = listOthers().find(({ adopts }) => adopts.has(id));
      const address = found?.adopts.get(id);
      return found === undefined || address === undefined ? undefined : { stack: found.name, address };
    },
  };
}

function findReason(
  { name, describes, formerNames, takes }: Omit<StackFolder, 'folder'>,
  owner: string,
  address: Address,
): ClaimingStack['by'] | undefined {
  if (name === owner) return describes.has(address) ? 'owner' : undefined;
  if (takes.some(({ stack, resource }) => stack === owner && resource === address)) return 'line';
  return formerNames.includes(owner) && describes.has(address) ? 'name' : undefined;
}

/**
 * Rejects if the stack takes over a resource that a manifest of the old stack still describes: the old stack would
 * create the resource again.
 */
export async function refuseTakeOverWithOldManifest(
  folder: StackFolder,
  { stacks }: StackTree,
  context: Pick<Host, 'cwd' | 'uid' | 'env'>,
): Promise<void> {
  for (const { stack, resource } of folder.takes) {
    const other = stacks.find(({ name, serviceId }) => name === stack && serviceId === folder.serviceId);
    if (other === undefined || other === folder) continue;
    const { sources } = await loadStackManifestSources([other.folder], {
      ...context,
      readStdin: async () => new Uint8Array(),
    });
    if (!parseAddressesForCompletion(sources, () => false).includes(resource)) continue;
    const message = `${folder.name} takes over ${resource} of the stack ${stack}, and a document in ${other.folder} still describes it.`;
    const remedy = 'Remove that document: only the stack that takes a resource over describes it.';
    throw new StackError(message, { reason: 'invalid', remedy });
  }
}
