import type { Plan } from '../model/plan.ts';
import { type ShownTotals, toShownTotals } from '../model/totals.ts';
import type { Write } from '../model/write.ts';
import { toWriteRequest, type WriteRequest } from './write-request.ts';

/** A write as plan files show it: with the request that follows from it. */
export type ShownWrite = Write & WriteRequest;

/** A plan as its file has it: with what follows from its changes, for those who read it. */
export type PlanDocument = Omit<Plan, 'writes'> & {
  readonly totals: ShownTotals;
  readonly writes: readonly ShownWrite[];
};

/** A plan as its file has it. */
export function toPlanDocument(plan: Plan): PlanDocument {
  return {
    ...plan,
    totals: toShownTotals(plan.changes),
    writes: plan.writes.map((write) => ({ ...write, ...toWriteRequest(write) })),
  };
}
