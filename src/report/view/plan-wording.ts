import { findExternalTypeTitle } from '../../kinds/paths.ts';
import { findKind, KINDS } from '../../kinds/tables/registry.ts';
import {
  type Action,
  CHANGE_ACTIONS,
  type Change,
  formatChangeAddress,
  isRemoval,
  listShownActions,
  type Totals,
} from '../../model/change.ts';
import { countInCondition } from '../../model/conditions.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { formatWriteAddress, type Write } from '../../model/write.ts';
import type { CommandLine } from '../report.ts';
import { quoteIfNeeded } from './escape.ts';
import { formatLeftException } from './left-values.ts';
import type { ResourceNames } from './value-text.ts';
import {
  formatCount,
  formatReadRequestsSentence,
  formatReportSubject,
  formatWaitTime,
  type ReportedStack,
} from './wording.ts';

/** The start of the title of a plan, or of the result of its apply. The subject follows. */
const TITLES = {
  plan: { apply: 'Plan for', destroy: 'Plan to destroy', release: 'Plan to release from' },
  apply: { apply: 'Apply of', destroy: 'Destroy of', release: 'Release from' },
} as const satisfies Record<string, Readonly<Record<Plan['mode'], string>>>;

export function formatPlanOrApplyTitle(about: keyof typeof TITLES, plan: ReportedStack & Pick<Plan, 'mode'>): string {
  return `${TITLES[about][plan.mode]} ${formatReportSubject(plan)}`;
}

/** Says which addresses a report is limited to, and which it leaves out by name. Empty if it has no limit. */
export function describeTargetLimit(targets: readonly string[], exclusions: readonly string[] = []): readonly string[] {
  const isOne = exclusions.length === 1;
  return [
    ...(targets.length === 0
      ? []
      : [
          `Limited to ${targets.map(quoteIfNeeded).join(', ')} and ${targets.length === 1 ? 'its' : 'their'} dependencies.`,
        ]),
    ...(exclusions.length === 0
      ? []
      : [
          `Without ${exclusions.map(quoteIfNeeded).join(', ')} and what depends on ${isOne ? 'it' : 'them'} (--exclude).`,
        ]),
  ];
}

export const PLAN_LIST_HEADINGS = {
  open: 'Open to everyone, as written',
  adopted: 'What many adopted resources have in common',
  handouts: 'To hand out after the apply',
  lint: 'Lint warnings (edgewise validate shows them in full)',
  done: 'Approved, and done already',
  members: 'Settings, options and consents that differ',
  unchanged: 'Left as they are',
} as const;

/** The headings of the parts of a plan that has both manifest changes and drift. */
export const CHANGE_ORIGIN_HEADINGS = {
  losses: 'Deletes and replacements',
  change: 'This change',
  missing: 'To create: new in the manifests, or deleted at the service',
  drift: 'Drift to revert',
} as const;

/**
 * The team of a resource. Without a manifest, only the live metadata names one, which another user of the account can
 * write.
 */
export function formatTeam({ action, team, place }: Pick<Change, 'action' | 'team' | 'place'>): string | undefined {
  if (team === undefined) return undefined;
  const isWithoutManifest = place === undefined && isRemoval({ action });
  return `${toPrintable(team)}${isWithoutManifest ? ', as its metadata says' : ''}`;
}

/** The team of a resource, for reports without a column for it. */
export function formatTeamNote(team: string): string {
  return `team: ${team}`;
}

/** The note on a change that the plan shows in two parts: an earlier part shows the other fields. */
export const SEE_ABOVE_NOTE = 'see above';

export function formatDefaultAdoptReason(id: string): string {
  return `adds the mark to ${id}`;
}

/**
 * How an apply of the plan ends, unless it does what the plan shows. `exitCode`: of the command that shows the plan.
 * `isIncomplete`: an apply ends with 1, because it leaves something undone.
 */
export function formatExitSentence(
  command: string | undefined,
  shown: number | undefined,
  { isApplicable, isIncomplete = false }: { readonly isApplicable: boolean; readonly isIncomplete?: boolean },
): string {
  const exitCode = shown === 2 && isIncomplete ? 1 : shown;
  if (command === undefined || exitCode === undefined || exitCode === 0 || exitCode === 2) return '';
  if (command === 'plan')
    return `edgewise apply would ${isApplicable ? '' : 'write nothing and '}end with exit code ${exitCode}.`;
  return isApplicable ? '' : 'Nothing was written.';
}

