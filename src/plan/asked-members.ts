import type { Plan } from '../model/plan.ts';
import type { PlanningRequest, Request } from '../settings/request.ts';

/**
 * Where a plan says what its run was asked. The form of plan files is older than the table of options, and is that of
 * every result as JSON: this is the one place that knows both.
 */
export type AskedMembers = Pick<Plan, 'mode' | 'targets' | 'exclusions' | 'options'>;

/** The members that say it, sorted. Without consents: the run that applies gives them. */
export function toAskedMembers({
  mode = 'apply',
  targets = [],
  exclusions = [],
  rotate = [],
  retire = [],
}: PlanningRequest): AskedMembers {
  return {
    mode,
    targets: targets.toSorted(),
    ...(exclusions.length > 0 && { exclusions: exclusions.toSorted() }),
    options: { rotate: rotate.toSorted(), retire: retire.toSorted() },
  };
}

/** What the run of a plan was asked, as far as the plan says it. */
export function toRequest({ mode, targets, exclusions, options }: AskedMembers): Request {
  return { mode, targets, exclusions, ...options };
}
