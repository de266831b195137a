import { assertNever } from '../../model/errors.ts';
import type { FormatOptions, PlanReport, Report } from '../report.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { createDriftView } from '../view/drift-view.ts';
import { createPlanView } from '../view/plan-view.ts';
import { renderApplyResultText } from './apply.ts';
import { renderFailureText, renderValidationText } from './diagnostics.ts';
import { renderDriftText } from './drift.ts';
import { renderComparisonText, renderPlanText } from './plan.ts';

/** A report for a terminal. For an apply, the plan precedes the result. */
export function renderTextReport(report: Report, options: FormatOptions): string {
  switch (report.about) {
    case 'plan':
      return renderPlanReport(report, options);
    case 'apply': {
      const { plan, result } = report;
      const shown = renderPlanReport({ about: 'plan', plan, blocking: [] }, options);
      return `${shown}\n${renderApplyResultText(plan, result, options)}`;
    }
    case 'comparison':
      return renderComparisonText(createComparisonView(report), options);
    case 'drift':
      return renderDriftText(createDriftView(report.drift, options), options);
    case 'validation':
      return renderValidationText(report.validation, options);
    case 'failure':
      return renderFailureText(report.failure, options);
    default:
      return assertNever(report);
  }
}

function renderPlanReport({ plan, blocking }: PlanReport, options: FormatOptions): string {
  return renderPlanText(createPlanView({ ...plan, violations: blocking }, options), options);
}
