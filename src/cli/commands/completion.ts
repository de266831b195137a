import { Argument, type Command, type Option } from 'commander';
import { loadManifestsWithFindings, parseAddressesForCompletion } from '../../manifest/load.ts';
import { hasJobCommand } from '../../model/job-commands.ts';
import { toPrintable } from '../../model/printable.ts';
import { indexStackNames } from '../../repository/read-stack-tree.ts';
import type { Context } from '../context.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { writeBashScript } from './completion/bash.ts';
import {
  ASKED_WORDS,
  type AskedWords,
  type CommandLine,
  type CompletedWord,
  describeCommandLine,
  findOption,
} from './completion/command-line.ts';
import { writeFishScript } from './completion/fish.ts';
import { writeZshScript } from './completion/zsh.ts';
import { isKindName, isResourceAddress } from './get.ts';
import { addToCommand } from './options.ts';

export const SHELLS = ['bash', 'zsh', 'fish'] as const;

type Shell = (typeof SHELLS)[number];

const WRITERS: Readonly<Record<Shell, (line: CommandLine) => string>> = {
  bash: writeBashScript,
  zsh: writeZshScript,
  fish: writeFishScript,
};

export function configureCompletionCommand(command: Command, act: CommandBodyRunner, program: Command): void {
  command
    .description('Print a script for shell completion of commands, options, values, files and addresses.')
    .addArgument(new Argument('<shell>', 'the shell that reads the script').choices(SHELLS));
  addToCommand(command, {
    exitCodes: [EXIT.success, EXIT.invalid],
    examples: [
      ['edgewise completion fish > ~/.config/fish/completions/edgewise.fish', 'after each update'],
      ['source <(edgewise completion bash)', 'in ~/.bashrc'],
      ['source <(edgewise completion zsh)', 'in ~/.zshrc, after compinit'],
    ],
  }).action((shell: Shell) =>
    act(TEXT_ONLY_FORMAT_FLAGS, async ({ stdout }) => {
      stdout.write(WRITERS[shell](describeCommandLine(program)));
      return EXIT.success;
    }),
  );
}

/** Defines the hidden command that the scripts call for what only manifests have. */
export function configureWordCompletionCommand(command: Command, act: CommandBodyRunner, program: Command): void {
  command
    .addArgument(new Argument('<what>').choices(ASKED_WORDS))
    .argument('[words...]')
    .helpOption(false)
    .action((what: AskedWords, words: string[]) =>
      act(TEXT_ONLY_FORMAT_FLAGS, async (context) => {
        // The user is still typing, so no error is shown.
        const found = await ASKED[what](listOperands(program, words), context).catch(() => []);
        // A word with a line break would be two words, a terminal acts on control characters, and an escape of a job
        // command would make it another word.
        const shown = found.filter(({ word }) => toPrintable(word) === word && !hasJobCommand(word));
        context.stdout.write(shown.map(({ word, about }) => `${word}\t${toPrintable(about)}\n`).join(''));
        return EXIT.success;
      }),
    );
}

/** Lists the words of a command line that may be unfinished, without commands, options and the values of options. */
function listOperands(program: Command, words: readonly string[]): readonly string[] {
  const operands: string[] = [];
  let command = program;
  let option: Option | undefined;
  let isLiteral = false;
  for (const word of words) {
    const inner = operands.length === 0 && !isLiteral ? command.commands.find((one) => one.name() === word) : undefined;
    if (option !== undefined) option = undefined;
    else if (inner !== undefined) command = inner;
    else if (isLiteral || word === '-' || !word.startsWith('-')) operands.push(word);
    else if (word === '--') isLiteral = true;
    else {
      const typedOption = findOption(command, word);
      if (typedOption?.required === true || typedOption?.optional === true) option = typedOption;
    }
  }
  return operands.filter((word) => !isResourceAddress(word) && !isKindName(word) && word !== '-');
}

/** Maximum time to search manifests for addresses or stack names. The user would notice a longer delay. */
const SEARCH_LIMIT_MS = 300;

type ListAskedWords = (
  paths: readonly string[],
  context: Pick<Context, 'cwd' | 'uid' | 'now'>,
) => Promise<readonly CompletedWord[]>;

/** The paths are those of the command line. By default, the working folder is searched. */
const ASKED: Readonly<Record<AskedWords, ListAskedWords>> = {
  addresses: async (paths, { cwd, uid, now }) => {
    const until = now().getTime() + SEARCH_LIMIT_MS;
    const named = paths.length === 0 ? ['.'] : paths;
    const { sources } = await loadManifestsWithFindings(named, { cwd, uid, readStdin: async () => new Uint8Array() });
    const addresses = parseAddressesForCompletion(sources, () => now().getTime() > until);
    return addresses.map((word) => ({ word, about: '' }));
  },
  stacks: async ([root = '.'], { cwd, uid, now }) => {
    const until = now().getTime() + SEARCH_LIMIT_MS;
    const names = indexStackNames(root, { cwd, uid }, () => now().getTime() > until);
    return Array.from(names, ([word, about]) => ({ word, about }));
  },
};
