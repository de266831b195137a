import type { Shard } from '../../model/stack-tree.ts';
import type { Narrowing } from '../../stacks/select-stacks.ts';

/** Flags that narrow a run over many stacks. */
export interface NarrowingFlags {
  readonly stack?: readonly string[];
  readonly changedSince?: string;
  readonly shard?: Shard;
  readonly baseUrl?: string;
}

/** The same for those who select. */
export function toNarrowing({ stack = [], changedSince, shard, baseUrl }: NarrowingFlags): Narrowing {
  return { names: stack, since: changedSince, shard, baseUrl };
}
