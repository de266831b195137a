import { describeKeys } from './certificates.ts';
import type { Decision } from './decide.ts';
import type { PlanInput } from './plan-input.ts';
import { describeRelease } from './release.ts';
import { describeTokens } from './tokens.ts';

/** What else who approves should know of a change; of what stays as it is, only when its time comes. */
export function listNotes(decision: Decision, { desired, tokens }: PlanInput): readonly string[] {
  if (decision.action === 'no-op') return decision.notes;
  if (decision.action === 'release') return describeRelease(decision, desired);
  return [...describeTokens(decision, tokens), ...describeKeys(decision), ...decision.notes];
}