/** Precedes the command that applies a plan. */
export function formatApplyCommandLead({ readsInput }: CommandLine): string {
  return readsInput ? 'To apply, with the same manifests on standard input:' : 'To apply:';
}

/** Labels after a number of resources, such as `3 to update`. */
export const ACTION_COUNT_LABELS: Readonly<Record<Action, string>> = {
  delete: 'to delete',
  replace: 'to replace',
  withhold: 'withheld',
  update: 'to update',
  release: 'to release',
  'take-over': 'to take over',
  adopt: 'to adopt',
  create: 'to create',
  'no-op': 'unchanged',
};

interface PlanNumbers {
  readonly changes: readonly Pick<Change, 'leftToOthers'>[];
  readonly names: ResourceNames;
  readonly totals: Totals;
  readonly diagnostics: readonly Diagnostic[];
  readonly isEmpty: boolean;
}

/** The totals of a plan in one sentence. A plan with errors cannot be applied, so it has no totals to approve. */
export function formatPlanSummary(plan: PlanNumbers): string {
  if (hasErrors(plan.diagnostics)) return 'This plan cannot be applied.';
  return plan.isEmpty ? formatNothingToDo(plan) : `${formatActionCounts(plan.totals)}.`;
}

function formatNothingToDo({ changes, names, totals, diagnostics }: PlanNumbers): string {
  const number = totals['no-op'];
  const leftOut = countInCondition({ diagnostics }, 'left-out');
  if (leftOut > 0) return `Nothing to do: ${formatCount(leftOut, 'change is', 'changes are')} left out.`;
  if (number === 0) return 'Nothing to do: there are no resources.';
  return `Nothing to do: ${formatCount(number, 'resource matches', 'resources match')} the manifests${formatLeftException(changes, names)}.`;
}

/** Returns, for example, `1 to delete, 0 to replace, …; 3 unchanged`. Omits rare actions that do not occur. */
export function formatActionCounts(totals: Totals): string {
  const actions = listShownActions(CHANGE_ACTIONS, totals).map(
    (action) => `${totals[action]} ${ACTION_COUNT_LABELS[action]}`,
  );
  return `${actions.join(', ')}; ${totals['no-op']} ${ACTION_COUNT_LABELS['no-op']}`;
}

/**
 * The read requests and the requests needed to apply, such as `4 writes` or `13 writes and at least 2 look-ups (10
 * changes: …)`. Adds the time that the rate limit costs, if any.
 */
export function formatRequestSentence(
  plan: Pick<Plan, 'requests' | 'settings' | 'writes' | 'changes'>,
  { isApplied, isPart = false }: { readonly isApplied: boolean; readonly isPart?: boolean | undefined },
): string {
  const { requests, settings, writes } = plan;
  const { read, apply, readAgain = 0, leastMs } = requests;
  if (!isApplied) return isPart ? '' : formatReadRequestsSentence(read);
  const lookUps = apply - writes.length;
  const sent = `${formatCount(writes.length, 'write')}${lookUps > 0 ? ` and at least ${formatCount(lookUps, 'look-up')}` : ''}`;
  const time = leastMs === 0 ? '' : `, at least ${formatWaitTime(leastMs)} at ${toPrintable(settings.rateLimit)}`;
  const again = readAgain === 0 ? '' : `, and up to ${formatCount(readAgain, 'read')} right before writes`;
  const takes = `takes ${sent}${time}${formatWriteReasons(plan)}${again}`;
  return isPart ? `Applying ${takes}.` : `Reading took ${formatCount(read, 'request')}; applying ${takes}.`;
}

/**
 * Says why there are more writes than changes, such as ` (10 changes: a replace and a new tunnel credential take more
 * than one write)`. Empty if there are not more writes.
 */
function formatWriteReasons({ changes, writes }: Pick<Plan, 'changes' | 'writes'>): string {
  const counts = Map.groupBy(writes, formatWriteAddress);
  const changed = changes.filter(({ action }) => action !== 'no-op');
  if (writes.length <= changed.length) return '';
  const reasons = changed.flatMap((change) => {
    const own = counts.get(formatChangeAddress(change)) ?? [];
    return own.length > 1 ? [formatWriteReason(change, own)] : [];
  });
  const named = [...new Set(reasons)];
  if (named.length === 0) return '';
  const verb = named.length === 1 ? 'takes' : 'take';
  return ` (${formatCount(changed.length, 'change')}: ${formatList(named)} ${verb} more than one write)`;
}

