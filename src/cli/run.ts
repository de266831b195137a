import { type Command, CommanderError } from 'commander';
import { createReadBudget } from '../files/read-input.ts';
import { suggestRemedy } from '../manifest/suggest.ts';
import { toPrintable } from '../model/printable.ts';
import { type FormatName, isFormatName } from '../report/formats.ts';
import type { RunSubject } from '../stack/host.ts';
import { collectSecrets } from '../stack/settings.ts';
import { readTrust, refuseUntrustedRender } from '../stack/trust.ts';
import { withDefaultWait } from './commands/options.ts';
import { defineProgram } from './commands/program.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './exit-code.ts';
import { guardOutputs } from './output/output.ts';
import { createRunInputs } from './output/output-files.ts';
import type { CommandAction, CommandFlags, FormatFlags, ReportTarget } from './output/present.ts';
import type { FailedCommand } from './output/publish.ts';

/** Runs one command line, without the program's name, and returns its exit code. Every error ends here. */
export async function run(argv: readonly string[], host: Context): Promise<ExitCode> {
  const inputs = createRunInputs(argv, host.cwd);
  const budget = createReadBudget(RUN_LIMITS);
  const { secrets, env } = collectSecrets(host);
  const guarded = guardOutputs({ ...host, env }, secrets);
  const onFileInUse: Context['onFileInUse'] = (file, limitSeconds) =>
    guarded.stderr.write(
      `Another process uses ${toPrintable(file)}. Waiting for it, for at most ${limitSeconds} seconds.\n`,
    );
  const context = { ...guarded, inputs, onInput: inputs.add, onFileInUse, budget };
  let exitCode: ExitCode = EXIT.done;
  let name = '';
  const act: CommandAction = async (flags, body) => {
    let subject: RunSubject = {};
    let trusting: Context = context;
    const onSubject = (told: RunSubject): void => {
      subject = { ...subject, ...told };
    };
    try {
      if (flags.report !== undefined) await (await import('./output/publish.ts')).checkReports(flags, context);
      trusting = { ...context, ...readTrust(flags, context) };
      if (writesFiles(flags, trusting)) await prepareOutputs(flags, argv, trusting);
      if (flags.render === true) refuseUntrustedRender(trusting);
      exitCode = await body({ ...trusting, onSubject, ...(flags.render === true && (await allowRender(context))) });
    } catch (error) {
      exitCode = await showFailure(error, { command: name, flags, ...subject }, trusting);
    }
  };
  const program = (await defineProgram(argv, context, act)).hook('preAction', (_, command) => {
    name = toName(command);
  });
  if (isUnknownCommand(argv, program)) {
    return showFailure(toUnknownCommand(argv, program), { flags: findFlags(argv) }, context);
  }
  try {
    await program.parseAsync(withDefaultWait(argv), { from: 'user' });
    return exitCode;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.done;
    // Without a command: the overview is on stderr.
    if (error.code === 'commander.help') return EXIT.invalid;
    return showFailure(toParseError(error, argv), { flags: findFlags(argv) }, context);
  }
}

function writesFiles({ report = [], out, journal }: CommandFlags, { env }: Context): boolean {
  return report.length > 0 || out !== undefined || (journal ?? env['EDGEWISE_JOURNAL'] ?? '') !== '';
}

/** What looks at such files is loaded when some are written. */
async function prepareOutputs(flags: CommandFlags, argv: readonly string[], context: Context): Promise<void> {
  const outputs = await import('./output/output-files.ts');
  await outputs.prepareOutputs(flags, argv, context);
}

/** What everything that a run reads may come to: a hundred thousand resources, each read three times, have half of it. */
const RUN_LIMITS = { maxBytes: 256 * 1024 * 1024, maxFiles: 500_000, of: 'one run' };

/** What runs commands of the manifests is loaded when that is allowed. */
async function allowRender(context: Context): Promise<Pick<Context, 'render'>> {
  const { createRender } = await import('../stack/render.ts');
  const { listenForInterrupts } = await import('./connection/stack-session.ts');
  return { render: createRender(context, { listen: () => listenForInterrupts(context) }) };
}

/** What a failure is shown with is loaded when there is one. */
async function showFailure(error: unknown, command: FailedCommand, context: Context): Promise<ExitCode> {
  return (await import('./output/publish.ts')).showFailure(error, command, context);
}

/** Whether the first word is neither a command nor an option. */
function isUnknownCommand([word]: readonly string[], { commands }: Command): boolean {
  if (word === undefined || word.startsWith('-')) return false;
  return !commands.some((command) => command.name() === word);
}

