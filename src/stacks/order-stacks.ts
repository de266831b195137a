import type { StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../stack/stack-error.ts';
import { dependsOn } from './find-changes.ts';

/** The stacks, each behind those that it refers to, else as given. Throws for a circle, since none of its stacks could be the first. */
export function orderStacks(stacks: readonly StackFolder[]): readonly StackFolder[] {
  const ordered = new Set<StackFolder>();
  const visit = (stack: StackFolder, path: readonly StackFolder[]): void => {
    if (ordered.has(stack)) return;
    const start = path.indexOf(stack);
    if (start >= 0) throw toCircle([...path.slice(start), stack]);
    for (const needed of listNeeded(stack, stacks)) visit(needed, [...path, stack]);
    ordered.add(stack);
  };
  for (const stack of stacks) visit(stack, []);
  return [...ordered];
}

/** The stacks of a run that one of them refers to. */
export function listNeeded(stack: StackFolder, stacks: readonly StackFolder[]): readonly StackFolder[] {
  return stacks.filter((other) => dependsOn(stack, other));
}

function toCircle(round: readonly StackFolder[]): StackError {
  const files = [...new Set(round.map(({ file }) => file))].join(', ');
  return new StackError(`Stacks refer to each other in a circle: ${round.map(({ name }) => name).join(' → ')}.`, {
    reason: 'invalid',
    remedy: `Take one reference out of the manifests of one of them (${files}), or state the id.`,
  });
}
