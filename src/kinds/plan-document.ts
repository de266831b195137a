import type { Plan } from '../model/plan.ts';
import type { Write } from '../model/write.ts';
import { toWriteRequest, type WriteRequest } from './write-request.ts';

/** A write as plan files show it: with the request that follows from it. */
export type ShownWrite = Write & WriteRequest;

/** A plan as its file has it. */
export type PlanDocument = Omit<Plan, 'writes'> & { readonly writes: readonly ShownWrite[] };

/** A plan with the requests of its writes, for those who read it. */
export function toPlanDocument(plan: Plan): PlanDocument {
  return { ...plan, writes: plan.writes.map((write) => ({ ...write, ...toWriteRequest(write) })) };
}