/** `plan`, `abuse-report submit`. */
function toName(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${toName(parent)} ${command.name()}`;
}

/** How the result should be shown. The words could not be parsed, so they are searched for it. */
function findFlags(argv: readonly string[]): FormatFlags {
  return { format: findFormat(argv), report: findReports(argv), color: !argv.includes('--no-color') };
}

/** The reports that are asked for in words that could not be parsed. */
function findReports(argv: readonly string[]): readonly ReportTarget[] {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--report=')) return [word.slice('--report='.length)];
    return word === '--report' ? [argv[index + 1] ?? ''] : [];
  });
  return named.flatMap((text) => {
    const [format, file] = [text.slice(0, Math.max(text.indexOf('='), 0)), text.slice(text.indexOf('=') + 1)];
    return isFormatName(format) && file !== '' && file !== '-' ? [{ format, file }] : [];
  });
}

function findFormat(argv: readonly string[]): FormatName {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--format=')) return [word.slice('--format='.length)];
    return word === '--format' ? [argv[index + 1] ?? ''] : [];
  });
  return named.findLast(isFormatName) ?? 'text';
}

/** What does the work here that other tools have a command for. */
const ELSEWHERE: ReadonlyMap<string, string> = new Map(
  [
    [
      ['new', 'import', 'adopt'],
      'edgewise export -o manifests --owner NAME writes live resources as manifests that adopt them. For an empty account, edgewise init writes a new stack.',
    ],
    [
      ['preview', 'compare'],
      'edgewise plan shows what apply would change, edgewise drift what others changed at the service, and edgewise show reads a saved plan.',
    ],
    [
      ['list', 'ls', 'describe', 'state'],
      'edgewise get shows what the stack owns. edgewise export writes live resources as manifests, and edgewise drift lists unmanaged ones.',
    ],
    [
      ['report', 'merge'],
      '--report FORMAT=FILE writes the result of a command to a file, and edgewise join makes one report of several results.',
    ],
    [['status', 'refresh'], 'edgewise drift compares live resources with the manifests.'],
    [
      ['delete', 'remove', 'rm', 'down'],
      'edgewise destroy deletes everything that the stack owns. To delete one resource, remove its manifest and apply, or name it: edgewise destroy --target ADDRESS.',
    ],
    [['deploy', 'up', 'sync', 'create', 'update'], 'edgewise apply makes the service match the manifests.'],
    [['check', 'lint', 'test', 'verify'], 'edgewise validate checks manifests, and lints them.'],
    [['login', 'auth', 'configure'], 'EDGEWISE_API_KEY holds the API key: edgewise help connection.'],
    [['server', 'start', 'run'], 'edgewise serve runs the bundled server.'],
    [['rollback', 'undo'], 'To roll back, restore the old manifests and apply them.'],
    [['version'], 'edgewise --version shows it.'],
    [['docs', 'man'], 'edgewise help lists the commands, and edgewise explain what can be explained.'],
  ].flatMap(([words, remedy]) => [words ?? []].flat().map((word): [string, string] => [word, String(remedy)])),
);

/** The error for a command line whose first word is not a command. */
function toUnknownCommand([word = '']: readonly string[], program: Command): CommandError {
  const names = program.commands.map((command) => command.name());
  const shown = names.filter((name) => !name.startsWith('_'));
  const remedy = ELSEWHERE.get(word.toLowerCase()) ?? suggestRemedy(word, shown, false);
  return toUsageError(`There is no command ${word}.`, remedy ?? 'edgewise help lists the commands.');
}

/** What does the work of options that there were, or that another command has. */
const INSTEAD: ReadonlyMap<string, string> = new Map([
  ['init --stack', '--name is the name of the new stack.'],
  ['export --stack', '--owner names the stack that will own the resources.'],
  ['show --stack', '--manifests names the manifests of the plan.'],
  ['-o', '--format sets the format of the result. -o names what plan and export write.'],
  ['--layout', 'export -o FOLDER writes a file for each resource; without -o, everything is one text on stdout.'],
  ['--concurrency', 'spec.api.concurrency in the Stack says how many requests run at once.'],
  ['--page-size', 'spec.api.page_size in the Stack says how many resources one list request asks for.'],
  ['--request-timeout', '--timeout limits a whole request.'],
  ...['connect', 'headers', 'body'].map((part): [string, string] => [
    `--${part}-timeout`,
    `--timeout limits a whole request, and spec.api.timeouts.${part} in the Stack a part of it.`,
  ]),
]);

/** What the parser of command lines has against one. */
function toParseError({ message }: CommanderError, words: readonly string[]): CommandError {
  const [word = ''] = words;
  const [said = '', hint] = words
    .reduce((text, one) => text.replaceAll(one, () => toPrintable(one)), message)
    .replace(/^error: /, '')
    .split('\n');
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`.replace(/[^.]$/, '$&.');
  const command = word.startsWith('-') ? '' : ` ${word}`;
  const [, option = ''] = /^Unknown option '([^'=]+)/.exec(sentence) ?? [];
  const remedy = INSTEAD.get(`${word} ${option}`) ?? INSTEAD.get(option) ?? hint?.replace(/^\(|\)$/g, '');
  return toUsageError(sentence, remedy ?? `edgewise${command} --help shows what it takes.`);
}

function toUsageError(message: string, remedy: string): CommandError {
  return new CommandError(message, { exitCode: EXIT.invalid, remedy });
}
