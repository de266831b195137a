import { countActionsForDisplay, type PublishedTotals } from '../model/change.ts';
import { countDangersByGroup, type DangerGroupCounts } from '../model/danger.ts';
import type { Plan } from '../model/plan.ts';
import type { Write } from '../model/write.ts';
import { createWriteRequestLine, type WriteRequestLine } from './request-body.ts';

/** A write in a plan file, with the method and path of its request. */
export type PlanFileWrite = Write & WriteRequestLine;

/**
 * A plan in a document: without the version of the format, which the document has, and with the totals, dangers and
 * requests that are derived from it, for readers.
 */
export type PlanFileContent = Omit<Plan, 'format' | 'writes'> & {
  readonly totals: PublishedTotals;
  readonly dangers: DangerGroupCounts;
  readonly writes: readonly PlanFileWrite[];
};

/**
 * @example
 * const { totals, dangers } = createPlanFileContent(plan);
 */
export function createPlanFileContent({ format: _, ...plan }: Plan): PlanFileContent {
  return {
    ...plan,
    totals: countActionsForDisplay(plan.changes),
    dangers: countDangersByGroup(plan.changes.flatMap(({ dangers = [] }) => dangers)),
    writes: plan.writes.map((write) => ({ ...write, ...createWriteRequestLine(write) })),
  };
}
