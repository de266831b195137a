import { existsSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { type Command, Option } from 'commander';
import { isManifestName } from '../../manifest/load.ts';
import { createStarter, IGNORE_FILE, TOKENS_IGNORED } from '../../manifest/starter.ts';
import { isResourceName } from '../../model/address.ts';
import type { UncodedFinding } from '../../model/finding.ts';
import { DEFAULT_VERSION_HEADER_NAME } from '../../model/http.ts';
import { isJsonObject } from '../../model/json.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import { StackError } from '../../model/user-errors.ts';
import { isTooWide, padToWidth, wrapWithPrefix } from '../../report/text/layout.ts';
import { countColumns } from '../../report/view/escape.ts';
import { type FoundDefaults, readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import { isBaseUrl, isEmbedded, parseEmbeddedDataFile } from '../../settings/base-url.ts';
import { findSetting } from '../../settings/resolve.ts';
import { SETTINGS } from '../../settings/table.ts';
import { openEmbeddedServer } from '../../stack/embedded.ts';
import { readManifests } from '../../stack/read-manifests.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { detectInvocation } from '../output/invocation.ts';
import { chooseEditorSchema, refuseUnwritableFiles, writeNewFiles } from '../output/new-files.ts';
import { wrapLastLine } from '../output/output.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addToCommand } from './options.ts';

type NewFile = ReturnType<typeof createStarter>[number];

interface InitFlags {
  readonly name?: string;
  readonly baseUrl?: string;
}

export function configureInitCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'Write the files of a new stack. Asks for the values that no option gives. Replaces no file and sends no request.',
    )
    .argument('[folder]', 'folder for the manifests (default: manifests)');
  addToCommand(command, {
    options: [
      new Option('--name <name>', 'the name of the stack'),
      new Option('--base-url <url>', 'URL of the service; leave it empty to set EDGEWISE_BASE_URL instead'),
    ],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid, EXIT.refused],
    examples: [
      ['edgewise init', 'ask, and write manifests/'],
      ['edgewise init network --name network --base-url https://api.example.com', 'ask nothing'],
    ],
  }).action((folder: string | undefined, flags: InitFlags) =>
    act(TEXT_ONLY_FORMAT_FLAGS, (context) => init(folder ?? 'manifests', flags, context)),
  );
}

async function init(folder: string, flags: InitFlags, context: Context): Promise<ExitCode> {
  const defaults = readDefaultsAbove(folder, context);
  const schema = chooseEditorSchema(folder, { ...context, defaults: defaults.map((one) => one.folder) });
  const hasIgnoreFile = existsSync(resolve(context.cwd, folder, IGNORE_FILE));
  const createFiles = (stack: string, baseUrl: string | undefined): readonly NewFile[] => {
    const starter = createStarter({ stack, baseUrl, hasDefaults: defaults.length > 0, schema: schema.path });
    return [...starter.filter(({ path }) => path !== IGNORE_FILE || !hasIgnoreFile), ...schema.files];
  };
  const suggested = suggestName(folder, context);
  // What no answer changes is checked before the user is asked.
  await refuseUnusableFiles(createFiles(flags.name ?? suggested, undefined), folder, context);
  const stack = flags.name ?? (await ask({ question: 'Name of the stack', fallback: suggested }, checkName, context));
  if (stack === undefined) throw createUsageError('The stack has no name.', `Name it with --name. ${NAME_RULE}`);
  refuse(checkName(stack));
  const isBaseUrlSet = defaults.some(({ spec }) => isJsonObject(spec['api']) && spec['api']['base_url'] !== undefined);
  const isElsewhere = isBaseUrlSet || findSetting('baseUrl', { env: context.env }) !== undefined;
  const baseUrl = flags.baseUrl ?? (isElsewhere ? '' : await ask(BASE_URL_QUESTION, checkBaseUrl, context));
  const url = baseUrl === '' ? undefined : baseUrl;
  if (url !== undefined) refuse(checkBaseUrl(url));
  const files = createFiles(stack, url);
  await refuseUnusableFiles(files, folder, context);
  if (url !== undefined && isEmbedded(url)) await refuseUnusableDataFile(parseEmbeddedDataFile(url), context);
  const written = await writeNewFiles(files, { ...context, folder });
  context.stdout.write(
    describeWritten(folder, written, {
      isPlaced: isBaseUrlSet || url !== undefined,
      hasIgnoreFile,
      baseUrl: url,
      defaults,
      command: detectInvocation(context),
      env: context.env,
      width: context.stdout.isTerminal ? context.stdout.columns() : 0,
    }),
  );
  return EXIT.success;
}

const NAME_RULE = 'A name has 1 to 63 lower-case letters, digits, `.`, `_` and `-`. No other folder may use the same.';

/** Returns why a name cannot be used, and what can. */
function checkName(name: string): UncodedFinding | undefined {
  if (isResourceName(name)) return undefined;
  return { message: `${name} is not a valid stack name.`, remedy: NAME_RULE, path: [] };
}

function checkBaseUrl(url: string): UncodedFinding | undefined {
  if (isBaseUrl(url)) return undefined;
  return {
    message: `The base URL must be ${SETTINGS.baseUrl.type.expected}.`,
    remedy: 'Include the scheme. For the bundled server, use embedded:',
    path: [],
  };
}

function refuse(finding: UncodedFinding | undefined): void {
  if (finding !== undefined) throw createUsageError(finding.message, `${finding.remedy}\nNothing was written.`);
}

function createUsageError(message: string, remedy: string): StackError {
  return new StackError(message, { reason: 'invalid', remedy });
}

interface Question {
  readonly question: string;
  /** The value of an empty answer. */
  readonly fallback: string;
}

