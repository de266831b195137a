import { assertNever } from '../../model/errors.ts';
import type { FormOptions, PlanReport, Report } from '../report.ts';
import { toComparisonView } from '../view/comparison-view.ts';
import { toDriftView } from '../view/drift-view.ts';
import { toPlanView } from '../view/plan-view.ts';
import { renderApplyResultText } from './apply.ts';
import { renderFailureText, renderValidationText } from './diagnostics.ts';
import { renderDriftText } from './drift.ts';
import { renderComparisonText, renderPlanText } from './plan.ts';

/** A report for a person at a terminal. That of an apply has its plan before it. */
export function renderTextForm(report: Report, options: FormOptions): string {
  switch (report.about) {
    case 'plan':
      return renderPlanReport(report, options);
    case 'apply': {
      const { plan, result } = report;
      const shown = renderPlanReport({ about: 'plan', plan, standing: [] }, options);
      return `${shown}\n${renderApplyResultText(plan, result, options)}`;
    }
    case 'comparison':
      return renderComparisonText(toComparisonView(report), options);
    case 'drift':
      return renderDriftText(toDriftView(report.drift, options), options);
    case 'validation':
      return renderValidationText(report.validation, options);
    case 'failure':
      return renderFailureText(report.failure, options);
    default:
      return assertNever(report);
  }
}

function renderPlanReport({ plan, standing }: PlanReport, options: FormOptions): string {
  return renderPlanText(toPlanView({ ...plan, violations: standing }, { ...options, isReadOnce: true }), options);
}
