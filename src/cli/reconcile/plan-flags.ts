import type { ApplyResult } from '../../model/outcome.ts';
import { hasKnownWrites, isIncomplete, type Plan, type SafetyViolation } from '../../model/plan.ts';
import { escapePath } from '../../model/shell-words.ts';
import { getRequestFlag, NAMED_REQUEST_OPTIONS, type Request } from '../../settings/request.ts';
import type { ConnectionFlags } from '../../settings/table.ts';
import type { TokenFlags } from '../../stack/choose-sinks.ts';
import { hasPlanErrors } from '../../stack/plan-live.ts';
import { EXIT, type ExitCode } from '../exit-code.ts';

/** Flags that say what a plan covers, what it may do, and where it is made. */
export interface PlanFlags extends Request, ConnectionFlags, TokenFlags {
  /** The variables that manifests may read. */
  readonly env?: readonly string[];
}

/** The words that repeat the flags of a plan, without those of the connection, of variables and of token sinks. */
export function listPlanWords(flags: Request): readonly string[] {
  return NAMED_REQUEST_OPTIONS.flatMap((option) => listFlagWords(option, flags));
}

/** The words that are for a single stack, without the addresses. */
export function listWordsForOneStack(flags: Request): readonly string[] {
  const options = NAMED_REQUEST_OPTIONS.filter(({ isForOneStack }) => isForOneStack);
  return options.flatMap((option) => listFlagWords(option, flags).slice(0, 1));
}

function listFlagWords(option: (typeof NAMED_REQUEST_OPTIONS)[number], flags: Request): readonly string[] {
  const word = getRequestFlag(option.name);
  if (word === '') return [];
  const value = flags[option.name];
  if (typeof value === 'object') return value.flatMap((one) => [word, option.value === 'path' ? escapePath(one) : one]);
  const isGiven = value === !word.startsWith('--no-');
  return isGiven ? [word] : [];
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
