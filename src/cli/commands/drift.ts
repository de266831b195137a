import { type Command, Option } from 'commander';
import { listFormatNames } from '../../report/formats.ts';
import type { RequestScope } from '../../settings/request.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { EXIT } from '../exit-code.ts';
import type { CommandBodyRunner, FormatFlags } from '../output/present.ts';
import { runDrift } from '../reconcile/run-stacks.ts';
import type { StackFilterFlags } from '../reconcile/with-stacks.ts';
import {
  addToCommand,
  CONNECTION_OPTIONS,
  createDetailedReportOptions,
  createRequestOptions,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  SHOW_SECRETS,
} from './options.ts';

interface DriftCommandFlags extends ConnectionFlags, FormatFlags, StackFilterFlags, RequestScope {}

export function configureDriftCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Show changes that were made at the service, and unmanaged resources. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  const { success, failed, changes, invalid, authentication } = EXIT;
  addToCommand(command, {
    options: [
      ...RECURSIVE_OPTIONS,
      new Option('--detailed-exitcode', 'accepted, as in plan: drift always exits with 2 when something differs'),
      ...createRequestOptions(['targets', 'exclusions']),
      ...createDetailedReportOptions(listFormatNames('drift')),
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, changes, invalid, authentication],
    examples: [
      ['edgewise drift manifests', 'exit code 0: no drift; 2: something differs'],
      ['edgewise drift manifests --report json=drift.json', 'keep the details for another program'],
      ['edgewise drift manifests --report metrics=edgewise.prom', 'gauges for a textfile collector'],
    ],
  }).action((paths: string[], flags: DriftCommandFlags) =>
    act(flags, (context) => {
      refuseFiltersWithoutRecursive(flags);
      return runDrift(paths, flags, context);
    }),
  );
}
