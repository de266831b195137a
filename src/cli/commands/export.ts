import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import { createFilePerDocument, type ExportResult, renderSingleFile } from '../../export/export-live.ts';
import { isResourceName } from '../../model/address.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import { StackError } from '../../model/user-errors.ts';
import { readDefaultsAbove } from '../../repository/read-stack-tree.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import {
  type AttachableResource,
  createExportRequest,
  listAttachedKindIdFormats,
  parseAttachedResourceIdPath,
} from '../../stack/export-resources.ts';
import { describeServiceOrigin, resolveServiceSettings } from '../../stack/settings.ts';
import { refuseMissingDataFile } from '../connection/data-file.ts';
import { withAccount } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { chooseEditorSchema, detectInvocation, writeNewFiles } from '../output/new-files.ts';
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
    .argument('[kinds...]', `kinds to export, such as ${EXAMPLE_KINDS[0]} (default: all that the API lists)`);
  const { success, failed, invalid, authentication, refused } = EXIT;
  addToCommand(command, {
    options: [
      new Option(
        '-o, --out <folder>',
        'write a file for each resource to this folder; needs --owner (default: one text on stdout)',
      ),
      new Option(
        '--owner <name>',
        'stack that will own the resources, written as a Stack document; what it already owns is exported too',
      ).argParser(parseStack),
      new Option(
        '--names <state>',
        'only what this Terraform state has too, with its names: a state file, or - for terraform show -json',
      ),
      new Option(
        '--strict',
        'with --names: write nothing if the state calls a value sensitive that a manifest would have',
      ),
      new Option('--force', 'with -o: replace files that exist'),
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
      [`edgewise export ${EXAMPLE_KINDS.join(' ')}`, 'look at some kinds'],
      ['edgewise export --owner production > edgewise.yaml', 'everything in one file'],
      ['edgewise export --names terraform.tfstate', 'what Terraform manages, with the names from there'],
    ],
  }).action((kinds: string[], flags: ExportCommandFlags) =>
    act(TEXT_ONLY_FORMAT_FLAGS, (context) => exportManifests(kinds, flags, context)),
  );
}

async function exportManifests(
  kinds: readonly string[],
  flags: ExportCommandFlags,
  context: Context,
): Promise<ExitCode> {
  checkFlags(flags);
  createExportRequest(kinds, flags.modulesOf);
  const names = flags.names === undefined ? undefined : await readTerraformNames(flags.names, context);
  const settings = resolveServiceSettings({ flags, env: context.env });
  context.onSubject?.({ service: describeServiceOrigin({ flags, env: context.env }) });
  refuseMissingDataFile(settings, context);
  const exported = await withAccount(settings, context, ({ account, signal }) =>
    account.export({
      kinds,
      attached: flags.modulesOf,
      stack: flags.owner,
      signal,
      names,
    }),
  );
  if (flags.strict === true) refuseSensitiveFields(exported);
  const notes = describeNotes(exported);
  if (flags.out === undefined) {
    context.stdout.write(renderSingleFile(exported));
    context.stderr.write(notes);
  } else await writeFiles(exported, { folder: flags.out, flags, context, notes });
  return EXIT.success;
}

/**
 * Throws if a flag is missing or has no effect. `--owner` has no default, because two repositories with the same owner
 * would prune each other's resources.
 */
function checkFlags({ out, owner, force, names, strict }: ExportCommandFlags): void {
  const createError = (message: string, remedy: string) => new StackError(message, { reason: 'invalid', remedy });
  if (out !== undefined && owner === undefined)
    throw createError(
      'The stack that will own the exported resources is not named.',
      'Choose a name for it: --owner NAME.',
    );
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

async function writeFiles(
  exported: ExportResult,
  {
    folder,
    flags,
    context,
    notes,
  }: { readonly folder: string; readonly flags: ExportCommandFlags; readonly context: Context; readonly notes: string },
): Promise<void> {
  const schema = chooseEditorSchema(folder, {
    ...context,
    defaults: readDefaultsAbove(folder, context).map((one) => one.folder),
  });
  const files = createFilePerDocument(exported, { schema: schema.path });
  const all = [...files, ...schema.files];
  const paths = await writeNewFiles(all, { ...context, folder, force: flags.force === true });
  const { resources } = exported;
  context.stdout.write(
    [
      `Exported ${resources} ${resources === 1 ? 'resource' : 'resources'} for the stack ${flags.owner}:\n`,
      ...listPaths(paths).map((line) => `  ${toPrintable(line)}\n`),
      notes,
      `Adopt it: ${detectInvocation(context)} plan ${quoteForShell(escapePath(folder))}\n`,
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
