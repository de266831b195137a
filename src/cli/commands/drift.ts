import type { Command } from 'commander';
import { type Drift, hasDrift, isEveryTargetCompared } from '../../model/drift.ts';
import { listFormatNames } from '../../report/formats.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { withStack } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { showDriftOfStacks } from '../multi-stack/read-stacks.ts';
import type { StackFilterFlags } from '../multi-stack/stacks-run.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { outputReport } from '../output/output-report.ts';
import type { CommandBodyRunner, FormatFlags } from '../output/present.ts';
import { resolveStackConnection } from '../reconcile/plan-flags.ts';
import {
  addConnectionOptions,
  addDetailedReportOptions,
  addExamples,
  addExitCodes,
  addRecursiveOptions,
  addShowSecretsOption,
  addTargetOption,
  isRecursive,
} from './options.ts';

interface DriftCommandFlags extends ConnectionFlags, FormatFlags, StackFilterFlags {
  readonly recursive?: boolean;
  readonly target: readonly string[];
  readonly exclude: readonly string[];
}

export function configureDriftCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Show changes that were made at the service, and unmanaged resources. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  addRecursiveOptions(command);
  const { success, failed, changes, invalid, authentication } = EXIT;
  addExitCodes(command, [success, failed, changes, invalid, authentication]);
  addDetailedReportOptions(addTargetOption(command), listFormatNames('drift'));
  addExamples(addConnectionOptions(addShowSecretsOption(command)), [
    ['edgewise drift manifests', 'exit code 0: no drift; 2: something differs'],
    ['edgewise drift manifests --report json=drift.json', 'keep the details for another program'],
    ['edgewise drift manifests --report metrics=edgewise.prom', 'gauges for a collector of text files'],
  ]).action((paths: string[], flags: DriftCommandFlags) => act(flags, (context) => driftAny(paths, flags, context)));
}

async function driftAny(paths: readonly string[], flags: DriftCommandFlags, context: Context): Promise<ExitCode> {
  if (!isRecursive(flags)) return drift(paths, flags, context);
  return showDriftOfStacks(paths, flags, context);
}

async function drift(paths: readonly string[], flags: DriftCommandFlags, context: Context): Promise<ExitCode> {
  const { state, diagnostics, locate } = await readValidManifests(paths, context);
  const settings = resolveStackConnection(flags, context, state);
  await refuseOverwrittenInputs(flags, { files: [], settings }, context);
  const { tokens } = state.stack;
  const found = await withStack({ state, diagnostics, settings, tokens }, context, ({ stack, signal }) =>
    stack.drift({ targets: flags.target, exclusions: flags.exclude, signal }),
  );
  const publication = { flags, exitCode: exitCodeOfDrift(found), locate };
  return outputReport({ about: 'drift', drift: found, keyEnv: settings.keyEnv }, publication, context);
}

function exitCodeOfDrift(found: Drift): ExitCode {
  if (!isEveryTargetCompared(found)) return EXIT.invalid;
  return hasDrift(found) ? EXIT.changes : EXIT.success;
}
