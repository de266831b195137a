import { countDangersByGroup } from '../../model/danger.ts';
import { isIncomplete } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import {
  type DangerLine,
  type DangersBlock,
  type Document,
  listEntries,
  mapLazily,
  type PartBlock,
  type Sentence,
  type TableBlock,
} from '../document.ts';
import type { FormatOptions, Report, StackReportPart, StacksRunReport } from '../report.ts';
import { formatDangerCounts } from '../view/danger-view.ts';
import {
  formatRunHeadline,
  formatRunSummary,
  formatRunTitle,
  formatUnchangedStacksHeading,
  isShownWithEarlierStack,
  listRemovedStackSentences,
  listRowIndexesInOrder,
  listStackDangers,
  listStackRows,
  type StackRow,
  type StackTeamDangers,
  withErrorsOnce,
} from '../view/run-wording.ts';
import { formatReadRequestsSentence } from '../view/wording.ts';
import { createFinding } from './create-finding.ts';
import { createDangerLine, createPlaceFinder, type FindPlaceLink } from './entries.ts';
import { listExitSentences } from './shared-parts.ts';

type CreateDocument = (report: Report, options: FormatOptions) => Document;

/**
 * A run over many stacks: the dangers of all stacks, then the report of each stack with something to act on, then a
 * table of all stacks. Failed stacks come first, then stacks by their most severe danger.
 */
export function createRunDocument(
  given: StacksRunReport,
  options: FormatOptions,
  createDocument: CreateDocument,
): Document {
  const run = withErrorsOnce(given);
  const rows = listStackRows(run.parts);
  const dangers = listStackDangers(run.parts);
  const bad = rows.filter(({ isBad }) => isBad).length;
  const parts = listRowIndexesInOrder(rows, dangers).flatMap((index): readonly IndexedPart[] => {
    const [row, part] = [rows[index], run.parts[index]];
    if (row === undefined || part === undefined || row.isQuiet) return [];
    const scope = `s${index + 1}-`;
    const own = { ...part.options, command: run.command, exitCode: part.exitCode };
    const shown = { ...options, ...own, applyCommand: undefined, isPart: true, scope };
    const document =
      isShownWithEarlierStack(part) || part.isShown === true ? undefined : createDocument(part.report, shown);
    return [{ index, block: createPartBlock(row, { document, anchor: `${scope}stack` }) }];
  });
  return {
    command: `${run.command}-stacks`,
    // Each job of a matrix names its stack, and has a comment of its own.
    subject: [run.root, ...(run.names ?? [])].join(' '),
    about: formatRunTitle(run),
    headline: formatRunHeadline(run.parts, { bad, isDangerous: dangers.length > 0 }),
    notes: [],
    conclusion: [
      { role: 'fact', text: formatRunSummary(run, rows) },
      ...listRunExitSentences(run, options),
      ...(run.requests === undefined
        ? []
        : [{ role: 'fact', text: formatReadRequestsSentence(run.requests), tone: 'muted' } as const]),
    ],
    isResultFirst: !run.parts.some(({ report }) => report.about === 'apply' || report.about === 'validation'),
    next: [],
    blocks: [
      ...listDangersOfStacks(dangers, { parts, run, options }),
      ...parts.map(({ block }) => block),
      ...listStackTables(rows, run),
    ],
    applyCommand: run.applyCommand,
    origin: parts.map(({ block }) => block.document?.origin).find((origin) => origin !== undefined),
    findings: (run.removals === undefined ? [] : listRemovedStackSentences(run.removals)).map((sentence) =>
      createFinding('removed-stack', 'notice', sentence),
    ),
  };
}

/**
 * The parts of a run for a format that has findings only: each stack has its whole document, also one with nothing to
 * act on. `isOnce`: without errors that an earlier stack has too.
 */
export function listWholeParts(
  given: StacksRunReport,
  options: FormatOptions,
  { isOnce, createDocument }: { readonly isOnce: boolean; readonly createDocument: CreateDocument },
): readonly PartBlock[] {
  const { parts } = isOnce ? withErrorsOnce(given) : given;
  const rows = listStackRows(parts);
  return parts.map((part, index) => ({
    block: 'part',
    title: toPrintable(part.name === '' ? part.folder : part.name),
    anchor: `s${index + 1}-stack`,
    isStack: true,
    isBad: rows[index]?.isBad ?? false,
    document: createDocument(part.report, { ...options, ...part.options }),
  }));
}

/** Of a plan: how an apply would end, unless what failed is the plan itself. */
function listRunExitSentences({ command, parts }: StacksRunReport, { exitCode }: FormatOptions): readonly Sentence[] {
  const plans = parts.flatMap((part) => (part.report.about === 'plan' ? [{ ...part, plan: part.report.plan }] : []));
  if (exitCode === undefined || !plans.some((part) => part.exitCode === exitCode)) return [];
  return listExitSentences(
    { command, exitCode },
    { isApplicable: true, isIncomplete: plans.some(({ plan }) => isIncomplete(plan)) },
  );
}

interface IndexedPart {
  readonly index: number;
  readonly block: PartBlock;
}

function createPartBlock(
  { title, said, time, isBad }: StackRow,
  { document, anchor }: Pick<PartBlock, 'document' | 'anchor'>,
): PartBlock {
  const result = time === '' ? said : `${said} · at least ${time}`;
  return { block: 'part', title, said: result, anchor, isStack: true, isBad, document };
}

interface RunContext {
  readonly parts: readonly IndexedPart[];
  readonly run: StacksRunReport;
  readonly options: FormatOptions;
}

function listDangersOfStacks(dangers: readonly StackTeamDangers[], context: RunContext): readonly DangersBlock[] {
  if (dangers.length === 0) return [];
  const lines = dangers.flatMap(({ index, title, team, dangers: found }): readonly DangerLine[] => {
    const { anchor = '', document } = context.parts.find((part) => part.index === index)?.block ?? {};
    const part = context.run.parts[index];
    const findPlace = part === undefined ? () => undefined : createFinderOfPart(part, context.options);
    const anchors = new Map(
      (document === undefined ? [] : listEntries(document)).toReversed().map((one) => [one.address, one.anchor]),
    );
    return found.map((danger) => ({
      ...createDangerLine(danger, findPlace),
      team,
      part: { title, anchor },
      entry: anchors.get(danger.address),
    }));
  });
  return [{ block: 'dangers', count: formatDangerCounts(countDangersByGroup(lines)), dangers: lines }];
}

function createFinderOfPart({ report, options: own }: StackReportPart, options: FormatOptions): FindPlaceLink {
  const context = { ...options, ...own };
  if (report.about === 'drift') return createPlaceFinder(report.drift, context);
  return report.about === 'plan' ? createPlaceFinder(report.plan, context) : () => undefined;
}

function listStackTables(rows: readonly StackRow[], run: StacksRunReport): readonly TableBlock[] {
  if (rows.length === 0) return [];
  const quiet = rows.filter(({ isQuiet }) => isQuiet);
  const hasTime = rows.some(({ time }) => time !== '');
  const cells = ({ name, folder, said, time }: StackRow) => [name, folder, said, ...(hasTime ? [time] : [])];
  return [
    {
      block: 'table',
      heading: formatUnchangedStacksHeading(run, quiet),
      layout: 'grid',
      columns: ['Stack', 'Folder', 'Result', ...(hasTime ? ['Minimum time'] : [])],
      size: quiet.length,
      rows: mapLazily(rows, (row) => ({ cells: cells(row), isBad: row.isBad, isPart: !row.isQuiet })),
      weight: 'rest',
      isFolded: true,
      isDetail: false,
    },
  ];
}
