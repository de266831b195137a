import { resolve } from 'node:path';
import { type Command, CommanderError } from 'commander';
import { createReadBudget } from '../files/read-input.ts';
import { findStats } from '../files/real-path.ts';
import { createStrangerSearch } from '../files/trusted-users.ts';
import { suggestRemedy } from '../manifest/suggest.ts';
import { createQuotedTexts } from '../model/excerpts.ts';
import { toPrintable } from '../model/printable.ts';
import type { SecretRedactor } from '../model/secrets.ts';
import { StackError } from '../model/user-errors.ts';
import { type FormatName, isFormatName } from '../report/formats.ts';
import { findRetiredCommandRemedy, findRetiredFlagRemedy } from '../settings/retired.ts';
import type { StackNameAndLocator } from '../stack/host.ts';
import { readManifestTrust, readSecretsNamedInEnvironment } from '../stack/settings.ts';
import { refuseOneDash, suggestOptionOrCommand } from './commands/one-dash.ts';
import { createProgramForArguments, isCompletion } from './commands/program.ts';
import type { Context, InputFileSet } from './context.ts';
import { EXIT, type ExitCode } from './exit-code.ts';
import { createRedactedContext } from './output/output.ts';
import { createRunInputRecorder, refuseOutputPaths } from './output/output-files.ts';
import type { FailedCommandContext } from './output/output-report.ts';
import type { CommandBodyRunner, ReportFileTarget, RunFlags } from './output/present.ts';
import { findUnreadablePart } from './unreadable-part.ts';

/** Runs one command line (without the program name) and returns its exit code. Shows every error. */
export async function run(argv: readonly string[], host: Context): Promise<ExitCode> {
  const { context, secrets } = createRunContext(argv, host);
  let exitCode: ExitCode = EXIT.success;
  let command = '';
  const act: CommandBodyRunner = async (flags, body) => {
    exitCode = await runBody({ command, flags, body }, context, secrets);
  };
  const program = (await createProgramForArguments(argv, context, act)).hook('preAction', (_, started) => {
    command = formatCommandName(started);
  });
  const fail = (error: StackError): Promise<ExitCode> => showFailure(error, { flags: readFlags(argv) }, context);
  if (isUnknownCommand(argv, program)) return fail(createUnknownCommandError(argv, program));
  try {
    if (!isCompletion(argv)) refuseOneDash(argv, program, (option) => OPTION_REMEDIES.get(option));
    await program.parseAsync(argv, { from: 'user' });
    return exitCode;
  } catch (error) {
    if (error instanceof StackError) return fail(error);
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return EXIT.success;
    // No command was named, and commander wrote the overview to stderr.
    if (error.code === 'commander.help') return EXIT.invalid;
    return fail(createParseError(error, argv, program));
  }
}

interface RunContext {
  readonly context: Context;
  readonly secrets: SecretRedactor;
}

/** Creates the context of a run: its output contains no secret, and what it reads is limited and recorded. */
function createRunContext(argv: readonly string[], host: Context): RunContext {
  const { secrets, env } = readSecretsNamedInEnvironment(host);
  const guarded = createRedactedContext({ ...host, env }, secrets);
  const inputs = createRunInputRecorder(argv, host);
  const onFileInUse: Context['onFileInUse'] = (file, limitSeconds) =>
    guarded.stderr.write(
      `Another process uses ${toPrintable(file)}. Waiting for it, for at most ${limitSeconds} seconds.\n`,
    );
  const reading = { inputs, onInput: createInputWatch(inputs, guarded), budget: createReadBudget(RUN_LIMITS) };
  const namedPaths = listNamedPaths(argv, host);
  return { context: { ...guarded, ...reading, namedPaths, onFileInUse, quoted: createQuotedTexts() }, secrets };
}

/** The words of a command line that are files or folders, also as the value of an option. */
function listNamedPaths(argv: readonly string[], { cwd }: Context): readonly string[] {
  const words = argv.flatMap((word) => [word, word.slice(word.indexOf('=') + 1)]);
  return [...new Set(words)].filter((word) => word !== '' && findStats(resolve(cwd, word)) !== undefined);
}

interface CommandToRun {
  readonly command: string;
  readonly flags: RunFlags;
  readonly body: Parameters<CommandBodyRunner>[1];
}

/** Checks the flags that every command has, and runs the body of a command. Shows its error. */
async function runBody(
  { command, flags, body }: CommandToRun,
  context: Context,
  secrets: SecretRedactor,
): Promise<ExitCode> {
  let subject: StackNameAndLocator = {};
  let trusting = context;
  try {
    if (flags.report !== undefined || flags.planFile !== undefined)
      await (await import('./output/output-report.ts')).checkOutputFiles(flags, context);
    trusting = { ...context, ...readManifestTrust(flags, context) };
    await refuseOutputPaths(flags, trusting);
    if (flags.showSecrets === true) showSecrets(flags, secrets);
    const onSubject = (more: StackNameAndLocator): void => {
      subject = { ...subject, ...more };
    };
    return await body({ ...trusting, onSubject });
  } catch (error) {
    if (findUnreadablePart(error) !== undefined) throw error;
    return showFailure(error, { command, flags, ...subject }, trusting);
  }
}

