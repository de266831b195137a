import type { StackFolder, StackTree } from '../model/stack-tree.ts';
import { loadStack } from '../stack/load-stack.ts';
import type { Surroundings } from '../stack/surroundings.ts';
import { joinTies, readTies } from './find-stacks.ts';

/** Commands that run at once. */
const AT_ONCE = 4;

/**
 * The tree, with the ties of its rendered stacks read from what their commands print, when these may be run: the files below a folder say them as well as they
 * can. Every stack counts, whatever a run is narrowed to, because any of them may take over what another one gives away. A command that fails is told of when its
 * stack is read.
 */
export async function renderTree(tree: StackTree, context: Surroundings): Promise<StackTree> {
  const rendered = tree.stacks.filter(({ isRendered }) => isRendered);
  if (context.render === undefined || rendered.length === 0) return tree;
  const found = new Map<StackFolder, StackFolder>();
  const waiting = rendered.values();
  const work = async (): Promise<void> => {
    for (const stack of waiting) found.set(stack, await renderStack(stack, context));
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return { ...tree, stacks: tree.stacks.map((stack) => found.get(stack) ?? stack) };
}

async function renderStack(stack: StackFolder, context: Surroundings): Promise<StackFolder> {
  const readStdin = async () => new Uint8Array();
  const { sources, isPartial } = await loadStack([stack.folder], { ...context, readStdin });
  if (isPartial) return stack;
  return { ...stack, ...joinTies(sources.map(({ bytes }) => readTies(bytes, context))) };
}
