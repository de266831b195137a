import { assertNever } from '../../model/errors.ts';
import type { ApplyReport, Failure, FormatOptions, PlanReport, Report, ValidationReport } from '../report.ts';
import {
  type AppliedWriteView,
  type ApplyView,
  createApplyView,
  type FailedView,
  INCOMPLETE_APPLY_PREFIX,
  PLAN_HEADING,
  RESULT_SECTION_HEADINGS,
  type SkippedView,
} from '../view/apply-view.ts';
import { createComparisonView } from '../view/comparison-view.ts';
import { findDangerSourcePlace } from '../view/danger-view.ts';
import { createFailureView } from '../view/diagnostic-view.ts';
import { createDriftView } from '../view/drift-view.ts';
import { createPlanView } from '../view/plan-view.ts';
import { formatCommandNotCompleted, formatCount, formatResourceAndFileCounts } from '../view/wording.ts';
import {
  createManifestLinks,
  listDangerSections,
  type RenderDangerManifestLink,
  type RenderManifestLink,
  renderFooter,
} from './changes.ts';
import { createDriftManifestLinkRenderer, listDriftHeadSections, listDriftSections } from './drift.ts';
import {
  listApplyCommandSections,
  listComparisonHeadSections,
  listComparisonSections,
  listPlanHeadSections,
  listPlanSections,
  listRequestSections,
} from './plan.ts';
import {
  createDiagnosticSection,
  joinMarkdownCells,
  joinSectionsWithinCommentLimit,
  renderCodeSpan,
  renderCommentMarker,
  renderFence,
  type Section,
  toShortProse,
} from './text.ts';

/** A report as a comment on a pull request. If the comment would be too long, omits sections and names them. */
export function renderMarkdownComment(report: Report, options: FormatOptions): string {
  const { command, stack, head, body } = createComment(report, options);
  const marker: Section = { text: renderCommentMarker(command, stack, options), priority: 'always' };
  return `${joinSectionsWithinCommentLimit([marker, ...head], body).trimEnd()}\n`;
}

/** The sections of a report for use in a longer report, without the marker of a comment. */
export function listReportSections(report: Report, options: FormatOptions): readonly Section[] {
  const { head, body } = createComment(report, options);
  return [...head, ...body];
}

interface Comment {
  /** The command for the hidden marker, by which a later run finds the comment. */
  readonly command: string;
  readonly stack?: string;
  /** The sections above the note on omitted sections. */
  readonly head: readonly Section[];
  readonly body: readonly Section[];
}

function createComment(report: Report, options: FormatOptions): Comment {
  switch (report.about) {
    case 'plan':
      return createPlanComment(report, options);
    case 'apply':
      return createApplyComment(report, options);
    case 'comparison': {
      const view = createComparisonView(report);
      return {
        command: report.command === 'diff' ? 'diff' : 'plan',
        stack: report.comparison.after.stack,
        head: listComparisonHeadSections(view),
        body: listComparisonSections(view, createManifestLinks(report.comparison.after, options)),
      };
    }
    case 'drift': {
      const view = createDriftView(report.drift, options);
      return {
        command: 'drift',
        stack: report.drift.stack,
        head: listDriftHeadSections(
          view,
          createDangerManifestLinker(createDriftManifestLinkRenderer(report.drift, options), options),
          options,
        ),
        body: listDriftSections(view, report.drift, options),
      };
    }
    case 'validation':
      return createValidationComment(report);
    case 'failure':
      return createFailureComment(report.failure);
    default:
      return assertNever(report);
  }
}

function createPlanComment({ plan, blocking }: PlanReport, options: FormatOptions): Comment {
  const { applyCommand, verbose } = options;
  const view = createPlanView({ ...plan, violations: blocking }, options);
  return {
    command: 'plan',
    stack: plan.stack,
    head: listPlanHeadSections(view, createDangerManifestLinker(createManifestLinks(plan, options), options), options),
    body: [
      ...listPlanSections(view, { linkTo: createManifestLinks(plan, options), locate: options.locate }),
      ...(verbose ? listRequestSections(view.writes) : []),
      { text: `${renderFooter(plan, options)}\n\n`, priority: 'always' },
      ...listApplyCommandSections(view, applyCommand),
    ],
  };
}

export function createDangerManifestLinker(
  linkTo: RenderManifestLink,
  options: Pick<FormatOptions, 'locate'>,
): RenderDangerManifestLink {
  return (danger) => {
    const place = findDangerSourcePlace(danger, options);
    return place === undefined ? '' : linkTo(place);
  };
}

function createApplyComment({ plan, result }: ApplyReport, options: FormatOptions): Comment {
  const view = createPlanView({ ...plan, violations: [] });
  const ended = createApplyView(plan, result, options);
  return {
    command: plan.mode,
    stack: plan.stack,
    head: listResultHeadSections(ended),
    body: [
      ...listResultSections(ended),
      { text: `## ${PLAN_HEADING}\n\n`, priority: 'always' },
      ...listDangerSections(view, createDangerManifestLinker(createManifestLinks(plan, options), options)),
      ...listPlanSections(view, { linkTo: createManifestLinks(plan, options), locate: options.locate }),
      { text: `${renderFooter(plan, options)}\n\n`, priority: 'always' },
    ],
  };
}

