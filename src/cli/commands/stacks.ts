import { type Command, Option } from 'commander';
import { createSourceFiles } from '../../manifest/source-files.ts';
import { isResourceName } from '../../model/address.ts';
import { assertNever } from '../../model/errors.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackListing } from '../../model/stack-tree.ts';
import { StackError } from '../../model/user-errors.ts';
import {
  findGitLabReference,
  renderGitHubMatrix,
  renderGitLabMatrix,
  renderStackFolderLines,
  renderStacksJson,
} from '../../report/machine/stacks.ts';
import { renderStacksText } from '../../report/text/lists.ts';
import { quoteIfNeeded } from '../../report/view/escape.ts';
import { formatStackSelectionSummary, listFilesWithoutStackLines } from '../../report/view/run-wording.ts';
import type { GivenConnection } from '../../repository/read-stack-tree.ts';
import { selectStacks } from '../../repository/select-stacks.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { getTextOptions } from '../output/present.ts';
import { confineFilesToRepository, type StackFilterFlags, toSelectionOptions } from '../reconcile/with-stacks.ts';
import { OUTPUT_OPTIONS_HEADING } from './help.ts';
import { addToCommand, COLOR, createStackFilterOptions, TRUST_OPTIONS } from './options.ts';

const STACK_LIST_FORMATS = ['table', 'json', 'folder', 'github', 'gitlab'] as const;

interface StacksCommandFlags extends StackFilterFlags, GivenConnection {
  readonly format: (typeof STACK_LIST_FORMATS)[number];
  readonly color: boolean;
}

export function configureStacksCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description(
      'List the stacks below a folder: every folder with a Stack document. The formats github and gitlab print a matrix with one job per stack. Sends no request.',
    )
    .argument('[root]', 'the folder (default: the current folder)');
  addToCommand(command, {
    options: [
      ...createStackFilterOptions(),
      ...TRUST_OPTIONS,
      new Option('--base-url <url>', 'URL of the service for all stacks; their names must then differ'),
      new Option('--format <format>', 'format of the list')
        .choices(STACK_LIST_FORMATS)
        .default('table')
        .helpGroup(OUTPUT_OPTIONS_HEADING),
      COLOR,
    ],
    exitCodes: [EXIT.success, EXIT.failed, EXIT.invalid],
    examples: [
      ['edgewise stacks', 'every stack below the current folder'],
      ['edgewise stacks live --changed-since origin/main', 'those that a pull request touches'],
      ['edgewise stacks --format json', 'for jobs that each run one, with --stack'],
    ],
  }).action((root: string | undefined, flags: StacksCommandFlags) =>
    act({ ...flags, format: flags.format === 'json' ? 'json' : 'text' }, (context) =>
      printStacks(root ?? '.', flags, context),
    ),
  );
}

async function printStacks(root: string, flags: StacksCommandFlags, context: Context): Promise<ExitCode> {
  const reading = { ...confineFilesToRepository(root, context), files: createSourceFiles() };
  const { tree, ...selected } = await selectStacks(root, toSelectionOptions(flags), reading);
  const { stacks, filesWithoutStack, diagnostics } = tree;
  const listing = { root, total: stacks.length, filesWithoutStack, diagnostics, ...selected };
  if (NAMED_FORMATS.includes(flags.format)) refuseInvalidNames(listing);
  context.stdout.write(renderStacks(listing, flags, context));
  if (flags.format === 'table' || flags.format === 'json') return EXIT.success;
  // The formats for programs do not contain the summary, so write it to stderr.
  for (const line of [formatStackSelectionSummary(listing), ...listFilesWithoutStackLines(listing)])
    context.stderr.write(`${toPrintable(line)}\n`);
  return EXIT.success;
}

function renderStacks(listing: StackListing, { format, color }: StacksCommandFlags, context: Context): string {
  switch (format) {
    case 'table':
      return renderStacksText(listing, getTextOptions(context.stdout, context, { format: 'text', color }));
    case 'json':
      return renderStacksJson(listing);
    case 'folder':
      return renderStackFolderLines(listing);
    case 'github':
      refuseMoreJobs(listing, { system: 'GitHub', most: 256 });
      return renderGitHubMatrix(listing);
    case 'gitlab':
      refuseMoreJobs(listing, { system: 'GitLab', most: 200 });
      refuseGitLabReferences(listing);
      return renderGitLabMatrix(listing);
    default:
      return assertNever(format);
  }
}

/** Formats from which jobs take the names of their stacks. */
const NAMED_FORMATS: readonly StacksCommandFlags['format'][] = ['json', 'github', 'gitlab'];

/**
 * Throws for a stack without a valid name. A job without a name would run every stack, and a name with other characters
 * could act on the shell or the forge that fills it in.
 */
function refuseInvalidNames({ stacks }: StackListing): void {
  const files = stacks.filter(({ name }) => !isResourceName(name)).map(({ file }) => file);
  if (files.length === 0) return;
  throw new StackError(
    files.map((file) => `The Stack in ${quoteIfNeeded(file)} has no valid name.`),
    { reason: 'invalid', remedy: 'Run edgewise validate on its folder. A name with a variable needs --env.' },
  );
}

/** Throws if a matrix has more jobs than the system runs: it would run none of them, or not all. */
function refuseMoreJobs(
  { stacks }: StackListing,
  { system, most }: { readonly system: string; readonly most: number },
): void {
  if (stacks.length <= most) return;
  throw new StackError(`${stacks.length} stacks are more jobs than a matrix of ${system} can have: ${most}.`, {
    reason: 'invalid',
    remedy: 'Run one job over all of them with -R, or make a matrix for each part of the repository, by its folder.',
  });
}

function refuseGitLabReferences({ stacks }: StackListing): void {
  const messages = stacks.flatMap(({ name, folder }) => {
    const reference = findGitLabReference(folder) ?? findGitLabReference(name);
    if (reference === undefined) return [];
    return [
      `The stack ${quoteIfNeeded(name)} in ${folder} cannot be in a matrix: GitLab would replace ${reference} by the value of a variable.`,
    ];
  });
  if (messages.length === 0) return;
  throw new StackError(messages, {
    reason: 'invalid',
    remedy: 'Rename the folder or the stack. GitLab has no way to escape a %.',
  });
}
