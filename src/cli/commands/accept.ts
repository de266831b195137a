import { type Command, Option } from 'commander';
import { parseDriftName } from '../../accept/parse-name.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { StackError } from '../../model/user-errors.ts';
import { listFormatNames } from '../../report/formats.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandBodyRunner, FormatFlags, ReportFileTarget } from '../output/present.ts';
import { type AcceptFlags, acceptStacks } from '../reconcile/accept-stacks.ts';
import {
  addToCommand,
  COLOR,
  CONNECTION_OPTIONS,
  createReportOption,
  EXAMPLE_ADDRESS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  YES,
} from './options.ts';

interface AcceptCommandFlags extends Omit<AcceptFlags, 'format'> {
  readonly report?: readonly ReportFileTarget[];
}

export function configureAcceptCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Write changes that were made at the service into the manifests. Sends GET requests only.')
    .argument('[names-and-paths...]', 'what to accept: KIND/NAME, or KIND/NAME:FIELD; and files or folders');
  const { success, failed, changes, invalid, authentication, refused, stale, interrupted } = EXIT;
  addToCommand(command, {
    options: [
      new Option('--all', 'every field that has only drifted and has no danger'),
      new Option('--dry-run', 'show the difference, and write nothing'),
      YES,
      ...RECURSIVE_OPTIONS,
      COLOR,
      createReportOption(listFormatNames('drift'), 'also write the drift report to a file'),
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, changes, invalid, authentication, refused, stale, interrupted],
    examples: [
      [`edgewise accept ${EXAMPLE_ADDRESS}`, 'what has only drifted, and has no danger'],
      [`edgewise accept ${EXAMPLE_ADDRESS}:ip_restriction manifests`, 'one field, with its danger'],
      ['edgewise accept --all manifests --dry-run', 'exit code 2 when files would change'],
      ['edgewise accept --all manifests --yes --report markdown=drift.md', 'for a nightly pull request'],
    ],
  }).action((words: string[], flags: AcceptCommandFlags) => {
    const format: FormatFlags = { ...flags, format: 'text' };
    return act(format, (context) => {
      const { names, paths } = splitWords(words);
      if (names.length === 0 && flags.all !== true)
        throw new StackError('Nothing is named to accept.', {
          reason: 'invalid',
          remedy: `Name what drift lists, such as ${EXAMPLE_ADDRESS}, or everything that has only drifted: --all.`,
        });
      refuseFiltersWithoutRecursive(flags);
      return acceptStacks(paths, { flags: { ...flags, ...format }, names }, context);
    });
  });
}

/** Tells names of resources from paths. A folder with the name of a kind is written with `./`. */
function splitWords(words: readonly string[]): {
  readonly names: readonly string[];
  readonly paths: readonly string[];
} {
  const isName = (word: string): boolean => {
    const [kind] = parseDriftName(word)?.address.split('/') ?? [];
    return kind !== undefined && findKind(kind) !== undefined;
  };
  return { names: words.filter(isName), paths: words.filter((word) => !isName(word)) };
}
