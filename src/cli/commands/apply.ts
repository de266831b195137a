import type { Command } from 'commander';
import { refuseToWriteUntrusted } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { applyPlanFolder, planAndApplyStacks } from '../multi-stack/apply-stacks.ts';
import { findIndexedPlanFolder } from '../multi-stack/plan-folder.ts';
import type { StackFilterFlags } from '../multi-stack/stacks-run.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { type ApplyFlags, applyManifests, applySavedPlan } from '../reconcile/apply-plan.ts';
import { isPlanFile } from '../reconcile/plan-file.ts';
import {
  addApprovalAndJournalOptions,
  addConnectionOptions,
  addDetailedReportOptions,
  addExamples,
  addExitCodes,
  addPlanOptions,
  addRecursiveOptions,
  addShowSecretsOption,
  addWaitUntilReadyOption,
  createRepeatableOption,
  EXAMPLE_TOKEN_ADDRESS,
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
  addWaitUntilReadyOption(command, 'what was written');
  addDetailedReportOptions(addApprovalAndJournalOptions(addPlanOptions(command)));
  addExamples(addConnectionOptions(addShowSecretsOption(command)), [
    ['edgewise apply', 'plan, show, ask, apply'],
    ['edgewise apply -R live', 'every stack below it'],
    ['edgewise apply manifests --yes', 'for a pipeline'],
    [`edgewise apply --rotate ${EXAMPLE_TOKEN_ADDRESS}`, 'a new token'],
    ['edgewise apply plan.json', 'exactly this plan'],
    ['edgewise apply manifests --approved plan.json --yes', 'only as approved'],
  ]).action((paths: string[], flags: ApplyCommandFlags) => act(flags, (context) => apply(paths, flags, context)));
}

interface ApplyCommandFlags extends ApplyFlags, StackFilterFlags {
  readonly recursive?: boolean;
}

async function apply(paths: readonly string[], flags: ApplyCommandFlags, context: Context): Promise<ExitCode> {
  refuseToWriteUntrusted(context);
  if (isRecursive(flags)) {
    refuseManifestsWithoutPlan(flags);
    return planAndApplyStacks(paths, { flags, mode: 'apply' }, context);
  }
  const [first, ...more] = paths;
  const plans = first === undefined || more.length > 0 ? undefined : await findIndexedPlanFolder(first, context);
  if (plans !== undefined) {
    return applyPlanFolder(plans, flags, context);
  }
  const isSaved = first !== undefined && more.length === 0 && (await isPlanFile(first, context.cwd));
  if (isSaved) return applySavedPlan(first, flags, context);
  refuseManifestsWithoutPlan(flags);
  return applyManifests(paths, { flags, mode: 'apply' }, context);
}
