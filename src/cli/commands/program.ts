import { Command } from 'commander';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import type { Act } from './act.ts';
import { styleHelp } from './help-style.ts';
import { addExamples } from './options.ts';
import { type CommandEntry, GROUPS } from './overview.ts';

/** What the scripts of `completion` call. It looks into every command. */
const COMPLETE = '__complete';

/**
 * The command line, as a program that can be parsed once. Commands that no word of it names are only listed: they have a name and a
 * summary, and nothing of them is loaded.
 */
export async function defineProgram(argv: readonly string[], context: Context, act: Act): Promise<Command> {
  const program = styleHelp(new Command('edgewise'), context)
    .description('Keeps network ingress equal to manifests in git. plan shows what apply does.')
    .usage('COMMAND [options]')
    .helpCommand(false)
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .exitOverride();
  const isWanted = ({ name, alias }: CommandEntry): boolean =>
    argv[0] === COMPLETE || argv.some((word) => word === name || word === alias);
  const isHelp = argv.some((word) => word === '--help' || word === '-h');
  for (const [heading, entries] of GROUPS) {
    program.commandsGroup(heading);
    for (const entry of entries) {
      const command = addCommand(program, entry);
      if (!isWanted(entry)) continue;
      if (entry.reaches === true && !isHelp) context.onReach?.();
      (await entry.load())(command, act, program);
    }
  }
  if (argv[0] === COMPLETE) {
    const { defineWordCompletion } = await import('./completion.ts');
    defineWordCompletion(program.command(COMPLETE, { hidden: true }), act, program);
  }
  return addExamples(program, [
    ['edgewise plan manifests', 'show what would change; nothing is written'],
    ['edgewise apply manifests', 'plan, show, ask, apply'],
  ]);
}

function addCommand(program: Command, { name, alias, summary }: CommandEntry): Command {
  const command = program.command(name).summary(summary);
  return alias === undefined ? command : command.alias(alias);
}
