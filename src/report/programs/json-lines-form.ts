import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import { hasDrift } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import type { ApplyReport, FormOptions, Report } from '../report.ts';
import { isFullyApplied, toApplyTotals } from '../view/apply-totals.ts';
import { countActions } from '../view/plan-view.ts';
import { type EventBody, listStartEvents, renderEventLine, toEventBody } from './json-lines.ts';

/**
 * A report as a stream of events, one JSON object a line. What an apply has sent while it ran stands first; every stream ends with a
 * summary, that of a failure too.
 */
export function renderJsonLinesForm(report: Report, options: FormOptions): string {
  const { sent = { text: '', count: 0 }, at = new Date(0) } = options;
  const bodies = [...listEvents(report, sent.count > 0), { event: 'summary', ...toSummary(report, options) }];
  const lines = bodies.map((body, index) => renderEventLine(body, { seq: sent.count + index + 1, time: at }));
  return `${sent.text}${lines.join('')}`;
}

function listEvents(report: Report, isSent: boolean): readonly EventBody[] {
  switch (report.about) {
    case 'plan':
      return listDiagnosticEvents(report.plan.diagnostics);
    case 'apply':
      return isSent ? [] : listApplyEvents(report);
    case 'drift':
      return listDiagnosticEvents(report.drift.diagnostics);
    case 'validation':
      return listDiagnosticEvents(report.validation.diagnostics);
    case 'failure':
      return listDiagnosticEvents(report.failure.diagnostics ?? []);
    default:
      return assertNever(report);
  }
}

/** Of an apply that nobody followed. */
function listApplyEvents({ plan, result }: ApplyReport): readonly EventBody[] {
  const total = result.outcomes.length;
  return [
    ...listStartEvents(plan),
    ...result.outcomes.map((one, index) => toEventBody({ event: 'write-ended', result: one, done: index + 1, total })),
    ...listDiagnosticEvents(result.diagnostics),
  ];
}

function listDiagnosticEvents(diagnostics: readonly Diagnostic[]): readonly EventBody[] {
  return diagnostics.map((diagnostic) => ({ event: 'diagnostic', diagnostic }));
}

/** How it ended: `ok` as in the JSON document of the same result. */
function toSummary(report: Report, { exitCode = null }: Pick<FormOptions, 'exitCode'> | { exitCode?: null }): object {
  switch (report.about) {
    case 'plan': {
      const { plan, standing } = report;
      const ok = !hasErrors(plan.diagnostics) && standing.length === 0;
      const { 'no-op': unchanged, ...changes } = countActions(plan.changes);
      return { command: 'plan', ok, exit_code: exitCode, changes: { ...changes, unchanged }, violations: standing };
    }
    case 'apply': {
      const { plan, result } = report;
      const { interrupted, tokens, files } = result;
      const { applied, alreadyDone, failed, skipped } = toApplyTotals(result);
      const totals = { applied, already_done: alreadyDone, failed, skipped };
      const ok = isFullyApplied(result);
      return { command: plan.mode, ok, exit_code: exitCode, interrupted, totals, tokens, files };
    }
    case 'drift':
      return {
        command: 'drift',
        ok: !hasErrors(report.drift.diagnostics),
        exit_code: exitCode,
        drifted: hasDrift(report.drift),
      };
    case 'validation':
      return { command: report.command, ok: !hasErrors(report.validation.diagnostics), exit_code: exitCode };
    case 'failure': {
      const { command = null, error } = report.failure;
      return { command, ok: false, exit_code: exitCode, ...(error !== undefined && { error: error.message }) };
    }
    default:
      return assertNever(report);
  }
}
