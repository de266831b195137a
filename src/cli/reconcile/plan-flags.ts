import { toHyphenated } from '../../kinds/kind.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import { hasKnownWrites, isIncomplete, type Plan, type SafetyViolation } from '../../model/plan.ts';
import { escapePath } from '../../model/shell-words.ts';
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

type RepeatedFlag = Exclude<keyof PlanFlags, keyof ConnectionFlags | keyof TokenFlags | 'env' | 'allowRenamedBack'>;

/**
 * The flags of a plan, in the order in which a command line repeats them, and whether they are for a single stack: they
 * have addresses, which several stacks may have.
 */
const IS_FOR_ONE_STACK: Readonly<Record<RepeatedFlag, boolean>> = {
  target: true,
  exclude: true,
  rotate: true,
  retire: true,
  rehearsal: false,
  policies: false,
  allowDeletes: false,
  allowProtected: true,
  allowTakeOver: false,
  allowAdopted: false,
  allowRejected: true,
};

const REPEATED_FLAGS = Object.keys(IS_FOR_ONE_STACK) as readonly RepeatedFlag[]; // the keys of a literal

/** The words that repeat the flags of a plan, without those of the connection, of variables and of token sinks. */
export function listPlanWords(flags: Partial<PlanFlags>): readonly string[] {
  return REPEATED_FLAGS.flatMap((name) => listFlagWords(name, flags[name]));
}

/** The words that are for a single stack, without the addresses. */
export function listWordsForOneStack(flags: Partial<PlanFlags>): readonly string[] {
  const names = REPEATED_FLAGS.filter((name) => IS_FOR_ONE_STACK[name]);
  return names.flatMap((name) => listFlagWords(name, flags[name]).slice(0, 1));
}

function listFlagWords(name: RepeatedFlag, value: boolean | readonly string[] = []): readonly string[] {
  const word = toHyphenated(name);
  if (typeof value !== 'boolean')
    return value.flatMap((one) => [`--${word}`, name === 'policies' ? escapePath(one) : one]);
  const isDefault = value === (name === 'rehearsal');
  if (isDefault) return [];
  return [value ? `--${word}` : `--no-${word}`];
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
