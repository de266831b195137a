import { CHANGE_ACTIONS } from '../../model/change.ts';
import type { SafetyViolation } from '../../model/plan.ts';
import type { CommandLine, FormatOptions } from '../report.ts';
import type { ChangeView } from '../view/change-view.ts';
import type { ComparisonView, OneSidedChanges } from '../view/comparison-view.ts';
import type { PlanView, WriteView } from '../view/plan-view.ts';
import {
  formatApplyCommandLead,
  formatRequestDependencies,
  PLAN_LIST_HEADINGS,
  REQUESTS_ORDER_NOTE,
} from '../view/plan-wording.ts';
import {
  listChangeSections,
  listDangerSections,
  type RenderDangerManifestLink,
  type RenderManifestLink,
  type TableContext,
} from './changes.ts';
import {
  createDiagnosticSection,
  renderCodeSpan,
  renderDetails,
  renderFence,
  type Section,
  toShortProse,
} from './text.ts';

/** The maximum number of addresses listed for a violation. The table below has all changes. */
const MAX_LISTED = 10;

/** The maximum length of a shown command: about twenty lines. A truncated command would do something else. */
const MAX_COMMAND = 1500;

/**
 * The top of a plan: its headline, title, violations, errors and dangers. With `isPart`, it has neither headline nor
 * dangers, because the longer report shows them.
 */
export function listPlanHeadSections(
  view: PlanView,
  linkToDanger: RenderDangerManifestLink,
  { isPart = false }: Pick<FormatOptions, 'isPart'> = {},
): readonly Section[] {
  const { title, notes, violations, diagnostics } = view;
  return [
    ...(isPart ? [] : [{ text: `## ${toShortProse(view.headline)}\n\n`, priority: 'always' } as const]),
    {
      text: `${[`${title}.`, ...notes.slice(0, 1), view.requests].filter(Boolean).map(toShortProse).join(' ')}\n\n`,
      priority: 'always',
    },
    ...violations.map(createViolationSection),
    ...diagnostics.filter(({ severity }) => severity === 'error').map(createDiagnosticSection),
    ...(isPart ? [] : listDangerSections(view, linkToDanger)),
  ];
}

/** The changes, then files, suppressed deletes, warnings, notes on unchanged resources, and the graph. */
export function listPlanSections(view: PlanView, context: Pick<TableContext, 'linkTo' | 'locate'>): readonly Section[] {
  const { parts, hasOwners } = view;
  const changes = joinParts(parts);
  const isUnsure = parts.some(({ part, heading }) => part === 'missing' && heading !== undefined);
  return [
    ...(changes.length === 0
      ? []
      : listChangeSections(changes, { hasOwners, footnote: isUnsure ? CREATED : undefined, ...context })),
    ...listListSections('files', view.files),
    ...listListSections('suppressedDeletes', view.suppressedDeletes),
    ...listListSections('done', view.done),
    ...view.diagnostics.filter(({ severity }) => severity === 'warning').map(createDiagnosticSection),
    ...listLintSections(view.lint),
    ...listListSections('unchanged', view.unchanged),
    ...listGraphSections(view),
  ];
}

/**
 * The command that applies the plan, for the user to copy. Empty if the plan is not applicable, or if the command is
 * unknown or too long.
 */
export function listApplyCommandSections(
  { isApplicable }: Pick<PlanView, 'isApplicable'>,
  command: CommandLine | undefined,
): readonly Section[] {
  const line = command?.lineElsewhere;
  if (command === undefined || line === undefined || line.length > MAX_COMMAND || !isApplicable) return [];
  return [{ text: `${formatApplyCommandLead(command)}\n\n${renderFence('sh', [line])}\n\n`, priority: 'always' }];
}

/** The requests of a plan, for `--verbose`. */
export function listRequestSections(writes: readonly WriteView[]): readonly Section[] {
  if (writes.length === 0) return [];
  const lines = writes.map(({ number, method, path, reason, ...write }) => {
    const waits = formatRequestDependencies(write).map((one) => ` (${one})`);
    return `[${number}] ${method} ${path}: ${reason}${waits.join('')}`;
  });
  const text = `${renderDetails({ code: 'Requests', rest: REQUESTS_ORDER_NOTE }, renderFence('text', lines))}\n\n`;
  return [{ text, priority: 'calls', names: ['list of requests', 'lists of requests'] }];
}

function createViolationSection({ rule, message, remedy, addresses, places = [] }: SafetyViolation): Section {
  const hidden = addresses.length - MAX_LISTED;
  const more = hidden > 0 ? ` and ${hidden} more` : '';
  const lines = [
    '> [!CAUTION]',
    `> **Refused (${toShortProse(rule)}):** ${toShortProse(message)}`,
    ...(addresses.length === 0
      ? []
      : ['>', `> ${addresses.slice(0, MAX_LISTED).map(renderCodeSpan).join(', ')}${more}`]),
    ...(places.length === 0 ? [] : ['>', `> ${places.map(formatPosition).join(', ')}`]),
    '>',
    remedy
      .split('\n')
      .map((line) => `> ${toShortProse(line)}`)
      .join('\n>\n'),
  ];
  return { text: `${lines.join('\n')}\n\n`, priority: 'refusal', names: ['safety rule', 'safety rules'] };
}

