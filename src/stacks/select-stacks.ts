import { suggest } from '../manifest/suggest.ts';
import { hasErrors } from '../model/diagnostic.ts';
import type { Shard, StackFolder, StackTree, TreeChanges } from '../model/stack-tree.ts';
import { InvalidManifests, StackError } from '../stack/stack-error.ts';
import type { Surroundings } from '../stack/surroundings.ts';
import { findChanges } from './find-changes.ts';
import { findStacks } from './find-stacks.ts';
import { renderTree } from './render-tree.ts';
import { findShard, selectShard } from './shard.ts';

/** Which stacks of a tree are meant. */
export interface Narrowing {
  /** Names; empty: all. */
  readonly names: readonly string[];
  /** Only those that differ from this commit. */
  readonly since?: string | undefined;
  /** Absent: what the environment says, unless names were given. */
  readonly shard?: Shard | undefined;
  readonly baseUrl?: string | undefined;
}

/** The stacks of a run. */
export interface SelectedStacks {
  readonly tree: StackTree;
  readonly stacks: readonly StackFolder[];
  readonly changes?: TreeChanges;
  readonly shard?: Shard;
}

/**
 * Finds the stacks of a tree that are meant. Throws when there is no stack at all, for a name that none has, and for what is wrong with the tree;
 * none being left is no error.
 */
export async function selectStacks(root: string, narrowing: Narrowing, context: Surroundings): Promise<SelectedStacks> {
  const { names, since, baseUrl } = narrowing;
  const found = findStacks(root, { ...context, baseUrl });
  if (hasErrors(found.diagnostics)) throw new InvalidManifests(found.diagnostics);
  if (found.stacks.length === 0) throw toNothingFound(found);
  for (const name of names) if (!found.stacks.some((stack) => stack.name === name)) throw toUnknown(name, found);
  const tree = await renderTree(found, context);
  const changes = since === undefined ? undefined : await findChanges(tree, since, context);
  const shard = narrowing.shard ?? (names.length === 0 ? findShard(context.env) : undefined);
  const named = tree.stacks.filter(({ name }) => names.length === 0 || names.includes(name));
  const changed = named.filter((stack) => changes?.changed.some((change) => change.stack === stack) ?? true);
  return {
    tree,
    stacks: shard === undefined ? changed : selectShard(changed, shard),
    ...(changes !== undefined && { changes }),
    ...(shard !== undefined && { shard }),
  };
}

function toNothingFound({ root, unowned }: StackTree): StackError {
  const there = unowned.length === 0 ? 'no manifest at all' : `${unowned.length} manifest files, but no Stack document`;
  return new StackError(`There is no stack below ${root}: ${there}.`, {
    reason: 'invalid',
    remedy:
      'Name the folder that the stacks are in. A folder with a Stack document is a stack; edgewise init writes one.',
  });
}

function toUnknown(name: string, { root, stacks }: StackTree): StackError {
  const known = stacks.map((stack) => stack.name);
  const nearest = suggest(name, known);
  return new StackError(`No stack below ${root} has the name ${name}.`, {
    reason: 'invalid',
    remedy: nearest === undefined ? `edgewise stacks ${root} lists them.` : `Did you mean ${nearest}?`,
  });
}
