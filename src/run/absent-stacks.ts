import { relative, resolve } from 'node:path';
import { findRepository } from '../files/boundary.ts';
import type { Drift, UnownedResource } from '../model/drift.ts';
import type { StackFolder, StackTree, TreeChanges } from '../model/stack-tree.ts';
import { readStackTree } from '../repository/read-stack-tree.ts';
import { toServiceId } from '../stack/account-key.ts';
import type { Host } from '../stack/host.ts';

interface KnownStacks {
  /** The stacks of the run, and of the rest of its repository. */
  readonly tree: StackTree;
  /** Absent: the stacks are not compared with a commit. */
  readonly changes?: TreeChanges | undefined;
  readonly baseUrl?: string | undefined;
  readonly keyEnv?: string | undefined;
}

/**
 * Creates a function that says of each live resource with the mark of another stack whether that stack is absent: it is
 * not in this repository, or was removed since the commit. Several repositories may share an account, so an absent stack
 * is no drift.
 */
export function createAbsentStackNotes(known: KnownStacks, host: Host): (drift: Drift) => Drift {
  let whole: readonly StackFolder[] | undefined;
  const listWhole = (): readonly StackFolder[] => {
    whole ??= listStacksOfRepository(known, host);
    return whole;
  };
  const removed = known.changes?.removed.map(({ stack }) => stack) ?? [];
  return (drift) => {
    const serviceId = toServiceId(drift.baseUrl, host);
    const hasStack = (stacks: readonly StackFolder[], name: string): boolean =>
      stacks.some((one) => one.name === name && (one.serviceId === undefined || one.serviceId === serviceId));
    const findAbsence = (name: string): UnownedResource['absence'] => {
      if (hasStack(known.tree.stacks, name) || hasStack(listWhole(), name)) return undefined;
      return hasStack(removed, name) ? 'removed' : 'not-here';
    };
    const unowned = drift.unowned.map((one): UnownedResource => {
      const absence = one.stack === undefined ? undefined : findAbsence(one.stack);
      return absence === undefined ? one : { ...one, absence };
    });
    return { ...drift, unowned };
  };
}

function listStacksOfRepository({ tree, baseUrl, keyEnv }: KnownStacks, host: Host): readonly StackFolder[] {
  const { budget: _, ...context } = host;
  const top = findRepository(resolve(host.cwd, tree.root), host);
  return top === undefined ? [] : readStackTree(relative(host.cwd, top) || '.', { ...context, baseUrl, keyEnv }).stacks;
}
