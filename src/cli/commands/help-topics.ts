import type { Help } from 'commander';
import { CONNECTION_SETTINGS, describeSetting, OTHER_SETTINGS, type Setting } from '../connection/settings-table.ts';
import { EXIT, EXIT_MEANINGS } from '../exit-code.ts';
import { renderItems } from './help-style.ts';

/** What `edgewise help TOPIC` shows besides the help of commands. */
export interface HelpTopic {
  readonly name: string;
  /** Another word that leads to it. */
  readonly alias?: string;
  readonly render: (helper: Help) => string;
}

const PRECEDENCE = 'A flag overrides the environment, the environment the Stack, and the Stack the default.';

/** Every topic. */
export const HELP_TOPICS: readonly HelpTopic[] = [
  { name: 'connection', render: renderConnection },
  { name: 'settings', alias: 'environment', render: renderSettings },
  { name: 'exit-codes', render: renderExitCodes },
];

/** Their names. */
export const TOPIC_NAMES: readonly string[] = HELP_TOPICS.map(({ name }) => name);

function renderConnection(helper: Help): string {
  const flags = CONNECTION_SETTINGS.flatMap(({ flag, ...setting }) =>
    flag === undefined ? [] : [[flag, describeSetting(setting)] as const],
  );
  const others = CONNECTION_SETTINGS.filter(({ flag }) => flag === undefined);
  return [
    renderText(`How the service is reached. Commands that send requests take these options. ${PRECEDENCE}`, helper),
    renderItems('Options:', flags, helper),
    renderItems('Environment only:', others.map(toVariable), helper),
  ].join('\n');
}

/** Other spellings stand with the meaning, so that the column of names stays narrow. */
function toMeaning({ about, environment: [, ...others] = [] }: Setting): string {
  return others.length === 0 ? about : `${about} (also ${others.join(', ')})`;
}

function toVariable(setting: Setting): readonly [string, string] {
  return [setting.environment?.[0] ?? '', toMeaning(setting)];
}

function renderSettings(helper: Help): string {
  const rows = [...CONNECTION_SETTINGS, ...OTHER_SETTINGS].map((setting) => [
    setting.flag?.split(' ')[0] ?? '',
    setting.environment?.[0] ?? '',
    setting.stack ?? '',
    setting.default ?? '',
  ]);
  const head = ['Flag', 'Environment', 'spec of the Stack', 'Default'];
  const others = OTHER_SETTINGS.map((setting) => [toLabel(setting), toMeaning(setting)] as const);
  return [
    renderText(`${PRECEDENCE} Those of the connection: edgewise help connection.`, helper),
    renderTable([head, ...rows]),
    renderItems('The others:', others, helper),
  ].join('\n');
}

/** A variable by its name, any other setting by all that it is called. */
function toLabel({ flag, environment, stack = '' }: Setting): string {
  const names = [flag?.split(' ')[0] ?? '', stack].filter((name) => name !== '');
  return environment?.[0] ?? names.join(', ');
}

function renderTable(rows: readonly (readonly string[])[]): string {
  const widths = rows[0]?.map((_, column) => Math.max(...rows.map((row) => row[column]?.length ?? 0))) ?? [];
  const lines = rows.map((row) => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  '));
  return `${lines.map((line) => line.trimEnd()).join('\n')}\n`;
}

function renderExitCodes(helper: Help): string {
  const items = Object.values(EXIT).map((code) => [String(code).padStart(3), EXIT_MEANINGS[code]] as const);
  return [
    renderItems('Exit codes:', items, helper),
    renderText(
      'The form of the result never changes the exit code. If a report cannot be written, a success becomes a failure.',
      helper,
    ),
  ].join('\n');
}

function renderText(text: string, helper: Help): string {
  return `${helper.boxWrap(text, helper.helpWidth ?? text.length)}\n`;
}
