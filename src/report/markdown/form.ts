import { assertNever } from '../../model/errors.ts';
import type { ApplyReport, Failure, FormOptions, PlanReport, Report, ValidationReport } from '../report.ts';
import { toApplyView } from '../view/apply-view.ts';
import { APPLIED_PLAN } from '../view/apply-wording.ts';
import { toComparisonView } from '../view/comparison-view.ts';
import { toDriftView } from '../view/drift-view.ts';
import { toFailureView } from '../view/failure-view.ts';
import { toPlanView } from '../view/plan-view.ts';
import { toCount, toNoResult, toValidationSize } from '../view/wording.ts';
import { listResultHeadPieces, listResultPieces } from './apply.ts';
import { listComparisonHeadPieces, listComparisonPieces } from './comparison.ts';
import { listDriftHeadPieces, listDriftPieces } from './drift.ts';
import { createLinks, renderFooter } from './links.ts';
import { joinPieces, type Piece, toDiagnosticPiece } from './pieces.ts';
import { listCallPieces, listCommandPieces, listHeadPieces, listPlanPieces } from './plan.ts';
import { toFence, toMarker, toProse } from './text.ts';

/** A report as a comment on a pull request. It never has more characters than a comment may, and says what it left out for that. */
export function renderMarkdownForm(report: Report, options: FormOptions): string {
  const { command, stack, head, body } = toComment(report, options);
  const marker: Piece = { text: `${toMarker(command, stack)}\n\n`, weight: 'always' };
  return `${joinPieces([marker, ...head], body).trimEnd()}\n`;
}

/** A report without what makes it a comment: a part of a longer one. */
export function listReportPieces(report: Report, options: FormOptions): readonly Piece[] {
  const { head, body } = toComment(report, options);
  return [...head, ...body];
}

interface Comment {
  /** What makes it, for those who look for the comment of an earlier run. */
  readonly command: string;
  readonly stack?: string;
  /** Stands above what was left out. */
  readonly head: readonly Piece[];
  readonly body: readonly Piece[];
}

function toComment(report: Report, options: FormOptions): Comment {
  switch (report.about) {
    case 'plan':
      return toPlanComment(report, options);
    case 'apply':
      return toApplyComment(report, options);
    case 'comparison': {
      const view = toComparisonView(report);
      return {
        command: report.command === 'diff' ? 'diff' : 'plan',
        stack: report.comparison.after.stack,
        head: listComparisonHeadPieces(view),
        body: listComparisonPieces(view, createLinks(report.comparison.after, options)),
      };
    }
    case 'drift': {
      const view = toDriftView(report.drift, options);
      return {
        command: 'drift',
        stack: report.drift.stack,
        head: listDriftHeadPieces(view),
        body: listDriftPieces(view),
      };
    }
    case 'validation':
      return toValidationComment(report);
    case 'failure':
      return toFailureComment(report.failure);
    default:
      return assertNever(report);
  }
}

function toPlanComment({ plan, standing }: PlanReport, options: FormOptions): Comment {
  const { applyCommand, verbose } = options;
  const view = toPlanView({ ...plan, violations: standing }, options);
  return {
    command: 'plan',
    stack: plan.stack,
    head: listHeadPieces(view),
    body: [
      ...listPlanPieces(view, createLinks(plan, options)),
      ...(verbose ? listCallPieces(view.writes) : []),
      ...listCommandPieces(view, applyCommand),
      { text: `${renderFooter(plan, options)}\n\n`, weight: 'always' },
    ],
  };
}

function toApplyComment({ plan, result }: ApplyReport, options: FormOptions): Comment {
  const view = toPlanView({ ...plan, violations: [] });
  const ended = toApplyView(plan, result, options);
  return {
    command: plan.mode,
    stack: plan.stack,
    head: listResultHeadPieces(ended),
    body: [
      ...listResultPieces(ended),
      { text: `## ${APPLIED_PLAN}\n\n`, weight: 'always' },
      ...listPlanPieces(view, createLinks(plan, options)),
      { text: `${renderFooter(plan, options)}\n\n`, weight: 'always' },
    ],
  };
}

function toValidationComment({ command, validation }: ValidationReport): Comment {
  const { diagnostics } = validation;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const verdict =
    errors === 0
      ? `${toValidationSize(validation)}: valid.`
      : `The manifests are invalid: ${toCount(errors, 'error')}.`;
  return {
    command,
    ...(validation.stack !== undefined && { stack: validation.stack }),
    head: [{ text: `## Manifests\n\n**${verdict}**\n\n`, weight: 'always' }],
    body: diagnostics.map(toDiagnosticPiece),
  };
}

function toFailureComment(failure: Failure): Comment {
  const { diagnostics, error } = toFailureView(failure);
  const lines = error === undefined ? [] : [...error.lines, ...(error.remedy?.split('\n') ?? [])];
  const why: Piece = { text: lines.length === 0 ? '' : `${toFence('text', lines)}\n\n`, weight: 'always' };
  return {
    command: failure.command ?? 'edgewise',
    ...(failure.stack !== undefined && { stack: failure.stack }),
    head: [{ text: `## ${toProse(toNoResult(failure.command))}\n\n`, weight: 'always' }, why],
    body: diagnostics.map(toDiagnosticPiece),
  };
}
