import { isHiddenChange } from '../../model/change.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan, SafetyViolation } from '../../model/plan.ts';
import { type Allowances, listBlockingViolations } from '../../plan/guard.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import { hasPlanErrors, type PlanOptions } from '../../stack/plan-live.ts';
import type { TokenFlags } from '../../stack/run-plan.ts';
import type { ApplyOptions } from '../../stack/stack.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** Flags that say what a plan covers and what it may do. */
export interface PlanFlags extends ConnectionFlags, TokenFlags {
  readonly target: readonly string[];
  readonly exclude?: readonly string[];
  readonly allowDeletes?: boolean;
  readonly allowProtected: readonly string[];
  readonly allowRejected?: readonly string[];
  readonly rotate?: readonly string[];
  readonly retire?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False with --no-revert-drift. */
  readonly revertDrift?: boolean;
  /** Files and folders of policies. */
  readonly policies?: readonly string[];
  /** False with --no-rehearsal. */
  readonly rehearsal?: boolean;
  /** The variables that manifests may read. */
  readonly env?: readonly string[];
}

export function toPlanOptions(
  {
    target,
    exclude = [],
    rotate = [],
    retire = [],
    takeOver = [],
    ...flags
  }: Partial<PlanFlags> & Pick<PlanFlags, 'target'>,
  mode: Plan['mode'] = 'apply',
): PlanOptions {
  return {
    mode,
    targets: target,
    exclusions: exclude,
    rotate,
    retire,
    takeOver,
    revertDrift: flags.revertDrift !== false,
    rehearsal: flags.rehearsal !== false,
  };
}

function toAllowances({ allowDeletes, allowProtected, allowRejected = [] }: PlanFlags): Allowances {
  return { deletes: allowDeletes === true, protected: allowProtected, rejected: allowRejected };
}

/** Like `toAllowances`, but returns options of `stack.apply`. */
export function toConsentOptions({
  allowDeletes,
  allowProtected,
  allowRejected = [],
}: PlanFlags): Pick<ApplyOptions, 'allowDeletes' | 'allowProtected' | 'allowRejected'> {
  return { allowDeletes: allowDeletes === true, allowProtected, allowRejected };
}

export function listUnconsentedViolations(plan: Plan, flags: PlanFlags): readonly SafetyViolation[] {
  return listBlockingViolations(plan.violations, toAllowances(flags));
}

/** Returns the exit code of a command that plans but does not apply. */
export function exitCodeOfPlan(
  plan: Plan,
  blocking: readonly SafetyViolation[],
  { detailedExitcode }: { readonly detailedExitcode?: boolean },
): ExitCode {
  if (hasPlanErrors(plan)) return EXIT.invalid;
  if (blocking.length > 0) return EXIT.refused;
  if (isIncomplete(plan)) return EXIT.failed;
  return detailedExitcode === true && hasKnownChanges(plan) ? EXIT.changes : EXIT.success;
}

/** Whether an apply would change anything, apart from writing again what the service does not show. */
function hasKnownChanges({ changes, writes }: Plan): boolean {
  const rewritten = new Set(changes.filter(isHiddenChange).map(({ address }) => address));
  return writes.some(({ address }) => !rewritten.has(address));
}

/**
 * Whether an apply of the plan leaves the stack undone: the run keeps what the stack would prune, or does not try again
 * what the service refused.
 */
export function isIncomplete({ diagnostics, changes }: Pick<Plan, 'diagnostics' | 'changes'>): boolean {
  return diagnostics.some(({ code }) => code === 'kept-prune') || changes.some(({ action }) => action === 'withhold');
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
