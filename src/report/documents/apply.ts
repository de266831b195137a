import { createWriteRequestLine } from '../../kinds/request-body.ts';
import { toManifestPath } from '../../model/field-path.ts';
import type { ApplyResult, Outcome } from '../../model/outcome.ts';
import type { Place } from '../../model/place.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWriteAddress, isCreate } from '../../model/write.ts';
import {
  type Block,
  type Document,
  type Message,
  type MessagesBlock,
  mapLazily,
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
import { createFinding } from './create-finding.ts';
import { createPlanDocument } from './plan.ts';
import { formatOrigin, listFindingsBlocks } from './shared-parts.ts';

/** The result of an apply, then its plan. */
export function createApplyDocument({ plan, result }: ApplyReport, options: FormatOptions): Document {
  const isComplete = isFullyApplied(result);
  const summary = formatOutcomeTotals(countWriteOutcomes(result));
  const title = formatPlanOrApplyTitle('apply', plan);
  const findings = result.diagnostics.map(toFinding);
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
      ...listNewIdsBlocks(plan, result),
      ...listFindingsBlocks(findings),
      ...(options.isPlanShown === true ? [] : [createPlanPart(plan, options)]),
    ],
    origin: formatOrigin(plan, options),
    findings,
    locate: options.locate,
    addresses: plan.changes.map(({ address }) => toPrintable(address)),
    version: plan.tool.version,
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
  const skipped = outcomes.filter((one) => one.outcome === 'skipped');
  const note = notStarted.size === 0 ? undefined : formatNotStarted(outcomes);
  const together = notStarted.size > 1 ? note : undefined;
  const blocks: readonly MessagesBlock[] = [
    {
      block: 'messages',
      heading: RESULT_SECTION_HEADINGS.failed,
      label: 'failed',
      tone: 'error',
      messages: failed.map((one) => createFailedMessage(one, options)),
      findings: failed.map((one) => {
        const { write, message } = one;
        return createFinding('write-failed', 'error', `${formatWriteName(write)}: ${message}`, {
          address: write.address,
          place: locateFailedWrite(one, options),
        });
      }),
    },
    {
      block: 'messages',
      heading: RESULT_SECTION_HEADINGS.skipped,
      label: 'skipped',
      tone: 'warning',
      messages: skipped.filter(({ write }) => !notStarted.has(write.id)).map((one) => createSkippedMessage(one, ends)),
      note,
      findings: skipped.map(({ write, message }) =>
        createFinding('write-skipped', 'warning', `${formatWriteName(write)}: ${message}`, {
          address: formatWriteAddress(write),
          together: notStarted.has(write.id) ? together : undefined,
        }),
      ),
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
  const findings = tokens
    .filter(({ rescued }) => rescued)
    .map(({ address, deliveredTo: place }) =>
      createFinding('token-rescued', 'warning', `${quoteIfNeeded(address)}: its token is in ${place}`, { address }),
    );
  return [{ block: 'list', heading: RESULT_SECTION_HEADINGS.tokens, items, weight: 'always', findings }];
}

/** The maximum number of ids that a terminal shows. All are in the table of writes, too. */
const MAX_IDS = 20;

/** What manifests adopted under an id that is gone, with the old and the new id. */
function listNewIdsBlocks({ goneIds = [] }: ApplyReport['plan'], { outcomes }: ApplyResult): readonly Block[] {
  const made = new Map<string, string | undefined>(
    outcomes.flatMap((one) =>
      one.outcome === 'applied' && isCreate(one.write) ? [[one.write.address, one.id] as const] : [],
    ),
  );
  const items = goneIds.flatMap(({ id: old, address = '', stack }) => {
    const id = stack === undefined ? made.get(address) : undefined;
    return id === undefined
      ? []
      : [[toCode(quoteIfNeeded(old)), ' → ', toCode(quoteIfNeeded(id)), ': ', toCode(quoteIfNeeded(address))]];
  });
  if (items.length === 0) return [];
  return [{ block: 'list', heading: RESULT_SECTION_HEADINGS.newIds, items, limit: MAX_IDS, weight: 'rest' }];
}
