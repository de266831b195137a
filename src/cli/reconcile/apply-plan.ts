import { hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { isCoveredByApproval } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { DEFAULT_GUARD, NO_TOKEN_SETTINGS } from '../../model/stack.ts';
import { takeLowerGuardLimits } from '../../plan/guard.ts';
import { listWriteToPaths } from '../../plan/plan-input.ts';
import type { Policy } from '../../policy/evaluate.ts';
import type { ComparisonReport } from '../../report/report.ts';
import { InvalidManifests } from '../../stack/host.ts';
import { hasPlanErrors, runPoliciesOnPlan } from '../../stack/plan-live.ts';
import { loadPolicies, readValidManifests } from '../../stack/read-manifests.ts';
import { EMPTY_APPLY_RESULT, resolveTokenSettings } from '../../stack/run-plan.ts';
import {
  compareWithApproved,
  type NamedPlan,
  refuseOtherVersion,
  refuseUnusableApproval,
  type SavedFile,
} from '../../stack/saved-plan.ts';
import type { ServiceSettings } from '../../stack/settings.ts';
import type { ApprovedPlan } from '../../stack/stack.ts';
import { withAccount, withStack } from '../connection/stack-session.ts';
import { type Context, VERSION } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { refuseOverwrittenInputs } from '../output/output-files.ts';
import { outputReport } from '../output/output-report.ts';
import type { FormatFlags } from '../output/present.ts';
import { executePlan, type PlanExecutionInput, showPlanFirst } from './execute-plan.ts';
import { createLocateAtPlanFileStart, listManifestPathsForPlan, readPlanFile } from './plan-file.ts';
import {
  listUnconsentedViolations,
  type PlanFlags,
  refusePlanFileMismatchingExternals,
  resolveSavedPlanConnection,
  resolveStackConnection,
  toAllowances,
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
  /** The manifests of a saved plan (`--manifests`). `false` (`--no-manifests`): the plan is trusted. */
  readonly manifests?: readonly string[] | false;
  /** A plan file or a folder of plans that must contain every change of the new plan. Otherwise nothing is written. */
  readonly approved?: string;
}

interface ManifestsRun {
  readonly flags: ApplyFlags;
  readonly mode: Plan['mode'];
  /** If set, the new plan is applied only if it equals this plan. */
  readonly saved?: SavedFile;
}

export async function applyManifests(
  paths: readonly string[],
  { flags, mode, saved }: ManifestsRun,
  context: Context,
): Promise<ExitCode> {
  const approved = await readApproved(flags.approved, context);
  const { state, diagnostics, policies, locate } = await readValidManifests(paths, context, {
    ...(mode === 'apply' && { lint: 'for-plan' }),
    policies: flags.policies ?? [],
  });
  const settings = resolveStackConnection(flags, context, state);
  if (saved !== undefined) refusePlanFileMismatchingExternals(saved, { settings, state });
  await refuseOverwrittenInputs(flags, { files: listWriteToPaths(state), settings }, context);
  const tokens = resolveTokenSettings(flags, state.stack.tokens, state.stack.name);
  return withStack(
    { state, diagnostics, policies, settings, tokens },
    context,
    async ({ stack, open, setLineWriter, signal }) => {
      const options = { ...toPlanOptions(flags, mode), signal };
      const plan =
        saved === undefined ? await stack.plan(options) : await stack.replan(saved.plan, options, saved.name);
      const blocking = listUnconsentedViolations(plan, flags);
      const isRefused = hasPlanErrors(plan) || blocking.length > 0;
      if (isRefused) {
        const exitCode = hasPlanErrors(plan) ? EXIT.invalid : EXIT.refused;
        return outputReport({ about: 'plan', plan, blocking }, { flags, exitCode, locate }, context);
      }
      const unapproved = findDifferencesBeyondApprovedPlan(plan, approved, context);
      if (unapproved !== undefined) return outputReport(unapproved, { flags, exitCode: EXIT.stale, locate }, context);
      showPlanFirst(plan, flags, context);
      if (plan.writes.length + plan.files.length > 0) {
        const apply: PlanExecutionInput['apply'] = (options) =>
          stack.apply(plan, { ...toConsentOptions(flags), ...options });
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

/** A saved plan, and the connection, consents and limits with which it is applied. */
interface PreparedPlan {
  readonly plan: Plan;
  readonly settings: ServiceSettings;
  readonly approved: ApprovedPlan;
}

/**
 * Prepares a saved plan that is applied without manifests. Throws for flags that only affect planning, and if the plan
 * is for another service or API key. Sends no request.
 */
export async function prepareSavedPlanWithoutManifests(
  saved: SavedFile,
  flags: ApplyFlags,
  context: Context,
): Promise<PreparedPlan> {
  refusePlanFlags(flags);
  const policies = await readPolicies(flags, context);
  const settings = resolveSavedPlanConnection(saved, flags, context);
  const plan = await runPoliciesOnPlan(saved.plan, { policies, state: undefined, now: context.now() });
  await refuseOverwrittenInputs(flags, { files: plan.files.map(({ path }) => path), settings }, context);
  const tokens = resolveTokenSettings(flags, NO_TOKEN_SETTINGS, plan.stack);
  // The default limits apply too, because an edited file could raise its own guard limits.
  const guard = takeLowerGuardLimits(plan.settings.guard, DEFAULT_GUARD);
  return { plan, settings, approved: { plan, name: saved.name, allowances: toAllowances(flags), guard, tokens } };
}

async function readPolicies({ policies: paths = [] }: ApplyFlags, context: Context): Promise<readonly Policy[]> {
  const { policies, diagnostics } = await loadPolicies({ documents: [], sources: [], paths }, context);
  if (hasErrors(diagnostics)) throw new InvalidManifests(diagnostics);
  return policies;
}

/**
 * Applies a saved plan, and nothing else. With manifests, computes the plan again, and applies it only if it equals the
 * saved plan. Without manifests, trusts the plan, but rejects it if a resource that it touches has changed since.
 */
export async function applySavedPlan(file: string, flags: ApplyFlags, context: Context): Promise<ExitCode> {
  const saved = await readSavedPlanFile(file, context);
  const paths = listManifestPathsForPlan(
    { name: file, manifests: saved.plan.manifests },
    flags.manifests ?? [],
    context,
  );
  if (paths.length > 0) {
    refuseApprovedWithSavedPlan(flags);
    return applyManifests(paths, { flags, mode: 'apply', saved }, context);
  }
  announceSkippedManifestCheck(file, context);
  const { plan, settings, approved } = await prepareSavedPlanWithoutManifests(saved, flags, context);
  const locate = createLocateAtPlanFileStart(file);
  const blocking = listUnconsentedViolations(plan, flags);
  if (hasPlanErrors(plan) || blocking.length > 0) {
    const exitCode = hasPlanErrors(plan) ? EXIT.invalid : EXIT.refused;
    return outputReport({ about: 'plan', plan, blocking }, { flags, exitCode, locate }, context);
  }
  showPlanFirst(plan, flags, context);
  return withAccount(settings, context, ({ account, ...session }) => {
    const apply: PlanExecutionInput['apply'] = (options) => account.apply(approved, options);
    return executePlan({ plan, apply, open: account.open, flags, locate, ...session }, context);
  });
}

/** Reads a plan file. Throws if another version of edgewise wrote it. */
export async function readSavedPlanFile(file: string, context: Context): Promise<SavedFile> {
  const plan = await readPlanFile(file, context);
  refuseOtherVersion({ plan, name: file }, VERSION);
  return { plan, name: file };
}

export function refuseApprovedWithSavedPlan({ approved }: ApplyFlags): void {
  if (approved === undefined) return;
  const message = 'A saved plan is already approved, so it takes no --approved.';
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

export function announceSkippedManifestCheck(file: string, { stderr }: Context): void {
  const name = toPrintable(file);
  stderr.write(`${name} is trusted as it is: with --no-manifests it is not compared with the manifests.\n`);
}

/** Throws for flags that only affect planning, because the saved plan already fixes its scope. */
function refusePlanFlags({
  target,
  exclude = [],
  rotate = [],
  takeOver = [],
  revertDrift,
  ...flags
}: ApplyFlags): void {
  const given = [
    ...(target.length > 0 ? ['--target'] : []),
    ...(exclude.length > 0 ? ['--exclude'] : []),
    ...(rotate.length > 0 ? ['--rotate'] : []),
    ...(takeOver.length > 0 ? ['--take-over'] : []),
    ...(revertDrift === false ? ['--no-revert-drift'] : []),
    ...(flags.delete === false ? ['--no-delete'] : []),
    ...(flags.skipRejected === true ? ['--skip-rejected'] : []),
    ...(flags.approved !== undefined ? ['--approved'] : []),
    ...(flags.render === true ? ['--render'] : []),
  ];
  if (given.length === 0) return;
  const names = given.join(' and ');
  const message = `A saved plan is applied as a whole. Use ${names} with manifests, or with edgewise plan -o.`;
  throw new CommandError(message, { exitCode: EXIT.invalid });
}

async function readApproved(file: string | undefined, context: Context): Promise<NamedPlan | undefined> {
  if (file === undefined) return undefined;
  return readApprovedPlanFile(file, context);
}

/** Reads an approved plan. Throws if another version of edgewise wrote it, or if it contains errors. */
export async function readApprovedPlanFile(file: string, context: Context): Promise<NamedPlan> {
  const approved = { plan: await readPlanFile(file, context), name: file };
  refuseUnusableApproval(approved, VERSION);
  return approved;
}

/** Returns a comparison with the approved plan if the new plan does more. `undefined`: the plan may be applied. */
export function findDifferencesBeyondApprovedPlan(
  plan: Plan,
  approved: NamedPlan | undefined,
  { cwd }: Pick<Context, 'cwd'>,
): ComparisonReport | undefined {
  if (approved === undefined) return undefined;
  const comparison = compareWithApproved(plan, approved, cwd);
  const names = { before: approved.name, after: 'The plan' };
  return isCoveredByApproval(comparison) ? undefined : { about: 'comparison', command: 'apply', comparison, names };
}
