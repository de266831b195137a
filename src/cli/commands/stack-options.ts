import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Shard } from '../../model/stack-tree.ts';
import { parseShard, SHARD_EXPECTED } from '../../stacks/shard.ts';
import { CommandError, EXIT } from '../exit-code.ts';
import type { NarrowingFlags } from '../many/narrowing.ts';
import { parseStackName, repeatable } from './options.ts';

/** Consent to run what Stacks say. */
export function addRenderOption(command: Command): Command {
  return command.option('--render', 'run the command of spec.render, which prints the manifests of a stack');
}

/** Which of many stacks are meant. */
export function addNarrowingOptions(command: Command): Command {
  return addPartOptions(command).addOption(
    repeatable('--stack <name>', 'only the stack of this name', { parse: parseStackName, default: 'every stack' }),
  );
}

function addPartOptions(command: Command): Command {
  return addRenderOption(command)
    .option(
      '--changed-since <ref>',
      'only stacks that differ from this commit: their files, their inputs, what they depend on',
    )
    .addOption(
      new Option(
        '--shard <shard>',
        'only a part of the stacks, such as 2/5 (EDGEWISE_SHARD, or what an indexed Job or GitLab parallel says)',
      ).argParser(parseShardFlag),
    );
}

const RECURSIVE = ['-R, --recursive', 'every stack below a folder: each folder with a Stack document'] as const;

/** Every stack below a folder, and which of them. */
export function addRecursiveOptions(command: Command): Command {
  return addNarrowingOptions(command.option(...RECURSIVE));
}

/** The same for a command that takes manifests with `--stack` too, for what it says: one option that means both. */
export function addRecursiveOptionsWith(command: Command, stack: string): Command {
  return addPartOptions(command.option(...RECURSIVE)).addOption(
    repeatable('--stack <name|path>', `with -R: only the stack of this name; ${stack}`),
  );
}

/** Whether a run is over many stacks. Throws for a flag that narrows what is not. */
export function isRecursive({
  recursive,
  stack = [],
  changedSince,
  shard,
}: NarrowingFlags & { readonly recursive?: boolean }): boolean {
  if (recursive === true) return true;
  const given = [
    ...(stack.length > 0 ? ['--stack'] : []),
    ...(changedSince === undefined ? [] : ['--changed-since']),
    ...(shard === undefined ? [] : ['--shard']),
  ];
  if (given.length === 0) return false;
  throw new CommandError(`${given.join(' and ')} narrows a run over many stacks.`, {
    exitCode: EXIT.invalid,
    remedy: 'Add -R (--recursive).',
  });
}

function parseShardFlag(text: string): Shard {
  const shard = parseShard(text, '--shard');
  if (shard !== undefined) return shard;
  throw new InvalidArgumentError(`A shard is ${SHARD_EXPECTED}.`);
}
