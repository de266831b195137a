import { getKind } from '../../kinds/tables/registry.ts';
import { isJsonArray } from '../../model/json.ts';
import { type ApplyResult, type Outcome, SERVICE_STOPS } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { quoteIfNeeded } from './escape.ts';
import {
  formatCount,
  formatNameList,
  formatWriteName,
  mapNotStartedWritesById,
  type OutcomeTotals,
} from './wording.ts';

type Failed = Extract<Outcome, { readonly outcome: 'failed' }>;

export const RESULT_SECTION_HEADINGS = {
  applied: 'Applied',
  failed: 'Failed',
  skipped: 'Skipped',
  tokens: 'Tokens',
  newIds: 'New ids, where others have the old ones',
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

/** One sentence on all writes that were not started, with the reason. */
export function formatNotStarted(outcomes: readonly Outcome[]): string {
  const names = Array.from(mapNotStartedWritesById(outcomes).values(), formatWriteName);
  const stop = outcomes
    .map((one) => (one.outcome === 'skipped' ? one.stop : undefined))
    .find((one) => one !== undefined);
  const what = names.length === 1 ? `${names[0]} was` : `${names.length} writes were`;
  return `${what} not started, because ${stop === undefined ? 'the run was interrupted' : SERVICE_STOPS[stop]}.`;
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

/** The next steps of the user, in sentences: with values that the service computed, and after failures. */
export function listNextSteps(plan: Pick<Plan, 'mode' | 'changes'>, result: ApplyResult): readonly string[] {
  return [...result.outcomes.flatMap(listFollowUps), ...listRemedies(plan, result)];
}

/** Empty if there were no failures. */
function listRemedies(
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
