import { countInCondition } from '../../model/conditions.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import type { KeptPrunes } from '../../plan/plan-input.ts';
import type { Report, StackReportPart } from '../../report/report.ts';
import { formatPruneCommand } from '../../run/apply-account.ts';
import { isPrune } from '../../run/passes.ts';
import { createStackReportPart, type StackResult, type StacksRun } from './stacks-run.ts';

/**
 * Plans again the stacks that would prune something while another stack of their account is unknown: it cannot be read or
 * planned, and might take over what they would delete. The new plans keep it. `planAgain`: `undefined` leaves the result
 * of the stack as it is.
 */
export async function keepPrunesBesideUnknownStacks(
  { selected: { stacks } }: StacksRun,
  parts: readonly StackReportPart[],
  planAgain: (folder: StackFolder, kept: KeptPrunes) => Promise<StackResult | undefined>,
): Promise<readonly StackReportPart[]> {
  const found = stacks.map((folder, index) => ({ folder, what: describeUnknown(parts[index]?.report) }));
  const unknown = found.filter(({ what }) => what !== undefined);
  const shownParts: StackReportPart[] = [];
  for (const [index, part] of parts.entries()) {
    const { folder, what } = found[index] ?? {};
    const other = unknown.find((one) => one.folder !== folder && mayShareAccount(one.folder, folder));
    const isPlanned = what === undefined || part.report.about === 'comparison';
    const isKept = folder !== undefined && isPlanned && other !== undefined && hasPrunes(part.report);
    const again = isKept ? await planAgain(folder, createReason(folder, other)) : undefined;
    shownParts.push(folder === undefined || again === undefined ? part : createStackReportPart(folder, again));
  }
  return shownParts;
}

/** Why a stack is not applied. `undefined`: it was planned, and nothing refuses it. */
export function describeUnknown(report: Report | undefined): string | undefined {
  switch (report?.about) {
    case 'failure':
      return (report.failure.diagnostics ?? []).length > 0 ? 'cannot be read' : 'cannot be planned';
    case 'comparison':
      return 'is not as approved';
    case 'plan':
      if (hasErrors(report.plan.diagnostics)) return 'cannot be planned';
      if (report.blocking.length > 0) return 'is refused';
      return countInCondition(report.plan, 'blocked') > 0 ? 'is not applied' : undefined;
    default:
      return undefined;
  }
}

/** Whether two stacks are at one service. A stack without a base URL may be at any. */
function mayShareAccount({ serviceId }: StackFolder, folder: StackFolder | undefined): boolean {
  return serviceId === undefined || serviceId === folder?.serviceId;
}

function hasPrunes(report: Report): boolean {
  const plan = findPlan(report);
  return plan?.writes.some(isPrune(plan)) === true;
}

function findPlan(report: Report): Plan | undefined {
  if (report.about === 'comparison') return report.comparison.after;
  return report.about === 'plan' || report.about === 'apply' ? report.plan : undefined;
}

function createReason(
  folder: StackFolder,
  other: { readonly folder: StackFolder; readonly what?: string | undefined },
) {
  return {
    why: `${other.folder.folder} ${other.what}, and might take it over`,
    remedy: `Correct that stack and run again. To delete it now, apply this stack alone: ${formatPruneCommand(folder)}`,
  };
}
