import { createHash } from 'node:crypto';
import type { Shard, StackFolder } from '../model/stack-tree.ts';
import { StackError } from '../stack/stack-error.ts';

type Environment = Readonly<Record<string, string | undefined>>;

/** The form of `--shard`. */
export const SHARD_EXPECTED = 'INDEX/TOTAL with an index from 1, such as 2/5';

/** The shard in a text such as `2/5`; `undefined`: it is of another form. */
export function parseShard(text: string, from: string): Shard | undefined {
  const [, index, total] = /^(\d{1,4})\/(\d{1,4})$/.exec(text) ?? [];
  return toShard(Number(index), Number(total), from);
}

function toShard(index: number, total: number, from: string): Shard | undefined {
  return index >= 1 && index <= total ? { index, total, from } : undefined;
}

/** Pairs of variables that say which job of how many this is. `first`: what the index counts from. */
const VARIABLES = [
  { index: 'EDGEWISE_SHARD_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 },
  { index: 'JOB_COMPLETION_INDEX', total: 'EDGEWISE_SHARD_TOTAL', first: 0 },
  { index: 'CI_NODE_INDEX', total: 'CI_NODE_TOTAL', first: 1 },
] as const;

/**
 * The shard that the environment names: `EDGEWISE_SHARD`; what a GitHub matrix gives (`strategy.job-index` and `strategy.job-total`, as
 * EDGEWISE_SHARD_INDEX and EDGEWISE_SHARD_TOTAL); an indexed Job of Kubernetes; GitLab's `parallel`. Throws for one that makes no sense:
 * every machine would do everything.
 */
export function findShard(env: Environment): Shard | undefined {
  const text = env['EDGEWISE_SHARD'] ?? '';
  if (text !== '') return parseShard(text, 'EDGEWISE_SHARD') ?? refuse(`EDGEWISE_SHARD is ${JSON.stringify(text)}`);
  const pair = VARIABLES.find(({ index }) => (env[index] ?? '') !== '');
  if (pair === undefined) return undefined;
  const [index = '', total = ''] = [env[pair.index], env[pair.total]];
  const shard = toShard(toNumber(index) + 1 - pair.first, toNumber(total), pair.index);
  if (shard !== undefined) return shard;
  return refuse(`${pair.index} is ${JSON.stringify(index)} and ${pair.total} is ${JSON.stringify(total)}`);
}

function toNumber(text: string): number {
  return /^\d{1,4}$/.test(text) ? Number(text) : Number.NaN;
}

function refuse(what: string): never {
  throw new StackError(`${what}, which says neither which part of the stacks this run does nor of how many.`, {
    reason: 'invalid',
    remedy: `Set both, or use --shard ${SHARD_EXPECTED}. --shard 1/1 does everything.`,
  });
}

/**
 * The stacks of a shard. A stack belongs to the shard whose number gives the highest digest together with its name: the others do not move when a
 * stack is added, and as few as possible when the number of shards changes.
 */
export function selectShard(stacks: readonly StackFolder[], { index, total }: Shard): readonly StackFolder[] {
  return stacks.filter(({ name }) => findIndex(name, total) === index);
}

function findIndex(name: string, total: number): number {
  const digests = Array.from({ length: total }, (_, at) => {
    const digest = createHash('sha256')
      .update(`${name}\n${at + 1}`)
      .digest('hex');
    return { index: at + 1, digest };
  });
  return digests.reduce((best, one) => (one.digest > best.digest ? one : best)).index;
}
