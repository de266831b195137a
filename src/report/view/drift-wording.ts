import { type Change, type Difference, type DifferenceCause, listKnownDifferences } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import {
  countDriftStates,
  countResourcesByOwner,
  type Drift,
  type DriftedChange,
  type DriftState,
  isOfService,
} from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { parsePath } from '../../model/field-path.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import type { Text } from '../document.ts';
import type { FormatOptions } from '../report.ts';
import { type DangerView, formatDangerCountsOfChanges, listDangerViews } from './danger-view.ts';
import { quoteIfNeeded } from './escape.ts';
import { listUnmentionedAddresses, nameCalls, toRefusal } from './finding-wording.ts';
import { formatLeftException } from './left-values.ts';
import { collectPlanAddressesById } from './plan-headline.ts';
import type { ResourceNames } from './value-text.ts';
import { formatCount, formatNameList, removeZeroCountsFromText } from './wording.ts';

/** The dangers that changes at the service cause: by group, the most severe of each group first. */
export function listDriftDangerViews(changes: readonly DriftedChange[], names: ResourceNames): readonly DangerView[] {
  const happened = changes.map((change): Change => {
    const dangers = (change.driftDangers ?? []).map((danger) => withDoubt(danger, change.differences));
    const differences = listKnownDifferences(change);
    return { ...change, action: 'update', differences, dangers };
  });
  return listDangerViews(happened, names, 'happened');
}

/** Such as `3 dangers (2 access, 1 secret)`. Empty if nothing that happened is a danger. */
export function formatDriftDangerCount(changes: readonly Pick<DriftedChange, 'driftDangers'>[]): string {
  return formatDangerCountsOfChanges(changes.map(({ driftDangers: dangers }) => ({ dangers })));
}

/** Says with what a live value is compared, unless its field has only drifted, as its mark says. */
function withDoubt(danger: Danger, differences: readonly Difference[]): Danger {
  const { path, consequence } = danger;
  const [field] = (path === undefined ? undefined : parsePath(path)) ?? [];
  const own = differences.filter((one) => one.field === field);
  if (own.length === 0 || own.some(isOnlyDrift)) return danger;
  const doubt = own.every(({ origin }) => origin === 'manifest') ? PENDING : DOUBT;
  return { ...danger, consequence: [...(consequence === undefined ? [] : [consequence]), doubt].join('; ') };
}

const DOUBT = 'compared with the manifest, because the earlier value is unknown';
const PENDING = 'by its mark, its manifest was changed and not applied yet';

export const REMOVAL_PAGE = 'docs/how-to/remove-a-stack.md';

export const ABSENT_WORDING = {
  heading: 'Of stacks that are not in this repository',
  hint: `They are not drift: several repositories may share an account. If one of these stacks was removed from this one, see ${REMOVAL_PAGE}.`,
} as const;

export const UNMANAGED_WORDING = {
  heading: 'Unmanaged',
  hint: 'To adopt a resource, write a manifest with its id in lifecycle.adopt. The command edgewise export writes such manifests.',
} as const;

/** What is unknown about the drift, and what the user can do. */
export function listHints(
  { changes, diagnostics, violations }: Drift,
  options: Pick<FormatOptions, 'folder' | 'findInvocation'>,
): readonly Text[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const reasons = [
    ...(errors === 0 ? [] : [`${formatCount(errors, 'error')}.`]),
    ...violations.map(toRefusal).map((refusal) => {
      const { message, remedy = '' } = refusal;
      const addresses = listUnmentionedAddresses(refusal);
      const whose = addresses.length === 0 ? '' : `: ${formatNameList(addresses)}`;
      return `${message.replace(/[.]$/, '')}${whose}. ${remedy.replaceAll('\n', ' ')}`;
    }),
  ];
  return [
    ...(changes.some(isDriftedResource) ? [UNKNOWN_WHO] : []),
    ...reasons.map((reason) => `The next apply would be refused: ${reason}`),
    ...listAcceptHints(changes, options),
  ];
}

const UNKNOWN_WHO =
  'It is unknown who made these changes, and when: the API does not show that, and a mark records only what was last applied.';

/** Names the command that writes what was changed at the service, and not in the manifest too, into the manifests. */
function listAcceptHints(
  changes: readonly DriftedChange[],
  { folder = '.', findInvocation }: Pick<FormatOptions, 'folder' | 'findInvocation'>,
): readonly Text[] {
  const names = changes.flatMap(({ address, besideId, differences }) => {
    const fields = new Set(
      differences.filter((one) => isOfService(one) && one.origin !== 'both').flatMap(({ field }) => field ?? []),
    );
    return besideId === undefined ? Array.from(fields, (field) => `${address}:${field}`) : [];
  });
  if (names.length === 0) return [];
  const isLong = names.length > MAX_NAMED;
  const words = [
    'edgewise',
    'accept',
    ...(isLong ? ['--all'] : names),
    ...(folder === '.' ? [] : [escapePath(folder)]),
  ];
  const others = isLong ? `. It lists the fields that have to be named, such as ${toPrintable(names[0] ?? '')}.` : '';
  const text = nameCalls(toPrintable(words.map(quoteForShell).join(' ')), findInvocation);
  return [['To keep a change, write it into the manifests: ', { text, style: 'command' }, others]];
}

