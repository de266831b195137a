import { parseAddressesForCompletion } from '../manifest/load.ts';
import type { Address } from '../model/address.ts';
import type { StackFolder, StackTree, TakenOverResource, TakingOverStack } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';
import type { Host } from '../stack/host.ts';
import { loadStackManifestSources } from '../stack/load-stack.ts';

/**
 * Finds the manifest of the repository that takes over a resource of the stack `folder`: `lifecycle.renamed_from` names
 * both. `undefined` if there is none.
 */
export function findTakingOverStack(
  folder: StackFolder,
  { tree, address }: { readonly tree: StackTree; readonly address: Address },
): TakingOverStack | undefined {
  const isMeant = ({ stack, resource }: TakenOverResource): boolean => stack === folder.name && resource === address;
  const others = tree.stacks.filter((other) => other !== folder && mayMean(other, folder, tree));
  const strays = tree.strays.map(({ file, takes }) => ({ name: '', folder: file, takes }));
  return [...others, ...strays].flatMap(({ name, folder: place, takes }) => {
    const found = takes.find(isMeant);
    return found === undefined ? [] : [{ stack: name, folder: place, as: found.as }];
  })[0];
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
