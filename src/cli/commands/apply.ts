import { type Command, Option } from 'commander';
import { refuseUntrustedManifests } from '../../stack/settings.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import type { CommandBodyRunner } from '../output/present.ts';
import { readApprovedPlans, refusePlansAsManifests } from '../reconcile/approvals.ts';
import { withoutArtifactFiles } from '../reconcile/artifact-files.ts';
import type { ApplyFlags } from '../reconcile/question.ts';
import { runApply } from '../reconcile/run-stacks.ts';
import {
  addToCommand,
  CONNECTION_OPTIONS,
  createDetailedReportOptions,
  PLAN_OPTIONS,
  RECURSIVE_OPTIONS,
  refuseFiltersWithoutRecursive,
  SHOW_SECRETS,
  YES,
} from './options.ts';

export function configureApplyCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Plan, show the plan, ask, and apply it.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)');
  const { success, failed, invalid, authentication, refused, stale, interrupted } = EXIT;
  addToCommand(command, {
    options: [
      ...RECURSIVE_OPTIONS,
      new Option('--approved <plan>', 'apply only what this plan or folder approves'),
      ...PLAN_OPTIONS,
      YES,
      ...createDetailedReportOptions(),
      SHOW_SECRETS,
      ...CONNECTION_OPTIONS,
    ],
    exitCodes: [success, failed, invalid, authentication, refused, stale, interrupted],
    examples: [
      ['edgewise apply', 'plan, show, ask, apply'],
      ['edgewise apply -R live', 'every stack below it'],
      ['edgewise apply manifests --yes', 'for a pipeline'],
      ['edgewise apply manifests --approved plan.json --yes', 'only as approved'],
    ],
  }).action((paths: string[], flags: ApplyFlags) => act(flags, (context) => apply(paths, flags, context)));
}

async function apply(paths: readonly string[], flags: ApplyFlags, context: Context): Promise<ExitCode> {
  refuseUntrustedManifests(context);
  await refusePlansAsManifests(paths, context);
  refuseFiltersWithoutRecursive(flags);
  const assignApprovals = await readApprovedPlans(flags, context);
  const withoutArtifact = withoutArtifactFiles({ paths, flags }, context);
  return runApply(paths, { flags, mode: 'apply', assignApprovals }, withoutArtifact);
}
