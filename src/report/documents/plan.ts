import { ACTIONS, formatChangeAddress, listShownActions } from '../../model/change.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import {
  type Block,
  type CountsBlock,
  type Document,
  type Finding,
  type ListBlock,
  mapLazily,
  type Sentence,
  type Span,
  type TableBlock,
  type Text,
  toCode,
} from '../document.ts';
import type { FormatOptions, PlanReport } from '../report.ts';
import { formatShortList, listDangerViews } from '../view/danger-view.ts';
import { DUE_DAYS } from '../view/due-view.ts';
import { quoteIfNeeded } from '../view/escape.ts';
import { collectPlanAddressesById, createPlanView, type PlanView, type WriteView } from '../view/plan-view.ts';
import {
  ACTION_COUNT_LABELS,
  formatBlockingRuleCount,
  formatExitSentence,
  formatRequestDependencies,
  PLAN_LIST_HEADINGS,
  REQUESTS_HEADING,
} from '../view/plan-wording.ts';
import { formatCount, shortenCommit } from '../view/wording.ts';
import {
  BY_ACTION,
  createChangeEntry,
  createEntriesBlocks,
  createPlaceFinder,
  listDangersBlocks,
  listDiagnosticsBlocks,
  listPointers,
  listSaid,
} from './entries.ts';
import {
  createDangerFinding,
  createDiagnosticFinding,
  createFinding,
  createViolationFinding,
  describeFindings,
} from './findings.ts';

/** A plan for the user who approves it: what blocks it, its dangers, its changes, what else it says. */
export function createPlanDocument({ plan, blocking }: PlanReport, options: FormatOptions): Document {
  const { isPart = false, scope = '', applyCommand } = options;
  const view = createPlanView({ ...plan, violations: blocking }, options);
  const findPlace = createPlaceFinder(plan, options);
  const parts = view.parts.map(({ heading, changes: items }) => ({ heading, items }));
  const changes = createEntriesBlocks(parts, { ...BY_ACTION, hasOwners: view.hasOwners }, (change, number) =>
    createChangeEntry(change, change.show, { anchor: `${scope}change-${number}`, findPlace }),
  );
  const { violations, diagnostics } = view;
  const entries = changes.flatMap((block) => block.entries);
  return {
    command: 'plan',
    subject: plan.stack,
    title: view.title,
    headline: view.headline,
    notes: view.notes,
    conclusion: [...listSentences(view), ...listExitSentences(options, view)],
    next: [],
    blocks: [
      ...(isPart ? [] : listCountsBlocks(view)),
      ...(violations.length === 0 ? [] : [{ block: 'violations', violations } as const]),
      ...listDiagnosticsBlocks(diagnostics.filter(({ severity }) => severity === 'error')),
      ...(isPart ? [] : listDangersBlocks(view, { findPlace, entries })),
      ...changes,
      ...listOpenBlocks(view.open, options),
      ...listListBlocks('done', view.done, 'warning'),
      ...listDiagnosticsBlocks(diagnostics.filter(({ severity }) => severity === 'warning')),
      ...listListBlocks('lint', view.lint.map(formatLint), 'warning'),
      ...listUnchangedBlocks(view, options),
      ...listRequestTables(view.writes),
    ],
    applyCommand: view.isApplicable ? applyCommand : undefined,
    origin: formatOrigin(plan, options),
    ...describeFindings(options, () => [
      ...blocking.map(createViolationFinding),
      ...plan.diagnostics.map(createDiagnosticFinding),
      ...listChangeFindings(plan),
    ]),
    addresses: plan.changes.map(({ address }) => toPrintable(address)),
    version: plan.tool.version,
  };
}

/** Deletes and replaces, dangers, and what an apply reverts. */
function listChangeFindings(plan: Plan): readonly Finding[] {
  const names = collectPlanAddressesById(plan);
  return plan.changes.flatMap((change) => {
    const { action, reason, live, differences } = change;
    const address = formatChangeAddress(change);
    const id = live === undefined ? '' : ` (${quoteIfNeeded(live.id)})`;
    const lost = `${quoteIfNeeded(address)}${id} will be ${action}d${reason === undefined ? '' : `: ${reason}`}`;
    const drifted = differences.filter(({ origin }) => origin === 'drift' || origin === 'both');
    const reverted = `${quoteIfNeeded(change.address)}: ${drifted.map(({ path }) => path).join(', ')} changed at the service; the apply sets the values of the manifest`;
    return [
      ...(action === 'delete' || action === 'replace'
        ? [createFinding(action, 'warning', lost, { address, nature: 'danger' })]
        : []),
      ...listDangerViews([change], names).map((one) =>
        createDangerFinding('danger', one, { level: 'warning', nature: 'danger' }),
      ),
      ...(drifted.length === 0 ? [] : [createFinding('drift', 'notice', reverted, { address: change.address })]),
    ];
  });
}

function listSentences({ summary, requests, violations, found, dangerCount }: PlanView): readonly Sentence[] {
  const blocked = violations.length === 0 ? '' : formatBlockingRuleCount(violations.length);
  return listSaid([
    { role: 'result', text: summary, tone: 'strong' },
    { role: 'fact', text: requests, tone: 'muted' },
    { role: 'pointer', to: 'violations', text: blocked, tone: 'error' },
    ...listPointers(found, dangerCount),
  ]);
}

