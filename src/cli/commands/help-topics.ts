import type { Command, Help } from 'commander';
import { suggestRemedy } from '../../manifest/suggest.ts';
import { StackError } from '../../model/user-errors.ts';
import { getFlagWord } from '../../settings/resolve.ts';
import type { OptionTopic, Setting } from '../../settings/setting.ts';
import { NAMED_SETTINGS } from '../../settings/table.ts';
import type { Context } from '../context.ts';
import { EXIT, EXIT_MEANINGS, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { createHelpFormatter, renderHelpSection, TOPIC_NAMES } from './help.ts';
import { describeSetting, formatDefault, listHelpTopicOptions } from './options.ts';

/** A topic of `edgewise help` that is not a command. */
interface HelpTopic {
  readonly name: string;
  readonly render: (helper: Help) => string;
}

const PRECEDENCE =
  'A setting has the value from the first of these that sets it: flag, environment variable, Stack, Defaults, built-in default.';

/** Introductory texts of the topics about options. */
const ABOUT: Readonly<Record<Exclude<OptionTopic, 'connection'>, string>> = {
  'many-stacks':
    'With -R, a command runs for every stack below a folder. A stack is a folder with a Stack document. These options choose stacks, and move resources between stacks.',
  safety:
    'Which resources a run may delete or overwrite, and which policies check the plan. If a plan breaks a safety rule without consent, the run ends with exit code 5 before the first write.',
  tokens:
    'Where new tokens are delivered and when they are renewed. These options override the token sinks of the Stack. The service shows a token only once.',
  trust: 'Which settings manifests may set, and which commands, variables and files they may use.',
};

export const HELP_TOPICS: readonly HelpTopic[] = [
  { name: 'connection', render: renderConnection },
  ...Object.entries(ABOUT).map(([name, about]) => ({
    name,
    render: (helper: Help) => renderOptions(name, about, helper),
  })),
  { name: 'settings', render: renderSettings },
  { name: 'exit-codes', render: renderExitCodes },
];

function renderOptions(name: string, about: string, helper: Help): string {
  const items = listHelpTopicOptions(name).map((option) => [option.flags, helper.optionDescription(option)] as const);
  const others = 'The help of each command lists the options that it accepts.';
  return [renderParagraph(`${about} ${others}`, helper), renderHelpSection('Options:', items, helper)].join('\n');
}

function renderConnection(helper: Help): string {
  const connection = NAMED_SETTINGS.filter(({ help }) => help === 'connection');
  const flags = connection.flatMap((one) =>
    one.flag === undefined ? [] : [[one.flag, describeSetting(one)] as const],
  );
  const others = connection.filter(({ flag }) => flag === undefined);
  return [
    renderParagraph(
      `How the service is reached. Commands that send requests take these options. ${PRECEDENCE}`,
      helper,
    ),
    renderHelpSection('Options:', flags, helper),
    renderHelpSection('Environment only:', others.map(createSettingItem), helper),
  ].join('\n');
}

/**
 * Formats the meaning of a setting, followed by all its environment variables but the first. They would make the column
 * of names too wide.
 */
function formatMeaning({ about, variables: [, ...more] = [] }: Setting): string {
  return more.length === 0 ? about : `${about} (also ${more.join(', ')})`;
}

/** A setting by its environment variable. If it has none, by its flag and its path in the Stack. */
function createSettingItem(setting: Setting): readonly [string, string] {
  const names = [getFlagWord(setting), getStackPath(setting)].filter((name) => name !== undefined);
  return [setting.variables?.[0] ?? names.join(', '), formatMeaning(setting)];
}

function getStackPath({ stack, replaces }: Setting): string | undefined {
  return stack ?? replaces;
}

function renderSettings(helper: Help): string {
  const listed = NAMED_SETTINGS.filter(({ help }) => help !== undefined);
  const rows = listed.map((setting) => [
    getFlagWord(setting) ?? '',
    setting.variables?.[0] ?? '',
    getStackPath(setting) ?? '',
    formatDefault(setting),
  ]);
  const head = ['Flag', 'Environment', 'spec of the Stack', 'Default'];
  return [
    renderParagraph(
      `${PRECEDENCE} edgewise explain settings shows the values for a stack, and where each is set. edgewise explain Stack lists all fields of spec. For those of the connection, see edgewise help connection.`,
      helper,
    ),
    renderSettingsTable([head, ...rows]),
    renderHelpSection('The others:', listed.filter(({ help }) => help === 'settings').map(createSettingItem), helper),
  ].join('\n');
}

function renderSettingsTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function renderExitCodes(helper: Help): string {
  const items = Object.values(EXIT).map((code) => [String(code).padStart(3), EXIT_MEANINGS[code]] as const);
  return [
    renderHelpSection('Exit codes:', items, helper),
    renderParagraph(
      'The format of the result never changes the exit code. If a report cannot be written, a success becomes a failure.',
      helper,
    ),
  ].join('\n');
}

function renderParagraph(text: string, helper: Help): string {
  return `${helper.boxWrap(text, helper.helpWidth ?? text.length)}\n`;
}

export function configureHelpCommand(command: Command, act: CommandBodyRunner, program: Command): void {
  command
    .usage('[command or topic]')
    .description(`Show the options of a command, or a topic: ${TOPIC_NAMES.join(', ')}.`)
    .argument('[words...]', 'a command or a topic (default: the list of commands)')
    .action((words: string[]) => act(TEXT_ONLY_FORMAT_FLAGS, async (context) => showHelp(words, program, context)));
}

function showHelp(words: readonly string[], program: Command, context: Context): ExitCode {
  const [first = ''] = words;
  const topic = words.length === 1 ? HELP_TOPICS.find(({ name }) => name === first) : undefined;
  if (topic === undefined) getCommand(words, program).outputHelp();
  else context.stdout.write(topic.render(createHelpFormatter(program)));
  return EXIT.success;
}

function getCommand(words: readonly string[], program: Command): Command {
  return words.reduce((parent, word) => {
    const known = parent.commands.find((command) => command.name() === word);
    if (known !== undefined) return known;
    const names = [...parent.commands.map((command) => command.name()), ...(parent === program ? TOPIC_NAMES : [])];
    throw new StackError(`There is no command or topic ${words.join(' ')}.`, {
      reason: 'invalid',
      remedy: suggestRemedy(word, names) ?? '',
    });
  }, program);
}
