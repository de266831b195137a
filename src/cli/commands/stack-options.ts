import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Shard } from '../../model/stack-tree.ts';
import type { Narrowing } from '../../stacks/select-stacks.ts';
import { parseShard, SHARD_EXPECTED } from '../../stacks/shard.ts';
import { parseStackName, repeatable } from './options.ts';

/** Flags that narrow a run over many stacks. */
export interface NarrowingFlags {
  readonly stack: readonly string[];
  readonly changedSince?: string;
  readonly shard?: Shard;
  readonly baseUrl?: string;
}

/** Which of many stacks are meant. */
export function addNarrowingOptions(command: Command): Command {
  return command
    .option(
      '--changed-since <ref>',
      'only stacks that differ from this commit: their files, their inputs, what they depend on',
    )
    .addOption(
      repeatable('--stack <name>', 'only the stack of this name', { parse: parseStackName, default: 'every stack' }),
    )
    .addOption(
      new Option(
        '--shard <shard>',
        'only a part of the stacks, such as 2/5 (EDGEWISE_SHARD, or what an indexed Job or GitLab parallel says)',
      ).argParser(parseShardFlag),
    );
}

/** The same for those who select. */
export function toNarrowing({ stack, changedSince, shard, baseUrl }: NarrowingFlags): Narrowing {
  return { names: stack, since: changedSince, shard, baseUrl };
}

function parseShardFlag(text: string): Shard {
  const shard = parseShard(text, '--shard');
  if (shard !== undefined) return shard;
  throw new InvalidArgumentError(`A shard is ${SHARD_EXPECTED}.`);
}
