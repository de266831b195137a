import { hasErrors } from '../../model/diagnostic.ts';
import { assertNever } from '../../model/errors.ts';
import type {
  ApplyReport,
  DriftReport,
  FailureReport,
  FormOptions,
  PlanReport,
  Report,
  ValidationReport,
} from '../report.ts';
import { toApplyCounts } from '../text/apply.ts';
import { toCoverageSentence, toDriftSummary } from '../text/drift.ts';
import { toCount } from '../text/layout.ts';
import { toApplyView } from '../view/apply-view.ts';
import { toDriftView } from '../view/drift-view.ts';
import { toFailureView } from '../view/failure-view.ts';
import { toRequestSentence, toSummary } from '../view/plan-summary.ts';
import { type PlanView, toPlanView } from '../view/plan-view.ts';
import { toPrintableDiagnostic } from '../view/printable-diagnostic.ts';
import { renderList } from './counts.ts';
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
      return renderApplyPage(report);
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
      hasErrors(diagnostics) || view.isEmpty ? html`<strong>${toSummary(view)}</strong>` : undefined,
      html`${toRequestSentence(view)}`,
      renderPointers(violations, diagnostics),
    ],
    body: [
      hasErrors(diagnostics) ? undefined : renderPlanCounts(view.totals),
      renderCommand(view, applyCommand),
      renderViolations(violations),
      ...(hasErrors(diagnostics) ? [found, changes] : [changes, found]),
      renderList('planned-files', 'Files to write', view.files),
      ...listMore(view),
    ],
  });
}

/** What stands below the changes of a plan, whether it was applied or not. */
function listMore({ withheld, unchanged, writes }: PlanView): readonly (Html | undefined)[] {
  return [
    renderList('withheld', 'Kept because of --no-delete', withheld),
    renderList('unchanged', 'Left as they are', unchanged),
    renderGraph(writes),
    renderWrites(writes),
  ];
}

function renderApplyPage({ plan, result }: ApplyReport): string {
  const ended = toApplyView(plan, result);
  const view = toPlanView({ ...plan, violations: [] });
  const { title, isComplete, totals, diagnostics } = ended;
  return renderDocument({
    heading: title,
    notes: view.notes,
    verdict: [
      isComplete
        ? html`<strong>${toApplyCounts(totals)}.</strong>`
        : html`<strong class="bad">Not all was done: ${toApplyCounts(totals)}.</strong>`,
    ],
    body: [
      renderOutcomeCounts(ended),
      ...renderTrouble(ended),
      renderDiagnostics([...diagnostics, ...view.diagnostics]),
      ...renderDone(ended),
      html`<section aria-labelledby="plan"><h2 id="plan">The plan</h2></section>\n`,
      renderPlanCounts(view.totals),
      renderChanges(view),
      ...listMore(view),
    ],
  });
}

function renderDriftPage({ drift }: DriftReport): string {
  const view = toDriftView(drift);
  return renderDocument({
    heading: view.title,
    notes: view.notes,
    verdict: [
      view.groups.length === 0 ? html`<strong>${toDriftSummary(view)}</strong>` : undefined,
      html`${toCoverageSentence(view)} Reading took ${toCount(view.requests, 'request')}.`,
      renderPointers([], view.diagnostics),
    ],
    body: [renderDriftCounts(view.counts), renderDrifted(view), renderDiagnostics(view.diagnostics)],
  });
}

function renderValidationPage({ validation: { files, resources, diagnostics } }: ValidationReport): string {
  const isValid = !hasErrors(diagnostics);
  const size = `${toCount(resources, 'resource')} in ${toCount(files, 'file')}`;
  return renderDocument({
    heading: isValid ? 'The manifests are valid' : 'The manifests are invalid',
    notes: [],
    verdict: [html`${size}.`, renderPointers([], diagnostics)],
    body: [renderDiagnostics(diagnostics.map(toPrintableDiagnostic))],
  });
}

function renderFailurePage({ failure }: FailureReport): string {
  const { error, diagnostics } = toFailureView(failure);
  return renderDocument({
    heading: `${toCommand(failure.command)} came to no result`,
    notes: [],
    verdict: [renderPointers([], diagnostics)],
    body: [error === undefined ? undefined : renderError(error), renderDiagnostics(diagnostics)],
  });
}

function toCommand(command: string | undefined): string {
  return command === undefined ? 'edgewise' : `edgewise ${command}`;
}
