import { Command, InvalidArgumentError, Option } from 'commander';
import { hasToken, isRotatable } from '../../kinds/kind.ts';
import { formatKindTitles, OWNED_KINDS } from '../../kinds/tables/registry.ts';
import { isAddress, isResourceName } from '../../model/address.ts';
import { type FormatName, GENERAL_FORMAT_NAMES, isFormatName } from '../../report/formats.ts';
import type { OptionTopic, Setting, TextSettingType } from '../../settings/setting.ts';
import { NAMED_SETTINGS, SETTINGS, type SettingName } from '../../settings/table.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import type { ReportFileTarget } from '../output/present.ts';
import type { StackFilterFlags } from '../reconcile/stacks-run.ts';
import { createHelpFormatter, OUTPUT_OPTIONS_HEADING, renderHelpSection } from './help.ts';

/** Kinds in help texts come from the tables: no command contains the name of a kind. */

const [first, second] = OWNED_KINDS;

export const EXAMPLE_KINDS = [first?.name ?? '', second?.name ?? ''] as const;

export const EXAMPLE_ADDRESS = `${EXAMPLE_KINDS[0]}/postgres`;

/** Address for examples about resources that have a token. */
export const EXAMPLE_TOKEN_ADDRESS = `${OWNED_KINDS.find(hasToken)?.name}/agent`;

/** Titles of the kinds that `--rotate` can replace, such as `credential or SSH user certificate`. */
const ROTATABLE_TITLES = formatKindTitles(isRotatable);

/** Options that several commands share. Each function returns the command, for chaining. */

/** Adds the connection options. Call this after adding the command's own options, which come first. */
export function addConnectionOptions(command: Command): Command {
  for (const { name, topic } of NAMED_SETTINGS) if (topic === 'connection') addSettingOption(command, name);
  return command;
}

