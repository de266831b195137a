import { describeKeys } from './certificates.ts';
import type { Decision } from './decide.ts';
import type { PlanInput } from './plan-input.ts';
import { describeRelease } from './release.ts';
import { describeTokens } from './tokens.ts';

/** Notes on a change for those who approve it; for an unchanged resource, only when it is due for renewal. */
export function listNotes(decision: Decision, { desired, tokens }: PlanInput): readonly string[] {
  if (decision.action === 'no-op') return decision.notes;
  if (decision.action === 'release') return describeRelease(decision, desired);
  return [...describeTokens(decision, tokens), ...describeKeys(decision), ...decision.notes];
}
