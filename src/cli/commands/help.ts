import { type Command, Help, type HelpConfiguration, type Option } from 'commander';
import type { Context, Output } from '../context.ts';

/** How every help text looks: one line a command in the overview, and the options of a command before those that many share. */

/** The topics that explain options. Many commands share them, and most runs need none: the help of a command names them, and the topic says what each does. */
export const OPTION_TOPICS = ['connection', 'many-stacks', 'safety', 'tokens', 'trust'] as const;

/** One of these topics. It is the help group of its options. */
export type OptionTopic = (typeof OPTION_TOPICS)[number];

/** The topics of `edgewise help` that are not commands. */
export const TOPIC_NAMES: readonly string[] = [...OPTION_TOPICS, 'settings', 'exit-codes'];

/** The options that say how a result is shown. */
export const RESULT_GROUP = 'Result:';

/** As commander calls it. */
const OWN_GROUP = 'Options:';
const DEFAULTS = new Help();

/** Columns of help that does not go to a terminal. */
const DEFAULT_WIDTH = 80;

/** The command's own options come first, in any order of definition. Options that a topic explains are left out. */
const groupOwnFirst: Help['groupItems'] = (unsorted, visible, getGroup) => {
  const groups = DEFAULTS.groupItems(unsorted, visible, getGroup);
  for (const topic of OPTION_TOPICS) groups.delete(topic);
  const own = groups.get(OWN_GROUP);
  return own === undefined ? groups : new Map([[OWN_GROUP, own], ...groups]);
};

/** The values that it takes, and what it means to leave it out. */
function describeOption({ description, argChoices = [], ...option }: Option): string {
  const { defaultValue, defaultValueDescription } = option;
  const isStated = (option.required || option.optional) && ['string', 'number'].includes(typeof defaultValue);
  const fallback = defaultValueDescription ?? (isStated ? String(defaultValue) : undefined);
  const parts = [
    ...(argChoices.length > 0 ? [argChoices.join(', ')] : []),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ];
  return parts.length === 0 ? description : `${description} (${parts.join('; ')})`;
}

/** The topics of a command, with the names of its options that stand there. */
function renderTopics({ options }: Command, helper: Help): string {
  const items = OPTION_TOPICS.flatMap((topic) => {
    const names = options.filter(({ helpGroupHeading }) => helpGroupHeading === topic).map(({ long }) => long);
    return names.length === 0 ? [] : [[topic, names.join(', ')] as const];
  });
  return items.length === 0 ? '' : `\n${renderItems('More options, each in edgewise help TOPIC:', items, helper)}`;
}

function isExplainedElsewhere({ helpGroupHeading }: Option): boolean {
  return OPTION_TOPICS.some((topic) => topic === helpGroupHeading);
}

const STYLE: HelpConfiguration = {
  minWidthToWrap: 10,
  subcommandTerm: (command) => command.name(),
  groupItems: groupOwnFirst,
  optionDescription: describeOption,
  formatHelp: (command, helper) =>
    `${Help.prototype.formatHelp.call(helper, command, helper)}${renderTopics(command, helper)}`,
  longestOptionTermLength: (command, helper) =>
    Math.max(
      0,
      ...helper
        .visibleOptions(command)
        .filter((option) => !isExplainedElsewhere(option))
        .map((option) => helper.optionTerm(option).length),
    ),
};

/** Sets the look of help for a program, before its commands are defined: they take it over. Errors are thrown, and shown by who catches them. */
export function styleHelp(program: Command, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): Command {
  return program.configureHelp(STYLE).configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: () => undefined,
    getOutHelpWidth: () => toWidth(stdout),
    getErrHelpWidth: () => toWidth(stderr),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}

/** What formats help for stdout, in its width. */
export function createHelper(command: Command): Help {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? DEFAULT_WIDTH });
  return helper;
}

function toWidth({ isTerminal, columns }: Output): number {
  return isTerminal && columns() > 0 ? columns() : DEFAULT_WIDTH;
}

/** Columns that a meaning needs beside its term; with fewer it is below. */
const LEAST_COLUMN = 24;

/** Terms with what they mean beside them or below, wrapped, under a heading. */
export function renderItems(
  heading: string,
  items: readonly (readonly [term: string, meaning: string])[],
  helper: Help,
): string {
  const width = Math.max(...items.map(([term]) => term.length));
  const isBeside = width + LEAST_COLUMN <= (helper.helpWidth ?? DEFAULT_WIDTH);
  const lines = items.map(([term, meaning]) =>
    isBeside ? helper.formatItem(term, width, meaning, helper) : `  ${term}\n      ${meaning}`,
  );
  return [heading, ...lines, ''].join('\n');
}
