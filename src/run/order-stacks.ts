import { findWay, sort } from '../model/sort.ts';
import { refersToStack, type StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';

interface OrderedStacks {
  /** Each stack comes after the stacks to which it refers, otherwise in the given order. A cycle has no valid order. */
  readonly ordered: readonly StackFolder[];
  /** The error of each stack in a cycle of references. Such a stack can be neither planned nor applied. */
  readonly circles: ReadonlyMap<StackFolder, StackError>;
}

export function orderStacks(stacks: readonly StackFolder[]): OrderedStacks {
  const needs = new Map(stacks.map((stack) => [stack, listDependencies(stack, stacks)]));
  const listNeeds = (stack: StackFolder) => needs.get(stack) ?? [];
  const { ordered, circles } = sort(stacks, listNeeds);
  const errors = circles.flat().map((stack) => {
    const round = [stack, ...(findWay(stack, stack, listNeeds) ?? [])];
    return [stack, createCycleError(round)] as const;
  });
  return { ordered, circles: new Map(errors) };
}

export function listDependencies(stack: StackFolder, stacks: readonly StackFolder[]): readonly StackFolder[] {
  return stacks.filter((other) => refersToStack(stack, other));
}

function createCycleError(round: readonly StackFolder[]): StackError {
  const files = [...new Set(round.map(({ file }) => file))].join(', ');
  return new StackError(`Stacks refer to each other in a cycle: ${round.map(({ name }) => name).join(' → ')}.`, {
    reason: 'invalid',
    remedy: `Remove one of these references from the manifests (${files}), or write the id instead.`,
  });
}
