import { assertNever } from '../model/errors.ts';
import { toDriftView } from './drift-view.ts';
import type { FormOptions, PlanReport, Report, Validation } from './report.ts';
import { renderApplyResultText } from './text-apply.ts';
import { renderDiagnosticsText } from './text-diagnostics.ts';
import { renderDriftText } from './text-drift.ts';
import { renderFailureText } from './text-failure.ts';
import { toCount } from './text-layout.ts';
import { renderPlanText } from './text-plan.ts';
import { toPlanView } from './view.ts';

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
    case 'drift':
      return renderDriftText(toDriftView(report.drift), options);
    case 'validation':
      return renderValidation(report.validation, options);
    case 'failure':
      return renderFailureText(report.failure, options);
    default:
      return assertNever(report);
  }
}

function renderPlanReport({ plan, standing }: PlanReport, options: FormOptions): string {
  return renderPlanText(toPlanView({ ...plan, violations: standing }), options);
}

function renderValidation({ files, resources, diagnostics }: Validation, options: FormOptions): string {
  const found = renderDiagnosticsText(diagnostics, options);
  if (diagnostics.some(({ severity }) => severity === 'error')) return found;
  return `${found}${toCount(resources, 'resource')} in ${toCount(files, 'file')}: valid.\n`;
}
