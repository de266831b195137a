import { countInCondition } from '../../model/conditions.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isIncomplete } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import type { StackReportPart } from '../../report/report.ts';
import { listDependencies, orderStacks } from '../../run/order-stacks.ts';
import { EXIT } from '../exit-code.ts';
import { describeUnknown } from './kept-prunes.ts';
import { type BlockedDependent, computeWorstExitCode, type PlannedStack, type StacksRun } from './stacks-run.ts';

/**
 * Finds the stacks that depend on one which is not applied, directly or through others. An apply writes nothing in them,
 * and a plan says so: both end with the exit code of what blocks them.
 */
export function findBlockedDependents(
  { selected: { stacks } }: Pick<StacksRun, 'selected'>,
  parts: readonly StackReportPart[],
): ReadonlyMap<StackFolder, BlockedDependent> {
  const byFolder = new Map(stacks.map((folder, index) => [folder, parts[index]]));
  const found = new Map<StackFolder, BlockedDependent>();
  const isRefused = (folder: StackFolder): boolean => {
    const part = byFolder.get(folder);
    return found.has(folder) || (part !== undefined && isRefusedPart(part));
  };
  for (const folder of orderStacks(stacks).ordered) {
    const report = byFolder.get(folder)?.report;
    const hasWrites = report?.about === 'plan' && report.plan.writes.length > 0;
    if (!hasWrites || isRefused(folder)) continue;
    const blocking = listDependencies(folder, stacks).filter(isRefused);
    if (blocking.length === 0) continue;
    const exitCode = computeWorstExitCode(
      blocking.map((other) => found.get(other)?.exitCode ?? byFolder.get(other)?.exitCode ?? EXIT.success),
    );
    const why = blocking.map((other) => {
      const through = found.has(other) ? 'is not applied' : describeUnknown(byFolder.get(other)?.report);
      return `${other.folder}, which ${through ?? 'failed'}`;
    });
    found.set(folder, { exitCode, warning: createBlockedWarning(folder, why) });
  }
  return found;
}

/** Whether a stack is not applied. What a plan leaves undone, such as a withheld replacement, stops no other stack. */
export function isRefusedPart({ exitCode, report }: Pick<StackReportPart, 'exitCode' | 'report'>): boolean {
  if (exitCode === EXIT.success || exitCode === EXIT.changes) return false;
  const plan = report.about === 'plan' || report.about === 'apply' ? report.plan : undefined;
  return exitCode !== EXIT.failed || plan === undefined || countInCondition(plan, 'blocked') > 0 || !isIncomplete(plan);
}

function createBlockedWarning({ name }: StackFolder, why: readonly string[]): Diagnostic {
  return {
    code: 'dependency-blocked',
    severity: 'warning',
    message: `The stack ${name} is not applied in this run: it depends on ${why.join(', and on ')}`,
    remedy: 'Correct that stack, and run again.',
  };
}

/** Adds to a plan that its stack is not applied. Drops the rehearsal, which is about an apply that does not come. */
export function addBlockedDependent(planned: PlannedStack, blocked: BlockedDependent | undefined): PlannedStack {
  if (blocked === undefined) return planned;
  const { rehearsal: _, ...plan } = planned.plan;
  return { ...planned, blocked, plan: { ...plan, diagnostics: [blocked.warning, ...plan.diagnostics] } };
}
