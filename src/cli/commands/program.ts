import { Command } from 'commander';
import { toHyphenated } from '../../kinds/kind.ts';
import { SUBMITTED_KINDS } from '../../kinds/tables/registry.ts';
import { type Context, VERSION } from '../context.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { configureHelpLayout, TOPIC_NAMES } from './help.ts';
import { addToCommand } from './options.ts';

/** Adds arguments, options and the action to a command that already has a name. `program` has all commands. */
type Define = (command: Command, act: CommandBodyRunner, program: Command) => void;

/** A command in the overview. `load` is called only if the command line names the command. */
interface CommandEntry {
  readonly name: string;
  readonly summary: string;
  readonly load: () => Promise<Define>;
}

/** A command for each kind that is submitted, such as `abuse-report`. */
const SUBMISSIONS: readonly CommandEntry[] = SUBMITTED_KINDS.map((kind) => ({
  name: toHyphenated(kind.name),
  summary: kind.submission.purpose,
  load: async () => (await import('./submission.ts')).defineSubmissionCommands(kind),
}));

/** All commands, in the groups and the order of the overview. */
const COMMAND_GROUPS: readonly (readonly [heading: string, commands: readonly CommandEntry[]])[] = [
  [
    'Author and check:',
    [
      {
        name: 'init',
        summary: 'write a new stack: its settings, and an example',
        load: async () => (await import('./init.ts')).configureInitCommand,
      },
      {
        name: 'validate',
        summary: 'check manifests, and lint them',
        load: async () => (await import('./validate.ts')).configureValidateCommand,
      },
      {
        name: 'test-policy',
        summary: 'run the cases of policies',
        load: async () => (await import('./validate.ts')).configureTestPolicyCommand,
      },
      {
        name: 'stacks',
        summary: 'list the stacks below a folder, or those that changed',
        load: async () => (await import('./stacks.ts')).configureStacksCommand,
      },
      {
        name: 'explain',
        summary: 'explain a diagnostic code, a kind, a field or a setting',
        load: async () => (await import('./explain.ts')).configureExplainCommand,
      },
      {
        name: 'schema',
        summary: 'print a JSON Schema of what edgewise reads and writes',
        load: async () => (await import('./explain.ts')).configureSchemaCommand,
      },
    ],
  ],
  [
    'Plan and apply:',
    [
      {
        name: 'plan',
        summary: 'show what apply would do',
        load: async () => (await import('./plan.ts')).configurePlanCommand,
      },
      {
        name: 'show',
        summary: 'show a saved plan',
        load: async () => (await import('./plan-files.ts')).configureShowCommand,
      },
      {
        name: 'diff',
        summary: 'compare two saved plans',
        load: async () => (await import('./plan-files.ts')).configureDiffCommand,
      },
      {
        name: 'post',
        summary: 'post a report to GitHub or GitLab, and keep it up to date',
        load: async () => (await import('./report.ts')).configurePostCommand,
      },
      {
        name: 'apply',
        summary: 'plan, and apply the plan',
        load: async () => (await import('./apply.ts')).configureApplyCommand,
      },
      {
        name: 'destroy',
        summary: 'delete everything that the stack owns',
        load: async () => (await import('./destroy.ts')).configureDestroyCommand,
      },
    ],
  ],
  [
    'Existing resources:',
    [
      {
        name: 'get',
        summary: 'show what the stack owns, with what the service computed',
        load: async () => (await import('./get.ts')).configureGetCommand,
      },
      {
        name: 'drift',
        summary: 'show what others changed at the service',
        load: async () => (await import('./drift.ts')).configureDriftCommand,
      },
      {
        name: 'accept',
        summary: 'write what others changed at the service into the manifests',
        load: async () => (await import('./accept.ts')).configureAcceptCommand,
      },
      {
        name: 'export',
        summary: 'write live resources as manifests that adopt them',
        load: async () => (await import('./export.ts')).configureExportCommand,
      },
      {
        name: 'release',
        summary: 'remove the mark from resources, and leave them as they are',
        load: async () => (await import('./destroy.ts')).configureReleaseCommand,
      },
      ...SUBMISSIONS,
    ],
  ],
  [
    'Other:',
    [
      {
        name: 'serve',
        summary: 'run the bundled server: the whole API in memory',
        load: async () => (await import('./serve.ts')).configureServeCommand,
      },
      {
        name: 'completion',
        summary: 'print the script that completes words in a shell',
        load: async () => (await import('./completion.ts')).configureCompletionCommand,
      },
      {
        name: 'help',
        summary: `show help of a command, or a topic: ${TOPIC_NAMES.join(', ')}`,
        load: async () => (await import('./help-topics.ts')).configureHelpCommand,
      },
    ],
  ],
];

/** The hidden command that the scripts of `completion` call. */
const COMPLETE = '__complete';

/** Whether a shell asks for words to complete. The arguments are then a command line that may be unfinished or wrong. */
export function isCompletion([word]: readonly string[]): boolean {
  return word === COMPLETE;
}

/**
 * Creates a program that can parse one command line. Commands that the command line does not name have only a name and
 * a summary; their modules are not loaded.
 */
export async function createProgramForArguments(
  argv: readonly string[],
  context: Context,
  act: CommandBodyRunner,
): Promise<Command> {
  const program = configureHelpLayout(new Command('edgewise'), context)
    .description('Keeps network ingress equal to manifests in git. plan shows what apply does.')
    .usage('COMMAND [options]')
    .helpCommand(false)
    .version(VERSION, '-V, --version', 'show the version')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError(false) // `run` suggests words, by the rule of all other suggestions
    .exitOverride();
  // What completes words needs the definitions of all commands.
  const needsAll = isCompletion(argv) || argv[0] === 'completion';
  const isWanted = ({ name }: CommandEntry): boolean => needsAll || argv.includes(name);
  for (const [heading, entries] of COMMAND_GROUPS) {
    program.commandsGroup(heading);
    for (const entry of entries) {
      const command = program.command(entry.name).summary(entry.summary);
      if (!isWanted(entry)) continue;
      (await entry.load())(command, act, program);
    }
  }
  if (isCompletion(argv)) {
    const { configureWordCompletionCommand } = await import('./completion.ts');
    configureWordCompletionCommand(program.command(COMPLETE, { hidden: true }), act, program);
  }
  return addToCommand(program, {
    examples: [['edgewise plan manifests', 'show what would change; nothing is written']],
  });
}
