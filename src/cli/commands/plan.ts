import type { Command } from 'commander';
import type { Plan } from '../../model/plan.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import { readValidManifests, type ValidManifests } from '../../stack/read-manifests.ts';
import { resolveTokenSettings } from '../../stack/run-plan.ts';
import { withStack } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';
import { planAndReportStacks } from '../multi-stack/read-stacks.ts';
import type { StackFilterFlags } from '../multi-stack/stacks-run.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { outputReport } from '../output/output-report.ts';
import type { CommandBodyRunner, FormatFlags } from '../output/present.ts';
import {
  createApplyManifestsCommandLine,
  createSavedPlanCommandLine,
  hasMissingTokenSinkDiagnostic,
} from '../reconcile/apply-command.ts';
import { writePlanFile } from '../reconcile/plan-file.ts';
import {
  exitCodeOfPlan,
  listUnconsentedViolations,
  type PlanFlags,
  resolveStackConnection,
  toPlanOptions,
} from '../reconcile/plan-flags.ts';
import {
  addConnectionOptions,
  addDetailedReportOptions,
  addExamples,
  addExitCodes,
  addPlanOptions,
  addRecursiveOptions,
  addShowSecretsOption,
  EXAMPLE_ADDRESS,
  isRecursive,
} from './options.ts';

interface PlanCommandFlags extends PlanFlags, FormatFlags, StackFilterFlags {
  readonly recursive?: boolean;
  readonly out?: string;
  readonly detailedExitcode?: boolean;
}

export function configurePlanCommand(command: Command, act: CommandBodyRunner): void {
  command
    .description('Show what apply would do. Sends GET requests only.')
    .argument('[paths...]', 'files, folders, or - for standard input (default: the current folder)')
    .option('-o, --out <file>', 'also write the plan to a file, for edgewise apply FILE')
    .option('--detailed-exitcode', 'exit with 2 when there are changes');
  addRecursiveOptions(command);
  const { success, failed, changes, invalid, authentication, refused } = EXIT;
  addExitCodes(command, [success, failed, changes, invalid, authentication, refused]);
  addDetailedReportOptions(addPlanOptions(command));
  addExamples(addConnectionOptions(addShowSecretsOption(command)), [
    ['edgewise plan', 'show what would change'],
    ['edgewise plan manifests -o plan.json', 'save it, for apply'],
    ['edgewise plan manifests --report markdown=plan.md', 'and write a comment'],
    [`edgewise plan --target ${EXAMPLE_ADDRESS}`, 'only one resource'],
    ['edgewise plan -R live --changed-since origin/main', 'what a branch touches'],
    ['edgewise plan --detailed-exitcode', '2 when there are changes'],
  ]).action((paths: string[], flags: PlanCommandFlags) =>
    act({ ...flags, planFile: flags.recursive === true ? undefined : flags.out }, (context) =>
      isRecursive(flags) ? planAndReportStacks(paths, flags, context) : plan(paths, flags, context),
    ),
  );
}

async function plan(paths: readonly string[], flags: PlanCommandFlags, context: Context): Promise<ExitCode> {
  const { made, locate } = await computePlan(paths, flags, context);
  const blocking = listUnconsentedViolations(made, flags);
  if (flags.out !== undefined) await writePlanFile(flags.out, made, context);
  const exitCode = exitCodeOfPlan(made, blocking, flags);
  const run = { paths: paths.length === 0 ? ['.'] : paths, flags, env: context.env };
  const applyCommand =
    flags.out === undefined ? createApplyManifestsCommandLine(run) : createSavedPlanCommandLine(flags.out, run);
  const publication = { flags, exitCode, locate, ...(!hasMissingTokenSinkDiagnostic(made) && { applyCommand }) };
  return outputReport({ about: 'plan', plan: made, blocking }, publication, context);
}

interface Computed {
  readonly made: Plan;
  readonly locate: ValidManifests['locate'];
}

async function computePlan(paths: readonly string[], flags: PlanCommandFlags, context: Context): Promise<Computed> {
  const read = { lint: 'for-plan', policies: flags.policies ?? [] } as const;
  const { state, diagnostics, policies, locate } = await readValidManifests(paths, context, read);
  const settings = resolveStackConnection(flags, context, state);
  await refuseOverwrittenInputs(flags, { files: listWriteToPaths(state), settings }, context);
  const tokens = resolveTokenSettings(flags, state.stack.tokens, state.stack.name);
  const made = await withStack({ state, diagnostics, policies, settings, tokens }, context, ({ stack, signal }) =>
    stack.plan({ ...toPlanOptions(flags), signal }),
  );
  return { made, locate };
}