/** Adds the option of a setting, in its help topic. */
function addSettingOption(command: Command, name: SettingName): Command {
  const { topic }: Setting = SETTINGS[name];
  const option = createSettingOption(name);
  return command.addOption(topic === undefined ? option : inTopic(topic, option));
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

/** Adds `--show-secrets`, for commands that show live values. */
export function addShowSecretsOption(command: Command): Command {
  const show = new Option('--show-secrets', 'show live values that may be secret, such as those of request headers');
  return command.addOption(inTopic('trust', show));
}

/** Adds the options of a plan. `plan` accepts those of token sinks too, which override the Stack, but delivers no token. */
export function addPlanOptions(command: Command): Command {
  const rotating = addRotationOptions(addScopeOptions(command));
  return addSettingOption(addSettingOption(rotating, 'tokenDirectory'), 'tokenCommand')
    .addOption(createAllowDeletesOption())
    .addOption(
      inTopic(
        'many-stacks',
        createRepeatableOption(
          '--take-over <stack>',
          'take over resources of this other stack: those whose id or name is in a manifest',
          { parse: parseStackName },
        ),
      ),
    );
}

export function createAllowDeletesOption(): Option {
  return inTopic('safety', new Option('--allow-deletes', 'allow more deletes than the guard does'));
}

/** Adds the options that limit and check a plan. */
export function addScopeOptions(command: Command): Command {
  return addPoliciesOption(addProtectedOption(addTargetOption(command)))
    .addOption(
      inTopic(
        'safety',
        createRepeatableOption(
          '--allow-rejected <address>',
          'send the writes of this resource although the service will reject them; failures are reported',
          { parse: parseTarget },
        ),
      ),
    )
    .addOption(
      inTopic('safety', new Option('--no-rehearsal', 'do not try the plan on a copy of the account in memory first')),
    );
}

export function addPoliciesOption(command: Command): Command {
  return command.addOption(
    inTopic('safety', createRepeatableOption('--policies <path>', 'file or folder with more policies to check')),
  );
}

export function addProtectedOption(command: Command): Command {
  return command.addOption(
    inTopic(
      'safety',
      createRepeatableOption(
        '--allow-protected <address>',
        'let this protected resource be deleted, replaced or released',
        {
          parse: parseTarget,
        },
      ),
    ),
  );
}

/** Adds the options that limit a plan to some resources. */
export function addTargetOption(command: Command): Command {
  return command
    .addOption(
      createRepeatableOption('--target <address>', 'only this resource and its dependencies', { parse: parseTarget }),
    )
    .addOption(
      inTopic(
        'safety',
        createRepeatableOption('--exclude <address>', 'leave out this resource and everything that depends on it', {
          parse: parseTarget,
        }),
      ),
    );
}

/** Adds `--rotate`, which replaces resources even if nothing differs, and `--retire`, which deletes old ones early. */
function addRotationOptions(command: Command): Command {
  const options = [
    ['--rotate <address>', `replace this ${ROTATABLE_TITLES}; the new one is created first`],
    ['--retire <address>', 'delete its old one now (lifecycle.keep_old_for); with --rotate: keep none'],
  ] as const;
  for (const [flags, text] of options)
    command.addOption(inTopic('tokens', createRepeatableOption(flags, text, { parse: parseTarget })));
  return command;
}

export function addDetailedReportOptions(
  command: Command,
  formats: readonly FormatName[] = GENERAL_FORMAT_NAMES,
): Command {
  const verbose = new Option('--verbose', 'also show API calls, and fields of what is deleted');
  const compact = new Option('--compact', 'one line for each resource, in text').conflicts('verbose');
  return addReportOptions(command, formats)
    .addOption(compact.helpGroup(OUTPUT_OPTIONS_HEADING))
    .addOption(verbose.helpGroup(OUTPUT_OPTIONS_HEADING));
}

export function addReportOptions(command: Command, formats: readonly FormatName[] = GENERAL_FORMAT_NAMES): Command {
  return addFormatAndColorOptions(command, formats).addOption(createReportOption(formats));
}

/** Creates `--report`, for these formats. */
export function createReportOption(
  formats: readonly FormatName[],
  description = 'also write the result to a file',
): Option {
  return createRepeatableOption('--report <format=file>', description, {
    parse: (text) => parseReportTarget(text, formats),
  }).helpGroup(OUTPUT_OPTIONS_HEADING);
}

export function addFormatAndColorOptions(command: Command, formats: readonly FormatName[] = ['text', 'json']): Command {
  const format = new Option('--format <format>', 'format on stdout').choices(formats).default('text');
  return addColorOption(command.addOption(format.helpGroup(OUTPUT_OPTIONS_HEADING)));
}

export function addColorOption(command: Command): Command {
  return command.addOption(createSettingOption('color').helpGroup(OUTPUT_OPTIONS_HEADING));
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

/** Adds the exit codes of the command to the end of its help. */
export function addExitCodes(command: Command, codes: readonly ExitCode[]): Command {
  const named = Object.entries(EXIT).filter(([, code]) => codes.includes(code));
  const text = `Exit codes: ${named.map(([name, code]) => `${code} ${name}`).join(', ')} (edgewise help exit-codes)`;
  return command.addHelpText('after', () => {
    const helper = createHelpFormatter(command);
    return `\n${helper.boxWrap(text, helper.helpWidth ?? text.length)}`;
  });
}

export function addExamples(command: Command, examples: readonly (readonly [line: string, does: string])[]): Command {
  const items = examples.map(([line, does]) => [`$ ${line}`, does] as const);
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

/** Adds the options that limit what manifests may decide, run, read and name. */
export function addTrustOptions(command: Command): Command {
  return addManifestReadLimitOptions(addSettingOption(command, 'untrusted'));
}

/** Adds the options that limit which variables manifests may read, and which files they may name. */
export function addManifestReadLimitOptions(command: Command): Command {
  for (const name of ['env', 'secret', 'root'] as const) addSettingOption(command, name);
  return command;
}

/** Adds the stack filters and the trust options, for commands that run on many stacks without `--recursive`. */
export function addStackFilterAndTrustOptions(command: Command): Command {
  for (const option of listStackFilterOptions()) command.addOption(option);
  return addTrustOptions(command);
}

function listStackFilterOptions(): readonly Option[] {
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

/** Adds `--recursive`, the stack filters and the trust options. */
export function addRecursiveOptions(command: Command): Command {
  command.option('-R, --recursive', 'every stack below a folder');
  for (const option of listStackFilterOptions()) command.addOption(inTopic('many-stacks', option));
  return addTrustOptions(command);
}

function inTopic(topic: OptionTopic, option: Option): Option {
  return option.helpGroup(topic);
}

/** Lists the options of a topic, from all commands. */
export function listHelpTopicOptions(topic: string): readonly Option[] {
  const all = addPlanOptions(addRecursiveOptions(addShowSecretsOption(new Command())));
  return all.options.filter(({ helpGroupHeading }) => helpGroupHeading === topic);
}

/** Whether the command runs on many stacks (`--recursive`). If not, throws for flags that select stacks. */
export function isRecursive({ recursive, stack = [], changedSince }: StackFilterFlags): boolean {
  if (recursive === true) return true;
  const given = [...(stack.length > 0 ? ['--stack'] : []), ...(changedSince === undefined ? [] : ['--changed-since'])];
  if (given.length === 0) return false;
  throw new CommandError(`${given.join(' and ')} works only in a run over many stacks.`, {
    exitCode: EXIT.invalid,
    remedy: 'Add -R (--recursive).',
  });
}
