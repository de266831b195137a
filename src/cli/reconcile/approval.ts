import type { Plan } from '../../model/plan.ts';
import { isWithin } from '../../model/plan-comparison.ts';
import { comparePlans } from '../../plan/compare/compare-plans.ts';
import type { ComparisonReport } from '../../report/report.ts';
import { type Approved, refuseUnfit } from '../../stack/approve.ts';
import type { Context } from '../context.ts';
import { VERSION } from '../version.ts';
import { readPlanFile } from './plan-file.ts';

/** The plan in a file that `--approved` names; nothing without one. Throws when it cannot approve anything. */
export async function readApproved(file: string | undefined, context: Context): Promise<Approved | undefined> {
  if (file === undefined) return undefined;
  const approved = { plan: await readPlanFile(file, context), name: file };
  refuseUnfit(approved, VERSION);
  return approved;
}

/** What of a plan was not approved, to be shown; nothing when all of it was. */
export function findUnapproved(plan: Plan, approved: Approved | undefined): ComparisonReport | undefined {
  if (approved === undefined) return undefined;
  const comparison = comparePlans(approved.plan, plan);
  const names = { before: approved.name, after: 'The plan' };
  return isWithin(comparison) ? undefined : { about: 'comparison', command: 'apply', comparison, names };
}
