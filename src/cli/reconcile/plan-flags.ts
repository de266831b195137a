import type { GuardViolation, Plan } from '../../model/plan.ts';
import type { DesiredState } from '../../model/state.ts';
import { type Allowances, listStanding } from '../../plan/guard.ts';
import { isInvalid, type PlanOptions } from '../../stack/plan-live.ts';
import { type ConnectionFlags, type RunSettings, resolveSettings, toStoredSettings } from '../../stack/settings.ts';
import type { ApplyOptions } from '../../stack/stack.ts';
import type { TokenFlags } from '../../stack/token-sinks.ts';
import type { Context } from '../context.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** Flags that say what a plan covers and what it may do. */
export interface PlanFlags extends ConnectionFlags, TokenFlags {
  readonly target: readonly string[];
  readonly allowDeletes?: boolean;
  readonly allowProtected: readonly string[];
  readonly rotate?: readonly string[];
  /** Other stacks whose resources may be taken over. */
  readonly takeOver?: readonly string[];
  /** False with --no-revert-drift. */
  readonly revertDrift?: boolean;
  /** False with --no-delete. */
  readonly delete?: boolean;
  /** Files and folders of policies. */
  readonly policies?: readonly string[];
  /** False with --no-rehearsal. */
  readonly rehearsal?: boolean;
  /** The commands of `spec.render` may be run. */
  readonly render?: boolean;
}

/** The settings of a run on manifests. */
export function resolveStackSettings(flags: ConnectionFlags, context: Context, { stack }: DesiredState): RunSettings {
  return resolveSettings(flags, context.env, toStoredSettings(stack.api));
}

/** What flags say of a plan. */
export function toPlanOptions(
  { target, rotate = [], takeOver = [], ...flags }: Partial<PlanFlags> & Pick<PlanFlags, 'target'>,
  mode: Plan['mode'] = 'apply',
): PlanOptions {
  return {
    mode,
    targets: target,
    rotate,
    takeOver,
    revertDrift: flags.revertDrift !== false,
    delete: flags.delete !== false,
    rehearsal: flags.rehearsal !== false,
  };
}

/** What flags consent to. */
export function toAllowances({ allowDeletes, allowProtected }: PlanFlags): Allowances {
  return { deletes: allowDeletes === true, protected: allowProtected };
}

/** The same for the apply of a stack. */
export function toConsent({
  allowDeletes,
  allowProtected,
}: PlanFlags): Pick<ApplyOptions, 'allowDeletes' | 'allowProtected'> {
  return { allowDeletes: allowDeletes === true, allowProtected };
}

/** The safety rules that a plan breaks and that no flag allows. */
export function listRefused(plan: Plan, flags: PlanFlags): readonly GuardViolation[] {
  return listStanding(plan.violations, toAllowances(flags));
}

/** What a command ends with that only plans. */
export function toPlanExitCode(
  plan: Plan,
  standing: readonly GuardViolation[],
  { detailedExitcode }: { readonly detailedExitcode?: boolean },
): ExitCode {
  if (isInvalid(plan)) return EXIT.invalid;
  if (standing.length > 0) return EXIT.refused;
  return detailedExitcode === true && plan.writes.length + plan.files.length > 0 ? EXIT.changes : EXIT.done;
}
