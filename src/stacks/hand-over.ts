import { listAddresses } from '../manifest/list-addresses.ts';
import type { StackFolder, StackTree } from '../model/stack-tree.ts';
import { loadStack } from '../stack/load-stack.ts';
import { StackError } from '../stack/stack-error.ts';
import type { Surroundings } from '../stack/surroundings.ts';
import { toAccountId } from './to-account-id.ts';

/** Whether another stack of the tree takes over what this one owns under an address. */
export function isTakenOver(
  folder: StackFolder,
  { tree: { stacks }, address }: { readonly tree: StackTree; readonly address: string },
  context: Pick<Surroundings, 'env' | 'cwd'>,
): boolean {
  return stacks.some(
    (other) =>
      other !== folder &&
      other.takes.some(({ stack, resource }) => stack === folder.name && resource === address) &&
      toAccountId(other, context) === toAccountId(folder, context),
  );
}

/** Throws when a stack takes over what a document of the other one still describes: both would own it, and the other would make it anew. */
export async function refuseDescribed(
  folder: StackFolder,
  { stacks }: StackTree,
  context: Pick<Surroundings, 'cwd' | 'env' | 'render'>,
): Promise<void> {
  for (const { stack, resource } of folder.takes) {
    const other = stacks.find(({ name, baseUrl }) => name === stack && baseUrl === folder.baseUrl);
    if (other === undefined || other === folder) continue;
    if (toAccountId(other, context) !== toAccountId(folder, context)) continue;
    const { sources } = await loadStack([other.folder], { ...context, readStdin: async () => new Uint8Array() });
    if (!listAddresses(sources, () => false).includes(resource)) continue;
    const message = `${folder.name} takes over ${resource} of the stack ${stack}, and a document in ${other.folder} still describes it.`;
    const remedy = 'Remove that document: what is handed over is described once.';
    throw new StackError(message, { reason: 'invalid', remedy });
  }
}
