import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Write } from '../../model/write.ts';

/** Number of writes by how they ended. `alreadyDone` are among the applied ones. */
export interface ApplyTotals {
  readonly applied: number;
  readonly alreadyDone: number;
  readonly failed: number;
  readonly skipped: number;
}

/** The totals of an apply. */
export function toApplyTotals({ outcomes }: ApplyResult): ApplyTotals {
  const totals = { applied: 0, alreadyDone: 0, failed: 0, skipped: 0 };
  for (const result of outcomes) {
    totals[result.outcome] += 1;
    if ('alreadyDone' in result) totals.alreadyDone += 1;
  }
  return totals;
}

/** The writes that were not tried because the run was interrupted: those whose turn did not come, and what waits for nothing else. */
export function findNotStarted(outcomes: readonly Outcome[]): ReadonlyMap<string, Write> {
  const found = new Map<string, Write>();
  const skipped = outcomes.filter((one) => one.outcome === 'skipped');
  for (let before = -1; before < found.size; ) {
    before = found.size;
    for (const { write, waitedFor } of skipped) if (waitedFor.every((id) => found.has(id))) found.set(write.id, write);
  }
  return found;
}

/** Whether all of the plan was done, files included, and every token is where it was meant to go. */
export function isFullyApplied({ outcomes, files, tokens }: ApplyResult): boolean {
  return (
    [...outcomes, ...files].every(({ outcome }) => outcome === 'applied') && !tokens.some(({ rescued }) => rescued)
  );
}
