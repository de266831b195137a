import { type Command, Help, type HelpConfiguration, type Option } from 'commander';
import { OPTION_TOPIC_NAMES } from '../../settings/setting.ts';
import type { Context, OutputStream } from '../context.ts';

/** Layout of help texts. The help of a command lists the command's own options before shared options. */

/** The topics of `edgewise help` that are not commands. */
export const TOPIC_NAMES: readonly string[] = [...OPTION_TOPIC_NAMES, 'settings', 'exit-codes'];

export const OUTPUT_OPTIONS_HEADING = 'Result:';

/** Commander's name for the default group of options. */
const OWN_GROUP = 'Options:';
const DEFAULT_HELP = new Help();

/** Width of help texts in columns, if the output is not a terminal: the usual width of one. */
const DEFAULT_WIDTH = 80;

/** Puts the command's own options first, whatever the order of definition. Omits options that a topic explains. */
const groupOwnFirst: Help['groupItems'] = (unsorted, visible, getGroup) => {
  const groups = DEFAULT_HELP.groupItems(unsorted, visible, getGroup);
  for (const topic of OPTION_TOPIC_NAMES) groups.delete(topic);
  const own = groups.get(OWN_GROUP);
  return own === undefined ? groups : new Map([[OWN_GROUP, own], ...groups]);
};

/** Returns the description of an option, followed by its allowed values and its default. */
function describeOption({ description, argChoices = [], ...option }: Option): string {
  const { defaultValue, defaultValueDescription } = option;
  const hasShownDefault = (option.required || option.optional) && ['string', 'number'].includes(typeof defaultValue);
  const fallback = defaultValueDescription ?? (hasShownDefault ? String(defaultValue) : undefined);
  const parts = [
    ...(argChoices.length > 0 ? [argChoices.join(', ')] : []),
    ...(fallback === undefined ? [] : [`default: ${fallback}`]),
  ];
  return parts.length === 0 ? description : `${description} (${parts.join('; ')})`;
}

/** Renders the topics that explain options of the command. Each topic lists the names of these options. */
function renderOptionTopics({ options }: Command, helper: Help): string {
  const items = OPTION_TOPIC_NAMES.flatMap((topic) => {
    const names = options.filter(({ helpGroupHeading }) => helpGroupHeading === topic).map(({ long }) => long);
    return names.length === 0 ? [] : [[topic, names.join(', ')] as const];
  });
  return items.length === 0
    ? ''
    : `\n${renderHelpSection('More options, each in edgewise help TOPIC:', items, helper)}`;
}

function isExplainedElsewhere({ helpGroupHeading }: Option): boolean {
  return OPTION_TOPIC_NAMES.some((topic) => topic === helpGroupHeading);
}

const HELP_STYLE: HelpConfiguration = {
  minWidthToWrap: 10,
  subcommandTerm: (command) => command.name(),
  groupItems: groupOwnFirst,
  optionDescription: describeOption,
  formatHelp: (command, helper) =>
    `${Help.prototype.formatHelp.call(helper, command, helper)}${renderOptionTopics(command, helper)}`,
  longestOptionTermLength: (command, helper) =>
    Math.max(
      0,
      ...helper
        .visibleOptions(command)
        .filter((option) => !isExplainedElsewhere(option))
        .map((option) => helper.optionTerm(option).length),
    ),
};

/**
 * Sets the layout of help texts. Call this before defining commands, because commands inherit the layout. Commander
 * then prints no errors: the caller must show them.
 */
export function configureHelpLayout(program: Command, { stdout, stderr }: Pick<Context, 'stdout' | 'stderr'>): Command {
  return program.configureHelp(HELP_STYLE).configureOutput({
    writeOut: (text) => stdout.write(text),
    writeErr: (text) => stderr.write(text),
    outputError: () => undefined,
    getOutHelpWidth: () => getHelpWidth(stdout),
    getErrHelpWidth: () => getHelpWidth(stderr),
    getOutHasColors: () => false,
    getErrHasColors: () => false,
  });
}

/** Creates a formatter of help texts, for the width of stdout. */
export function createHelpFormatter(command: Command): Help {
  const helper = command.createHelp();
  helper.prepareContext({ helpWidth: command.configureOutput().getOutHelpWidth?.() ?? DEFAULT_WIDTH });
  return helper;
}

function getHelpWidth({ isTerminal, columns }: OutputStream): number {
  return isTerminal && columns() > 0 ? columns() : DEFAULT_WIDTH;
}

/**
 * Minimum width for meanings beside their terms: about four words. If fewer columns are left, meanings are printed
 * below the terms.
 */
const LEAST_COLUMN = 24;

/** Renders a heading, and terms with their meanings beside or below them. */
export function renderHelpSection(
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
