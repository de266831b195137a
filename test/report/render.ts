import type { Diagnostic } from '../../src/model/diagnostic.ts';
import type { Drift } from '../../src/model/drift.ts';
import type { ApplyResult } from '../../src/model/outcome.ts';
import type { Plan } from '../../src/model/plan.ts';
import { createDocument, createStacksDocument } from '../../src/report/documents/create-document.ts';
import { writeGithub } from '../../src/report/findings/write-github.ts';
import { writeJunit } from '../../src/report/findings/write-junit.ts';
import { writeSarif } from '../../src/report/findings/write-sarif.ts';
import { writeHtml } from '../../src/report/html/write-html.ts';
import { writeMarkdown } from '../../src/report/markdown/write-markdown.ts';
import { renderTextReport } from '../../src/report/render-text.ts';
import type { FormatOptions, Report, StacksRunReport } from '../../src/report/report.ts';

/** Renders reports as texts. */

/** A plan that all of its violations block. */
export function renderPlanText(plan: Plan, options: FormatOptions): string {
  return renderTextReport({ about: 'plan', plan, blocking: plan.violations }, options);
}

/** The result of an apply, without its plan. */
export function renderApplyResultText(plan: Plan, result: ApplyResult, options: FormatOptions): string {
  return renderTextReport({ about: 'apply', plan, result }, { ...options, isPlanShown: true });
}

export function renderDriftText(drift: Drift, options: FormatOptions): string {
  return renderTextReport({ about: 'drift', drift }, options);
}

export function renderDiagnosticsText(diagnostics: readonly Diagnostic[], options: FormatOptions): string {
  return renderTextReport({ about: 'failure', failure: { diagnostics } }, options);
}

export function renderMarkdownReport(report: Report, options: FormatOptions): string {
  return [...writeMarkdown(createDocument(report, options), options)].join('');
}

export function renderHtmlReport(report: Report, options: FormatOptions): string {
  return [...writeHtml(createDocument(report, options), options)].join('');
}

export function renderStacksHtml(run: StacksRunReport, options: FormatOptions): string {
  return [...writeHtml(createStacksDocument(run, options), options)].join('');
}

export function renderGithubReport(report: Report, options: FormatOptions): string {
  return [...writeGithub(createDocument(report, options), options)].join('');
}

export function renderSarifReport(report: Report, options: FormatOptions): string {
  return [...writeSarif(createDocument(report, options), options)].join('');
}

export function renderJunitReport(report: Report, options: FormatOptions): string {
  return [...writeJunit(createDocument(report, options))].join('');
}
