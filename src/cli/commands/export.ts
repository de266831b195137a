import { dirname } from 'node:path';
import { type Command, InvalidArgumentError, Option } from 'commander';
import type { Exported } from '../../export/export-live.ts';
import { type ExportLayout, LAYOUTS, layOut, toSingleText } from '../../export/lay-out.ts';
import { isResourceName } from '../../model/address.ts';
import { toPrintable } from '../../model/printable.ts';
import { type Attached, listIdShapes, parseAttached, toExportRequest } from '../../stack/export-resources.ts';
import { type ConnectionFlags, resolveSettings } from '../../stack/settings.ts';
import { withAccount } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { findEditorSchema } from '../output/editor-schema.ts';
import { findOwnCommand } from '../output/own-command.ts';
import { PLAIN } from '../output/present.ts';
import { writeNewFiles } from '../output/write-new-files.ts';
import type { Act } from './act.ts';
import { EXAMPLE_KINDS } from './example-names.ts';
import { addConnectionOptions, addExamples, addExitCodes, repeatable } from './options.ts';

interface Flags extends ConnectionFlags {
  readonly out?: string;
  readonly layout?: ExportLayout;
  readonly stack?: string;
  readonly force?: boolean;
  readonly modulesOf: readonly Attached[];
}

/** `edgewise export`. */
export function defineExport(command: Command, act: Act): void {
  command
    .description('Write live resources as manifests that adopt them. Sends GET requests only.')
    .argument('[kinds...]', `kinds to export, such as ${EXAMPLE_KINDS[0]} (default: all that the interface lists)`)
    .option('-o, --out <folder>', 'write files to this folder; needs --stack (default: one text on stdout)')
    .addOption(
      new Option('--layout <layout>', 'with -o: how to divide it into files (default: per-resource)').choices(LAYOUTS),
    )
    .addOption(
      new Option(
        '--stack <name>',
        'stack that will own the resources, written as a Stack document; what it already owns is exported too',
      ).argParser(parseStack),
    )
    .option('--force', 'with -o: replace files that exist')
    .addOption(
      repeatable('--modules-of <id>', `also the modules of this: ${listIdShapes().join(', ')}`, {
        parse: parseIds,
      }),
    );
  const { done, failed, invalid, authentication, refused } = EXIT;
  addExitCodes(command, [done, failed, invalid, authentication, refused]);
  addExamples(addConnectionOptions(command), [
    [
      'edgewise export -o manifests --stack production',
      'everything, with the Stack: edgewise plan manifests adopts it',
    ],
    [`edgewise export ${EXAMPLE_KINDS.join(' ')}`, 'look at some kinds'],
    ['edgewise export -o manifests --stack production --layout per-kind', 'a file for each kind'],
  ]).action((kinds: string[], flags: Flags) => act(PLAIN, (context) => exportManifests(kinds, flags, context)));
}

async function exportManifests(kinds: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  checkFlags(flags);
  toExportRequest(kinds, flags.modulesOf);
  const settings = resolveSettings(flags, context.env, {});
  const exported = await withAccount(settings, context, ({ account, signal }) =>
    account.export({ kinds, attached: flags.modulesOf, stack: flags.stack, signal }),
  );
  if (flags.out === undefined) showText(exported, context);
  else await writeFiles(exported, { folder: flags.out, flags, context });
  return EXIT.done;
}

/** There is no default name: two repositories that share one would prune each other. */
function checkFlags({ out, stack, layout, force }: Flags): void {
  const refuse = (message: string, remedy: string) => new CommandError(message, { exitCode: EXIT.invalid, remedy });
  if (out !== undefined && stack === undefined)
    throw refuse('The stack that will own the exported resources is not named.', 'Name a new stack: --stack NAME.');
  if (out === undefined && (layout !== undefined || force === true))
    throw refuse('--layout and --force are about files.', 'Name a folder for them: -o FOLDER.');
}

function showText(exported: Exported, { stdout, stderr }: Context): void {
  stdout.write(toSingleText(exported));
  stderr.write(describeLeftOut(exported));
}

async function writeFiles(
  exported: Exported,
  { folder, flags, context }: { readonly folder: string; readonly flags: Flags; readonly context: Context },
): Promise<void> {
  const schema = findEditorSchema(folder, context.cwd);
  const files = layOut(exported, flags.layout ?? 'per-resource', { schema: schema.path });
  const all = [...files, ...schema.files];
  const paths = await writeNewFiles(all, { folder, cwd: context.cwd, force: flags.force === true });
  const { resources } = exported;
  context.stdout.write(
    [
      `Exported ${resources} ${resources === 1 ? 'resource' : 'resources'} for the stack ${flags.stack}:\n`,
      ...listPaths(paths).map((line) => `  ${line}\n`),
      describeLeftOut(exported),
      `Adopt it: ${findOwnCommand(context)} plan ${folder}\n`,
    ].join(''),
  );
}

/** Of a folder with many files, how many there are. */
function listPaths(paths: readonly string[]): readonly string[] {
  return [...Map.groupBy(paths, dirname)].flatMap(([folder, members]) =>
    members.length > FEW ? [`${folder}/ (${members.length} files)`] : members,
  );
}

const FEW = 10;

function describeLeftOut({ leftOut }: Exported): string {
  if (leftOut.length === 0) return '';
  return `Left out:\n${leftOut.map(({ kind, id, reason }) => `  ${toPrintable(`${kind} ${id}: ${reason}`)}\n`).join('')}`;
}

function parseStack(text: string): string {
  if (isResourceName(text)) return text;
  throw new InvalidArgumentError(
    'A name is 1 to 63 lower-case letters, digits, `.`, `_` and `-`, and starts and ends with a letter or digit.',
  );
}

function parseIds(text: string): Attached {
  const attached = parseAttached(text);
  if (attached !== undefined) return attached;
  throw new InvalidArgumentError(`It is one of ${listIdShapes().join(', ')}.`);
}
