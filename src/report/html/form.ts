import { hasErrors } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type {
  ApplyReport,
  ComparisonReport,
  DriftReport,
  FailureReport,
  FormOptions,
  PlanReport,
  Report,
  ValidationReport,
} from '../report.ts';
import { toApplyView } from '../view/apply-view.ts';
import { APPLIED_PLAN, NOT_ALL } from '../view/apply-wording.ts';
import { toComparisonView } from '../view/comparison-view.ts';
import { toPrintableDiagnostic } from '../view/diagnostic-view.ts';
import { toDriftView } from '../view/drift-view.ts';
import { toFailureView } from '../view/failure-view.ts';
import { type PlanView, toPlanView } from '../view/plan-view.ts';
import { LIST_HEADINGS } from '../view/plan-wording.ts';
import { toNoResult, toValidationSize } from '../view/wording.ts';
import { renderList } from './counts.ts';
import { renderDangers } from './dangers.ts';
import { renderDiagnostics, renderError, renderPointers, renderViolations } from './diagnostics.ts';
import { renderDocument } from './document.ts';
import { renderDriftCounts, renderDrifted } from './drift.ts';
import { renderGraph } from './graph.ts';
import { type Html, html } from './node.ts';
import { renderDone, renderOutcomeCounts, renderTrouble } from './outcomes.ts';
import { renderChanges, renderCommand, renderPlanCounts } from './plan.ts';
import { renderWrites } from './writes.ts';

/** A report as one self-contained page that loads nothing: to be kept as the artifact of a pipeline, and read in a browser. */
export function renderHtmlForm(report: Report, options: FormOptions): string {
  switch (report.about) {
    case 'plan':
      return renderPlanPage(report, options);
    case 'apply':
      return renderApplyPage(report, options);
    case 'comparison':
      return renderComparisonPage(report);
    case 'drift':
      return renderDriftPage(report);
    case 'validation':
      return renderValidationPage(report);
    case 'failure':
      return renderFailurePage(report);
    default:
      return assertNever(report);
  }
}

function renderPlanPage({ plan, standing }: PlanReport, { applyCommand }: FormOptions): string {
  const view = toPlanView({ ...plan, violations: standing });
  const { title, notes, violations, diagnostics } = view;
  const changes = renderChanges(view);
  const found = renderDiagnostics(diagnostics);
  return renderDocument({
    heading: title,
    notes,
    verdict: [
      hasErrors(diagnostics) || view.isEmpty ? html`<strong>${view.summary}</strong>` : undefined,
      html`${view.requests}`,
      renderPointers(violations, diagnostics),
    ],
    body: [
      hasErrors(diagnostics) ? undefined : renderPlanCounts(view),
      renderCommand(view, applyCommand),
      renderViolations(violations),
      renderDangers(view),
      ...(hasErrors(diagnostics) ? [found, changes] : [changes, found]),
      renderList('planned-files', LIST_HEADINGS.files, view.files),
      ...listMore(view),
    ],
  });
}

/** What stands below the changes of a plan, whether it was applied or not. */
function listMore({ withheld, unchanged, lint, writes }: PlanView): readonly (Html | undefined)[] {
  return [
    renderList('withheld', LIST_HEADINGS.withheld, withheld),
    renderList('unchanged', LIST_HEADINGS.unchanged, unchanged),
    renderList(
      'lint',
      LIST_HEADINGS.lint,
      lint.map(({ position, said }) => (position === undefined ? said : `${position}: ${said}`)),
    ),
    renderGraph(writes),
    renderWrites(writes),
  ];
}

function renderApplyPage({ plan, result }: ApplyReport, options: FormOptions): string {
  const ended = toApplyView(plan, result, options);
  const view = toPlanView({ ...plan, violations: [] });
  const { title, isComplete, summary, diagnostics } = ended;
  return renderDocument({
    heading: title,
    notes: view.notes,
    verdict: [
      isComplete ? html`<strong>${summary}.</strong>` : html`<strong class="bad">${NOT_ALL}${summary}.</strong>`,
    ],
    body: [
      renderOutcomeCounts(ended),
      ...renderTrouble(ended),
      renderDiagnostics([...diagnostics, ...view.diagnostics]),
      ...renderDone(ended),
      html`<section aria-labelledby="plan"><h2 id="plan">${APPLIED_PLAN}</h2></section>\n`,
      renderPlanCounts(view),
      renderChanges(view),
      ...listMore(view),
    ],
  });
}

function renderComparisonPage(report: ComparisonReport): string {
  const { title, summary, remedy, parts, isRefused } = toComparisonView(report);
  const sentences = [`${summary}`, ...(remedy === undefined ? [] : [remedy])].join(' ');
  return renderDocument({
    heading: title,
    notes: [],
    verdict: [isRefused ? html`<strong class="bad">${sentences}</strong>` : html`<strong>${sentences}</strong>`],
    body: [
      renderChanges({ parts: parts.filter(({ changes }) => changes.length > 0) }),
      ...parts.map(({ part, heading, files }) => renderList(`${part}-files`, `${heading}: files`, files)),
    ],
  });
}

function renderDriftPage({ drift }: DriftReport): string {
  const view = toDriftView(drift);
  return renderDocument({
    heading: view.title,
    notes: view.notes,
    verdict: [
      view.groups.length === 0 ? html`<strong>${view.summary}</strong>` : undefined,
      html`${view.coverage} ${view.requests}`,
      renderPointers([], view.diagnostics),
    ],
    body: [renderDriftCounts(view.counts), renderDrifted(view), renderDiagnostics(view.diagnostics)],
  });
}

function renderValidationPage({ validation }: ValidationReport): string {
  const { diagnostics } = validation;
  const isValid = !hasErrors(diagnostics);
  return renderDocument({
    heading: isValid ? 'The manifests are valid' : 'The manifests are invalid',
    notes: [],
    verdict: [html`${toValidationSize(validation)}.`, renderPointers([], diagnostics)],
    body: [renderDiagnostics(diagnostics.map(toPrintableDiagnostic))],
  });
}

function renderFailurePage({ failure }: FailureReport): string {
  const { error, diagnostics } = toFailureView(failure);
  return renderDocument({
    heading: toNoResult(failure.command),
    notes: [],
    verdict: [renderPointers([], diagnostics)],
    body: [error === undefined ? undefined : renderError(error), renderDiagnostics(diagnostics)],
  });
}