/** The first answer works without a service. */
const BASE_URL_QUESTION: Question = {
  question: 'Base URL of the service. Empty: a server in a file, to try edgewise',
  fallback: 'embedded:account.json',
};

/** Asks the user until the answer can be used. Returns `undefined` if there is no terminal. */
async function ask(
  { question, fallback }: Question,
  check: (answer: string) => UncodedFinding | undefined,
  context: Context,
): Promise<string | undefined> {
  for (;;) {
    const answer = (await context.ask(`${question} (${fallback}): `))?.trim();
    const value = answer === '' ? fallback : answer;
    const finding = value === undefined ? undefined : check(value);
    if (finding === undefined) return value;
    const said = `${toPrintable(finding.message)} ${toPrintable(finding.remedy ?? '')}`;
    context.stderr.write(`${wrapLastLine(said, context.stderr)}\n`);
  }
}

/** Throws if the files exist, or if the commands that are printed next would refuse the stack. */
async function refuseUnusableFiles(files: readonly NewFile[], folder: string, context: Context): Promise<void> {
  await refuseUnwritableFiles(files, { ...context, folder });
  await refuseInvalidStack(files, folder, context);
}

/**
 * Suggests a stack name made from the name of the folder, or of its parent if the folder is `manifests`. If the result
 * is invalid, suggests `main`.
 */
function suggestName(folder: string, { cwd }: Context): string {
  const path = resolve(cwd, folder);
  const name = basename(basename(path) === 'manifests' ? dirname(path) : path);
  const cleaned = name
    .toLowerCase()
    .replace(/[^a-z0-9._-]+/g, '-')
    .replace(/^[^a-z0-9]+|[^a-z0-9]+$/g, '');
  return isResourceName(cleaned) ? cleaned : 'main';
}

/**
 * Throws if the commands that are printed next would refuse the new files, because of their content, or because of files
 * that are already in the folder or Defaults above it. Nothing is written then.
 */
async function refuseInvalidStack(files: readonly NewFile[], folder: string, context: Context): Promise<void> {
  const { onSubject: _, onInput: __, ...quiet } = context;
  const planned = files
    .filter(({ path }) => isManifestName(path) && !path.includes('/'))
    .map(({ path, text }) => ({ file: join(folder, path), text }));
  const { diagnostics } = await readManifests([folder], quiet, { planned, policies: [] });
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return;
  const said = errors.map(({ message, place }) => (place === undefined ? message : `${place.file}: ${message}`));
  throw new StackError(`Nothing was written, because edgewise validate would refuse it. ${said.join('; ')}.`, {
    reason: 'invalid',
    remedy: [...new Set(errors.flatMap(({ remedy }) => remedy ?? []))].join('\n'),
  });
}

/** Throws if the bundled server cannot start with a data file, such as a folder or a file with something else. */
async function refuseUnusableDataFile(file: string, context: Context): Promise<void> {
  try {
    await openEmbeddedServer({ file, host: context, versionHeader: DEFAULT_VERSION_HEADER_NAME });
  } catch (error) {
    if (!(error instanceof StackError)) throw error;
    throw new StackError(`Nothing was written, because edgewise plan would refuse the data file. ${error.message}.`, {
      reason: 'invalid',
      remedy: error.remedy ?? 'Name a file that a command on the embedded server wrote, or one that does not exist.',
      cause: error,
    });
  }
}

interface WrittenStack {
  /** Whether a Defaults document, a flag or an answer sets the base URL. */
  readonly isPlaced: boolean;
  /** Whether the folder had a .gitignore, which is left as it is. */
  readonly hasIgnoreFile: boolean;
  readonly baseUrl: string | undefined;
  readonly defaults: readonly FoundDefaults[];
  readonly command: string;
  readonly env: Context['env'];
  /** That of the terminal; 0 means no limit. */
  readonly width: number;
}

function describeWritten(
  folder: string,
  written: readonly string[],
  { isPlaced, hasIgnoreFile, baseUrl, defaults, command, env, width }: WrittenStack,
): string {
  const shown = quoteForShell(escapePath(folder));
  const needed = [...(isPlaced ? [] : ['EDGEWISE_BASE_URL']), 'EDGEWISE_API_KEY'];
  const variables = needed.filter((name) => (env[name] ?? '') === '').join(' and ');
  const isComplete = variables === '' || (baseUrl !== undefined && isEmbedded(baseUrl));
  const inMemory = isComplete ? '' : ' --base-url embedded:';
  const shared = defaults.map(({ file }) => toPrintable(file)).join(' and ');
  const settings = shared === '' ? '' : ` The settings of the stack are those of ${shared}.`;
  const ignored = hasIgnoreFile
    ? ` To keep tokens out of git, add ${TOKENS_IGNORED} to ${toPrintable(join(folder, IGNORE_FILE))}.`
    : '';
  const check = `${command} validate ${shown}`;
  const plan = `${command} plan ${shown}${inMemory}`;
  const columns = Math.max(countColumns(check), countColumns(plan));
  const listCall = (call: string, about: string): readonly string[] => {
    const line = `  ${padToWidth(call, columns)}   ${about}`;
    return isTooWide(line, width) ? [`  ${call}`, ...wrapWithPrefix('      ', about, { width, rest: 6 })] : [line];
  };
  const lines = [
    ...wrapWithPrefix('', `Wrote ${toPrintable(written.join(', '))}.${settings}${ignored}`, { width, rest: 0 }),
    '',
    'Next:',
    ...listCall(check, 'check the manifests; no request is sent'),
    ...listCall(plan, `show what would change${isComplete ? '' : ', on a server in memory'}`),
    ...(isComplete
      ? []
      : wrapWithPrefix('', `With the service: set ${variables}, and leave out --base-url.`, { width, rest: 0 })),
  ];
  return `${lines.join('\n')}\n`;
}
