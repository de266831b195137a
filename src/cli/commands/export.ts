import { dirname, resolve } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { ExportResult } from '../../export/export-live.ts';
import { createFilePerDocument, renderSingleFile } from '../../export/layout.ts';
import { findStackFileUpward } from '../../manifest/load-upward.ts';
import { createSourceFiles } from '../../manifest/source-files.ts';
import { isResourceName } from '../../model/address.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import type { DesiredState } from '../../model/state.ts';
import { StackError } from '../../model/user-errors.ts';
import { formatCount } from '../../report/view/wording.ts';
import { readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import {
  type AttachableResource,
  createExportRequest,
  exportResources,
  listAttachedKindIdFormats,
  parseAttachedResourceIdPath,
} from '../../stack/export-resources.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { describeServiceOrigin, resolveServiceSettings, resolveSettingsFromManifests } from '../../stack/settings.ts';
import { withAccounts } from '../connection/accounts.ts';
import { refuseMissingDataFile } from '../connection/data-file.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { detectInvocation } from '../output/invocation.ts';
import { chooseEditorSchema, listExistingFiles, writeNewFiles } from '../output/new-files.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { TEXT_ONLY_FORMAT_FLAGS } from '../output/present.ts';
import { addToCommand, CONNECTION_OPTIONS, createRepeatableOption, EXAMPLE_KINDS } from './options.ts';
import { readTerraformNames } from './terraform-names.ts';

interface ExportCommandFlags extends ConnectionFlags {
  readonly out?: string;
  readonly owner?: string;
  readonly force?: boolean;
  readonly modulesOf: readonly AttachableResource[];
  readonly names?: string;
  readonly strict?: boolean;
}

export function configureExportCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Write live resources as manifests that adopt them. Sends GET requests only.')
    .argument('[names...]', `Kind/name, ids and kinds, such as ${EXAMPLE_KINDS[0]} (default: all that the API lists)`);
  const { success, failed, invalid, authentication, refused } = EXIT;
  addToCommand(command, {
    options: [
      new Option(
        '-o, --out <folder>',
        'write a file for each resource to this folder. A folder of a stack gets what its manifests do not describe yet; a new one needs --owner (default: one text on stdout)',
      ),
      new Option(
        '--owner <name>',
        'new stack that will own the resources, written as a Stack document; what it already owns is exported too',
      ).argParser(parseStack),
      new Option(
        '--names <state>',
        'only what this Terraform state has too, with its names: a state file, or - for terraform show -json',
      ),
      new Option(
        '--strict',
        'with --names: write nothing if the state calls a value sensitive that a manifest would have',
      ),
      new Option('--force', 'with -o: replace files that exist and are no manifests of the stack, and say which'),
      createRepeatableOption(
        '--modules-of <id>',
        `also the modules of this: ${listAttachedKindIdFormats().join(', ')}`,
        {
          parse: parseIds,
        },
      ),
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, invalid, authentication, refused],
    examples: [
      [
        'edgewise export -o manifests --owner production',
        'everything, with the Stack: edgewise plan manifests adopts it',
      ],
      ['edgewise export -o manifests', 'what is new since then'],
      [`edgewise export ${EXAMPLE_KINDS.join(' ')}`, 'look at some kinds'],
      ['edgewise export --owner production > edgewise.yaml', 'everything in one file'],
      ['edgewise export --names terraform.tfstate', 'what Terraform manages, with the names from there'],
    ],
  }).action((names: string[], flags: ExportCommandFlags) =>
    act(TEXT_ONLY_FORMAT_FLAGS, (context) => exportManifests(names, flags, context)),
  );
}

async function exportManifests(
  only: readonly string[],
  flags: ExportCommandFlags,
  context: Context,
): Promise<ExitCode> {
  checkFlags(flags);
  const described = await readStackAround(flags, context);
  if (flags.out !== undefined && flags.owner === undefined && described === undefined)
    throw new StackError('The stack that will own the exported resources is not named.', {
      reason: 'invalid',
      remedy: 'Choose a name for it: --owner NAME. Or name a folder that has a Stack.',
    });
  createExportRequest({ only, attached: flags.modulesOf, described });
  const state = flags.names === undefined ? undefined : await readTerraformNames(flags.names, context);
  const layers = described?.stack.layers ?? [];
  const settings =
    described === undefined
      ? resolveServiceSettings({ flags, env: context.env })
      : resolveSettingsFromManifests({ flags }, context, layers);
  context.onSubject?.({ service: describeServiceOrigin({ flags, env: context.env, layers }) });
  refuseMissingDataFile(settings, context);
  const stack = described?.stack.name ?? flags.owner;
  const exported = await withAccounts(context, async ({ accounts, signal }) =>
    exportResources(await accounts.get(settings).open(), {
      ...{ only, attached: flags.modulesOf, stack, described, settings, signal, names: state },
    }),
  );
  if (flags.strict === true) refuseSensitiveFields(exported);
  const notes = describeNotes(exported);
  if (flags.out === undefined) {
    context.stdout.write(renderSingleFile(exported));
    context.stderr.write(notes);
  } else await writeFiles(exported, { folder: flags.out, stack, described, flags, context, notes });
  return EXIT.success;
}

/**
 * Reads the manifests of the stack that the folder belongs to. `undefined`: it belongs to none, or to another stack, in
 * whose folder the one of `--owner` begins.
 */