/** Records each input of the run. Warns once about each file or folder that another user put into a folder such as `/tmp`. */
function createInputWatch(inputs: InputFileSet, context: Context): (file: string) => void {
  const findStranger = createStrangerSearch(context);
  const told = new Set<string>();
  return (file) => {
    inputs.add(file);
    const found = file === '-' ? undefined : findStranger(file);
    if (found === undefined || told.has(found.path)) return;
    told.add(found.path);
    context.stderr.write(
      `Warning: ${toPrintable(found.path)} ${found.finding}. That user decides what this run reads there.\n`,
    );
  };
}

/** Shows why a command line is not run at all, in the format that it asks for. Writes no file. */
export function refuseToRun(error: StackError, argv: readonly string[], host: Context): Promise<ExitCode> {
  const { secrets } = readSecretsNamedInEnvironment(host);
  return showFailure(error, { flags: { ...readFlags(argv), report: [] } }, createRedactedContext(host, secrets));
}

/** A plan file is kept, and passed on to pipelines, so it never contains a secret. */
function showSecrets({ out }: RunFlags, secrets: SecretRedactor): void {
  if (out !== undefined)
    throw new StackError('--show-secrets cannot be combined with --out: a saved plan contains no secret.', {
      reason: 'invalid',
      remedy: 'Leave out one of them.',
    });
  secrets.showLive();
}

/** Limits on everything that a run reads. Reading 100,000 resources three times uses half of these limits. */
const RUN_LIMITS = { maxBytes: 256 * 1024 * 1024, maxFiles: 500_000, of: 'one run' };

/** Loads the renderers of failures only if a command fails. */
async function showFailure(error: unknown, command: FailedCommandContext, context: Context): Promise<ExitCode> {
  return (await import('./output/output-report.ts')).outputFailure(error, command, context);
}

function isUnknownCommand([word]: readonly string[], { commands }: Command): boolean {
  if (word === undefined || word.startsWith('-')) return false;
  return !commands.some((command) => command.name() === word);
}

/** Formats the name of a command, such as `plan` or `abuse-report submit`. */
function formatCommandName(command: Command): string {
  const parent = command.parent;
  return parent === null || parent.parent === null ? command.name() : `${formatCommandName(parent)} ${command.name()}`;
}

/** Finds the output flags in a command line that could not be parsed, to show the error in the requested format. */
function readFlags(argv: readonly string[]): FailedCommandContext['flags'] {
  const planFile = readPlanFileName(argv);
  return { format: readFormat(argv), report: readReports(argv), planFile, color: !argv.includes('--no-color') };
}

/** The last `-o` or `--out` of a plan of one stack. */
function readPlanFileName(argv: readonly string[]): string | undefined {
  if (argv[0] !== 'plan' || argv.includes('-R') || argv.includes('--recursive')) return undefined;
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--out=')) return [word.slice('--out='.length)];
    return word === '-o' || word === '--out' ? [argv[index + 1] ?? ''] : [];
  });
  return named.findLast((file) => file !== '');
}

function readReports(argv: readonly string[]): readonly ReportFileTarget[] {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--report=')) return [word.slice('--report='.length)];
    return word === '--report' ? [argv[index + 1] ?? ''] : [];
  });
  return named.flatMap((text) => {
    const [format, file] = [text.slice(0, Math.max(text.indexOf('='), 0)), text.slice(text.indexOf('=') + 1)];
    return isFormatName(format) && file !== '' && file !== '-' ? [{ format, file }] : [];
  });
}

function readFormat(argv: readonly string[]): FormatName {
  const named = argv.flatMap((word, index) => {
    if (word.startsWith('--format=')) return [word.slice('--format='.length)];
    return word === '--format' ? [argv[index + 1] ?? ''] : [];
  });
  return named.findLast(isFormatName) ?? 'text';
}

/** Remedies for command names of other tools. */
const COMMAND_REMEDIES: ReadonlyMap<string, string> = new Map(
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
      ['list', 'ls', 'describe', 'state', 'output'],
      'edgewise get shows what the stack owns. edgewise export writes live resources as manifests, and edgewise drift lists unmanaged ones.',
    ],
    [['report'], '--report FORMAT=FILE writes the result of a command to a file.'],
    [['status', 'refresh'], 'edgewise drift compares live resources with the manifests.'],
    [
      ['delete', 'remove', 'rm', 'down'],
      'edgewise destroy deletes everything that the stack owns. To delete one resource, remove its manifest and apply, or name it: edgewise destroy --target ADDRESS.',
    ],
    [
      ['rotate', 'renew', 'replace', 'taint'],
      'edgewise apply --rotate ADDRESS replaces a credential or a certificate, and edgewise plan --rotate shows it first.',
    ],
    [
      ['deploy', 'up', 'sync', 'create', 'update', 'install', 'upgrade'],
      'edgewise apply makes the service match the manifests.',
    ],
    [['check', 'lint', 'test', 'verify'], 'edgewise validate checks manifests, and lints them.'],
    [['login', 'auth', 'configure'], 'EDGEWISE_API_KEY holds the API key: edgewise help connection.'],
    [['server', 'start', 'run'], 'edgewise serve runs the bundled server.'],
    [['rollback', 'undo'], 'To roll back, restore the old manifests and apply them.'],
    [['version'], 'edgewise --version shows it.'],
    [['docs', 'man'], 'edgewise help lists the commands, and edgewise explain what can be explained.'],
  ].flatMap(([words, remedy]) => [words ?? []].flat().map((word): [string, string] => [word, String(remedy)])),
);