/** More names do not fit on a few lines. */
const MAX_NAMED = 6;

function isOnlyDrift({ origin }: Difference): boolean {
  return origin === 'drift';
}

function isDriftedResource({ state }: DriftedChange): boolean {
  return state === 'drifted' || state === 'drifted-and-pending';
}

/** What the next apply does to the resource, in one clause. Undefined if it does nothing. */
export function formatNextClause({ action, besideId, differences }: DriftedChange): string | undefined {
  switch (action) {
    case 'no-op':
      return undefined;
    case 'create':
      return besideId === undefined ? 'creates it' : 'creates a second resource beside it';
    case 'delete':
      return 'deletes it';
    case 'replace':
      return `replaces it, which gives it a new id${formatForcingFields(differences)}`;
    case 'withhold':
      return 'does not try again what the service refused';
    case 'adopt':
      return 'adopts it, and sets the values of the manifest';
    case 'take-over':
      return 'takes it over, and sets the values of the manifest';
    case 'release':
      return 'removes its mark';
    case 'update':
      return formatUpdateClause(new Set(differences.map(({ origin }) => origin)));
    default:
      return assertNever(action);
  }
}

function formatForcingFields(differences: readonly Difference[]): string {
  const paths = differences.filter(({ forcesReplace }) => forcesReplace).map(({ path }) => toPrintable(path));
  return paths.length === 0 ? '' : `: ${formatNameList(paths)} cannot be changed in place`;
}

/** Uses the word `reverts` only for fields that certainly drifted. */
function formatUpdateClause(origins: ReadonlySet<DifferenceCause>): string {
  if (!origins.has('drift')) return origins.has('unknown') ? 'sets the values of the manifest' : 'makes this change';
  return origins.size === 1 ? 'reverts this' : 'reverts the drift, and makes the changes of the manifest';
}

/** What each state means. */
export const STATE_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'Changed at the service',
  'drifted-and-pending': 'Changed at the service and in the manifests',
  differs: 'Different; it is unknown who changed it',
  missing: 'Missing: never applied, or deleted at the service',
  unowned: 'Unowned: without the mark of this stack',
  pending: 'Changed in the manifests and not applied yet',
  'to-prune': 'To prune: no longer in a manifest',
};

export const STATE_LABELS: Readonly<Record<DriftState, string>> = {
  drifted: 'drifted',
  'drifted-and-pending': 'drifted and pending',
  differs: 'different',
  missing: 'missing',
  unowned: 'unowned',
  pending: 'pending',
  'to-prune': 'to prune',
  'in-sync': 'in sync',
};

/** The number of resources in each state, in one sentence. Each resource is counted once. */
export function formatDriftSummary(drift: Pick<Drift, 'changes'> & Partial<Pick<Drift, 'externals'>>): string {
  const counts = countDriftStates(drift);
  const inSync = counts['in-sync'];
  if (inSync === drift.changes.length)
    return `No drift: ${formatCount(inSync, 'resource is as it', 'resources are as they')} should be${formatLeftException(drift.changes, collectPlanAddressesById({ externals: {}, ...drift }))}.`;
  const { drifted, 'drifted-and-pending': both, differs, missing, unowned, pending, 'to-prune': toPrune } = counts;
  const sums = [
    `${missing} missing`,
    `${drifted} drifted`,
    ...(both === 0 ? [] : [`${both} drifted and pending`]),
    ...(differs === 0 ? [] : [`${differs} different`]),
    ...(unowned === 0 ? [] : [`${unowned} unowned`]),
  ];
  return `${[...sums, `${pending} pending`, `${toPrune} to prune`].join(', ')}; ${inSync} in sync.`;
}

/** The number of dangers at the service, then the numbers of resources in each state. Zeros are omitted. */
export function formatDriftHeadline(drift: Parameters<typeof formatDriftSummary>[0]): string {
  const dangers = formatDriftDangerCount(drift.changes);
  return [...(dangers === '' ? [] : [`⚠ ${dangers}`]), removeZeroCountsFromText(formatDriftSummary(drift))].join(' · ');
}

/** The number of live resources that stacks manage, in one sentence. */
export function formatCoverageSentence(drift: Drift): string {
  const { owned, ofOtherStacks, unmanaged } = countResourcesByOwner(drift);
  const stacks = formatWordCounts(drift.unowned.flatMap(({ stack }) => stack ?? []));
  const kinds = formatWordCounts(drift.unowned.filter(({ stack }) => stack === undefined).map(({ kind }) => kind));
  const others = ofOtherStacks === 0 ? '' : `, ${ofOtherStacks} of other stacks (${stacks})`;
  const ofNoStack = unmanaged === 0 ? '' : ` (${kinds})`;
  return `Live resources of the kinds that were read: ${owned} of this stack${others}, ${unmanaged} unmanaged${ofNoStack}.`;
}

function formatWordCounts(words: readonly string[]): string {
  const counts = Map.groupBy(words, (word) => word);
  const listed = [...counts].map(([word, all]) => [quoteIfNeeded(word), all.length] as const).sort();
  return listed.map(([word, number]) => `${word} ${number}`).join(', ');
}
