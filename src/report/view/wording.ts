import type { Action } from '../../model/change.ts';
import { type Diagnostic, hasErrors, type Severity } from '../../model/diagnostic.ts';
import type { Coverage, DriftState } from '../../model/drift.ts';
import type { Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Totals } from '../../model/totals.ts';
import type { Write } from '../../model/write.ts';
import type { CommandLine, Validation } from '../report.ts';
import { toWord } from './escape.ts';
import type { ApplyTotals } from './totals.ts';

/**
 * All wording that several forms share. Results are printable text; a form escapes, wraps and colours it, and adds
 * wording of its own only where no other form says the same.
 */

/** `1 request`, `2 requests`. */
export function toCount(number: number, noun: string, nouns = `${noun}s`): string {
  return `${number} ${number === 1 ? noun : nouns}`;
}

/** A time as one says it before waiting: `30 s`, `4 min 0 s`, `1 h 27 min`. Parts of a second count as a whole one. */
export function toTimeText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 60) return `${seconds} s`;
  const minutes = Math.floor(seconds / 60);
  return minutes < 60 ? `${minutes} min ${seconds % 60} s` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
}

/** `2 errors, 1 warning`; only what there is. */
export function countSeverities(diagnostics: readonly Diagnostic[]): string {
  const severities: readonly Severity[] = ['error', 'warning'];
  return severities
    .map((severity) => ({ severity, number: diagnostics.filter((one) => one.severity === severity).length }))
    .filter(({ number }) => number > 0)
    .map(({ severity, number }) => toCount(number, severity))
    .join(', ');
}

type Subject = Pick<Plan, 'stack' | 'baseUrl'>;

/** What a report is about: `stack production on https://api.example.com`. */
export function toSubject({ stack, baseUrl }: Subject): string {
  return `stack ${toWord(stack)} on ${toPlace(baseUrl)}`;
}

function toPlace(baseUrl: string): string {
  const [scheme, ...file] = baseUrl.split(':');
  if (scheme !== 'embedded') return toPrintable(baseUrl);
  const path = file.join(':');
  return path === '' ? 'the embedded server' : `the embedded server, kept in ${toPrintable(path)}`;
}

/** The title of each report by what it is about, before its subject. */
const TITLES = {
  plan: { apply: 'Plan for', destroy: 'Plan to destroy', release: 'Plan to release from' },
  apply: { apply: 'Apply of', destroy: 'Destroy of', release: 'Release from' },
} as const satisfies Record<string, Readonly<Record<Plan['mode'], string>>>;

/** The title of a plan, or of how its apply ended. */
export function toPlanTitle(about: keyof typeof TITLES, plan: Subject & Pick<Plan, 'mode'>): string {
  return `${TITLES[about][plan.mode]} ${toSubject(plan)}`;
}

/** The title of a comparison. */
export function toDriftTitle(drift: Subject): string {
  return `Drift of ${toSubject(drift)}`;
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

/** Said of a change whose other fields are shown in the part above. */
export const CONTINUED = 'as above';

/** What stands above the parts of how an apply ended. */
export const RESULT_HEADINGS = {
  applied: 'Applied',
  failed: 'Failed',
  skipped: 'Skipped',
  tokens: 'Tokens',
  files: 'Files',
  next: 'Next',
} as const;

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

/** What reading took. */
export function toReadSentence(requests: number): string {
  return `Reading took ${toCount(requests, 'request')}.`;
}

/** What reading took and applying will take: `12`, `at least 12`; when requests take their time, `540 requests, at least 4 min 0 s at 120/60s`. */
export function toRequestSentence(
  {
    requests: { read, apply, mayTakeMore = false, leastMs },
    settings: { rateLimit },
  }: Pick<Plan, 'requests' | 'settings'>,
  isApplied: boolean,
): string {
  if (!isApplied) return toReadSentence(read);
  const atLeast = mayTakeMore ? 'at least ' : '';
  const needs =
    leastMs === 0
      ? `${atLeast}${apply}`
      : `${atLeast}${toCount(apply, 'request')}, at least ${toTimeText(leastMs)} at ${toPrintable(rateLimit)}`;
  return `Reading took ${toCount(read, 'request')}; applying needs ${needs}.`;
}

/** How the rehearsal of a plan went; empty: there was nothing to try. */
export function toRehearsalSentence({ rehearsal, writes }: Pick<Plan, 'rehearsal' | 'writes'>): string {
  if (rehearsal === undefined) return writes.length === 0 ? '' : 'Not rehearsed.';
  const { writes: tried, refused, left } = rehearsal;
  if (refused > 0) return `Rehearsed: ${refused} of ${toCount(tried, 'write')} cannot be made.`;
  const all = tried === 1 ? 'the write succeeds' : `all ${tried} writes succeed`;
  if (left > 0) return `Rehearsed: ${all}, and ${toCount(left, 'change is', 'changes are')} left to do.`;
  return `Rehearsed: ${all}, and nothing is left to do.`;
}

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

/** How a write is called: `create TCPEdge/postgres`. */
export function toWriteName({ id }: Pick<Write, 'id'>): string {
  return toPrintable(id);
}

/** `3 writes applied (1 already done), 0 failed, 0 skipped`. */
export function toApplySummary({ applied, alreadyDone, failed, skipped }: ApplyTotals): string {
  const before = alreadyDone === 0 ? '' : ` (${alreadyDone} already done)`;
  return `${toCount(applied, 'write')} applied${before}, ${failed} failed, ${skipped} skipped`;
}

/** Stands before the numbers of an incomplete apply. */
export const NOT_ALL = 'Incomplete: ';

/** What stands above the plan that was applied. */
export const APPLIED_PLAN = 'The plan';

/** How it is known that a write is applied, if no answer said so. */
export function toAppliedRemark(one: Extract<Outcome, { readonly outcome: 'applied' }>): string | undefined {
  if ('alreadyDone' in one) return 'already done';
  return 'found' in one ? 'the answer could not be used; found by its mark' : undefined;
}

/** What is not known of a write whose answer never came. */
export const UNKNOWN_EFFECT = 'It is unknown whether it took effect.';

/** One sentence about all writes that were not started. */
export function toNotStarted(names: readonly string[]): string {
  const what = names.length === 1 ? `${names[0]} was` : `${names.length} writes were`;
  return `${what} not started, because the run was interrupted.`;
}

/** Which write a skipped write waited for, and how that one ended; `undefined`: it is not in the plan. */
export function toWaitClause(name: string, ended: Outcome['outcome'] | undefined): string {
  return `waited for ${name}, which ${toEnd(ended)}`;
}

function toEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

/** What to do when an apply did not go as planned. */
export const NEXT_STEPS = {
  key: 'The service refused the API key: check it.',
  mend: 'Fix what failed.',
  rescued: 'Fix the token sink. The next apply replaces the credentials whose tokens are in rescue files.',
  unknown: 'Writes that took effect are found by their mark, so nothing is created twice.',
} as const;

/** What to do about writes that the service does not permit. */
export function toForbiddenStep(names: readonly string[]): string {
  return `The service does not permit ${toNameList(names)}: get the permission for that, or change what the manifests ask for.`;
}

/** What to do when something is left to do. */
export function toAgainStep(mode: Plan['mode']): string {
  return `Run ${mode} again. It plans only what is left.`;
}

/** Names in a sentence: the first few, and how many more there are. */
export function toNameList(names: readonly string[]): string {
  const hidden = names.length - MAX_NAMES;
  return hidden > 0 ? `${names.slice(0, MAX_NAMES).join(', ')} and ${hidden} more` : names.join(', ');
}

const MAX_NAMES = 5;

/** What each state means to a reader. */
export const STATE_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'Changed at the service',
  'drifted-and-pending': 'Changed at the service and in the manifests',
  differs: 'Different; it is unknown who changed it',
  missing: 'Missing: never applied, or deleted at the service',
  unowned: 'Not ours: without the mark of the stack',
  'file-differs': 'In sync, but its file differs',
  pending: 'Changed in the manifests and not applied yet',
  'left-over': 'Ours, but no longer in a manifest',
};

