import type { SafetyViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { CommandLine, FormatOptions, TextStyleOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { ComparisonView, OneSidedChanges } from '../view/comparison-view.ts';
import { type DiagnosticTextLine, formatRemedyLines, listRelatedLines } from '../view/diagnostic-view.ts';
import { formatLintRuleLine, type PlanView, type WriteView } from '../view/plan-view.ts';
import {
  formatApplyCommandLead,
  formatBlockingRuleCount,
  formatRequestDependencies,
  PLAN_LIST_HEADINGS,
  REQUESTS_HEADING,
} from '../view/plan-wording.ts';
import {
  type ChangeLayout,
  computeSharedActionColumn,
  listShownFields,
  renderChange,
  renderCompactChange,
} from './change.ts';
import { renderDiagnosticLines, renderDiagnosticTextLines } from './diagnostics.ts';
import { createPainter, hardWrapWithPrefix, type TextRole, wrapWithPrefix } from './layout.ts';

/** Options for the text of a plan. Without `isPart`, the text ends with the command that applies the plan. */
type PlanTextOptions = TextStyleOptions & Pick<FormatOptions, 'applyCommand' | 'isPart'>;

/** The maximum number of addresses listed for a violation. The changes are shown right below. */
const MAX_LISTED = 10;

/**
 * A plan as text for the user who approves it: violations, then deletes, replaces, other changes and creates, then
 * diagnostics and totals. Ends with a line break.
 */
export function renderPlanText(view: PlanView, options: PlanTextOptions): string {
  const sections = [
    ...view.violations.map((violation) => renderViolation(violation, options)),
    renderHead(view, options),
    ...renderParts(view, options),
    renderList(PLAN_LIST_HEADINGS.files, view.files, options),
    renderList(PLAN_LIST_HEADINGS.suppressedDeletes, view.suppressedDeletes, options),
    renderList(PLAN_LIST_HEADINGS.done, view.done, options),
    renderList(PLAN_LIST_HEADINGS.unchanged, view.unchanged, options),
    ...view.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    renderList(PLAN_LIST_HEADINGS.lint, view.lint.map(formatLintRuleLine), options),
    options.verbose ? renderWrites(view.writes, options) : [],
    [...renderTotals(view, options), ...listCommandLines(view, options)],
  ];
  const texts = sections.filter((lines) => lines.length > 0).map((lines) => lines.join('\n'));
  return `${texts.join('\n\n')}\n`;
}

function renderViolation(
  { rule, message, remedy, addresses, places = [] }: SafetyViolation,
  options: TextStyleOptions,
): readonly string[] {
  const headline: DiagnosticTextLine = { role: 'headline', label: `refused[${rule}]:`, text: message };
  const hidden = addresses.length - MAX_LISTED;
  return [
    ...renderDiagnosticTextLines([headline], 'error', options),
    ...addresses.slice(0, MAX_LISTED).map((address) => `    ${address}`),
    ...(hidden > 0 ? [`    … and ${hidden} more`] : []),
    ...renderDiagnosticTextLines(listRelatedLines(places), 'error', options),
    ...renderDiagnosticTextLines(formatRemedyLines(remedy), 'error', options),
  ];
}

function renderHead({ title, notes }: PlanView, { color, width }: TextStyleOptions): readonly string[] {
  const paint = createPainter(color);
  const titles = wrapWithPrefix('', title, { width, rest: 2 }).map((line) => paint('strong', line));
  return [...titles, ...notes.flatMap((note) => wrapWithPrefix('', note, { width, rest: 2 }))];
}

/**
 * The changes as blocks, below the heading of each part. A change with fields has its own block; adjacent changes
 * without fields share a block.
 */
function renderParts({ parts }: PlanView, options: TextStyleOptions): readonly (readonly string[])[] {
  const layout = { ...options, actionColumn: computeSharedActionColumn(parts.flatMap(({ changes }) => changes)) };
  const paint = createPainter(options.color);
  return parts.flatMap(({ heading, changes }) => {
    const blocks =
      options.compact === true ? renderCompactChanges(changes, parts, layout) : renderBlocks(changes, layout);
    return heading === undefined || blocks.length === 0 ? blocks : [[paint('strong', `${heading}:`)], ...blocks];
  });
}

/** Each change on one line. If its drifted fields are in another part of the plan, they are on the same line. */
function renderCompactChanges(
  changes: readonly ChangeView[],
  parts: PlanView['parts'],
  layout: ChangeLayout,
): readonly (readonly string[])[] {
  const all = parts.flatMap((part) => part.changes);
  const continued = new Map(
    all.filter(({ isContinued }) => isContinued).map((one) => [`${one.address} ${one.id}`, one]),
  );
  const own = changes.filter(({ isContinued }) => !isContinued);
  if (own.length === 0) return [];
  const lines = own.map((change) => {
    const more = continued.get(`${change.address} ${change.id}`);
    return renderCompactChange(change, more?.fields ?? [], layout);
  });
  return [lines];
}

/** Groups the lines of changes into blocks. */
function renderBlocks(changes: readonly ChangeView[], layout: ChangeLayout): readonly (readonly string[])[] {
  const blocks: string[][] = [];
  let isDense = false;
  for (const change of changes) {
    const shown = listShownFields(change, layout);
    const lines = renderChange(change, shown, layout);
    if (isDense && shown.length === 0) blocks.at(-1)?.push(...lines);
    else blocks.push([...lines]);
    isDense = shown.length === 0;
  }
  return blocks;
}

/** A list of sentences below a heading. Empty if there are no sentences. */
function renderList(heading: string, sentences: readonly string[], { width }: TextStyleOptions): readonly string[] {
  if (sentences.length === 0) return [];
  return [`${heading}:`, ...sentences.flatMap((one) => wrapWithPrefix('  ', one, { width, rest: 4 }))];
}

function renderWrites(writes: readonly WriteView[], { color, width }: TextStyleOptions): readonly string[] {
  if (writes.length === 0) return [];
  const paint = createPainter(color);
  const columns = String(writes.length).length + 2;
  return [
    ...wrapWithPrefix('', `${REQUESTS_HEADING}:`, { width, rest: 2 }),
    ...writes.flatMap(({ number, id, method, path, reason, ...write }) => [
      ...hardWrapWithPrefix(`  ${`[${number}]`.padStart(columns)} ${method.padEnd(6)} `, path, {
        width,
        rest: columns + 3,
      }),
      ...[`${id}: ${reason}`, ...formatRequestDependencies(write)].flatMap((sentence) =>
        wrapWithPrefix(' '.repeat(columns + 3), sentence, { width, rest: columns + 5 }).map((line) =>
          paint('muted', line),
        ),
      ),
    ]),
  ];
}

function renderTotals(view: PlanView, { color, width }: TextStyleOptions): readonly string[] {
  const sentences: readonly (readonly [TextRole, string])[] = [
    ['strong', view.summary],
    ['muted', view.requests],
    [view.violations.length > 0 ? 'error' : 'warning', formatConclusion(view)],
    ['error', view.dangerCount === '' ? '' : `! ${view.dangerCount}.`],
  ];
  const paint = createPainter(color);
  return sentences
    .filter(([, sentence]) => sentence !== '')
    .flatMap(([style, sentence]) => wrapWithPrefix('', sentence, { width, rest: 0 }).map((line) => paint(style, line)));
}

/** Empty unless output is a terminal. Does not wrap the command, because a wrapped command cannot be copied. */
function listCommandLines(
  { isApplicable }: PlanView,
  { applyCommand, isPart = false, width }: PlanTextOptions,
): readonly string[] {
  const line = isPart || !isApplicable ? undefined : formatApplyCommandWithLead(applyCommand, { width });
  return line === undefined ? [] : [line];
}

/**
 * The line with the command that applies a plan. Undefined if output is not a terminal, or if the command is unknown or
 * has unprintable characters.
 */
export function formatApplyCommandWithLead(
  command: CommandLine | undefined,
  { width }: Pick<TextStyleOptions, 'width'>,
): string | undefined {
  if (command === undefined || width === 0 || toPrintable(command.line) !== command.line) return undefined;
  return `${formatApplyCommandLead(command)} ${command.line}`;
}

/** The numbers of violations and diagnostics, for readers who see only the end of the text. */
function formatConclusion({ violations, found }: PlanView): string {
  return [
    ...(violations.length === 0 ? [] : [`${formatBlockingRuleCount(violations.length)}: see the top.`]),
    ...(found === '' ? [] : [`${found}: see above.`]),
  ].join(' ');
}

/** The differences between two plans, shown like a plan. Ends with a line break. */
export function renderComparisonText(view: ComparisonView, options: TextStyleOptions): string {
  const { color, width } = options;
  const paint = createPainter(color);
  const wrapLines = (style: 'strong' | 'error', text: string) =>
    wrapWithPrefix('', text, { width, rest: 0 }).map((line) => paint(style, line));
  const sections = [
    wrapLines('strong', view.title),
    renderList(PLAN_LIST_HEADINGS.members, view.members, options),
    ...view.parts.flatMap((part) => renderPart(part, options)),
    ...view.diagnostics.map((diagnostic) => renderDiagnosticLines(diagnostic, options)),
    [
      ...wrapLines(view.isRefused ? 'error' : 'strong', view.summary),
      ...(view.remedy === undefined ? [] : wrapWithPrefix('', view.remedy, { width, rest: 0 })),
    ],
  ];
  return `${sections
    .filter((lines) => lines.length > 0)
    .map((lines) => lines.join('\n'))
    .join('\n\n')}\n`;
}

function renderPart(
  { heading, changes, files }: OneSidedChanges,
  options: TextStyleOptions,
): readonly (readonly string[])[] {
  const layout = { ...options, actionColumn: computeSharedActionColumn(changes) };
  const list = renderList(PLAN_LIST_HEADINGS.files, files, options);
  return [
    [createPainter(options.color)('strong', `${heading}:`)],
    ...renderBlocks(changes, layout),
    ...(list.length === 0 ? [] : [list]),
  ];
}
