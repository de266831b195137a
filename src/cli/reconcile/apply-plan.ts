import { isSamePlan, type Plan, type PlanComparison } from '../../model/plan.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import type { Report } from '../../report/report.ts';
import type { NamedPlan } from '../../stack/approval.ts';
import { hasPlanErrors } from '../../stack/plan-live.ts';
import { readValidManifests } from '../../stack/read-manifests.ts';
import { EMPTY_APPLY_RESULT, resolveTokenSettings } from '../../stack/run-plan.ts';
import { withStack } from '../connection/stack-session.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { outputReport } from '../output/output-report.ts';
import type { FormatFlags } from '../output/present.ts';
import { createApprovalReport, executePlan, type PlanExecutionInput, showPlanFirst } from './execute-plan.ts';
import { listManifestPathsForPlan, readPlanFile } from './plan-file.ts';
import {
  listUnconsentedViolations,
  type PlanFlags,
  resolveStackConnection,
  toConsentOptions,
  toPlanOptions,
} from './plan-flags.ts';

/** Flags of the commands that write. */
export interface ApplyFlags extends PlanFlags, FormatFlags {
  readonly yes?: boolean;
  /** The file that gets a line before and after each request of the apply. */
  readonly journal?: string;
  /**
   * Maximum time in milliseconds to wait, after the writes, for work that the service continues. Absent: do not wait.
   */
  readonly wait?: number;
  /** The manifests of a saved plan. */
  readonly manifests?: readonly string[];
  /** A plan file or a folder of plans. The new plan must be as this one approves it. Otherwise nothing is written. */
  readonly approved?: string;
}

interface ManifestsRun {
  readonly flags: ApplyFlags;
  readonly mode: Plan['mode'];
  /** The approved plan. Default: that of `--approved`, if it is given. */
  readonly approved?: NamedPlan;
}

export async function applyManifests(
  paths: readonly string[],
  { flags, mode, ...given }: ManifestsRun,
  context: Context,
): Promise<ExitCode> {
  const { approved: file } = flags;
  const approved = given.approved ?? (file === undefined ? undefined : await readApprovedPlan(file, context));
  const { state, diagnostics, policies, locate } = await readValidManifests(paths, context, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    policies: flags.policies ?? [],
  });
  const settings = resolveStackConnection(flags, context, state);
  await refuseOverwrittenInputs(flags, { files: listWriteToPaths(state), settings }, context);
  const tokens = resolveTokenSettings(flags, state.stack.tokens, state.stack.name);
  return withStack(
    { state, diagnostics, policies, settings, tokens },
    context,
    async ({ stack, open, setLineWriter, signal }) => {
      const options = { ...toPlanOptions(flags, mode), signal };
      const comparison = approved && (await stack.compare(approved.plan, options, approved.name));
      const plan = comparison?.after ?? (await stack.plan(options));
      const refused = findRefusal(plan, flags, { comparison, name: approved?.name });
      if (refused !== undefined)
        return outputReport(refused.report, { flags, exitCode: refused.exitCode, locate }, context);
      showPlanFirst(plan, flags, context);
      if (plan.writes.length + plan.files.length > 0) {
        const apply: PlanExecutionInput['apply'] = (given) =>
          stack.apply(plan, { ...toConsentOptions(flags), ...given });
        return executePlan({ plan, apply, open, flags, locate, setLineWriter, signal }, context);
      }
      const isShown = flags.format === 'text';
      return outputReport(
        { about: 'apply', plan, result: EMPTY_APPLY_RESULT },
        { flags, isShown, exitCode: EXIT.success, locate },
        context,
      );
    },
  );
}

/** Why a plan is not applied: the report, and the exit code. */
interface PlanRefusal {
  readonly report: Report;
  readonly exitCode: ExitCode;
}

/** Returns why a plan must not be applied: errors, another plan than the approved one, or a violation without consent. */
export function findRefusal(
  plan: Plan,
  flags: PlanFlags,
  approval: { readonly comparison: PlanComparison | undefined; readonly name: string | undefined },
): PlanRefusal | undefined {
  const blocking = listUnconsentedViolations(plan, flags);
  const { comparison, name } = approval;
  if (comparison !== undefined && !isSamePlan(comparison))
    return { report: createApprovalReport(comparison, name), exitCode: EXIT.stale };
  if (hasPlanErrors(plan)) return { report: { about: 'plan', plan, blocking }, exitCode: EXIT.invalid };
  return blocking.length === 0 ? undefined : { report: { about: 'plan', plan, blocking }, exitCode: EXIT.refused };
}

/**
 * Applies the manifests of a saved plan, if the plan that they result in now is as the saved one approves it. The short
 * form of `--approved`: the manifests are those that the file names, unless `--manifests` names others.
 */
export async function applySavedPlan(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  refuseApprovedWithSavedPlan(flags);
  const approved = await readApprovedPlan(file, context);
  const { manifests } = approved.plan;
  const paths = listManifestPathsForPlan({ name: file, manifests }, flags.manifests ?? [], context);
  return applyManifests(paths, { flags, mode: 'apply', approved }, context);
}

export function refuseApprovedWithSavedPlan({ approved }: ApplyFlags): void {
  if (approved === undefined) return;
  const message = 'A saved plan is already approved, so it takes no --approved.';
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

/** Reads an approved plan. `name` is its file. What the file calls done is not taken from it. */
export async function readApprovedPlan(file: string, context: Context): Promise<NamedPlan> {
  const { done: _, ...plan } = await readPlanFile(file, context);
  return { plan, name: file };
}
