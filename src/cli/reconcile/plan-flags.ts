import type { ApplyResult } from '../../model/outcome.ts';
import { hasKnownWrites, isIncomplete, type Plan, type SafetyViolation } from '../../model/plan.ts';
import type { Consents } from '../../plan/guard.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { hasPlanErrors, type PlanOptions } from '../../stack/plan-live.ts';
import type { TokenFlags } from '../../stack/run-plan.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** Flags that say what a plan covers and what it may do. */
export interface PlanFlags extends ConnectionFlags, TokenFlags, Consents {
  readonly target: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowAdopted?: readonly string[];
  readonly rotate?: readonly string[];
  readonly retire?: readonly string[];
  /** Files and folders of policies. */
  readonly policies?: readonly string[];
  /** False with --no-rehearsal. */
  readonly rehearsal?: boolean;
  /** The variables that manifests may read. */
  readonly env?: readonly string[];
}

export function toPlanOptions(
  { target, exclude = [], rotate = [], retire = [], ...flags }: Partial<PlanFlags> & Pick<PlanFlags, 'target'>,
  mode: Plan['mode'] = 'apply',
): PlanOptions {
  return {
    mode,
    targets: target,
    exclusions: exclude,
    rotate,
    retire,
    allowAdopted: flags.allowAdopted,
    rehearsal: flags.rehearsal !== false,
  };
}

/**
 * Returns the exit code of a command that plans but does not apply. With --detailed-exitcode, what an apply would send counts
 * before what it would leave undone.
 */
export function exitCodeOfPlan(
  plan: Plan,
  blocking: readonly SafetyViolation[],
  { detailedExitcode }: { readonly detailedExitcode?: boolean },
): ExitCode {
  if (hasPlanErrors(plan)) return EXIT.invalid;
  if (blocking.length > 0) return EXIT.refused;
  if (detailedExitcode === true && hasKnownWrites(plan)) return EXIT.changes;
  return isIncomplete(plan) ? EXIT.failed : EXIT.success;
}

/**
 * Returns `authentication` only if nothing was applied and every failure is about permissions. After a partial apply,
 * returns `failed` for such failures.
 */
export function exitCodeOfApply({ outcomes, interrupted }: ApplyResult): ExitCode {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const isWhole = outcomes.every(({ outcome }) => outcome === 'applied');
  if (isWhole) return EXIT.success;
  if (interrupted) return EXIT.interrupted;
  const isRefused = failed.length > 0 && failed.every((one) => one.isAuthentication);
  const isNothingDone = outcomes.every(({ outcome }) => outcome !== 'applied');
  return isRefused && isNothingDone ? EXIT.authentication : EXIT.failed;
}