function createUnknownCommandError([word = '']: readonly string[], program: Command): StackError {
  const names = program.commands.map((command) => command.name());
  const shown = names.filter((name) => !name.startsWith('_'));
  const remedy =
    findRetiredCommandRemedy(word) ?? COMMAND_REMEDIES.get(word.toLowerCase()) ?? suggestRemedy(word, shown, false);
  return createUsageError(`There is no command ${word}.`, remedy ?? 'edgewise help lists the commands.');
}

/** Remedies for options that were removed, or that only another command has. */
const OPTION_REMEDIES: ReadonlyMap<string, string> = new Map([
  ...['-R', '--recursive'].map((option): [string, string] => [
    `release ${option}`,
    'edgewise release is for one stack: name its folder, without this option.',
  ]),
  ['init --stack', '--name is the name of the new stack.'],
  ['export --stack', '--owner names the stack that will own the resources.'],
  ...['--auto-approve', '-y'].map((option): [string, string] => [option, '--yes applies without asking.']),
  ['--dry-run', 'edgewise plan shows what an apply would write, and writes nothing.'],
  ['--policy', '--policies names a file or folder with more policies.'],
  ['--force', 'A plan that a safety rule refuses names the option that allows it, such as --allow-deletes.'],
  ...['-o', '--output', '--json'].map((option): [string, string] => [
    option,
    '--format sets the format of the result. -o names what plan and export write.',
  ]),
  ['--plan', '--approved PLAN applies only what that plan file approves.'],
  ['-v', '--verbose shows more, and edgewise --version the version.'],
  ['--layout', 'export -o FOLDER writes a file for each resource; without -o, everything is one text on stdout.'],
  ...['--concurrency', '--parallelism'].map((option): [string, string] => [
    option,
    'spec.api.concurrency in the Stack says how many requests run at once.',
  ]),
  ['--page-size', 'spec.api.page_size in the Stack says how many resources one list request asks for.'],
  ['--request-timeout', '--timeout limits a whole request.'],
  ...['connect', 'headers', 'body'].map((part): [string, string] => [
    `--${part}-timeout`,
    `--timeout limits a whole request, and spec.api.timeouts.${part} in the Stack a part of it.`,
  ]),
]);

/** Options with which other tools name manifests. */
const PATH_OPTIONS: ReadonlySet<string> = new Set(['-f', '-k', '--file', '--filename', '--chdir']);

function findOperandRemedy(command: string, option: string, sentence: string): string | undefined {
  const named = command.startsWith('-') ? 'plan' : command;
  if (PATH_OPTIONS.has(option)) return `Name folders and files without an option, such as edgewise ${named} manifests.`;
  const isDiffOfManifests = command === 'diff' && sentence.startsWith('Missing required argument');
  return isDiffOfManifests
    ? 'edgewise diff compares two plan files. edgewise plan shows what an apply of manifests would change.'
    : undefined;
}

/** Converts commander's message to a sentence, and adds a remedy. */
function createParseError({ message }: CommanderError, words: readonly string[], program: Command): StackError {
  const [word = ''] = words;
  const said = words
    .reduce((text, one) => text.replaceAll(one, () => toPrintable(one)), message)
    .replace(/^error: /, '');
  const sentence = `${said.charAt(0).toUpperCase()}${said.slice(1)}`.replace(/[^.]$/, '$&.');
  const command = word.startsWith('-') ? '' : ` ${word}`;
  const [, option = ''] = /^Unknown option '([^'=]+)/.exec(sentence) ?? [];
  const [, unknown = option] = /^Unknown command '([^']+)/.exec(sentence) ?? [];
  const [, setting, value] = /^Option '(?:-\w, )?(--[\w-]+)[^']*' argument '([^']*)' is invalid/.exec(sentence) ?? [];
  const remedy =
    findRetiredFlagRemedy(setting === undefined ? option : `${setting} ${value}`) ??
    OPTION_REMEDIES.get(`${word} ${option}`) ??
    OPTION_REMEDIES.get(option) ??
    findOperandRemedy(word, option, sentence) ??
    suggestOptionOrCommand(unknown, words, program);
  return createUsageError(sentence, remedy ?? `edgewise${command} --help shows its usage.`);
}

function createUsageError(message: string, remedy: string): StackError {
  return new StackError(message, { reason: 'invalid', remedy });
}
