import type { Action } from '../../model/change.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Totals } from '../../model/totals.ts';
import type { CommandLine } from '../report.ts';
import { toWord } from './escape.ts';
import { type Subject, toCount, toReadSentence, toSubject, toTimeText } from './wording.ts';

/** What forms say of plans. */

/** The title of each report by what it is about, before its subject. */
const TITLES = {
  plan: { apply: 'Plan for', destroy: 'Plan to destroy', release: 'Plan to release from' },
  apply: { apply: 'Apply of', destroy: 'Destroy of', release: 'Release from' },
} as const satisfies Record<string, Readonly<Record<Plan['mode'], string>>>;

/** The title of a plan, or of how its apply ended. */
export function toPlanTitle(about: keyof typeof TITLES, plan: Subject & Pick<Plan, 'mode'>): string {
  return `${TITLES[about][plan.mode]} ${toSubject(plan)}`;
}

/** What limits a report to some addresses; nothing when none do. */
export function listNarrowing(targets: readonly string[]): readonly string[] {
  if (targets.length === 0) return [];
  return [`Limited to ${targets.map(toWord).join(', ')} and ${targets.length === 1 ? 'its' : 'their'} dependencies.`];
}

/** What stands above lists of sentences that plans share. */
export const LIST_HEADINGS = {
  lint: 'Lint warnings (edgewise validate shows them in full)',
  files: 'Files to write',
  withheld: 'Kept because of --no-delete',
  unchanged: 'Left as they are',
} as const;

/** What stands above the parts of a plan in which this change and drift are told apart. */
export const PART_HEADINGS = { change: 'This change', drift: 'Drift to revert' } as const;

/** Whose a resource is, where there is no column for it. */
export function toOwnerNote(owner: string): string {
  return `owner: ${owner}`;
}

/** What stands above what is deleted or replaced. */
export const LOSSES_HEADING = 'What will be lost';

/** Said of a change whose other fields are shown in the part above. */
export const CONTINUED = 'as above';

/** Said of a resource that the stack takes over without any other change. */
export function toTakesOver(id: string): string {
  return `takes over ${id}`;
}

/** What stands before the command that does what a plan says. */
export function toApplyLead({ readsInput }: CommandLine): string {
  return readsInput ? 'To apply, with the same manifests on standard input:' : 'To apply:';
}

/** What is done to a resource, behind the number of those that it is done to. */
export const ACTION_LABELS: Readonly<Record<Action, string>> = {
  delete: 'to delete',
  replace: 'to replace',
  update: 'to update',
  release: 'to release',
  adopt: 'to adopt',
  create: 'to create',
  'no-op': 'unchanged',
};

/** What a plan comes to. */
interface PlanNumbers {
  readonly totals: Totals;
  readonly withheld: readonly unknown[];
  readonly diagnostics: readonly Diagnostic[];
  readonly isEmpty: boolean;
}

/** The sum of a plan in one sentence. A plan with errors cannot be applied, so it has no numbers to approve. */
export function toPlanSummary(plan: PlanNumbers): string {
  if (hasErrors(plan.diagnostics)) return 'This plan cannot be applied.';
  return plan.isEmpty ? toNothing(plan) : `${toActionCounts(plan.totals)}.`;
}

function toNothing({ totals, withheld }: PlanNumbers): string {
  const number = totals['no-op'];
  if (number === 0 && withheld.length > 0) return `Nothing to do: ${toCount(withheld.length, 'resource')} kept.`;
  if (number === 0) return 'Nothing to do: there are no resources.';
  return `Nothing to do: ${toCount(number, 'resource is', 'resources are')} as the manifests say.`;
}

/** `1 to delete, 0 to replace, …; 3 unchanged`. Releases are rare, and named only when there are some. */
export function toActionCounts(totals: Totals): string {
  const actions = (['delete', 'replace', 'update', 'release', 'adopt', 'create'] as const)
    .filter((action) => action !== 'release' || totals.release > 0)
    .map((action) => `${totals[action]} ${ACTION_LABELS[action]}`);
  return `${actions.join(', ')}; ${totals['no-op']} ${ACTION_LABELS['no-op']}`;
}

/** What reading took and applying will take: `12`, `at least 12`; when requests take their time, `540 requests, at least 4 min 0 s at 120/60s`. */
export function toRequestSentence(
  {
    requests: { read, apply, mayTakeMore = false, leastMs },
    settings: { rateLimit },
  }: Pick<Plan, 'requests' | 'settings'>,
  { isApplied, isPart = false }: { readonly isApplied: boolean; readonly isPart?: boolean | undefined },
): string {
  if (!isApplied) return isPart ? '' : toReadSentence(read);
  const atLeast = mayTakeMore ? 'at least ' : '';
  const needs =
    leastMs === 0
      ? `${atLeast}${apply}`
      : `${atLeast}${toCount(apply, 'request')}, at least ${toTimeText(leastMs)} at ${toPrintable(rateLimit)}`;
  if (isPart) return `Applying needs ${leastMs === 0 ? `${atLeast}${toCount(apply, 'request')}` : needs}.`;
  return `Reading took ${toCount(read, 'request')}; applying needs ${needs}.`;
}

/** How the rehearsal of a plan went; empty: there was nothing to try. */
export function toRehearsalSentence({ rehearsal, writes }: Pick<Plan, 'rehearsal' | 'writes'>): string {
  if (rehearsal === undefined) return writes.length === 0 ? '' : 'Not rehearsed.';
  const { writes: tried, refused, left } = rehearsal;
  if (refused > 0) return `Rehearsed: ${refused} of ${toCount(tried, 'write')} cannot be made.`;
  const all = ALL_WRITES[tried] ?? `all ${tried} writes succeed`;
  if (left > 0) return `Rehearsed: ${all}, and ${toCount(left, 'change is', 'changes are')} left to do.`;
  return `Rehearsed: ${all}, and nothing is left to do.`;
}

const ALL_WRITES: Readonly<Record<number, string>> = { 1: 'the write succeeds', 2: 'both writes succeed' };

/** `2 safety rules block this plan`. */
export function toStandingText(number: number): string {
  return `${toCount(number, 'safety rule blocks', 'safety rules block')} this plan`;
}

/** `3 fields unchanged`. Said where the fields that change are shown, so that nobody looks for the others. */
export function toUnchangedText(number: number): string {
  return `${toCount(number, 'field')} unchanged`;
}

/** What stands above the API calls of a plan. */
export const REQUESTS_HEADING = 'Requests, each sent when those that it waits for are done';

/** Why the calls of a plan may stand in the order in which they are listed. */
export const REQUESTS_ORDER = 'in a valid order';

/** What a call waits for, by the numbers of other calls. */
export function listWaits({
  waitsFor,
  last,
}: {
  readonly waitsFor: readonly number[];
  readonly last: boolean;
}): readonly string[] {
  const waits = waitsFor.length === 0 ? [] : [`waits for ${waitsFor.map((number) => `[${number}]`).join(', ')}`];
  return last ? [...waits, 'comes last, after all others'] : waits;
}