export function listExitSentences(
  { command, exitCode }: Pick<FormatOptions, 'command' | 'exitCode'>,
  view: Pick<PlanView, 'isApplicable' | 'isIncomplete'>,
): readonly Sentence[] {
  return listSaid([{ role: 'fact', text: formatExitSentence(command, exitCode, view), tone: 'error' }]);
}

/** The numbers of resources by action. A plan with errors has none to approve. */
function listCountsBlocks({ totals, diagnostics }: PlanView): readonly CountsBlock[] {
  if (hasErrors(diagnostics)) return [];
  const counts = listShownActions(ACTIONS, totals).map((action) => ({
    group: action,
    label: ACTION_COUNT_LABELS[action],
    number: totals[action],
  }));
  return [{ block: 'counts', label: 'Resources by action', counts }];
}

/** A list below its heading. Empty if there are no items. */
export function listListBlocks(
  list: keyof typeof PLAN_LIST_HEADINGS,
  items: readonly Text[],
  weight: ListBlock['weight'],
): readonly ListBlock[] {
  return items.length === 0 ? [] : [{ block: 'list', heading: PLAN_LIST_HEADINGS[list], items, weight }];
}

/** Notes on resources that stay as they are, which `--compact` counts, and a table of what is due soon. */
export function listUnchangedBlocks(
  { unchanged, due }: Pick<PlanView, 'unchanged' | 'due'>,
  { compact = false }: Pick<FormatOptions, 'compact'>,
): readonly Block[] {
  const notes = listListBlocks('unchanged', unchanged, 'rest').map((block) => ({ ...block, limit: MAX_NOTES }));
  const count = `${formatCount(unchanged.length, 'note')} on resources that are left as they are: shown without --compact.`;
  return [
    ...(compact && unchanged.length > 0 ? [{ block: 'list', items: [count], weight: 'rest' } as const] : notes),
    ...listDueTables(due),
  ];
}

/** The maximum number of notes on unchanged resources that a terminal shows. */
const MAX_NOTES = 20;

function listDueTables(due: PlanView['due']): readonly TableBlock[] {
  if (due.length === 0) return [];
  return [
    {
      block: 'table',
      heading: `Due within ${DUE_DAYS} days`,
      layout: 'rows',
      columns: ['Resource', 'What', 'When'],
      size: due.length,
      rows: due.map(({ address, said, at }) => ({ cells: [[toCode(address)], said, at] })),
      weight: 'rest',
      isFolded: false,
      isDetail: false,
    },
  ];
}

/** The new resources that are open on purpose. `--compact` names the first ones on one line. */
function listOpenBlocks(
  open: PlanView['open'],
  { compact = false }: Pick<FormatOptions, 'compact'>,
): readonly ListBlock[] {
  if (!compact || open.length === 0) return listListBlocks('open', open.map(formatOpen), 'warning');
  const names = formatShortList(open.map(({ address }) => address));
  return [{ block: 'list', items: [`${PLAN_LIST_HEADINGS.open}: ${names}`], weight: 'warning' }];
}

function formatOpen({ address, said }: PlanView['open'][number]): Text {
  return [toCode(address), said === '' ? '' : `: ${said}`];
}

/** Lint warnings of one rule. Positions are code, so that users can copy them. */
function formatLint({ rule, places }: PlanView['lint'][number]): Text {
  const spans = places.flatMap(({ place, said }, index): readonly Span[] => [
    index === 0 ? '' : ', ',
    ...(place === undefined ? [] : [toCode(`${place.file}:${place.line}:${place.column}`), said === '' ? '' : ' ']),
    said,
  ]);
  return [toCode(rule), ': ', ...spans.filter((span) => span !== '')];
}

function listRequestTables(writes: readonly WriteView[]): readonly TableBlock[] {
  if (writes.length === 0) return [];
  const rows = mapLazily(writes, ({ number, id, method, path, reason, ...write }) => ({
    cells: [
      [toCode(`[${number}] ${method} ${path}`)],
      [toCode(id), `: ${reason}`],
      formatRequestDependencies(write).join('; '),
    ],
  }));
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

/** The commit and the pipeline run that the report is of, the time, and the version of Edgewise. */
export function formatOrigin(
  { made, tool }: Pick<Plan, 'made'> & { readonly tool: Pick<Plan['tool'], 'version'> },
  { pipeline = {} }: FormatOptions,
): Text {
  const { commit } = made ?? {};
  const page = commit === pipeline.commit ? pipeline.commitUrl : undefined;
  const parts: readonly (readonly Span[])[] = [
    ...(commit === undefined ? [] : [['Commit ', { text: shortenCommit(commit), style: 'code', page } as const]]),
    ...(pipeline.runUrl === undefined
      ? []
      : [[{ text: `run ${/\d+$/.exec(pipeline.runUrl)?.[0] ?? ''}`.trim(), page: pipeline.runUrl }]]),
    ...formatTime(made?.at).map((time) => [time]),
    [`edgewise ${tool.version}`],
  ];
  return parts.flatMap((part, index) => (index === 0 ? part : [' · ', ...part]));
}

function formatTime(at = ''): readonly string[] {
  const [, day = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(at) ?? [];
  return day === '' ? [] : [`${day} ${time} UTC`];
}
