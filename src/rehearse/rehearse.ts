import { stripDuplicateId } from '../model/address.ts';
import { type Change, sendsNothing } from '../model/change.ts';
import { listAddressesInCondition } from '../model/conditions.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { createChange } from '../plan/create-change.ts';
import { decideChanges } from '../plan/decide-plan.ts';
import type { PlanInput } from '../plan/plan-input.ts';
import { collectRehearsalFindings, listUnverifiedReferenceIds } from './findings.ts';
import { addGapDangers } from './gaps.ts';
import { tryPlan } from './trial.ts';

/**
 * Applies a plan to a copy of the account in memory, with the code of a real apply, and then plans again. Sends nothing
 * to the service. Returns the plan with the findings. A write that the service will reject is a violation.
 */
export async function rehearsePlan(plan: Plan, input: PlanInput): Promise<Plan> {
  if (plan.writes.length === 0) return plan;
  const { result, refusals, gaps, live } = await tryPlan(plan, input);
  const remaining = listRemainingChanges(plan, { ...input, live, rotate: [] });
  const { violations, diagnostics } = collectRehearsalFindings({ plan, input, result, refusals, remaining });
  const awaiting = countAwaiting(plan, result);
  const unchecked = listUnverifiedReferenceIds(plan, input.live);
  return {
    ...plan,
    changes: addGapDangers(plan, gaps),
    diagnostics: [...plan.diagnostics, ...diagnostics],
    violations: [...plan.violations, ...violations],
    rehearsal: {
      writes: plan.writes.length,
      rejected: result.outcomes.filter(({ outcome }) => outcome !== 'applied').length - awaiting,
      ...(awaiting > 0 && { awaiting }),
      remaining: remaining.length,
      tokens: result.tokens.length,
      ...(unchecked.length > 0 && { unchecked }),
    },
  };
}

/** Plans again, without what the plan leaves out. `input`: with what is live in the copy. */
function listRemainingChanges(plan: Plan, input: PlanInput): readonly Change[] {
  const leftOut = new Set([...listAddressesInCondition(plan, 'left-out')].map(stripDuplicateId));
  return decideChanges(input)
    .decisions.filter(({ action, pair }) => !sendsNothing(action) && !leftOut.has(pair.address))
    .map((decision) => createChange(decision));
}

/** Counts the writes that fail on the copy because another stack of the run frees a value first, and what depends on them. */
function countAwaiting(plan: Plan, { outcomes }: ApplyResult): number {
  const late = listAddressesInCondition(plan, 'awaiting');
  const waiting = new Set<string>();
  for (const one of outcomes) {
    const isLate = one.outcome !== 'applied' && late.has(one.write.address);
    if (isLate || (one.outcome === 'skipped' && one.waitedFor.some((id) => waiting.has(id)))) waiting.add(one.write.id);
  }
  return waiting.size;
}