function createValidationComment({ command, validation }: ValidationReport): Comment {
  const { diagnostics } = validation;
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const conclusion =
    errors === 0
      ? `${formatResourceAndFileCounts(validation)}: valid.`
      : `The manifests are invalid: ${formatCount(errors, 'error')}.`;
  return {
    command,
    ...(validation.stack !== undefined && { stack: validation.stack }),
    head: [{ text: `## Manifests\n\n**${conclusion}**\n\n`, priority: 'always' }],
    body: diagnostics.map(createDiagnosticSection),
  };
}

function createFailureComment(failure: Failure): Comment {
  const { diagnostics, error } = createFailureView(failure);
  const lines = error === undefined ? [] : [...error.lines, ...(error.remedy?.split('\n') ?? [])];
  const why: Section = { text: lines.length === 0 ? '' : `${renderFence('text', lines)}\n\n`, priority: 'always' };
  return {
    command: failure.command ?? 'edgewise',
    ...(failure.stack !== undefined && { stack: failure.stack }),
    head: [{ text: `## ${toShortProse(formatCommandNotCompleted(failure.command))}\n\n`, priority: 'always' }, why],
    body: diagnostics.map(createDiagnosticSection),
  };
}

/** The top of an apply's result: its title, its totals, and the next steps for the user. */
function listResultHeadSections({ title, isComplete, summary, next }: ApplyView): readonly Section[] {
  const steps = next.map((step) => `- ${toShortProse(step)}\n`).join('');
  return [
    { text: `## ${toShortProse(title)}\n\n`, priority: 'always' },
    { text: `**${isComplete ? '' : INCOMPLETE_APPLY_PREFIX}${toShortProse(summary)}.**\n\n`, priority: 'always' },
    { text: steps === '' ? '' : `${RESULT_SECTION_HEADINGS.next}:\n\n${steps}\n`, priority: 'always' },
  ];
}

/** The result of each write, with failures first; then tokens and files. */
function listResultSections({
  failed,
  skipped,
  notStarted,
  applied,
  tokens,
  files,
  diagnostics,
}: ApplyView): readonly Section[] {
  return [
    ...(notStarted === undefined ? [] : [{ text: `${toShortProse(notStarted)}\n\n`, priority: 'always' } as const]),
    ...listTableSections(
      ['', 'Write', 'What'],
      [...failed.map(createFailedSection), ...skipped.map(createSkippedSection), ...applied.map(createAppliedSection)],
    ),
    ...listTableSections(
      ['', 'Token of', 'Place'],
      tokens.map(({ address, place, rescued }) =>
        createRowSection(
          [rescued ? '**rescued**' : 'delivered', renderCodeSpan(address), renderCodeSpan(place)],
          'of a token',
        ),
      ),
    ),
    ...listTableSections(
      ['', 'File', 'What'],
      files.map(({ address, path, outcome, message = '' }) =>
        createRowSection(
          [outcome, renderCodeSpan(path), `${renderCodeSpan(address)} ${toShortProse(message)}`.trim()],
          'of a file',
        ),
      ),
    ),
    ...diagnostics.map(createDiagnosticSection),
  ];
}

function listTableSections(heading: readonly string[], rows: readonly Section[]): readonly Section[] {
  if (rows.length === 0) return [];
  const head = `${joinMarkdownCells(heading)}${joinMarkdownCells(heading.map(() => '---'))}`;
  return [{ text: head, priority: 'always' }, ...rows, { text: '\n', priority: 'always' }];
}

function createRowSection(cells: readonly string[], what: string, priority: Section['priority'] = 'warning'): Section {
  return { text: joinMarkdownCells(cells), priority, names: [`row ${what}`, `rows ${what}`] };
}

function createFailedSection({ name, request, sentences, place }: FailedView): Section {
  const where = request === undefined ? '' : `${renderCodeSpan(request)}: `;
  const at = place === undefined ? '' : ` at ${renderCodeSpan(`${place.file}:${place.line}:${place.column}`)}`;
  const why = `${where}${sentences.map(toShortProse).join('. ')}`;
  return createRowSection(['**failed**', `${renderCodeSpan(name)}${at}`, why], 'of what failed', 'error');
}

function createSkippedSection({ name, reasons }: SkippedView): Section {
  const shown = reasons.slice(0, 5).map(toShortProse).join('; ');
  return createRowSection(['**skipped**', renderCodeSpan(name), shown], 'of what was skipped', 'warning');
}

function createAppliedSection({ name, id, note }: AppliedWriteView): Section {
  const what = [...(id === undefined ? [] : [renderCodeSpan(id)]), ...(note === undefined ? [] : [toShortProse(note)])];
  return createRowSection(['applied', renderCodeSpan(name), what.join(': ')], 'of what was applied', 'create');
}
