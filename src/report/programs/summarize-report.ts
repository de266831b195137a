import { countDriftStates, hasDrift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { GuardViolation, Plan } from '../../model/plan.ts';
import { countActions } from '../../model/totals.ts';
import type { Report } from '../report.ts';
import { toApplySummary } from '../view/apply-wording.ts';
import { toComparisonView } from '../view/comparison-view.ts';
import { toDriftSummary } from '../view/drift-wording.ts';
import { toActionCounts } from '../view/plan-wording.ts';
import { toApplyTotals } from '../view/totals.ts';
import { countSeverities, toCount, toNoResult, toValidationSize } from '../view/wording.ts';

/** The report in one sentence. */
export function summarizeReport(report: Report): string {
  switch (report.about) {
    case 'plan':
      return summarizePlan(report.plan, report.standing);
    case 'comparison':
      return toComparisonView(report).summary;
    case 'apply':
      return summarizeApply(report.result);
    case 'drift': {
      const { resources } = report.drift;
      const off = resources.filter(({ state }) => state !== 'in-sync').length;
      return hasDrift(report.drift)
        ? `${off} of ${toCount(resources.length, 'resource')} ${off === 1 ? 'differs' : 'differ'} from the manifests.`
        : toDriftSummary(countDriftStates(report.drift), true);
    }
    case 'validation': {
      const { diagnostics } = report.validation;
      const found = diagnostics.length === 0 ? 'no diagnostics' : countSeverities(diagnostics);
      return `${toValidationSize(report.validation)}: ${found}.`;
    }
    case 'failure': {
      const { diagnostics = [], command } = report.failure;
      return `${toNoResult(command)}${diagnostics.length === 0 ? '' : `: ${countSeverities(diagnostics)}`}.`;
    }
    default:
      return assertNever(report);
  }
}

function summarizePlan({ changes, diagnostics }: Plan, standing: readonly GuardViolation[]): string {
  const found = [
    ...(diagnostics.length === 0 ? [] : [countSeverities(diagnostics)]),
    ...(standing.length === 0 ? [] : [`refused by ${toCount(standing.length, 'safety rule')}`]),
  ];
  return `${[toActionCounts(countActions(changes)), ...found].join('; ')}.`;
}

function summarizeApply(result: ApplyResult): string {
  const end = result.interrupted ? '; interrupted' : '';
  return `${toApplySummary(toApplyTotals(result))}${end}.`;
}
