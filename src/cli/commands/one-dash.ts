import type { Command, Option } from 'commander';
import { suggest } from '../../manifest/suggest.ts';
import { StackError } from '../../model/user-errors.ts';

/**
 * Throws for a word such as `-out=plan.json`. The parser would read it as `-o` with the value `ut=plan.json`, and write
 * a file of that name. So a short option and its value are always two words. `findRemedy`: for the long option of another
 * tool, such as `--auto-approve`.
 */
export function refuseOneDash(
  argv: readonly string[],
  program: Command,
  findRemedy: (option: string) => string | undefined,
): void {
  const options = listOptionsOfCommandLine(argv, program);
  const wrong = argv.slice(0, argv.includes('--') ? argv.indexOf('--') : argv.length).find((word, index) => {
    const isValue = options.some((option) => option.required && isSpelling(argv[index - 1], option));
    return /^-[a-z]./i.test(word) && !isValue;
  });
  if (wrong === undefined) return;
  const meant = correct(wrong, options);
  throw new StackError(`${wrong} is not an option.`, {
    reason: 'invalid',
    remedy:
      meant === undefined
        ? (findRemedy(`-${wrong.replace(/=.*$/s, '')}`) ?? 'Long options begin with two dashes, such as --help.')
        : `Did you mean ${meant}?`,
  });
}

/** Lists the program, and the commands below it that the words name, such as `abuse-report submit`. */
function listNamedCommands(argv: readonly string[], program: Command): readonly [Command, ...Command[]] {
  const [word, ...rest] = argv;
  const named = program.commands.find((command) => command.name() === word);
  return [program, ...(named === undefined ? [] : listNamedCommands(rest, named))];
}

/** Lists the options of the program and of the command that the words name. */
function listOptionsOfCommandLine(argv: readonly string[], program: Command): readonly Option[] {
  return listNamedCommands(argv, program).flatMap(({ options }) => options);
}

/** The least length of the beginning of an option, with its dashes, that stands for the whole one. */
const LEAST_PREFIX = 5;

/** Suggests an option, or a command below the one that the words name, for one that does not exist. */
export function suggestOptionOrCommand(given: string, argv: readonly string[], program: Command): string | undefined {
  const commands = listNamedCommands(argv, program);
  const options = commands.flatMap((command) => command.createHelp().visibleOptions(command));
  const names = given.startsWith('--')
    ? options.flatMap(({ long }) => long ?? [])
    : (commands.at(-1)?.commands ?? []).map((command) => command.name());
  const longer = given.length < LEAST_PREFIX ? [] : names.filter((name) => name.startsWith(given));
  const nearest = suggest(given, names) ?? (longer.length === 1 ? longer[0] : undefined);
  return nearest === undefined ? undefined : `Did you mean ${nearest}?`;
}

function isSpelling(word: string | undefined, { short, long }: Option): boolean {
  return word !== undefined && (word === short || word === long);
}

/** Returns what the user probably meant: the long option, or the short options and their value as words of their own. Undefined if unknown. */
function correct(word: string, options: readonly Option[]): string | undefined {
  const [, name = '', value = ''] = /^-([^=]*)(.*)$/s.exec(word) ?? [];
  const names = options.flatMap((option) => (option.long === undefined ? [] : [option.long.slice(2)]));
  const long = suggest(name, names) ?? (value === '' ? undefined : names.find((known) => name.startsWith(known)));
  if (long !== undefined) return `--${long}${value}`;
  const isValued = options.some((option) => option.required && option.short === word.slice(0, 2));
  if (isValued) return `${word.slice(0, 2)} ${word.slice(2).replace(/^=/, '')}`;
  const letters = Array.from(word.slice(1), (letter) => `-${letter}`);
  return letters.every((letter) => options.some(({ short }) => short === letter)) ? letters.join(' ') : undefined;
}
