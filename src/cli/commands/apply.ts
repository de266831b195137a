import type { Command } from 'commander';
import { refuseToWriteUntrusted } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import type { ApplyFlags } from '../reconcile/apply-stacks.ts';
import { type ApprovedApply, readApprovedPlans, readSavedPlan, readSavedPlans } from '../reconcile/approvals.ts';
import { isPlanFile } from '../reconcile/plan-file.ts';
import { findIndexedPlanFolder } from '../reconcile/plan-folder.ts';
import { applyStacks } from '../reconcile/run-stacks.ts';
import {
  addConnectionOptions,
  addDetailedReportOptions,
  addExamples,
  addExitCodes,
  addPlanOptions,
  addRecursiveOptions,
  addShowSecretsOption,
  createRepeatableOption,
  isRecursive,
  refuseManifestsWithoutPlan,
} from './options.ts';

export function configureApplyCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Plan, show the plan, ask, and apply it. Or apply what a saved plan approves.')
    .argument(
      '[paths...]',
      'files, folders, or - for standard input; or a plan file or folder (default: the current folder)',
    );
  addRecursiveOptions(command)
    .option('--approved <plan>', 'apply only what this plan or folder approves')
    .addOption(createRepeatableOption('--manifests <path>', 'the manifests of a plan file'));
  const { success, failed, invalid, authentication, refused, stale, interrupted } = EXIT;
  addExitCodes(command, [success, failed, invalid, authentication, refused, stale, interrupted]);
  addDetailedReportOptions(addPlanOptions(command).option('--yes', 'do not ask'));
  addExamples(addConnectionOptions(addShowSecretsOption(command)), [
    ['edgewise apply', 'plan, show, ask, apply'],
    ['edgewise apply -R live', 'every stack below it'],
    ['edgewise apply manifests --yes', 'for a pipeline'],
    ['edgewise apply plan.json', 'exactly this plan'],
    ['edgewise apply manifests --approved plan.json --yes', 'only as approved'],
  ]).action((paths: string[], flags: ApplyFlags) => act(flags, (context) => apply(paths, flags, context)));
}

async function apply(paths: readonly string[], flags: ApplyFlags, context: Context): Promise<ExitCode> {
  refuseToWriteUntrusted(context);
  const saved = isRecursive(flags) ? undefined : await findSavedPlans(paths, flags, context);
  if (saved !== undefined) {
    const { filter, approved } = saved;
    return applyStacks(saved.paths, { flags: { ...flags, ...filter }, mode: 'apply', approved }, context);
  }
  refuseManifestsWithoutPlan(flags);
  const approved = await readApprovedPlans(flags, context);
  return applyStacks(paths, { flags, mode: 'apply', approved }, context);
}

/** Reads the plan file, or the folder of plans, that is the only path. `undefined`: the paths are manifests. */
async function findSavedPlans(
  [first, ...more]: readonly string[],
  flags: ApplyFlags,
  context: Context,
): Promise<ApprovedApply | undefined> {
  if (first === undefined || more.length > 0) return undefined;
  const plans = await findIndexedPlanFolder(first, context);
  if (plans !== undefined) return readSavedPlans(plans, flags, context);
  return (await isPlanFile(first, context.cwd)) ? readSavedPlan(first, flags, context) : undefined;
}
