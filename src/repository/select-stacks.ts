import { suggest } from '../manifest/suggest.ts';
import { hasErrors } from '../model/diagnostic.ts';
import { escapePath, quoteForShell } from '../model/shell-words.ts';
import type { StackFolder, StackTree, TreeChanges } from '../model/stack-tree.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import type { Host } from '../stack/host.ts';
import { readChangedStacks } from './read-changes.ts';
import { type GivenConnection, readStackTree } from './read-stack-tree.ts';

export interface StackSelectionOptions extends GivenConnection {
  /** The names of the selected stacks. If empty, all stacks are selected. */
  readonly names: readonly string[];
  /** A commit. If set, only stacks that changed since this commit are selected. */
  readonly since?: string | undefined;
}

export interface SelectedStacks {
  readonly tree: StackTree;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges | undefined;
}

/**
 * Finds the stacks below `root` that the filter selects. Rejects if there are no stacks, if a name is unknown, or if
 * the tree has errors. An empty selection is not an error.
 */
export async function selectStacks(
  root: string,
  filter: StackSelectionOptions,
  context: Host,
): Promise<SelectedStacks> {
  const { names, since, baseUrl, keyEnv } = filter;
  const tree = readStackTree(root, { ...context, baseUrl, keyEnv, countsUnread: true });
  for (const { file } of [...tree.stacks, ...tree.strays]) context.onInput?.(file);
  if (hasErrors(tree.diagnostics)) throw new InvalidManifests(tree.diagnostics);
  // If every stack was removed, the comparison with the commit names them.
  if (tree.stacks.length === 0 && since === undefined) throw createNothingFoundError(tree);
  const unknown = names.find((name) => !tree.stacks.some((stack) => stack.name === name));
  if (unknown !== undefined) throw createUnknownStackError(unknown, tree);
  const changes = since === undefined ? undefined : await readChangedStacks(tree, { since, baseUrl, keyEnv }, context);
  if (tree.stacks.length === 0 && changes?.removed.length === 0) throw createNothingFoundError(tree);
  const named = tree.stacks.filter((stack) => isSelectedByName(stack, filter));
  const changed = new Set(changes?.changed.map(({ stack }) => stack));
  return { tree, stacks: changes === undefined ? named : named.filter((stack) => changed.has(stack)), changes };
}

function isSelectedByName({ name }: StackFolder, { names }: StackSelectionOptions): boolean {
  return names.length === 0 || names.includes(name);
}

function createNothingFoundError({ root, filesWithoutStack }: StackTree): StackError {
  const there =
    filesWithoutStack.length === 0
      ? 'no manifest at all'
      : `${filesWithoutStack.length} manifest files, but no Stack document`;
  return new StackError(`There is no stack below ${root}: ${there}.`, {
    reason: 'invalid',
    remedy:
      'Name the folder that contains the stacks. A folder with a Stack document is a stack; edgewise init writes one.',
  });
}

function createUnknownStackError(name: string, { root, stacks }: StackTree): StackError {
  const known = stacks.map((stack) => stack.name);
  const nearest = suggest(name, known);
  return new StackError(`No stack below ${root} has the name ${name}.`, {
    reason: 'invalid',
    remedy:
      nearest === undefined
        ? `edgewise stacks ${quoteForShell(escapePath(root))} lists them.`
        : `Did you mean ${nearest}?`,
  });
}

/** Says what to do about a stack that a run over a selection needs and does not have. */
export function adviseOnUnselectedStack(name: string, { tree, stacks }: SelectedStacks): string | undefined {
  const found = tree.stacks.find((stack) => stack.name === name);
  if (found === undefined)
    return `No stack below ${tree.root} has the name ${name}: correct it, or apply that stack where it is.`;
  return stacks.includes(found) ? undefined : `The stack ${name} is not selected: apply it first, in ${found.folder}.`;
}
