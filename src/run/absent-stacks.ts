import { resolve } from 'node:path';
import { findRepository } from '../files/boundary.ts';
import type { Drift, UnownedResource } from '../model/drift.ts';
import { mayBeSameStack, type StackFolder, type StackTree } from '../model/stack-tree.ts';
import { type GivenConnection, readTreeAround } from '../repository/read-stack-tree.ts';
import { toServiceId } from '../stack/account-key.ts';
import type { Host } from '../stack/host.ts';

interface KnownStacks extends GivenConnection {
  /** The stacks of the run, and of the rest of its repository. */
  readonly tree: StackTree;
}

/**
 * Creates a function that says of each live resource with the mark of another stack whether that stack is not in this
 * repository. Several repositories may share an account, so that is no drift.
 */
export function createAbsentStackNotes(known: KnownStacks, host: Host): (drift: Drift) => Drift {
  let whole: readonly StackFolder[] | undefined;
  const listWhole = (): readonly StackFolder[] => {
    whole ??= listStacksOfRepository(known, host);
    return whole;
  };
  return (drift) => {
    const serviceId = toServiceId(drift.baseUrl, host);
    const hasStack = (stacks: readonly StackFolder[], name: string): boolean =>
      stacks.some((one) => mayBeSameStack(one, { name, serviceId }));
    const unowned = drift.unowned.map((one): UnownedResource => {
      const { stack } = one;
      const isHere = stack === undefined || hasStack(known.tree.stacks, stack) || hasStack(listWhole(), stack);
      return isHere ? one : { ...one, absence: 'not-here' };
    });
    return { ...drift, unowned };
  };
}

/** Lists the stacks of the repository around the stacks of a run. */
export function listStacksOfRepository(known: KnownStacks, host: Host): readonly StackFolder[] {
  const top = findRepository(resolve(host.cwd, known.tree.root), host);
  return top === undefined ? [] : readTreeAround(top, known, host).stacks;
}
