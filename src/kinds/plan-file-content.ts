import { countActionsForDisplay, type PublishedTotals } from '../model/change.ts';
import { countDangersByGroup, type DangerGroupCounts } from '../model/danger.ts';
import type { Plan } from '../model/plan.ts';
import type { Write } from '../model/write.ts';
import { createWriteRequestLine, type WriteRequestLine } from './request-body.ts';

/** A write in a plan file, with the method and path of its request. */
export type PlanFileWrite = Write & WriteRequestLine;

/** The content of a plan file: the plan and, for readers, the totals, dangers and requests that are derived from it. */
export type PlanFileContent = Omit<Plan, 'writes'> & {
  readonly totals: PublishedTotals;
  readonly dangers: DangerGroupCounts;
  readonly writes: readonly PlanFileWrite[];
};

/** Creates the content of a plan file: adds the totals, dangers and requests, which are derived from the plan. */
export function createPlanFileContent(plan: Plan): PlanFileContent {
  return {
    ...plan,
    totals: countActionsForDisplay(plan.changes),
    dangers: countDangersByGroup(plan.changes.flatMap(({ dangers = [] }) => dangers)),
    writes: plan.writes.map((write) => ({ ...write, ...createWriteRequestLine(write) })),
  };
}
