import type { ApplyResult } from '../../model/outcome.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWriteAddress } from '../../model/write.ts';
import {
  type Block,
  type Document,
  type Finding,
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
  formatNotStarted,
  INCOMPLETE_APPLY_PREFIX,
  locateFailedWrite,
  PLAN_HEADING,
  RESULT_SECTION_HEADINGS,
} from '../view/apply-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { formatWriteName, mapNotStartedWritesById } from '../view/wording.ts';
import { listDiagnosticsBlocks } from './entries.ts';
import { createDiagnosticFinding, createFinding, describeFindings } from './findings.ts';
import { createPlanDocument, formatOrigin } from './plan.ts';

/** The result of an apply, then its plan. */
export function createApplyDocument({ plan, result }: ApplyReport, options: FormatOptions): Document {
  const view = createApplyView(plan, result, options);
  const { title, isComplete, summary, subject, diagnostics, next } = view;
  return {
    command: plan.mode,
    subject: plan.stack,
    about: title,
    headline: `${isComplete ? '✓ ' : `✗ ${INCOMPLETE_APPLY_PREFIX}`}${summary}`,
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
    ...describeFindings(options, () => [
      ...result.diagnostics.map(createDiagnosticFinding),
      ...listOutcomeFindings(result, options),
      ...plan.diagnostics.map(createDiagnosticFinding),
    ]),
    addresses: plan.changes.map(({ address }) => toPrintable(address)),
    version: plan.tool.version,
  };
}

/** Writes that failed or were skipped, and tokens that are not where they should be. */
function listOutcomeFindings({ outcomes, tokens }: ApplyResult, options: FormatOptions): readonly Finding[] {
  const notStarted = mapNotStartedWritesById(outcomes);
  const together = notStarted.size > 1 ? formatNotStarted(outcomes) : undefined;
  return [
    ...outcomes.flatMap((outcome) => {
      const { write } = outcome;
      if (outcome.outcome === 'applied') return [];
      const message = `${formatWriteName(write)}: ${outcome.message}`;
      return outcome.outcome === 'failed'
        ? createFinding('write-failed', 'error', message, {
            address: write.address,
            place: locateFailedWrite(outcome, options),
          })
        : createFinding('write-skipped', 'warning', message, {
            address: formatWriteAddress(write),
            together: notStarted.has(write.id) ? together : undefined,
          });
    }),
    ...tokens
      .filter(({ rescued }) => rescued)
      .map(({ address, deliveredTo: place }) =>
        createFinding('token-rescued', 'warning', `${quoteIfNeeded(address)}: its token is in ${place}`, { address }),
      ),
  ];
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
