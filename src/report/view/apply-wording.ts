import type { Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { ApplyTotals } from './totals.ts';
import { toCount, toNameList } from './wording.ts';

/** What forms say of how an apply ended. */

/** What stands above the parts of how an apply ended. */
export const RESULT_HEADINGS = {
  applied: 'Applied',
  failed: 'Failed',
  skipped: 'Skipped',
  tokens: 'Tokens',
  files: 'Files',
  next: 'Next',
} as const;

/** `3 writes applied (1 already done), 0 failed, 0 skipped`. */
export function toApplySummary({ applied, alreadyDone, failed, skipped }: ApplyTotals): string {
  const before = alreadyDone === 0 ? '' : ` (${alreadyDone} already done)`;
  return `${toCount(applied, 'write')} applied${before}, ${failed} failed, ${skipped} skipped`;
}

/** Stands before the numbers of an incomplete apply. */
export const NOT_ALL = 'Incomplete: ';

/** What stands above the plan that was applied. */
export const APPLIED_PLAN = 'The plan';

/** How it is known that a write is applied, if no answer said so. */
export function toAppliedRemark(one: Extract<Outcome, { readonly outcome: 'applied' }>): string | undefined {
  if ('alreadyDone' in one) return 'already done';
  return 'found' in one ? 'the answer could not be used; found by its mark' : undefined;
}

/** What is not known of a write whose answer never came. */
export const UNKNOWN_EFFECT = 'It is unknown whether it took effect.';

/** One sentence about all writes that were not started. */
export function toNotStarted(names: readonly string[]): string {
  const what = names.length === 1 ? `${names[0]} was` : `${names.length} writes were`;
  return `${what} not started, because the run was interrupted.`;
}

/** Which write a skipped write waited for, and how that one ended; `undefined`: it is not in the plan. */
export function toWaitClause(name: string, ended: Outcome['outcome'] | undefined): string {
  return `waited for ${name}, which ${toEnd(ended)}`;
}

function toEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

/** What to do when an apply did not go as planned. */
export const NEXT_STEPS = {
  key: 'The service refused the API key: check it.',
  mend: 'Fix what failed.',
  rescued: 'Fix the token sink. The next apply replaces the credentials whose tokens are in rescue files.',
  unknown: 'Writes that took effect are found by their mark, so nothing is created twice.',
} as const;

/** What to do about writes that the service does not permit. */
export function toForbiddenStep(names: readonly string[]): string {
  return `The service does not permit ${toNameList(names)}: get the permission for that, or change what the manifests ask for.`;
}

/** What to do when something is left to do. */
export function toAgainStep(mode: Plan['mode']): string {
  return `Run ${mode} again. It plans only what is left.`;
}
