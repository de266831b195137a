import type { StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../model/user-errors.ts';
import { refersToStack } from '../repository/read-changes.ts';

interface OrderedStacks {
  /** Each stack comes after the stacks to which it refers, otherwise in the given order. A cycle has no valid order. */
  readonly ordered: readonly StackFolder[];
  /** The error of each stack in a cycle of references. Such a stack can be neither planned nor applied. */
  readonly circles: ReadonlyMap<StackFolder, StackError>;
}

export function orderStacks(stacks: readonly StackFolder[]): OrderedStacks {
  const needs = new Map(stacks.map((stack) => [stack, listDependencies(stack, stacks)]));
  const ordered = new Set<StackFolder>();
  const seen = new Set<StackFolder>();
  let hasCycle = false;
  const visit = (stack: StackFolder): void => {
    if (seen.has(stack)) {
      hasCycle ||= !ordered.has(stack);
      return;
    }
    seen.add(stack);
    for (const needed of needs.get(stack) ?? []) visit(needed);
    ordered.add(stack);
  };
  for (const stack of stacks) visit(stack);
  const rounds = hasCycle ? stacks.map((stack) => findCycle(stack, needs)) : [];
  const found = rounds.flatMap((round) => (round === undefined ? [] : [[round[0], createCycleError(round)] as const]));
  return { ordered: [...ordered], circles: new Map(found) };
}

export function listDependencies(stack: StackFolder, stacks: readonly StackFolder[]): readonly StackFolder[] {
  return stacks.filter((other) => refersToStack(stack, other));
}

type Cycle = readonly [StackFolder, ...StackFolder[]];

/** Returns the stacks on a path of references from `start` back to `start`. `undefined` if there is no such path. */
function findCycle(start: StackFolder, needs: ReadonlyMap<StackFolder, readonly StackFolder[]>): Cycle | undefined {
  const seen = new Set<StackFolder>();
  const visit = (stack: StackFolder): readonly StackFolder[] | undefined => {
    for (const needed of needs.get(stack) ?? []) {
      if (needed === start) return [needed];
      if (seen.has(needed)) continue;
      seen.add(needed);
      const rest = visit(needed);
      if (rest !== undefined) return [needed, ...rest];
    }
    return undefined;
  };
  const path = visit(start);
  return path && [start, ...path];
}

function createCycleError(round: Cycle): StackError {
  const files = [...new Set(round.map(({ file }) => file))].join(', ');
  return new StackError(`Stacks refer to each other in a cycle: ${round.map(({ name }) => name).join(' → ')}.`, {
    reason: 'invalid',
    remedy: `Remove one of these references from the manifests (${files}), or write the id instead.`,
  });
}
