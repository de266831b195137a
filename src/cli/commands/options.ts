import { type Command, InvalidArgumentError, Option } from 'commander';
import { hasToken } from '../../kinds/kind.ts';
import { OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { isAddress, isResourceName } from '../../model/address.ts';
import { StackError } from '../../model/user-errors.ts';
import { type FormatName, GENERAL_FORMAT_NAMES, isFormatName } from '../../report/formats.ts';
import { REQUEST_OPTIONS, type RequestOption, type RequestOptionName } from '../../settings/request.ts';
import type { OptionTopic, Setting, TextSettingType } from '../../settings/setting.ts';
import { NAMED_SETTINGS, SETTINGS, type SettingName } from '../../settings/table.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { ReportFileTarget } from '../output/present.ts';
import type { StackFilterFlags } from '../reconcile/with-stacks.ts';
import { createHelpFormatter, OUTPUT_OPTIONS_HEADING, renderHelpSection } from './help.ts';

/** Kinds in help texts come from the tables: no command contains the name of a kind. */

const [first, second] = OWNED_KINDS;

export const EXAMPLE_KINDS = [first?.name ?? '', second?.name ?? ''] as const;

export const EXAMPLE_ADDRESS = `${EXAMPLE_KINDS[0]}/postgres`;

/** Address for examples about resources that have a token. */
export const EXAMPLE_TOKEN_ADDRESS = `${OWNED_KINDS.find(hasToken)?.name}/agent`;

/**
 * Options that several commands share, as lists. A command lists its options in the order of its help: `addToCommand`.
 */

/** Returns the options of settings, in their help topics. */
function createSettingOptions(names: readonly SettingName[]): readonly Option[] {
  return names.map((name) => {
    const { topic }: Setting = SETTINGS[name];
    const option = createSettingOption(name);
    return topic === undefined ? option : inTopic(topic, option);
  });
}

/** Creates the option of a setting. The values of the connection are checked later, with those of other sources. */
function createSettingOption(name: SettingName): Option {
  const setting: Setting = SETTINGS[name];
  const { flag = '', topic, type } = setting;
  const description = setting.flagAbout ?? describeSetting(setting);
  if (type.type === 'list') return createRepeatableOption(flag, description);
  const option = new Option(flag, description);
  return type.type === 'text' && !type.isOpen && topic !== 'connection'
    ? option.argParser((text) => parseSettingFlag(text, type, flag))
    : option;
}

function parseSettingFlag(text: string, { parse, expected }: TextSettingType, flag: string): unknown {
  const value = parse(text, flag.split(' ')[0] ?? '');
  if (value !== undefined) return value;
  throw new InvalidArgumentError(`It must be ${expected}.`);
}

/** Formats the meaning of a setting, its variables, its path in the Stack, and its default. */
export function describeSetting(setting: Setting): string {
  const { about, variables = [], stack } = setting;
  const ways = [...variables, ...(stack === undefined ? [] : [`spec.${stack}`])];
  const fallback = formatDefault(setting);
  const parts = [...(ways.length > 0 ? [ways.join(', ')] : []), ...(fallback === '' ? [] : [`default: ${fallback}`])];
  return parts.length === 0 ? about : `${about} (${parts.join('; ')})`;
}

/** The default of a setting, for help texts. Empty if it has none. */
export function formatDefault({ default: fallback, defaultText }: Setting): string {
  return defaultText ?? (typeof fallback === 'string' || typeof fallback === 'number' ? String(fallback) : '');
}

/** For commands that show live values. */
export const SHOW_SECRETS: Option = inTopic(
  'trust',
  new Option('--show-secrets', 'show live values that may be secret, such as those of request headers'),
);

/** Parses what follows the flag of an option of a plan. */
const PARSERS: Readonly<Record<Exclude<RequestOption['value'], 'none'>, (text: string) => string>> = {
  address: parseTarget,
  stack: parseStackName,
  path: (text) => text,
};

/** Returns options of a plan, in their help topics. */
export function createRequestOptions(names: readonly RequestOptionName[]): readonly Option[] {
  return names.map((name) => {
    const { flag = '', about = '', value, topic }: RequestOption = REQUEST_OPTIONS[name];
    const option =
      value === 'none' ? new Option(flag, about) : createRepeatableOption(flag, about, { parse: PARSERS[value] });
    option.attributeName = () => name; // by default, that of the flag
    return topic === undefined ? option : inTopic(topic, option);
  });
}

export const YES: Option = new Option('--yes', 'do not ask');

/** The options that limit and check a plan, in the order of the help. */
const SCOPE_NAMES = ['targets', 'exclusions', 'allowProtected', 'policies', 'allowRejected', 'rehearsal'] as const;

/** The options of a plan. `plan` accepts those of token sinks too, which override the Stack, but delivers no token. */
export const PLAN_OPTIONS: readonly Option[] = [
  ...createRequestOptions([...SCOPE_NAMES, 'rotate', 'retire']),
  ...createSettingOptions(['tokenDirectory', 'tokenCommand']),
  ...createRequestOptions(['allowDeletes', 'allowAdopted', 'allowTakeOver']),
];

/** The options of a plan that deletes everything. */
export const DESTROY_OPTIONS: readonly Option[] = createRequestOptions(['allowDeletes', ...SCOPE_NAMES]);

export const COLOR: Option = createSettingOption('color').helpGroup(OUTPUT_OPTIONS_HEADING);

export function createFormatOptions(formats: readonly FormatName[] = ['text', 'json']): readonly Option[] {
  const format = new Option('--format <format>', 'format on stdout').choices(formats).default('text');
  return [format.helpGroup(OUTPUT_OPTIONS_HEADING), COLOR];
}

/** `--format`, `--color`, and `--report`, which writes the same formats. */
export function createReportOptions(formats: readonly FormatName[] = GENERAL_FORMAT_NAMES): readonly Option[] {
  return [...createFormatOptions(formats), createReportOption(formats)];
}

/** The options of a report that can show more or less. */
export function createDetailedReportOptions(formats: readonly FormatName[] = GENERAL_FORMAT_NAMES): readonly Option[] {
  const verbose = new Option('--verbose', 'also show API calls, and fields of what is deleted');
  const compact = new Option('--compact', 'one line for each resource, in text').conflicts('verbose');
  return [...createReportOptions(formats), ...[compact, verbose].map((one) => one.helpGroup(OUTPUT_OPTIONS_HEADING))];
}

/** How the service is reached. */
export const CONNECTION_OPTIONS: readonly Option[] = createSettingOptions(
  NAMED_SETTINGS.flatMap(({ name, topic }) => (topic === 'connection' ? [name] : [])),
);

/** Limit which variables manifests may read, and which files they may name. */
export const READ_LIMIT_OPTIONS: readonly Option[] = createSettingOptions(['env', 'secret', 'root']);

/** Limit what manifests may decide, run, read and name. */
export const TRUST_OPTIONS: readonly Option[] = [...createSettingOptions(['untrusted']), ...READ_LIMIT_OPTIONS];

/** Select stacks. */
export function createStackFilterOptions(): readonly Option[] {
  return [
    createRepeatableOption('--stack <name>', 'only the stack of this name', {
      parse: parseStackName,
      default: 'every stack',
    }),
    new Option(
      '--changed-since <ref>',
      'only stacks that changed since this commit, in their files, inputs or dependencies',
    ),
  ];
}

/** For commands that run on the stack of a folder, or on many with `--recursive`. */
export const RECURSIVE_OPTIONS: readonly Option[] = [
  new Option('-R, --recursive', 'every stack below a folder'),
  ...createStackFilterOptions().map((option) => inTopic('many-stacks', option)),
  ...TRUST_OPTIONS,
];

/** Creates `--report`, for these formats. */
export function createReportOption(
  formats: readonly FormatName[],
  description = 'also write the result to a file',
): Option {
  return createRepeatableOption('--report <format=file>', description, {
    parse: (text) => parseReportTarget(text, formats),
  }).helpGroup(OUTPUT_OPTIONS_HEADING);
}

/** Creates an option that can be repeated. `default` is the text that the help shows as the default value. */
export function createRepeatableOption(
  flags: string,
  description: string,
  options: { readonly parse?: (text: string) => unknown; readonly default?: string } = {},
): Option {
  const { parse = (text: string) => text, default: fallback } = options;
  const none: readonly unknown[] = [];
  return new Option(flags, `${description}; repeatable`)
    .argParser((text, before: readonly unknown[] | false = none) => [...(before || none), parse(text)])
    .default(none, fallback);
}

/** What the help of a command lists after its arguments. */
interface CommandHelp {
  /** In the order of the help. */
  readonly options?: readonly Option[];
  readonly exitCodes?: readonly ExitCode[];
  readonly examples: readonly (readonly [line: string, does: string])[];
}

/** Adds options, and exit codes and examples to the end of the help. */
export function addToCommand(command: Command, { options = [], exitCodes = [], examples }: CommandHelp): Command {
  for (const option of options) command.addOption(option);
  const named = Object.entries(EXIT).filter(([, code]) => exitCodes.includes(code));
  const codes = `Exit codes: ${named.map(([name, code]) => `${code} ${name}`).join(', ')} (edgewise help exit-codes)`;
  const items = examples.map(([line, does]) => [`$ ${line}`, does] as const);
  if (named.length > 0)
    command.addHelpText('after', () => {
      const helper = createHelpFormatter(command);
      return `\n${helper.boxWrap(codes, helper.helpWidth ?? codes.length)}`;
    });
  return command.addHelpText(
    'after',
    () => `\n${renderHelpSection('Examples:', items, createHelpFormatter(command)).trimEnd()}`,
  );
}

function parseReportTarget(text: string, formats: readonly FormatName[]): ReportFileTarget {
  const at = text.indexOf('=');
  const [format, file] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (file === '-') throw new InvalidArgumentError('A report is written to a file. For stdout, use --format.');
  if (isFormatName(format) && formats.includes(format) && file !== '') return { format, file };
  throw new InvalidArgumentError(`Write it as FORMAT=FILE. The formats are ${formats.join(', ')}.`);
}

function parseStackName(text: string): string {
  if (isResourceName(text)) return text;
  throw new InvalidArgumentError('Use the metadata.name of the Stack document, such as production.');
}

function parseTarget(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError(`An address is Kind/name, such as ${EXAMPLE_ADDRESS}.`);
}

function inTopic(topic: OptionTopic, option: Option): Option {
  return option.helpGroup(topic);
}

/** Lists the options of a topic, from all commands. */
export function listHelpTopicOptions(topic: string): readonly Option[] {
  const all = [SHOW_SECRETS, ...RECURSIVE_OPTIONS, ...PLAN_OPTIONS];
  return all.filter(({ helpGroupHeading }) => helpGroupHeading === topic);
}

/** Throws for flags that select stacks, unless the command runs on many (`--recursive`). */
export function refuseFiltersWithoutRecursive({ recursive, stack = [], changedSince }: StackFilterFlags): void {
  if (recursive === true) return;
  const given = [...(stack.length > 0 ? ['--stack'] : []), ...(changedSince === undefined ? [] : ['--changed-since'])];
  if (given.length === 0) return;
  throw new StackError(`${given.join(' and ')} works only in a run over many stacks.`, {
    reason: 'invalid',
    remedy: 'Add -R (--recursive).',
  });
}
