import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { NEXT_STEPS, toAgainStep, toForbiddenStep } from './apply-wording.ts';
import { toWriteName } from './wording.ts';

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;

/** What to do about what did not go as planned, in sentences; empty when all did. */
export function listNextSteps(
  { mode }: Pick<Plan, 'mode'>,
  { outcomes, files, tokens, interrupted }: ApplyResult,
): readonly string[] {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const forbidden = failed.filter((one) => one.isAuthentication && !isKeyRefused(one));
  const hasFailedFiles = files.some(({ outcome }) => outcome === 'failed');
  const isCutShort = interrupted && outcomes.some(({ outcome }) => outcome !== 'applied');
  const steps: readonly (readonly [boolean, string])[] = [
    [failed.some(isKeyRefused), NEXT_STEPS.key],
    [forbidden.length > 0, toForbiddenStep(forbidden.map(({ write }) => toWriteName(write)))],
    [failed.some(isMendable) || hasFailedFiles, NEXT_STEPS.mend],
    [tokens.some(({ rescued }) => rescued), NEXT_STEPS.rescued],
    [failed.length > 0 || hasFailedFiles || isCutShort, toAgainStep(mode)],
    [failed.some(({ isUnknown }) => isUnknown), NEXT_STEPS.unknown],
  ];
  return steps.filter(([applies]) => applies).map(([, step]) => step);
}

/** A key that has just read everything is good: a 403 is then about what was to be done. */
function isKeyRefused({ isAuthentication, status }: Failed): boolean {
  return isAuthentication && status !== 403;
}

function isMendable({ isAuthentication, isUnknown }: Failed): boolean {
  return !isAuthentication && !isUnknown;
}
