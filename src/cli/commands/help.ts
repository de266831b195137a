import type { Command } from 'commander';
import { toRemedy } from '../../manifest/suggest.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { PLAIN } from '../output/present.ts';
import type { Act } from './act.ts';
import { createHelper } from './help-style.ts';
import { HELP_TOPICS, TOPIC_NAMES } from './help-topics.ts';

/** `edgewise help`, of commands and of topics. */
export function defineHelp(command: Command, act: Act, program: Command): void {
  command
    .usage('[command or topic]')
    .description(`Show the options of a command, or a topic: ${TOPIC_NAMES.join(', ')}.`)
    .argument('[words...]', 'a command or a topic (default: the list of commands)')
    .action((words: string[]) => act(PLAIN, async (context) => showHelp(words, program, context)));
}

function showHelp(words: readonly string[], program: Command, context: Context): ExitCode {
  const [first = ''] = words;
  const topic =
    words.length === 1 ? HELP_TOPICS.find(({ name, alias }) => name === first || alias === first) : undefined;
  if (topic === undefined) findCommand(words, program).outputHelp();
  else context.stdout.write(topic.render(createHelper(program)));
  return EXIT.done;
}

function findCommand(words: readonly string[], program: Command): Command {
  return words.reduce((parent, word) => {
    const known = parent.commands.find((command) => [command.name(), ...command.aliases()].includes(word));
    if (known !== undefined) return known;
    const names = [...parent.commands.map((command) => command.name()), ...(parent === program ? TOPIC_NAMES : [])];
    throw new CommandError(`There is no command or topic ${words.join(' ')}.`, {
      exitCode: EXIT.invalid,
      remedy: toRemedy(word, names) ?? '',
    });
  }, program);
}
