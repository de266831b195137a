import { type Command, InvalidArgumentError, Option } from 'commander';
import { isAddress, isResourceName } from '../../model/address.ts';
import { isJsonArray, parseJson } from '../../model/json.ts';
import { FORM_NAMES, type FormName, isFormName } from '../../report/forms.ts';
import { CONNECTION_SETTINGS, describeSetting } from '../connection/settings-table.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { ReportTarget } from '../output/present.ts';
import { EXAMPLE_ADDRESS, ROTATABLE_TITLES, TOKEN_TITLES } from './example-names.ts';
import { CONNECTION_GROUP, createHelper, RESULT_GROUP, renderItems } from './help-style.ts';

/** Options that several commands share. Each adder returns the command, for chaining. */

/** How the service is reached. The last of a command's options, so that its own come first. */
export function addConnectionOptions(command: Command): Command {
  for (const { flag, ...setting } of CONNECTION_SETTINGS) {
    if (flag !== undefined) command.addOption(new Option(flag, describeSetting(setting)).helpGroup(CONNECTION_GROUP));
  }
  return command;
}

/** What a plan of manifests may do besides. */
export function addPlanOptions(command: Command): Command {
  return addTokenOptions(addRotateOption(addScopeOptions(command)))
    .option('--allow-deletes', 'allow more deletes than the guard does')
    .option('--no-delete', 'delete only what is replaced; list what would be deleted')
    .option('--no-revert-drift', 'leave alone fields that have only drifted')
    .addOption(
      repeatable(
        '--take-over <stack>',
        'take over resources of this other stack: those whose id or name is in a manifest',
        { parse: parseStackName },
      ),
    );
}

/** What a plan covers. */
export function addScopeOptions(command: Command): Command {
  return addPolicyOption(addProtectedOption(addTargetOption(command))).option(
    '--no-rehearsal',
    'do not try the plan on a copy of the account in memory first',
  );
}

/** Rules of one's own. */
export function addPolicyOption(command: Command): Command {
  return command.addOption(
    repeatable('--policies <path>', 'file or folder with policies to check, besides those of the manifests'),
  );
}

/** Consent to what protection forbids. */
export function addProtectedOption(command: Command): Command {
  return command.addOption(
    repeatable('--allow-protected <address>', 'let this protected resource be deleted, replaced or released', {
      parse: parseTarget,
    }),
  );
}

/** What a command is narrowed to. */
export function addTargetOption(command: Command): Command {
  return command.addOption(
    repeatable('--target <address>', 'only this resource and its dependencies', {
      parse: parseTarget,
      default: 'everything',
    }),
  );
}

/** What is replaced though nothing differs. */
function addRotateOption(command: Command): Command {
  return command.addOption(
    repeatable('--rotate <address>', `replace this ${ROTATABLE_TITLES}; the new one is created first`, {
      parse: parseTarget,
    }),
  );
}

/** What the commands that write take besides. */
export function addWriteOptions(command: Command): Command {
  return command
    .option('--yes', 'do not ask')
    .option(
      '--journal <file>',
      'append a line before and after each request of the apply to a file (EDGEWISE_JOURNAL)',
    );
}

/** How plans are shown. */
export function addPlanFormatOptions(command: Command, forms: readonly FormName[] = FORM_NAMES): Command {
  const verbose = new Option('--verbose', 'also show the API calls, and the fields of what is deleted');
  const compact = new Option('--compact', 'one line for each resource, in text').conflicts('verbose');
  return addReportOptions(command, forms)
    .addOption(compact.helpGroup(RESULT_GROUP))
    .addOption(verbose.helpGroup(RESULT_GROUP));
}

/** How results are shown, in any form. */
export function addReportOptions(command: Command, forms: readonly FormName[] = FORM_NAMES): Command {
  return addFormatOptions(command, forms).addOption(
    repeatable('--report <format=file>', 'also write the result to a file in this form', {
      parse: (text) => parseReport(text, forms),
    }).helpGroup(RESULT_GROUP),
  );
}

/** How results of few forms are shown. */
export function addFormatOptions(command: Command, forms: readonly FormName[] = ['text', 'json']): Command {
  const format = new Option('--format <format>', 'form of the result on stdout').choices(forms).default('text');
  return addColorOption(command.addOption(format.helpGroup(RESULT_GROUP)));
}

/** Whether there are colours. */
export function addColorOption(command: Command): Command {
  return command.addOption(new Option('--no-color', 'no colours, as with NO_COLOR').helpGroup(RESULT_GROUP));
}

/** An option that may be given several times. `default` says what it means to leave it out, where that is not plain. */
export function repeatable(
  flags: string,
  description: string,
  options: { readonly parse?: (text: string) => unknown; readonly default?: string } = {},
): Option {
  const { parse = (text: string) => text, default: fallback } = options;
  const none: readonly unknown[] = [];
  return new Option(flags, `${description}; repeatable`)
    .argParser((text, before: readonly unknown[] = none) => [...before, parse(text)])
    .default(none, fallback);
}

/** The exit codes that a command may end with, at the end of its help. */
export function addExitCodes(command: Command, codes: readonly ExitCode[]): Command {
  const named = Object.entries(EXIT).filter(([, code]) => codes.includes(code));
  const text = `Exit codes: ${named.map(([name, code]) => `${code} ${name}`).join(', ')} (edgewise help exit-codes)`;
  return command.addHelpText('after', () => {
    const helper = createHelper(command);
    return `\n${helper.boxWrap(text, helper.helpWidth ?? text.length)}`;
  });
}

/** The examples at the end of a command's help. */
export function addExamples(command: Command, examples: readonly (readonly [line: string, does: string])[]): Command {
  const items = examples.map(([line, does]) => [`$ ${line}`, does] as const);
  return command.addHelpText('after', () => `\n${renderItems('Examples:', items, createHelper(command)).trimEnd()}`);
}

/** Where tokens go, instead of what the Stack says. Plan only says so; apply does it. */
function addTokenOptions(command: Command): Command {
  return command
    .option(
      '--token-directory <path>',
      `folder for the token of each new ${TOKEN_TITLES}, one file each; overrides the Stack`,
    )
    .addOption(
      new Option(
        '--token-command <json>',
        'command that reads such a token on its standard input, as a JSON list of words',
      ).argParser(parseWords),
    );
}

function parseWords(text: string): readonly string[] {
  const words = parseJson(text);
  const isCommand = words !== undefined && isJsonArray(words) && words.length > 0;
  if (isCommand && words.every((word) => typeof word === 'string')) return words;
  throw new InvalidArgumentError(
    'A command is a JSON list of words, such as ["vault","kv","put","secret/{name}","token=-"].',
  );
}

function parseReport(text: string, forms: readonly FormName[]): ReportTarget {
  const at = text.indexOf('=');
  const [form, file] = [text.slice(0, Math.max(at, 0)), text.slice(at + 1)];
  if (file === '-') throw new InvalidArgumentError('A report goes to a file. --format is for stdout.');
  if (isFormName(form) && forms.includes(form) && file !== '') return { form, file };
  throw new InvalidArgumentError(`A report is FORMAT=FILE, and a format is one of ${forms.join(', ')}.`);
}

/** The name of a stack in a flag. */
export function parseStackName(text: string): string {
  if (isResourceName(text)) return text;
  throw new InvalidArgumentError('A stack is named as in metadata.name of its Stack document, such as production.');
}

function parseTarget(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError(`An address is Kind/name, such as ${EXAMPLE_ADDRESS}.`);
}