function formatPosition({ message, place }: NonNullable<SafetyViolation['places']>[number]): string {
  return `${toShortProse(message)}: ${renderCodeSpan(`${place.file}:${place.line}`)}`;
}

/** The footnote on creates, for a plan that also has drift. */
const CREATED = 'Created resources are new in the manifests, or were deleted at the service: it is unknown which.';

/**
 * Each change once, with its fields from all parts of the plan. Changes are sorted by action: deletes and replaces come
 * first, and reverted drift is among the other changes.
 */
function joinParts(parts: PlanView['parts']): readonly ChangeView[] {
  const all = parts.flatMap(({ changes }) => changes);
  const more = new Map(all.filter(({ isContinued }) => isContinued).map((view) => [view.change, view.fields]));
  return all
    .filter(({ isContinued }) => !isContinued)
    .map((view) => {
      const fields = more.get(view.change);
      return fields === undefined ? view : { ...view, fields: [...view.fields, ...fields] };
    })
    .sort((left, right) => CHANGE_ACTIONS.indexOf(left.action) - CHANGE_ACTIONS.indexOf(right.action));
}

/** A list of sentences below its heading. Empty if there are no sentences. */
function listListSections(list: keyof typeof PLAN_LIST_HEADINGS, sentences: readonly string[]): readonly Section[] {
  return listItemSections(list, sentences.map(toShortProse));
}

/** Lint warnings by rule. Positions are formatted as code, so that users can copy them. */
function listLintSections(lint: PlanView['lint']): readonly Section[] {
  const items = lint.map(({ rule, places }) => {
    const texts = places.map(
      ({ position, said }) => (position === undefined ? '' : `${renderCodeSpan(position)} `) + toShortProse(said),
    );
    return `${renderCodeSpan(rule)}: ${texts.join(', ')}`;
  });
  const text = items.map((item) => `- Lint ${item}\n`).join('');
  const names = ['list of lint warnings', 'lists of lint warnings'] as const;
  return items.length === 0 ? [] : [{ text: `${text}\n`, priority: 'warning', names }];
}

function listItemSections(list: keyof typeof PLAN_LIST_HEADINGS, items: readonly string[]): readonly Section[] {
  if (items.length === 0) return [];
  const heading = PLAN_LIST_HEADINGS[list];
  const priority = list === 'unchanged' ? 'unchanged' : 'warning';
  const text = `${heading}:\n\n${items.map((one) => `- ${one}\n`).join('')}\n`;
  return [{ text, priority, names: [`list "${heading}"`, `lists "${heading}"`] }];
}

/** A graph of the dependencies between writes. Empty if references alone explain the order of the writes. */
function listGraphSections({ writes, isOrderTelling }: PlanView): readonly Section[] {
  const lines = isOrderTelling ? renderMermaidLines(writes) : [];
  if (lines.length === 0) return [];
  const text = `${renderDetails({ code: 'Order', rest: 'which request waits for which' }, renderFence('mermaid', lines))}\n\n`;
  return [{ text, priority: 'graph', names: ['graph', 'graphs'] }];
}

/** The maximum number of writes in a graph. A larger graph is unreadable. */
const MAX_NODES = 30;
/** Longer than nearly all names of writes: the name of a resource has at most 63 characters. */
const MAX_LABEL = 100;

/**
 * The lines of a Mermaid flowchart of dependencies between writes. Empty without dependencies or with too many writes.
 */
export function renderMermaidLines(writes: readonly WriteView[]): readonly string[] {
  const edges = writes.flatMap(({ number, waitsFor }) => waitsFor.map((before) => `  w${before} --> w${number}`));
  if (edges.length === 0 || writes.length > MAX_NODES) return [];
  return ['flowchart LR', ...writes.map(({ number, id }) => `  w${number}["${escapeLabel(id)}"]`), ...edges];
}

/** Replaces every character that may have a meaning in Mermaid by its number, such as `#34;`. */
function escapeLabel(text: string): string {
  const shown = text.length <= MAX_LABEL ? text : `${text.slice(0, MAX_LABEL)}…`;
  return shown.replace(/[^\w /.*-]/gu, (character) => `#${character.codePointAt(0)};`);
}

/** The top of a comment on two compared plans: its title, the result, and the remedy. */
export function listComparisonHeadSections({ title, summary, remedy, isRefused }: ComparisonView): readonly Section[] {
  const said = [`**${toShortProse(summary)}**`, ...(remedy === undefined ? [] : [toShortProse(remedy)])].join(' ');
  return [
    { text: `## ${toShortProse(title)}\n\n`, priority: 'always' },
    { text: `${isRefused ? '> [!CAUTION]\n> ' : ''}${said}\n\n`, priority: 'always' },
  ];
}

/** The differences between two plans, shown like a plan. */
export function listComparisonSections(
  { members, parts, diagnostics }: ComparisonView,
  linkTo: RenderManifestLink,
): readonly Section[] {
  const sections = parts.flatMap(({ heading, changes, files }: OneSidedChanges) => [
    { text: `### ${toShortProse(heading)}\n\n`, priority: 'always' } as const,
    ...listChangeSections(changes, { hasOwners: false, linkTo }),
    ...listListSections('files', files),
  ]);
  return [...listListSections('members', members), ...sections, ...diagnostics.map(createDiagnosticSection)];
}