/** Short names of the states. */
export const STATE_LABELS: Readonly<Record<DriftState, string>> = {
  drifted: 'drifted',
  'drifted-and-pending': 'drifted and pending',
  differs: 'different',
  missing: 'missing',
  unowned: 'not ours',
  'file-differs': 'file differs',
  pending: 'pending',
  'left-over': 'left over',
  'in-sync': 'in sync',
};

/** Stands for the value of a field that its manifest leaves to the service again. */
export const STATED_NO_LONGER = '(no longer stated)';

/** Said of a field that drifted from a saved plan, which stores only its digest. */
export const MOVED = 'changed; the plan does not store the old value';

/** The sum of a comparison in one sentence. */
export function toDriftSummary(counts: Readonly<Record<DriftState, number>>, isInSync: boolean): string {
  const inSync = counts['in-sync'];
  if (isInSync) return `No drift: ${toCount(inSync, 'resource is as it', 'resources are as they')} should be.`;
  const { drifted, 'drifted-and-pending': both, differs, missing, unowned, pending, 'left-over': leftOver } = counts;
  const drift = [
    `${drifted + both} drifted`,
    ...(differs === 0 ? [] : [`${differs} different`]),
    `${missing} missing`,
    ...(unowned === 0 ? [] : [`${unowned} not ours`]),
    ...(counts['file-differs'] === 0 ? [] : [`${counts['file-differs']} with a file that differs`]),
  ];
  return `${[...drift, `${pending + both} pending`, `${leftOver} left over`].join(', ')}; ${inSync} in sync.`;
}

type Counts = readonly (readonly [word: string, number: number])[];

/** How much of what is live somebody manages. */
export function toCoverageSentence(
  coverage: Coverage,
  { unmanaged, foreign }: { readonly unmanaged: Counts; readonly foreign: Counts },
): string {
  const list = (counts: Counts): string => counts.map(([word, number]) => `${word} ${number}`).join(', ');
  const others = coverage.foreign === 0 ? '' : `, ${coverage.foreign} of other stacks (${list(foreign)})`;
  const nobodys = coverage.unmanaged === 0 ? '' : ` (${list(unmanaged)})`;
  const percent = `${Math.floor(coverage.share * 100)} %`;
  return `Live resources: ${coverage.owned} ours${others}, ${coverage.unmanaged} unmanaged${nobodys}: ${percent} managed.`;
}

/** How many manifests were checked: `5 resources in 2 files`. */
export function toValidationSize({ files, resources }: Pick<Validation, 'files' | 'resources'>): string {
  return `${toCount(resources, 'resource')} in ${toCount(files, 'file')}`;
}

/** `edgewise plan did not complete`. */
export function toNoResult(command: string | undefined): string {
  return `${command === undefined ? 'edgewise' : `edgewise ${toPrintable(command)}`} did not complete`;
}
