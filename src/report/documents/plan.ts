import { createWriteRequestLine } from '../../kinds/request-body.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import { ACTIONS, type Change, countActions, formatAction, listShownActions } from '../../model/change.ts';
import { countInCondition } from '../../model/conditions.ts';
import { hasErrors, isLintCode } from '../../model/diagnostic.ts';
import { isIncomplete, type Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Write } from '../../model/write.ts';
import {
  type CountsBlock,
  type Document,
  type EntriesBlock,
  type ListBlock,
  mapLazily,
  type ShownFinding,
  type Span,
  type TableBlock,
  type Text,
  toCode,
} from '../document.ts';
import type { FormatOptions, PlanReport } from '../report.ts';
import { listPlanParts } from '../view/change-wording.ts';
import { formatShortList, listDangerViews } from '../view/danger-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { toFinding, toRefusal } from '../view/finding-wording.ts';
import { listHandouts } from '../view/handout-view.ts';
import { collectPlanAddressesById, formatPlanHeadline, isEmptyPlan } from '../view/plan-headline.ts';
import {
  ACTION_COUNT_LABELS,
  formatBlockingRuleCount,
  formatPlanOrApplyTitle,
  formatPlanSummary,
  formatRehearsalSentence,
  formatRequestDependencies,
  formatRequestSentence,
  PLAN_LIST_HEADINGS,
  REQUESTS_HEADING,
} from '../view/plan-wording.ts';
import { redactPlan } from '../view/redact.ts';
import { findRepeatedNotes, formatRepeatedNotes } from '../view/repeated-notes.ts';
import { formatSkippedSentence, formatWriteName } from '../view/wording.ts';
import { createDangerFinding } from './create-finding.ts';
import {
  BY_ACTION,
  createChangeEntry,
  createEntriesBlocks,
  createPlaceFinder,
  type EntryContext,
  listDangersBlocks,
} from './entries.ts';
import {
  formatOrigin,
  listDueTables,
  listExitSentences,
  listFindingsBlocks,
  listHeadedLists,
  listLimitNotes,
  listPointers,
  listSaid,
  listUnchangedBlocks,
} from './shared-parts.ts';

/** A plan for the user who approves it: what blocks it, its dangers, its changes, what else it says. */
export function createPlanDocument({ plan: whole, blocking }: PlanReport, options: FormatOptions): Document {
  const { isPart = false, scope = '', applyCommand } = options;
  const plan = withoutDriftInDestroy(redactPlan({ ...whole, violations: blocking }));
  const { changes, diagnostics, writes, made } = plan;
  const names = collectPlanAddressesById(plan);
  const findPlace = createPlaceFinder(plan, options);
  const refusals = blocking.map(toRefusal);
  const findings = diagnostics.map(toFinding);
  const { caused, apart } = divideFindings(findings, changes);
  const order = new Map(changes.map((change, index) => [change, index]));
  const parts = createChangeBlocks(plan, { names, findPlace, caused, scope, order });
  const dangers = listDangerViews(changes, names);
  const shown = apart.filter((one) => !isLintFinding(one));
  const isEmpty = isEmptyPlan(plan);
  const summary = formatPlanSummary({ ...plan, names, totals: countActions(changes), isEmpty });
  const isRefused = hasErrors(diagnostics) || blocking.length > 0 || countInCondition(plan, 'blocked') > 0;
  const result = { isApplicable: !isEmpty && !isRefused, isIncomplete: isIncomplete(plan) };
  return {
    command: 'plan',
    subject: plan.stack,
    title: formatPlanOrApplyTitle('plan', plan),
    headline: formatPlanHeadline(plan, isEmpty),
    // A release needs no note on its targets, because it is always limited to some addresses.
    notes: plan.mode === 'release' ? [] : listLimitNotes(plan),
    conclusion: [
      ...listSaid([
        { role: 'result', text: summary, tone: 'strong' },
        { role: 'fact', text: formatRequests(plan, { isPart, isEmpty, isRefused }), tone: 'muted' },
        { role: 'pointer', to: 'violations', text: formatBlockingRuleCount(blocking.length), tone: 'error' },
        ...listPointers(diagnostics, dangers),
      ]),
      ...listExitSentences(options, result),
    ],
    isResultFirst: true,
    next: [],
    blocks: [
      ...(isPart ? [] : listCountsBlocks(plan)),
      ...listFindingsBlocks(refusals, 'violations'),
      ...listFindingsBlocks(shown.filter(({ level }) => level === 'error')),
      ...(isPart
        ? []
        : listDangersBlocks(dangers, {
            findPlace,
            entries: parts.flatMap(({ entries }) => entries),
            createFinding: (one) => ({
              ...createDangerFinding('danger', one, { level: 'warning', nature: 'danger' }),
              order: order.get(one.change),
            }),
          })),
      ...parts,
      ...listHeadedLists('adopted', formatRepeatedNotes(findRepeatedNotes(changes)), 'rest'),
      ...listOpenBlocks(changes, options),
      ...listHeadedLists('done', (plan.done ?? []).map(formatDone), 'warning'),
      ...listFindingsBlocks(shown.filter(({ level }) => level === 'warning')),
      ...listHeadedLists('lint', listLintItems(apart.filter(isLintFinding)), 'warning'),
      ...listHeadedLists('handouts', hasErrors(diagnostics) ? [] : listHandouts(plan), 'rest'),
      ...listUnchangedBlocks({ changes: changes.filter(({ action }) => action === 'no-op'), names, options }),
      ...listDueTables(changes, made?.at),
      ...listRequestTables(writes),
    ],
    applyCommand: result.isApplicable ? applyCommand : undefined,
    origin: formatOrigin(plan, options),
    findings: [...refusals, ...findings],
    locate: options.locate,
    addresses: changes.map(({ address }) => toPrintable(address)),
    version: plan.tool.version,
  };
}

