import { createWriteRequestLine } from '../../kinds/request-body.ts';
import { getKind } from '../../kinds/tables/registry.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import { isJsonArray } from '../../model/json.ts';
import { type ApplyResult, type Outcome, SERVICE_STOPS } from '../../model/outcome.ts';
import type { Place } from '../../model/place.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Message } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { toPrintableDiagnostic, toPrintablePlace } from './diagnostic-view.ts';
import { quoteIfNeeded } from './escape.ts';
import { formatPlanOrApplyTitle } from './plan-wording.ts';
import {
  countWriteOutcomes,
  formatCount,
  formatNameList,
  formatReportSubject,
  formatWriteName,
  isFullyApplied,
  mapNotStartedWritesById,
  type OutcomeTotals,
} from './wording.ts';

/** The result of an apply as printable texts in reading order. All formats for people use it. */
export interface ApplyView {
  readonly title: string;
  /** Such as `stack production on https://api.example.com`. */
  readonly subject: string;
  /** Whether all writes succeeded, and no token had to be rescued. */
  readonly isComplete: boolean;
  readonly totals: OutcomeTotals;
  /** The totals in one sentence. */
  readonly summary: string;
  readonly applied: readonly AppliedWriteView[];
  /** Writes that the service rejected, or whose effect is unknown. */
  readonly failed: readonly Message[];
  /** Writes that were skipped because a write that they depend on was not applied. */
  readonly skipped: readonly SkippedView[];
  /**
   * One sentence on all writes that were not sent because the run was interrupted or the service could not be reached.
   * Absent if there are no such writes.
   */
  readonly notStarted?: string;
  /** The tokens of new credentials, each with the place where it was delivered. */
  readonly tokens: readonly { readonly address: string; readonly place: string; readonly rescued: boolean }[];
  readonly diagnostics: readonly Diagnostic[];
  /** Sentences on the next steps of the user: after failures, or with values that the service computed. */
  readonly next: readonly string[];
}

export interface AppliedWriteView {
  /** Such as `create TCPEdge/postgres`. */
  readonly name: string;
  readonly id?: string | undefined;
  /** How Edgewise knows that the write was applied. Absent if the response said so. */
  readonly note?: string | undefined;
}

/** A write that was not sent, because a write that it waited for was not applied. */
interface SkippedView {
  readonly name: string;
  /** A clause for each dependency that was not applied. */
  readonly reasons: readonly string[];
}

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;
type Skipped = Extract<Outcome, { readonly outcome: 'skipped' }>;
type Applied = Extract<Outcome, { readonly outcome: 'applied' }>;

export function createApplyView(
  plan: Plan,
  result: ApplyResult,
  options: Pick<FormatOptions, 'locate'> = {},
): ApplyView {
  const { outcomes, tokens, diagnostics } = result;
  const totals = countWriteOutcomes(result);
  const notStarted = mapNotStartedWritesById(outcomes);
  const skipped = outcomes.filter((one) => one.outcome === 'skipped').filter(({ write }) => !notStarted.has(write.id));
  const ends = new Map(outcomes.map(({ write, outcome }) => [write.id, outcome]));
  return {
    title: formatPlanOrApplyTitle('apply', plan),
    subject: formatReportSubject(plan),
    isComplete: isFullyApplied(result),
    totals,
    summary: formatOutcomeTotals(totals),
    applied: outcomes.filter((one) => one.outcome === 'applied').map(createAppliedView),
    failed: outcomes.filter((one) => one.outcome === 'failed').map((one) => createFailedView(one, options)),
    skipped: skipped.map((one) => createSkippedView(one, ends)),
    ...(notStarted.size > 0 && { notStarted: formatNotStarted(outcomes) }),
    tokens: tokens.map((one) => ({ ...one, address: quoteIfNeeded(one.address), place: toPrintable(one.deliveredTo) })),
    diagnostics: diagnostics.map(toPrintableDiagnostic),
    next: [...outcomes.flatMap(listFollowUps), ...listNextSteps(plan, result)],
  };
}