async function readStackAround(
  { out, owner }: Pick<ExportCommandFlags, 'out' | 'owner'>,
  whole: Context,
): Promise<DesiredState | undefined> {
  if (out === undefined) return undefined;
  const context = { ...whole, files: createSourceFiles() };
  const file = findStackFileUpward(out, context);
  if (file === undefined) return undefined;
  const isInside = resolve(context.cwd, dirname(file)) !== resolve(context.cwd, out);
  const { state } = await readValidManifests([dirname(file)], context);
  if (owner === undefined || owner === state.stack.name) return state;
  if (isInside) return undefined;
  throw new StackError(`${file} is of the stack ${state.stack.name}, and --owner names the stack ${owner}.`, {
    reason: 'invalid',
    remedy: 'Leave out --owner, or name another folder.',
  });
}

/** Throws if a flag has no effect. */
function checkFlags({ out, force, names, strict }: ExportCommandFlags): void {
  const createError = (message: string, remedy: string) => new StackError(message, { reason: 'invalid', remedy });
  if (out === undefined && force === true)
    throw createError('--force works only with a folder.', 'Name the folder with -o FOLDER, or leave out --force.');
  if (strict === true && names === undefined)
    throw createError(
      '--strict works only with --names.',
      'Name a Terraform state with --names, or leave out --strict.',
    );
}

/** For `--strict`. */
function refuseSensitiveFields({ sensitive }: ExportResult): void {
  if (sensitive.length === 0) return;
  const lines = sensitive.map(
    ({ address, field, stateAddress }) =>
      `${address}: ${field} is sensitive in the state (${toPrintable(stateAddress)}), and would be in plain text in the manifest.`,
  );
  throw new StackError(lines, {
    reason: 'invalid',
    remedy: 'Nothing was written. Without --strict, this is a warning.',
  });
}

interface WrittenExport {
  readonly folder: string;
  readonly stack: string | undefined;
  readonly described: DesiredState | undefined;
  readonly flags: ExportCommandFlags;
  readonly context: Context;
  readonly notes: string;
}

async function writeFiles(
  exported: ExportResult,
  { folder, stack, described, flags, context, notes }: WrittenExport,
): Promise<void> {
  const { resources, described: known } = exported;
  const before = known === 0 ? '' : ` ${formatCount(known, 'other')} ${known === 1 ? 'is' : 'are'} described already.`;
  if (resources === 0 && described !== undefined) {
    context.stdout.write(`Nothing to export for the stack ${stack}.${before}\n${notes}`);
    return;
  }
  const schema = chooseEditorSchema(folder, {
    ...context,
    defaults: [...(described?.paths ?? []), ...readDefaultsAbove(folder, context).map((one) => one.folder)],
  });
  const inputs = new Set(described?.inputs.map(({ file }) => resolve(context.cwd, file)));
  const isTaken = (path: string) => inputs.has(resolve(context.cwd, folder, path));
  const files = [...createFilePerDocument(exported, { schema: schema.path, isTaken }), ...schema.files];
  const replaced = await listExistingFiles(files, { folder, cwd: context.cwd });
  const paths = await writeNewFiles(files, { ...context, folder, force: flags.force === true });
  const title = `Exported ${formatCount(resources, 'resource')} for the stack ${stack}${known === 0 ? '' : '.'}${before}`;
  const around = described?.paths?.[0] ?? folder;
  context.stdout.write(
    [
      `${title}${known === 0 ? ':' : ''}\n`,
      ...listPaths(paths).map((line) => `  ${toPrintable(line)}\n`),
      ...(replaced.length === 0 ? [] : ['Replaced:\n', ...replaced.map((path) => `  ${toPrintable(path)}\n`)]),
      notes,
      // Only the Stack, of an account that has nothing to adopt.
      ...(resources === 0
        ? []
        : [`Adopt it: ${detectInvocation(context)} plan ${quoteForShell(escapePath(around))}\n`]),
    ].join(''),
  );
}

/** Formats the paths as lines. A folder with many files becomes one line with the number of files. */
function listPaths(paths: readonly string[]): readonly string[] {
  return [...Map.groupBy(paths, dirname)].flatMap(([folder, members]) =>
    members.length > MAX_LISTED ? [`${folder}/ (${members.length} files)`] : members,
  );
}

/** More paths of one folder would hide the paths of the other folders. */
const MAX_LISTED = 10;

function describeNotes({ leftOut, notes }: ExportResult): string {
  const sections = [
    { title: 'Left out', lines: leftOut.map(({ kind, id, reason }) => `${kind} ${id}: ${reason}`) },
    ...notes,
  ];
  const texts = sections.flatMap(({ title, lines }) =>
    lines.length === 0 ? [] : [`${title}:`, ...lines.map((line) => `  ${toPrintable(line)}`)],
  );
  return texts.map((line) => `${line}\n`).join('');
}

function parseStack(text: string): string {
  if (isResourceName(text)) return text;
  throw new InvalidArgumentError(
    'A name is 1 to 63 lower-case letters, digits, `.`, `_` and `-`, and starts and ends with a letter or digit.',
  );
}

function parseIds(text: string): AttachableResource {
  const attached = parseAttachedResourceIdPath(text);
  if (attached !== undefined) return attached;
  throw new InvalidArgumentError(`It is one of ${listAttachedKindIdFormats().join(', ')}.`);
}
