import type { FormatOptions, Report, StackReportPart, StacksRunReport } from '../report.ts';
import {
  createStacksView,
  formatStackRowTitle,
  formatUnchangedStacksHeading,
  isShownWithEarlierStack,
  listRowIndexesInOrder,
  type StackOwnerDangers,
  type StackRow,
  withErrorsOnce,
} from '../view/stacks-view.ts';
import {
  createManifestLinks,
  type RenderDangerManifestLink,
  renderDangerItem,
  wrapDangersInCautionBox,
} from './changes.ts';
import { createDriftManifestLinkRenderer } from './drift.ts';
import { listApplyCommandSections } from './plan.ts';
import { createDangerManifestLinker, listReportSections } from './report.ts';
import {
  joinMarkdownCells,
  joinSectionsWithinCommentLimit,
  renderCommentMarker,
  type Section,
  toShortProse,
  wrapSectionsInFold,
} from './text.ts';

/** If the comment has more reports of stacks, they are folded, so that the list of stacks stays in view. */
const MAX_OPEN_STACKS = 3;

/**
 * If the comment has more reports of stacks, a table shows their headlines and they are not folded, because even an
 * empty fold takes more characters than a row of the table.
 */
const MAX_FOLDS = 100;

/**
 * A run over many stacks as one comment: the dangers of all stacks, by stack and owner; then the report of each stack
 * with something to act on; then the names of the other stacks. Failed stacks come first, then stacks by their most
 * severe danger. Never exceeds the maximum length of a comment.
 */
export function renderStacksMarkdown(given: StacksRunReport, options: FormatOptions): string {
  const run = withErrorsOnce(given);
  const view = createStacksView(run);
  const { headline, rows, summary, dangers, dangerCount } = view;
  const links = createLinksOfStacks(run, options);
  const busy = listRowIndexesInOrder(view).filter((index) => rows[index]?.isQuiet === false);
  const hasTable = busy.length > MAX_FOLDS;
  const head: readonly Section[] = [
    { text: renderCommentMarker(`${run.command}-stacks`, run.root, options), priority: 'always' },
    { text: `## ${toShortProse(headline)}\n\n${toShortProse(summary)}\n\n`, priority: 'always' },
    ...wrapDangersInCautionBox(
      dangerCount,
      dangers.flatMap((one) => listDangersOfStack(one, links(one.index))),
    ),
    ...(hasTable ? listTableSections(busy.flatMap((index) => rows[index] ?? [])) : []),
  ];
  const isFolded = busy.length > MAX_OPEN_STACKS && !hasTable;
  const body = busy.flatMap((index): readonly Section[] => {
    const [row, part] = [rows[index], run.parts[index]];
    return row === undefined || part === undefined ? [] : listPartSections({ row, part, isFolded }, options);
  });
  const footers = body.filter(isFooter).slice(0, 1);
  const quiet = listQuietSections(
    rows.filter(({ isQuiet }) => isQuiet),
    run,
  );
  const command = listApplyCommandSections({ isApplicable: true }, run.applyCommand);
  const rest = [...body.filter((section) => !isFooter(section)), ...quiet, ...footers, ...command];
  return `${joinSectionsWithinCommentLimit(head, rest).trimEnd()}\n`;
}

function createLinksOfStacks(
  { parts }: StacksRunReport,
  options: FormatOptions,
): (index: number) => RenderDangerManifestLink {
  const createLinksTo = (report: Report, own: FormatOptions): RenderDangerManifestLink => {
    if (report.about === 'drift')
      return createDangerManifestLinker(createDriftManifestLinkRenderer(report.drift, own), own);
    return report.about === 'plan' ? createDangerManifestLinker(createManifestLinks(report.plan, own), own) : () => '';
  };
  const all = parts.map((part) => createLinksTo(part.report, { ...options, ...part.options }));
  return (index) => all[index] ?? (() => '');
}

function listDangersOfStack(
  { title, owner, dangers }: StackOwnerDangers,
  linkTo: RenderDangerManifestLink,
): readonly Section[] {
  const lead = `**${toShortProse(title)}**${owner === undefined ? '' : ` (${toShortProse(owner)})`}: `;
  return dangers.map((danger) => renderDangerItem(danger, linkTo(danger), lead));
}

/**
 * The report of one stack below its headline. The report of a failed or refused stack is not folded, because a fold
 * cannot show a caution box.
 */
function listPartSections(
  { row, part, isFolded }: { readonly row: StackRow; readonly part: StackReportPart; readonly isFolded: boolean },
  options: FormatOptions,
): readonly Section[] {
  const sections = isShownWithEarlierStack(part)
    ? []
    : listReportSections(part.report, { ...options, ...part.options, isPart: true });
  const [inner, footers] = [sections.filter((section) => !isFooter(section)), sections.filter(isFooter)];
  const shown = inner.map(lowerHeading).map(makeDispensable);
  const said = row.time === '' ? row.said : `${row.said} · at least ${row.time}`;
  if (isFolded && !row.isBad) return [...wrapSectionsInFold({ code: row.title, rest: said }, shown), ...footers];
  const heading: Section = { text: `### ${toShortProse(row.title)}: ${toShortProse(said)}\n\n`, ...DISPENSABLE };
  return [heading, ...shown, ...footers];
}

/** Lowers a heading by one level, so that it is below the heading of its stack. */
function lowerHeading(section: Section): Section {
  return /^#+ /.test(section.text) ? { ...section, text: `#${section.text}` } : section;
}

/** Whether a section is the last line of a comment, which is the same for all stacks. */
function isFooter({ text }: Section): boolean {
  return text.startsWith('<sub>');
}

/** A table with the headline of each stack. It is never omitted. */
function listTableSections(rows: readonly StackRow[]): readonly Section[] {
  const hasTime = rows.some(({ time }) => time !== '');
  const columns = ['Stack', 'Folder', 'Result', ...(hasTime ? ['Least time'] : [])];
  const cells = ({ name, folder, said, time }: StackRow) => [name, folder, said, ...(hasTime ? [time] : [])];
  return [
    { text: `${joinMarkdownCells(columns)}${joinMarkdownCells(columns.map(() => '---'))}`, priority: 'always' },
    ...rows.map((row): Section => ({ text: joinMarkdownCells(cells(row).map(toShortProse)), priority: 'always' })),
    { text: '\n', priority: 'always' },
  ];
}

function listQuietSections(rows: readonly StackRow[], run: StacksRunReport): readonly Section[] {
  if (rows.length === 0) return [];
  const names = ['name of a stack', 'names of stacks'] as const;
  const items = rows.map((row, index): Section => {
    return {
      text: `${index === 0 ? '' : ', '}${toShortProse(formatStackRowTitle(row))}`,
      priority: 'unchanged',
      names,
    };
  });
  return [
    { text: `${formatUnchangedStacksHeading(run, rows)}: `, priority: 'always' },
    ...items,
    { text: '\n\n', priority: 'always' },
  ];
}

const DISPENSABLE = { priority: 'refusal', names: ['summary of a stack', 'summaries of stacks'] } as const;

/**
 * Allows omitting a section that a comment on a single stack always shows. Otherwise, two hundred stacks would not fit
 * into a comment.
 */
function makeDispensable(section: Section): Section {
  return section.priority === 'always' && section.fold === undefined ? { ...section, ...DISPENSABLE } : section;
}