function createAppliedView(one: Applied): AppliedWriteView {
  const note = formatAppliedNote(one);
  return {
    name: formatWriteName(one.write),
    id: one.id === undefined ? undefined : quoteIfNeeded(one.id),
    note,
  };
}

function createFailedView(failed: Failed, options: Pick<FormatOptions, 'locate'>): Message {
  const { write, message, isUnknown } = failed;
  const { method, path } = createWriteRequestLine(write);
  const place = locateFailedWrite(failed, options);
  const isNamed = message.startsWith(`${method} `);
  return {
    name: formatWriteName(write),
    ...(!isNamed && { request: toPrintable(`${method} ${path}`) }),
    sentences: [toPrintable(message), ...(isUnknown ? [UNKNOWN_EFFECT] : [])],
    place,
    hasExcerpt: failed.field !== undefined,
  };
}

/** The position of the field that the service named or, if it named none, the start of the manifest. */
export function locateFailedWrite(
  { write, field }: Failed,
  { locate }: Pick<FormatOptions, 'locate'>,
): Place | undefined {
  const place = locate?.(write.address, field);
  return place && toPrintablePlace(place);
}

function createSkippedView(
  { write, waitedFor, isKept, message }: Skipped,
  ends: ReadonlyMap<string, Outcome['outcome']>,
): SkippedView {
  const reasons = waitedFor.map((id) => `depends on ${toPrintable(id)}, which ${formatEnd(ends.get(id))}`);
  return { name: formatWriteName(write), reasons: isKept === true ? [toPrintable(message)] : reasons };
}

export const RESULT_SECTION_HEADINGS = {
  applied: 'Applied',
  failed: 'Failed',
  skipped: 'Skipped',
  tokens: 'Tokens',
  next: 'Next',
} as const;

/** Returns, for example, `3 writes applied, 0 failed, 0 skipped`. */
export function formatOutcomeTotals({ applied, failed, skipped }: OutcomeTotals): string {
  return `${formatCount(applied, 'write')} applied, ${failed} failed, ${skipped} skipped`;
}

/** Precedes the totals in the summary of an incomplete apply. */
export const INCOMPLETE_APPLY_PREFIX = 'Incomplete: ';

/** The heading of the plan in the report of its apply. */
export const PLAN_HEADING = 'The plan';

/** Says how Edgewise knows that a write was applied, if no response said so. */
function formatAppliedNote(one: Extract<Outcome, { readonly outcome: 'applied' }>): string | undefined {
  return 'found' in one ? 'the response could not be used; found by its mark' : undefined;
}

/** Shown for a write that got no response. */
const UNKNOWN_EFFECT = 'It is unknown whether it took effect.';

/** One sentence on all writes that were not started, with the reason. */
export function formatNotStarted(outcomes: readonly Outcome[]): string {
  const names = Array.from(mapNotStartedWritesById(outcomes).values(), formatWriteName);
  const stop = outcomes
    .map((one) => (one.outcome === 'skipped' ? one.stop : undefined))
    .find((one) => one !== undefined);
  const what = names.length === 1 ? `${names[0]} was` : `${names.length} writes were`;
  return `${what} not started, because ${stop === undefined ? 'the run was interrupted' : SERVICE_STOPS[stop]}.`;
}

function formatEnd(outcome: Outcome['outcome'] | undefined): string {
  if (outcome === undefined) return 'is not in the plan';
  return outcome === 'failed' ? 'failed' : `was ${outcome}`;
}

/** Remedies after an incomplete apply. */
const NEXT_STEPS = {
  key: 'The service rejected the API key: check it.',
  mend: 'Fix what failed.',
  unsent: 'Check that the service runs and can be reached from here. Requests that were not sent changed nothing.',
  rescued: 'Fix the token sink. The next apply replaces the credentials whose tokens are in rescue files.',
  unknown: 'The next apply finds created resources by their mark, so it creates nothing twice.',
  unmanageable:
    'This service cannot be managed: it does not keep the metadata of resources, which has the mark that says whose they are. Without it, each apply would create them again. Nothing more was sent.',
} as const;