function createChangeBlocks(
  { changes, teamLabel }: Plan,
  {
    names,
    findPlace,
    caused,
    scope,
    order,
  }: Pick<EntryContext, 'names' | 'findPlace'> & {
    readonly caused: ReadonlyMap<string, readonly ShownFinding[]>;
    readonly scope: string;
    readonly order: ReadonlyMap<Change, number>;
  },
): readonly EntriesBlock[] {
  const repeated = findRepeatedNotes(changes);
  const shares = listPlanParts(changes).map(({ heading, changes: items }) => ({ heading, items }));
  return createEntriesBlocks(shares, { ...BY_ACTION, hasTeams: teamLabel !== undefined }, (share, number) =>
    createChangeEntry(share, {
      anchor: `${scope}change-${number}`,
      names,
      findPlace,
      repeated,
      warnings: caused.get(toPrintable(share.change.address)),
      order: order.get(share.change),
    }),
  );
}

/** A destroy removes what is live, and reverts nothing. */
function withoutDriftInDestroy<P extends Plan>(plan: P): P {
  if (plan.mode !== 'destroy') return plan;
  const changes = plan.changes.map((change) => ({
    ...change,
    differences: change.differences.map((one) => ({ ...one, origin: 'manifest' as const })),
  }));
  return { ...plan, changes };
}

/** The read requests, those of an apply, the rehearsal, and what is skipped. */
function formatRequests(
  plan: Plan,
  { isPart, isEmpty, isRefused }: { readonly isPart: boolean; readonly isEmpty: boolean; readonly isRefused: boolean },
): string {
  const sentences = [
    formatRequestSentence(plan, { isApplied: !isEmpty && !hasErrors(plan.diagnostics), isPart }),
    isRefused ? '' : formatRehearsalSentence(plan),
    formatSkippedSentence(plan.skipped),
  ];
  return sentences.filter(Boolean).join(' ');
}

/** `caused`: the warnings that a shown change causes, by the address of the change. `apart`: all other findings. */
function divideFindings(
  findings: readonly ShownFinding[],
  changes: readonly Change[],
): {
  readonly caused: ReadonlyMap<string, readonly ShownFinding[]>;
  readonly apart: readonly ShownFinding[];
} {
  const shown = changes.filter(({ action, duplicateOf }) => action !== 'no-op' && duplicateOf === undefined);
  const addresses = new Set(shown.map(({ address }) => toPrintable(address)));
  const isCaused = ({ level, isOfChange, address = '' }: ShownFinding): boolean =>
    level === 'warning' && isOfChange === true && addresses.has(address);
  return {
    caused: Map.groupBy(findings.filter(isCaused), ({ address = '' }) => address),
    apart: findings.filter((one) => !isCaused(one)),
  };
}

