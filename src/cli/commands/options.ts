import { type Command, InvalidArgumentError, Option } from 'commander';
import { isAddress, isResourceName } from '../../model/address.ts';
import { isJsonArray, parseJson } from '../../model/json.ts';
import { DEFAULT_VERSION_HEADER } from '../../model/transport.ts';
import { FORM_NAMES, type FormName, isFormName } from '../../report/forms.ts';
import { EXIT_MEANINGS, type ExitCode } from '../exit-code.ts';
import type { ReportTarget } from '../output/present.ts';

/** Options that several commands share. Each adder returns the command, for chaining. */

/** Where the service is and how it is spoken to. */
export function addServiceOptions(command: Command): Command {
  return command
    .option(
      '--base-url <url>',
      'where the service is; `embedded:` is the bundled server inside of the process, `embedded:FILE` one that keeps its data (EDGEWISE_BASE_URL)',
    )
    .option(
      '--version-header <name>',
      `name of the header that carries the interface version (EDGEWISE_VERSION_HEADER; default: ${DEFAULT_VERSION_HEADER})`,
    )
    .option(
      '--ca-file <path>',
      'certificates of authorities to trust besides those of the platform, in PEM (EDGEWISE_CA_FILE)',
    );
}

/** How to reach a service that is asked many things. */
export function addConnectionOptions(command: Command): Command {
  return addServiceOptions(command)
    .option('--concurrency <number>', 'requests under way at once, 1 to 64 (EDGEWISE_CONCURRENCY; default: 8)')
    .option(
      '--page-size <number>',
      'resources asked for in one list request, 1 to 100 (EDGEWISE_PAGE_SIZE; default: 100)',
    )
    .option(
      '--rate-limit <limit>',
      'most requests in any window of that length, such as 120/60s, or none (EDGEWISE_RATE_LIMIT; default: 120/60s, and none for `embedded:`)',
    )
    .option('--connect-timeout <duration>', 'until there is a connection (EDGEWISE_CONNECT_TIMEOUT; default: 10s)')
    .option('--headers-timeout <duration>', 'until an answer begins (EDGEWISE_HEADERS_TIMEOUT; default: 30s)')
    .option('--body-timeout <duration>', 'between two parts of an answer (EDGEWISE_BODY_TIMEOUT; default: 30s)')
    .option('--request-timeout <duration>', 'for one request as a whole (EDGEWISE_REQUEST_TIMEOUT; default: 2m)');
}

/** What a plan of manifests may do besides. */
export function addPlanOptions(command: Command): Command {
  return addTokenOptions(addScopeOptions(command))
    .option('--allow-deletes', 'let a plan through that deletes more than the guard allows')
    .option('--no-delete', 'delete nothing but what is replaced; what would be deleted is listed')
    .option('--no-revert-drift', 'leave fields alone that differ for no other reason than that they drifted')
    .addOption(
      repeatable(
        '--take-over <stack>',
        'move resources of this other stack into this one: those that a manifest names by id or by its own name; repeatable',
        {
          parse: parseStackName,
        },
      ),
    );
}

/** What a plan covers, and how it is shown. */
export function addScopeOptions(command: Command): Command {
  return addPlanFormatOptions(addProtectedOption(addTargetOption(addConnectionOptions(command))));
}

/** Consent to what protection forbids. */
export function addProtectedOption(command: Command): Command {
  return command.addOption(
    repeatable(
      '--allow-protected <address>',
      'let this protected resource be deleted, replaced or released; repeatable',
      {
        parse: parseTarget,
      },
    ),
  );
}

/** What a command is narrowed to. */
export function addTargetOption(command: Command): Command {
  return command.addOption(
    repeatable('--target <address>', 'only this resource and those that it needs; repeatable', {
      parse: parseTarget,
      default: 'everything',
    }),
  );
}

/** What is replaced though nothing differs. */
export function addRotateOption(command: Command): Command {
  return command.addOption(
    repeatable('--rotate <address>', 'replace this credential or SSH user certificate, the new one first; repeatable', {
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
  return addReportOptions(command, forms).option(
    '--verbose',
    'also show the API calls, and the fields of what is deleted',
  );
}

/** How results are shown, in any form. */
export function addReportOptions(command: Command, forms: readonly FormName[] = FORM_NAMES): Command {
  return addFormatOptions(command, forms).addOption(
    repeatable('--report <format=file>', 'also write the result to a file in this form; repeatable', {
      parse: (text) => parseReport(text, forms),
    }),
  );
}

/** How results of few forms are shown. */
export function addFormatOptions(command: Command, forms: readonly FormName[] = ['text', 'json']): Command {
  return command
    .addOption(new Option('--format <format>', 'form of the result on stdout').choices(forms).default('text'))
    .option('--no-color', 'no colours, as with NO_COLOR');
}

/** An option that may be given several times. `default` says what it means to leave it out. */
export function repeatable(
  flags: string,
  description: string,
  options: { readonly parse?: (text: string) => unknown; readonly default?: string } = {},
): Option {
  const { parse = (text: string) => text, default: fallback = 'none' } = options;
  const none: readonly unknown[] = [];
  return new Option(flags, description)
    .argParser((text, before: readonly unknown[] = none) => [...before, parse(text)])
    .default(none, fallback);
}

/** The exit codes that a command may end with, at the end of its help. */
export function addExitCodes(command: Command, codes: readonly ExitCode[]): Command {
  const lines = codes.map((code) => `  ${String(code).padStart(3)}  ${EXIT_MEANINGS[code]}`);
  return command.addHelpText('after', `\nExit codes:\n${lines.join('\n')}`);
}

/** The examples at the end of a command's help. */
export function addExamples(command: Command, examples: readonly (readonly [line: string, does: string])[]): Command {
  const width = Math.max(...examples.map(([line]) => line.length));
  const lines = examples.map(([line, does]) => `  $ ${line.padEnd(width)}  ${does}`);
  return command.addHelpText('after', `\nExamples:\n${lines.join('\n')}`);
}

/** Where tokens go, instead of what the Stack says. Plan only says so; apply does it. */
function addTokenOptions(command: Command): Command {
  return command
    .option(
      '--token-directory <path>',
      'folder for the tokens of new credentials, one file each; instead of what the Stack says',
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
  if (file === '-') throw new InvalidArgumentError('A report goes to a file; what goes to stdout says --format.');
  if (isFormName(form) && forms.includes(form) && file !== '') return { form, file };
  throw new InvalidArgumentError(`A report is FORMAT=FILE, and a format is one of ${forms.join(', ')}.`);
}

function parseStackName(text: string): string {
  if (isResourceName(text)) return text;
  throw new InvalidArgumentError('A stack is named as in metadata.name of its Stack document, such as production.');
}

function parseTarget(text: string): string {
  if (isAddress(text)) return text;
  throw new InvalidArgumentError('An address is Kind/name, such as TCPEdge/postgres.');
}
