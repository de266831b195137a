import {
  type Block,
  type Document,
  type MessagesBlock,
  mapLazily,
  type TableBlock,
  type Text,
  toCode,
} from '../document.ts';
import type { ApplyReport, FormatOptions } from '../report.ts';
import {
  type AppliedWriteView,
  type ApplyView,
  createApplyView,
  INCOMPLETE_APPLY_PREFIX,
  PLAN_HEADING,
  RESULT_SECTION_HEADINGS,
} from '../view/apply-view.ts';
import { listDiagnosticsBlocks } from './entries.ts';
import { createPlanDocument, formatOrigin } from './plan.ts';

/** The result of an apply, then its plan. */
export function createApplyDocument({ plan, result }: ApplyReport, options: FormatOptions): Document {
  const view = createApplyView(plan, result, options);
  const { title, isComplete, summary, subject, diagnostics, next } = view;
  return {
    command: plan.mode,
    subject: plan.stack,
    headline: `${isComplete ? '✓' : '✗'} ${title}: ${isComplete ? '' : INCOMPLETE_APPLY_PREFIX.toLowerCase()}${summary}`,
    notes: [],
    conclusion: [{ role: 'result', text: `${summary}: ${subject}.`, tone: isComplete ? 'strong' : 'error' }],
    next,
    blocks: [
      createOutcomeCounts(view),
      ...listAppliedTables(view),
      ...listMessagesBlocks(view),
      ...listTokensBlocks(view),
      ...listDiagnosticsBlocks(diagnostics),
      ...(options.isPlanShown === true ? [] : [createPlanPart(plan, options)]),
    ],
    origin: formatOrigin(plan, options),
  };
}

function createPlanPart(plan: ApplyReport['plan'], options: FormatOptions): Block {
  const document = createPlanDocument(
    { about: 'plan', plan, blocking: [] },
    { ...options, isPart: false, applyCommand: undefined },
  );
  return {
    block: 'part',
    title: PLAN_HEADING,
    anchor: `${options.scope ?? ''}plan`,
    isStack: false,
    isBad: false,
    document,
  };
}

function createOutcomeCounts({ totals }: ApplyView): Block {
  const outcomes = ['failed', 'skipped', 'applied'] as const;
  const counts = outcomes.map((outcome) => ({ group: outcome, label: outcome, number: totals[outcome] }));
  return { block: 'counts', label: 'Writes by outcome', counts };
}

/** If the apply is incomplete, a format that can fold folds what was applied, so that the failures are in view. */
function listAppliedTables({ applied, isComplete }: ApplyView): readonly TableBlock[] {
  if (applied.length === 0) return [];
  return [
    {
      block: 'table',
      heading: RESULT_SECTION_HEADINGS.applied,
      layout: 'rows',
      columns: ['Write', 'Id', 'Note'],
      size: applied.length,
      rows: mapLazily(applied, ({ name, id, note }: AppliedWriteView) => ({
        cells: [[toCode(name)], id === undefined ? '' : [toCode(id)], note ?? ''],
      })),
      weight: 'rest',
      isFolded: !isComplete,
      isDetail: false,
    },
  ];
}

function listMessagesBlocks({ failed, skipped, notStarted }: ApplyView): readonly MessagesBlock[] {
  const blocks: readonly MessagesBlock[] = [
    { block: 'messages', heading: RESULT_SECTION_HEADINGS.failed, label: 'failed', tone: 'error', messages: failed },
    {
      block: 'messages',
      heading: RESULT_SECTION_HEADINGS.skipped,
      label: 'skipped',
      tone: 'warning',
      messages: skipped.map(({ name, reasons }) => ({ name, sentences: reasons })),
      note: notStarted,
    },
  ];
  return blocks.filter(({ messages, note }) => messages.length > 0 || note !== undefined);
}

function listTokensBlocks({ tokens }: ApplyView): readonly Block[] {
  const { tokens: heading } = RESULT_SECTION_HEADINGS;
  return tokens.length === 0 ? [] : [{ block: 'list', heading, items: tokens.map(formatToken), weight: 'always' }];
}

function formatToken({ address, place, rescued }: ApplyView['tokens'][number]): Text {
  return [
    toCode(address),
    ': ',
    ...(rescued ? [{ text: 'rescued', style: 'strong' } as const, ' to '] : []),
    toCode(place),
  ];
}
