import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { FormatOptions, TextStyleOptions } from '../report.ts';
import {
  type AppliedWriteView,
  type ApplyView,
  createApplyView,
  type FailedView,
  type FileOutcomeView,
  RESULT_SECTION_HEADINGS,
  type SkippedView,
} from '../view/apply-view.ts';
import { listSourcePlaceLines } from '../view/diagnostic-view.ts';
import { countColumns } from '../view/escape.ts';
import { renderDiagnosticLines, renderDiagnosticTextLines } from './diagnostics.ts';
import { createPainter, isTooWide, padToWidth, wrapWithPrefix } from './layout.ts';

/**
 * Ids form a column after names of up to this width: with a usual id, a line has about 90 columns. After a wider name,
 * the id follows directly.
 */
const MAX_NAME_COLUMNS = 56;

/**
 * The result of an apply: applied, failed and skipped writes, tokens, files, totals, and what the user must do next.
 * Ends with a line break.
 */
export function renderApplyResultText(
  plan: Plan,
  result: ApplyResult,
  options: TextStyleOptions & Pick<FormatOptions, 'locate'>,
): string {
  const view = createApplyView(plan, result, options);
  const sections = [
    renderSection('applied', renderApplied(view.applied, options)),
    renderSection(
      'failed',
      view.failed.flatMap((one) => renderFailed(one, options)),
    ),
    renderSection('skipped', [
      ...view.skipped.flatMap((one) => renderSkipped(one, options)),
      ...(view.notStarted === undefined
        ? []
        : wrapWithPrefix('  ', view.notStarted, { width: options.width, rest: 4 })),
    ]),
    renderSection('tokens', view.tokens.map(renderToken)),
    renderSection('files', view.files.map(renderFile)),
    ...view.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    renderTotals(view, options),
    renderSection(
      'next',
      view.next.flatMap((step) => wrapWithPrefix('  ', step, { width: options.width, rest: 4 })),
    ),
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderSection(part: keyof typeof RESULT_SECTION_HEADINGS, lines: readonly string[]): readonly string[] {
  return lines.length === 0 ? [] : [`${RESULT_SECTION_HEADINGS[part]}:`, ...lines];
}

function renderApplied(applied: readonly AppliedWriteView[], { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  const column = Math.max(
    0,
    ...applied.map(({ name }) => countColumns(name)).filter((columns) => columns <= MAX_NAME_COLUMNS),
  );
  return applied.flatMap(({ name, id = '', note }) => {
    const more = note === undefined ? id : `${id} (${note})`.trimStart();
    if (more !== '' && isTooWide(`  ${padToWidth(name, column)}  ${more}`, width))
      return [`  ${name}`, ...wrapWithPrefix('      ', more, { width, rest: 6 }).map((line) => paint('muted', line))];
    return `  ${padToWidth(name, column)}  ${paint('muted', more)}`.trimEnd();
  });
}

function renderFailed({ name, request, sentences, place }: FailedView, options: TextStyleOptions): readonly string[] {
  const { color, width } = options;
  return [
    `  ${createPainter(color)('error', name)}`,
    ...(request === undefined ? [] : [`    ${request}`]),
    ...sentences.flatMap((sentence) => wrapWithPrefix('    ', sentence, { width, rest: 4 })),
    ...renderDiagnosticTextLines(listSourcePlaceLines(place), 'error', options).map((line) => `  ${line}`),
  ];
}

function renderSkipped({ name, reasons }: SkippedView, { color, width }: TextStyleOptions): readonly string[] {
  return [
    `  ${createPainter(color)('warning', name)}`,
    ...reasons.flatMap((why) => wrapWithPrefix('    ', why, { width, rest: 6 })),
  ];
}

function renderToken({ address, place, rescued }: ApplyView['tokens'][number]): string {
  return `  ${address}: ${rescued ? 'rescued to ' : ''}${place}`;
}

function renderFile({ address, path, outcome, message = '' }: FileOutcomeView): string {
  const what = `${path} of ${address}`;
  return outcome === 'applied' ? `  ${what}` : `  ${what} ${outcome}: ${message}`;
}

function renderTotals(
  { summary, subject, isComplete }: ApplyView,
  { color, width }: TextStyleOptions,
): readonly string[] {
  const paint = createPainter(color);
  const line = wrapWithPrefix('', `${summary}: ${subject}.`, { width, rest: 2 });
  return line.map((one) => paint(isComplete ? 'strong' : 'error', one));
}
