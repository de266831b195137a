import { type Diagnostic, hasErrors } from '../model/diagnostic.ts';
import { ApiError, assertNever, NetworkError } from '../model/errors.ts';
import type { ApplyResult } from '../model/outcome.ts';
import { hasKnownWrites, isIncomplete, type Plan, type SafetyViolation } from '../model/plan.ts';
import { InvalidManifests, StackError } from '../model/user-errors.ts';
import type { Refusal } from '../run/session.ts';

/** The exit codes of all commands. The output format never changes the exit code. */
export const EXIT = {
  success: 0,
  failed: 1,
  changes: 2,
  invalid: 3,
  authentication: 4,
  refused: 5,
  stale: 6,
  bug: 70,
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** Meanings of the exit codes, for help texts. */
export const EXIT_MEANINGS: Readonly<Record<ExitCode, string>> = {
  [EXIT.success]: 'success',
  [EXIT.failed]: 'failed (API, network, or a policy test), or only partly done',
  [EXIT.changes]: 'there are changes (drift, diff, accept --dry-run, and plan --detailed-exitcode)',
  [EXIT.invalid]: 'invalid manifests or usage',
  [EXIT.authentication]: 'authentication or permission failed',
  [EXIT.refused]: 'refused by a safety rule',
  [EXIT.stale]: 'the plan differs from what was approved or shown',
  [EXIT.bug]: 'a bug in edgewise',
  [EXIT.interrupted]: 'interrupted, or declined',
};

/** Returns `success` if there are no errors, `refused` if only policies reported errors, else `invalid`. */
export function exitCodeOfValidation(diagnostics: readonly Diagnostic[]): ExitCode {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0) return EXIT.success;
  return errors.every(({ code }) => code === 'policy-violated') ? EXIT.refused : EXIT.invalid;
}

/** Returns the exit code for an error. An unexpected error counts as a bug. */
export function exitCodeOfError(error: unknown): ExitCode {
  if (error instanceof StackError) return EXIT[error.reason];
  if (error instanceof InvalidManifests) return EXIT.invalid;
  if (error instanceof ApiError) return error.isAuthentication ? EXIT.authentication : EXIT.failed;
  return error instanceof NetworkError ? EXIT.failed : EXIT.bug;
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
  if (hasErrors(plan.diagnostics)) return EXIT.invalid;
  if (blocking.length > 0) return EXIT.refused;
  if (detailedExitcode === true && hasKnownWrites(plan)) return EXIT.changes;
  return isIncomplete(plan) ? EXIT.failed : EXIT.success;
}

/** The exit code of a stack that is not applied. `success`: nothing refuses it. */
export function exitCodeOfRefusal(refusal: Refusal | undefined): ExitCode {
  switch (refusal?.why) {
    case undefined:
      return EXIT.success;
    case 'error':
      return exitCodeOfError(refusal.error);
    case 'differs':
      return EXIT.stale;
    case 'errors':
    case 'conflict':
      return EXIT.invalid;
    case 'violations':
      return EXIT.refused;
    case 'dependency':
      return computeWorstExitCode(refusal.blockedBy.map(exitCodeOfRefusal));
    default:
      return assertNever(refusal);
  }
}

/**
 * Returns `success` if every write was applied, also after an interrupt; `interrupted` if a run was interrupted before that;
 * `authentication` only if nothing was applied and every failure is about permissions; else `failed`.
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

/** From the least to the most severe. */
const SEVERITY: readonly ExitCode[] = [
  EXIT.success,
  EXIT.changes,
  EXIT.invalid,
  EXIT.refused,
  EXIT.stale,
  EXIT.authentication,
  EXIT.failed,
  EXIT.interrupted,
  EXIT.bug,
];

/** The exit code of several stacks: the most severe one. */
export function computeWorstExitCode(codes: readonly number[]): ExitCode {
  return SEVERITY.findLast((code) => codes.includes(code)) ?? EXIT.success;
}
