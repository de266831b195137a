import { type Command, Help, type HelpConfiguration, type Option } from 'commander';
import type { Context, Output } from '../context.ts';

/** How every help text looks: one line a command in the overview, and the options of a command before those that many share. */

/** The options that say how the service is reached: a topic of their own. */
export const CONNECTION_GROUP = 'Connection:';

/** The options that say how a result is shown. */
export const RESULT_GROUP = 'Result:';

/** As commander calls it. */
const OWN_GROUP = 'Options:';
const DEFAULTS = new Help();

/** Columns of help that does not go to a terminal. */
const DEFAULT_WIDTH = 80;

/** What only this command has stands first, whatever was defined first. */
const groupOwnFirst: Help['groupItems'] = (unsorted, visible, getGroup) => {
  const groups = DEFAULTS.groupItems(unsorted, visible, getGroup);
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

function isFolded({ helpGroupHeading }: Option): boolean {
  return helpGroupHeading === CONNECTION_GROUP;
}

function foldConnection(count: number): string {
  return `  --base-url and ${count - 1} more: edgewise help connection`;
}

const STYLE: HelpConfiguration = {
  minWidthToWrap: 10,
  subcommandTerm: (command) => command.name(),
  groupItems: groupOwnFirst,
  optionDescription: describeOption,
  formatItemList: (heading, items, helper) => {
    if (items.length === 0) return [];
    const shown = heading === CONNECTION_GROUP ? [foldConnection(items.length)] : items;
    return [helper.styleTitle(heading), ...shown, ''];
  },
  longestOptionTermLength: (command, helper) =>
    Math.max(
      0,
      ...helper
        .visibleOptions(command)
        .filter((option) => !isFolded(option))
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

/** Columns that a meaning needs beside its term; with fewer it stands below. */
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
