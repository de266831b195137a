import type { Command } from 'commander';
import { type Drift, hasDrift, isEveryTargetCompared } from '../../model/drift.ts';
import { listFormatNames } from '../../report/formats.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import type { SavedFile } from '../../stack/saved-plan.ts';
import { type ConnectionFlags, withAccount, withStack } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { showDriftOfStacks } from '../multi-stack/read-stacks.ts';
import type { StackFilterFlags } from '../multi-stack/stacks-run.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { outputReport } from '../output/output-report.ts';
import type { CommandBodyRunner, FormatFlags } from '../output/present.ts';
import { createLocateAtPlanFileStart, readPlanFile } from '../reconcile/plan-file.ts';
import {
  refuseMismatchedPlanFile,
  resolveSavedPlanConnection,
  resolveStackConnection,
} from '../reconcile/plan-flags.ts';
import {
  addConnectionOptions,
  addDetailedReportOptions,
  addExamples,
  addExitCodes,
  addRecursiveOptions,
  addShowSecretsOption,
  addTargetOption,
  createRepeatableOption,
  isRecursive,
  refuseManifestsFlagsWithoutPlan,
} from './options.ts';

interface Flags extends ConnectionFlags, FormatFlags, StackFilterFlags {
  readonly recursive?: boolean;
  readonly target: readonly string[];
  readonly exclude: readonly string[];
  readonly against?: string;
  /** With `--against`: the manifests of the plan, whose Stack document sets the connection. */
  readonly manifests?: readonly string[];
}

export function configureDriftCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Show changes that were made at the service, and unmanaged resources. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)')
    .option('--against <plan>', 'compare with the result of a saved plan, without manifests');
  addRecursiveOptions(command).addOption(
    createRepeatableOption('--manifests <path>', 'with --against: manifests whose Stack says where the service is'),
  );
  const { success, failed, changes, invalid, authentication } = EXIT;
  addExitCodes(command, [success, failed, changes, invalid, authentication]);
  addDetailedReportOptions(addTargetOption(command), listFormatNames('drift'));
  addExamples(addConnectionOptions(addShowSecretsOption(command)), [
    ['edgewise drift manifests', 'exit code 0: no drift; 2: something differs'],
    ['edgewise drift manifests --report json=drift.json', 'keep the details for another program'],
    ['edgewise drift manifests --report metrics=edgewise.prom', 'gauges for a collector of text files'],
    ['edgewise drift --against plan.json', 'whether the result of a plan is still in place'],
  ]).action((paths: string[], flags: Flags) =>
    act(flags, (context) =>
      flags.against === undefined ? driftAny(paths, flags, context) : driftAgainst(paths, flags, context),
    ),
  );
}

async function driftAny(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  refuseManifestsFlagsWithoutPlan(flags);
  if (!isRecursive(flags)) return drift(paths, flags, context);
  return showDriftOfStacks(paths, flags, context);
}

async function drift(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
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

async function driftAgainst(paths: readonly string[], flags: Flags, context: Context): Promise<ExitCode> {
  const { against: file = '' } = flags;
  if (isRecursive(flags) || paths.length > 0 || flags.target.length + flags.exclude.length > 0) {
    const message = '--against compares with a whole plan. Leave out paths, -R, --target and --exclude.';
    throw new CommandError(message, { exitCode: EXIT.invalid });
  }
  const saved = { plan: await readPlanFile(file, context), name: file };
  const { settings, roots, locate } = await readAgainst(saved, flags, context);
  await refuseOverwrittenInputs(flags, { files: [], settings }, context);
  const found = await withAccount(settings, context, ({ account, signal }) =>
    account.drift({ ...saved, roots, signal }),
  );
  const publication = { flags, exitCode: exitCodeOfDrift(found), locate };
  return outputReport({ about: 'drift', drift: found, keyEnv: settings.keyEnv }, publication, context);
}

/**
 * Resolves connection, roots and positions from `--manifests`, else from the plan file, which leaves roots undefined.
 */
async function readAgainst(saved: SavedFile, flags: Flags, context: Context) {
  const { manifests: paths = [] } = flags;
  if (paths.length === 0)
    return {
      settings: resolveSavedPlanConnection(saved, flags, context),
      roots: undefined,
      locate: createLocateAtPlanFileStart(saved.name),
    };
  // Do not run render commands, because only the Stack document is needed.
  const { state, locate } = await readValidManifests(paths, context, { isRendered: false });
  const settings = resolveStackConnection(flags, context, state);
  refuseMismatchedPlanFile(saved, { settings, stack: state.stack });
  return { settings, roots: state.roots, locate };
}
