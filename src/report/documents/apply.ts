import { createWriteRequestLine } from '../../kinds/request-body.ts';
import { toManifestPath } from '../../model/field-path.ts';
import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Place } from '../../model/place.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWriteAddress } from '../../model/write.ts';
import {
  type Block,
  type Document,
  type Message,
  type MessagesBlock,
  mapLazily,
  type ShownFinding,
  type TableBlock,
  toCode,
} from '../document.ts';
import type { ApplyReport, FormatOptions } from '../report.ts';
import {
  formatNotStarted,
  formatOutcomeTotals,
  INCOMPLETE_APPLY_PREFIX,
  listNextSteps,
  PLAN_HEADING,
  RESULT_SECTION_HEADINGS,
} from '../view/apply-wording.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { toFinding, toPrintablePlace } from '../view/finding-wording.ts';
import { formatPlanOrApplyTitle } from '../view/plan-wording.ts';
import {
  countWriteOutcomes,
  formatReportSubject,
  formatWriteName,
  isFullyApplied,
  mapNotStartedWritesById,
} from '../view/wording.ts';
import { listFindingsBlocks } from './entries.ts';
import { createFinding, describeFindings } from './findings.ts';
import { createPlanDocument, formatOrigin } from './plan.ts';

/** The result of an apply, then its plan. */
export function createApplyDocument({ plan, result }: ApplyReport, options: FormatOptions): Document {
  const isComplete = isFullyApplied(result);
  const summary = formatOutcomeTotals(countWriteOutcomes(result));
  const title = formatPlanOrApplyTitle('apply', plan);
  return {
    command: plan.mode,
    subject: plan.stack,
    about: title,
    headline: `${isComplete ? '✓ ' : `✗ ${INCOMPLETE_APPLY_PREFIX}`}${summary}`,
    notes: [],
    conclusion: [
      {
        role: 'result',
        text: `${summary}: ${formatReportSubject(plan)}.`,
        tone: isComplete ? 'strong' : 'error',
      },
    ],
    next: listNextSteps(plan, result),
    blocks: [
      createOutcomeCounts(result),
      ...listAppliedTables(result),
      ...listMessagesBlocks(result, options),
      ...listTokensBlocks(result),
      ...listFindingsBlocks(result.diagnostics.map(toFinding)),
      ...(options.isPlanShown === true ? [] : [createPlanPart(plan, options)]),
    ],
    origin: formatOrigin(plan, options),
    ...describeFindings(options, () => [
      ...result.diagnostics.map(toFinding),
      ...listOutcomeFindings(result, options),
      ...plan.diagnostics.map(toFinding),
    ]),
    addresses: plan.changes.map(({ address }) => toPrintable(address)),
    version: plan.tool.version,
  };
}

/** Writes that failed or were skipped, and tokens that are not where they should be. */
function listOutcomeFindings({ outcomes, tokens }: ApplyResult, options: FormatOptions): readonly ShownFinding[] {
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

function createOutcomeCounts(result: ApplyResult): Block {
  const totals = countWriteOutcomes(result);
  const outcomes = ['failed', 'skipped', 'applied'] as const;
  const counts = outcomes.map((outcome) => ({ group: outcome, label: outcome, number: totals[outcome] }));
  return { block: 'counts', label: 'Writes by outcome', counts };
}

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;
type Skipped = Extract<Outcome, { readonly outcome: 'skipped' }>;

/** If the apply is incomplete, a format that can fold folds what was applied, so that the failures are in view. */
function listAppliedTables(result: ApplyResult): readonly TableBlock[] {
  const applied = result.outcomes.filter((one) => one.outcome === 'applied');
  if (applied.length === 0) return [];
  return [
    {
      block: 'table',
      heading: RESULT_SECTION_HEADINGS.applied,
      layout: 'rows',
      columns: ['Write', 'Id', 'Note'],
      size: applied.length,
      rows: mapLazily(applied, (one) => ({
        cells: [
          [toCode(formatWriteName(one.write))],
          one.id === undefined ? '' : [toCode(quoteIfNeeded(one.id))],
          'found' in one ? 'the response could not be used; found by its mark' : '',
        ],
      })),
      weight: 'rest',
      isFolded: !isFullyApplied(result),
      isDetail: false,
    },
  ];
}

/** Writes that failed, and writes that were skipped because one that they depend on was not applied. */
function listMessagesBlocks({ outcomes }: ApplyResult, options: FormatOptions): readonly MessagesBlock[] {
  const notStarted = mapNotStartedWritesById(outcomes);
  const ends = new Map(outcomes.map(({ write, outcome }) => [write.id, outcome]));
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const skipped = outcomes.filter((one) => one.outcome === 'skipped').filter(({ write }) => !notStarted.has(write.id));
  const blocks: readonly MessagesBlock[] = [
    {
      block: 'messages',
      heading: RESULT_SECTION_HEADINGS.failed,
      label: 'failed',
      tone: 'error',
      messages: failed.map((one) => createFailedMessage(one, options)),
    },
    {
      block: 'messages',
      heading: RESULT_SECTION_HEADINGS.skipped,
      label: 'skipped',
      tone: 'warning',
      messages: skipped.map((one) => createSkippedMessage(one, ends)),
      note: notStarted.size === 0 ? undefined : formatNotStarted(outcomes),
    },
  ];
  return blocks.filter(({ messages, note }) => messages.length > 0 || note !== undefined);
}

function createFailedMessage(failed: Failed, options: FormatOptions): Message {
  const { write, message, isUnknown, field } = failed;
  const { method, path } = createWriteRequestLine(write);
  return {
    name: formatWriteName(write),
    ...(!message.startsWith(`${method} `) && { request: toPrintable(`${method} ${path}`) }),
    sentences: [toPrintable(message), ...(isUnknown ? ['It is unknown whether it took effect.'] : [])],
    place: locateFailedWrite(failed, options),
    hasExcerpt: field !== undefined,
  };
}

/** The position of the field that the service named or, if it named none, the start of the manifest. */
function locateFailedWrite({ write, field }: Failed, { locate }: FormatOptions): Place | undefined {
  const place = locate?.(write.address, toManifestPath(field));
  return place && toPrintablePlace(place);
}

function createSkippedMessage(
  { write, waitedFor, isKept, message }: Skipped,
  ends: ReadonlyMap<string, Outcome['outcome']>,
): Message {
  const reasons = waitedFor.map((id) => `depends on ${toPrintable(id)}, which ${formatEnd(ends.get(id))}`);
  return { name: formatWriteName(write), sentences: isKept === true ? [toPrintable(message)] : reasons };
}

function formatEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

function listTokensBlocks({ tokens }: ApplyResult): readonly Block[] {
  if (tokens.length === 0) return [];
  const items = tokens.map(({ address, deliveredTo, rescued }) => [
    toCode(quoteIfNeeded(address)),
    ': ',
    ...(rescued ? [{ text: 'rescued', style: 'strong' } as const, ' to '] : []),
    toCode(toPrintable(deliveredTo)),
  ]);
  return [{ block: 'list', heading: RESULT_SECTION_HEADINGS.tokens, items, weight: 'always' }];
}