function formatWriteReason({ action, kind: name }: Change, writes: readonly Write[]): string {
  const kind = findKind(name);
  if (action === 'replace') return 'a replace';
  if (action === 'create' && kind !== undefined) return `a new ${kind.title}`;
  if (writes.some(({ purpose }) => purpose === 'vacate')) return 'a resource that frees a value first';
  return writes.some(({ method, module }) => method === 'DELETE' && module !== undefined)
    ? 'a removed module'
    : 'a resource with several modules';
}

/** The result of the rehearsal, and what it could not check. Empty if the plan has no writes. */
export function formatRehearsalSentence(
  plan: Pick<Plan, 'rehearsal' | 'writes' | 'diagnostics' | 'targets' | 'settings'>,
): string {
  const { rehearsal, writes, diagnostics, targets } = plan;
  if (rehearsal === undefined) return writes.length === 0 ? '' : 'Not rehearsed.';
  const { writes: tried, rejected, awaiting = 0, remaining, unchecked = [] } = rehearsal;
  const start = 'Rehearsed on a copy in memory of what was read:';
  const open = unchecked.length === 0 ? '' : ` ${formatUncheckedSentence(unchecked, plan.settings)}`;
  if (rejected > 0) return `${start} ${rejected} of ${formatCount(tried, 'write')} would be rejected.${open}`;
  if (awaiting > 0)
    return `${start} ${awaiting} of ${formatCount(tried, 'write')} could not be tried: another stack of the run frees a value first.${open}`;
  const leftOut = countInCondition({ diagnostics }, 'left-out');
  const all = ALL_WRITES[tried] ?? 'all writes succeeded there';
  if (leftOut > 0) return `${start} ${all}, and ${formatCount(leftOut, 'change is', 'changes are')} left out.${open}`;
  const next = targets.length === 0 ? 'a plan made afterwards' : 'a plan of the same targets made afterwards';
  const rest = remaining === 0 ? 'would be empty' : `would have ${formatCount(remaining, 'change')}`;
  return `${start} ${all}, and ${next} ${rest}.${open}`;
}

const ALL_WRITES: Readonly<Record<number, string>> = {
  1: 'the write succeeded there',
  2: 'both writes succeeded there',
};

/** Returns, for example, `2 ids could not be checked: the API has no list of IP policies and users.` */
function formatUncheckedSentence(ids: readonly string[], { kinds }: Plan['settings']): string {
  const types = ids.map((id) => KINDS.find(({ idPrefix }) => id.startsWith(`${idPrefix}_`)) ?? id);
  const unread = types.flatMap((type) => (typeof type === 'object' && type.role === 'owned' ? [type.name] : []));
  const unlisted = types.flatMap((type) => {
    if (typeof type === 'object') return type.role === 'owned' ? [] : [`${type.title}s`];
    return [findExternalTypeTitle(type) ?? `${toPrintable(type.slice(0, type.indexOf('_')))}_…`];
  });
  const reasons = [
    ...(unlisted.length === 0 ? [] : [`the API has no list of ${formatList([...new Set(unlisted)])}`]),
    ...(unread.length === 0
      ? []
      : [`no ${formatList([...new Set(unread)])} was read${kinds === undefined ? '' : ' (spec.kinds)'}`]),
  ];
  return `${formatCount(ids.length, 'id')} could not be checked: ${reasons.join('; ')}.`;
}

/** Returns, for example, `a, b and c`. */
function formatList(texts: readonly string[]): string {
  return texts.length < 2 ? texts.join('') : `${texts.slice(0, -1).join(', ')} and ${texts.at(-1)}`;
}

/** Returns, for example, `2 safety rules block this plan`. Empty if there are none. */
export function formatBlockingRuleCount(number: number): string {
  return number === 0 ? '' : `${formatCount(number, 'safety rule blocks', 'safety rules block')} this plan`;
}

/** Returns, for example, `3 fields unchanged`. Without it, readers would look for further fields. */
export function formatUnchangedFieldCount(number: number): string {
  return `${formatCount(number, 'field')} unchanged`;
}

export const REQUESTS_HEADING = 'Requests, each sent after those that it waits for';

/** Returns, for example, `waits for [1], [2]`, or that the request comes last. Empty if the request does not wait. */
export function formatRequestDependencies({
  waitsFor,
  last,
}: {
  readonly waitsFor: readonly number[];
  readonly last: boolean;
}): readonly string[] {
  const waits = waitsFor.length === 0 ? [] : [`waits for ${waitsFor.map((number) => `[${number}]`).join(', ')}`];
  return last ? [...waits, 'comes last, after all others'] : waits;
}