function isLintFinding({ rule, level }: ShownFinding): boolean {
  return level === 'warning' && isLintCode(rule);
}

/** The numbers of resources by action. A plan with errors has none to approve. */
function listCountsBlocks({ changes, diagnostics }: Plan): readonly CountsBlock[] {
  if (hasErrors(diagnostics)) return [];
  const totals = countActions(changes);
  const counts = listShownActions(ACTIONS, totals).map((action) => ({
    group: action,
    label: ACTION_COUNT_LABELS[action],
    number: totals[action],
  }));
  return [{ block: 'counts', label: 'Resources by action', counts }];
}

/** The new resources that are open on purpose. `--compact` names the first ones on one line. */
function listOpenBlocks(
  changes: readonly Change[],
  { compact = false }: Pick<FormatOptions, 'compact'>,
): readonly ListBlock[] {
  const open = changes.filter(({ action, isOpenToEveryone }) => action === 'create' && isOpenToEveryone === true);
  if (!compact || open.length === 0) return listHeadedLists('open', open.map(formatOpen), 'warning');
  const names = formatShortList(open.map(({ address }) => quoteIfNeeded(address)));
  return [{ block: 'list', items: [`${PLAN_LIST_HEADINGS.open}: ${names}`], weight: 'warning' }];
}

/** What everyone may do, such as `may bind anything`, if the kind has words for it. */
function formatOpen({ address, kind }: Change): Text {
  const lists = findKind(kind)?.specFields.filter(([, { restriction }]) => restriction === 'allow-list-or-all') ?? [];
  const said = lists.map(([, { summary }]) => summary?.unset ?? '').join(', ');
  return [toCode(quoteIfNeeded(address)), said === '' ? '' : `: ${said}`];
}

/** What an approved plan contains and is done already. */
function formatDone({ action, address, paths }: NonNullable<Plan['done']>[number]): string {
  const part = paths === undefined ? '' : `: ${paths.map(toPrintable).join(', ')}`;
  return `${formatAction(action)} ${quoteIfNeeded(address)}${part}`;
}

/** Lint warnings that no change causes, by rule: `edgewise validate` shows them in full. Users can copy the positions. */
function listLintItems(warnings: readonly ShownFinding[]): readonly Text[] {
  return [...Map.groupBy(warnings, (one) => one.rule)].map(([rule, found]): Text => {
    const spans = found.flatMap(({ message, address, place }, index): readonly Span[] => {
      const start = index === 0 ? '' : ', ';
      if (place === undefined) return [start, message];
      const said = address === undefined ? '' : `(${address})`;
      return [start, toCode(`${place.file}:${place.line}:${place.column}`), said === '' ? '' : ' ', said];
    });
    return [toCode(rule), ': ', ...spans.filter((span) => span !== '')];
  });
}

function listRequestTables(writes: readonly Write[]): readonly TableBlock[] {
  if (writes.length === 0) return [];
  const numbers = new Map(writes.map(({ id }, index) => [id, index + 1]));
  const rows = mapLazily(writes, (write, index) => {
    const { method, path } = createWriteRequestLine(write);
    const waitsFor = write.dependsOn.flatMap((id) => numbers.get(id) ?? []);
    return {
      cells: [
        [toCode(`[${index + 1}] ${method} ${toPrintable(path)}`)],
        [toCode(formatWriteName(write)), `: ${toPrintable(write.reason)}`],
        formatRequestDependencies({ waitsFor, last: write.last }).join('; '),
      ],
    };
  });
  return [
    {
      block: 'table',
      heading: REQUESTS_HEADING,
      layout: 'stack',
      columns: ['Request', 'Purpose', 'After'],
      size: writes.length,
      rows,
      weight: 'rest',
      isFolded: true,
      isDetail: true,
    },
  ];
}
