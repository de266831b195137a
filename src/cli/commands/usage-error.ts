import type { Command, CommanderError } from 'commander';
import { toRemedy } from '../../manifest/suggest.ts';
import { CommandError, EXIT } from '../exit-code.ts';

/** What does the work here that other tools have a command for. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  [
    [
      ['new', 'import', 'adopt'],
      'edgewise export -o manifests --stack NAME writes live resources as manifests that adopt them. For an empty account, edgewise init writes a new stack.',
    ],
    [
      ['preview', 'compare'],
      'edgewise plan shows what apply would change, edgewise drift what others changed at the service, and edgewise show reads a saved plan.',
    ],
    [
      ['list', 'ls', 'describe', 'state'],
      'edgewise get shows what the stack owns. edgewise export writes live resources as manifests, and edgewise drift lists those that nobody manages.',
    ],
    [['status', 'refresh'], 'edgewise drift compares live resources with the manifests.'],
    [
      ['delete', 'remove', 'rm', 'down'],
      'edgewise destroy deletes everything that the stack owns. To delete one resource, remove its manifest and apply, or name it: edgewise destroy --target ADDRESS.',
    ],
    [['deploy', 'up', 'sync', 'create', 'update'], 'edgewise apply makes the service match the manifests.'],
    [['check', 'test', 'verify'], 'edgewise validate checks manifests.'],
    [['login', 'auth', 'configure'], 'EDGEWISE_API_KEY holds the API key: edgewise help connection.'],
    [['server', 'start', 'run'], 'edgewise serve runs the bundled server.'],
    [['rollback', 'undo'], 'To roll back, restore the old manifests and apply them.'],
    [['version'], 'edgewise --version shows it.'],
    [['docs', 'man'], 'edgewise help lists the commands, and edgewise explain what can be explained.'],
  ].flatMap(([words, remedy]) => [words ?? []].flat().map((word): [string, string] => [word, String(remedy)])),
);

/** What is wrong with a command line whose first word is no command. */
export function toUnknownCommand([word = '']: readonly string[], program: Command): CommandError {
  const names = program.commands.flatMap((command) => [command.name(), ...command.aliases()]);
  const shown = names.filter((name) => !name.startsWith('_'));
  const remedy = ELSEWHERE.get(word.toLowerCase()) ?? toRemedy(word, shown, false);
  return toUsageError(`There is no command ${word}.`, remedy ?? 'edgewise help lists the commands.');
}

/** What the parser of command lines has against one. */
export function toParseError({ message }: CommanderError, [word = '']: readonly string[]): CommandError {
  const [said = '', hint] = message.replace(/^error: /, '').split('\n');
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`.replace(/[^.]$/, '$&.');
  const command = word.startsWith('-') ? '' : ` ${word}`;
  return toUsageError(sentence, hint?.replace(/^\(|\)$/g, '') ?? `edgewise${command} --help shows what it takes.`);
}

function toUsageError(message: string, remedy: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.invalid, remedy });
}