function formatForbiddenStep(names: readonly string[]): string {
  return `The service does not permit ${formatNameList(names)}: get the permission for that, or change what the manifests ask for.`;
}

/** What helps if the account has as many resources of a kind as it may have. */
function listQuotaSteps(failed: readonly Failed[], changes: Plan['changes']): readonly string[] {
  const titles = [...new Set(failed.map(({ write }) => getKind(write.kind).title))];
  const isReplaced = ({ write }: Failed): boolean =>
    changes.some(({ address, action }) => address === write.address && action === 'replace');
  const replaced = failed.filter(isReplaced).map(({ write }) => quoteIfNeeded(write.address));
  const free = titles.map(
    (title) => `The account has no room for another ${title}: delete one that is not needed, or get a higher limit.`,
  );
  if (replaced.length === 0) return free;
  const names = formatNameList(replaced);
  return [
    ...free,
    `The new ${names} must be created before the old one is deleted. Without room for both, take the manifest away and apply, then bring it back and apply: in between, there is none, and its users fail.`,
  ];
}

/**
 * Steps that the user must take elsewhere, with values that the service computed for a new resource, such as `Set the
 * NS records of its domain to …`.
 */
function listFollowUps(outcome: Outcome): readonly string[] {
  if (outcome.outcome !== 'applied' || outcome.write.purpose !== 'create') return [];
  const { write, computed = {} } = outcome;
  return Object.entries(getKind(write.kind).fields).flatMap(([name, { createdTask }]) => {
    const value = computed[name] ?? [];
    const values = (isJsonArray(value) ? value : [value]).filter((one) => typeof one === 'string');
    if (createdTask === undefined || values.length === 0) return [];
    return [`${quoteIfNeeded(write.address)}: ${createdTask} ${values.map(quoteIfNeeded).join(', ')} (${name}).`];
  });
}

/** Remedies for failures, in sentences. Empty if there were no failures. */
function listNextSteps(
  { mode, changes }: Pick<Plan, 'mode' | 'changes'>,
  { outcomes, tokens, interrupted }: ApplyResult,
): readonly string[] {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const forbidden = failed.filter((one) => one.isAuthentication && !isKeyRefused(one));
  const unknown = new Set<string>(failed.flatMap(({ isUnknown, write }) => (isUnknown ? [write.address] : [])));
  const isUnmanageable = failed.some((one) => one.isUnmanageable);
  const isCutShort = interrupted && outcomes.some(({ outcome }) => outcome !== 'applied');
  const steps: readonly (readonly [boolean, string])[] = [
    [failed.some(isKeyRefused), NEXT_STEPS.key],
    [forbidden.length > 0, formatForbiddenStep(forbidden.map(({ write }) => formatWriteName(write)))],
    ...listQuotaSteps(
      failed.filter(({ isQuota }) => isQuota),
      changes,
    ).map((step) => [true, step] as const),
    [failed.some(({ isUnsent }) => isUnsent), NEXT_STEPS.unsent],
    [isUnmanageable, NEXT_STEPS.unmanageable],
    [failed.some(isFixable), NEXT_STEPS.mend],
    [tokens.some(({ rescued, address }) => rescued && !unknown.has(address)), NEXT_STEPS.rescued],
    [(failed.length > 0 || isCutShort) && !isUnmanageable, `Run ${mode} again. It plans only what is left.`],
    [unknown.size > 0, NEXT_STEPS.unknown],
  ];
  return steps.filter(([applies]) => applies).map(([, step]) => step);
}

/**
 * Whether the service rejected the API key. A 403 concerns only the permission for this write, because the same key has
 * just read the account.
 */
function isKeyRefused({ isAuthentication, status }: Failed): boolean {
  return isAuthentication && status !== 403;
}

function isFixable({ isAuthentication, isQuota, isUnknown, isUnsent, isStale, isUnmanageable }: Failed): boolean {
  return !isAuthentication && !isQuota && !isUnknown && !isUnsent && !isStale && !isUnmanageable;
}
