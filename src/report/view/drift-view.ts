import { findKind } from '../../kinds/tables/registry.ts';
import type { Change, Difference, DifferenceCause } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import {
  countDriftStates,
  countResourcesByOwner,
  DRIFT_STATES,
  type Drift,
  type DriftedChange,
  type DriftState,
  findDriftedId,
  isOfService,
  listUnmanaged,
  type OwnershipCoverage,
  PROTECT_PATH,
  type UnownedResource,
} from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { parsePath } from '../../model/field-path.ts';
import { toPrintable } from '../../model/printable.ts';
import { escapePath, quoteForShell } from '../../model/shell-words.ts';
import type { FormatOptions } from '../report.ts';
import { type ChangeView, createChangeView, type SummaryClauseView } from './change-view.ts';
import { type DangerView, formatDangerCountsOfChanges, listDangerViews } from './danger-view.ts';
import { toPrintableDiagnostic } from './diagnostic-view.ts';
import { listDue } from './due-view.ts';
import { quoteIfNeeded, quoteText } from './escape.ts';
import { createHappenedFieldView, type FieldView, formatPathWithTargetName, type ResourceNames } from './field-view.ts';
import { formatLeftException } from './left-values.ts';
import {
  collectPlanAddressesById,
  createViolationView,
  listLimitNotes,
  listUnchangedNotes,
  type PlanView,
} from './plan-view.ts';
import { formatOwner } from './plan-wording.ts';
import { redactDrift } from './redact.ts';
import {
  formatCount,
  formatNameList,
  formatReadRequestsSentence,
  formatReportSubject,
  formatSeverityCounts,
  formatSkippedSentence,
  removeZeroCountsFromText,
  shortenCommit,
} from './wording.ts';

/** Drift as printable texts in reading order. All formats for people use it. */
export interface DriftView extends Pick<PlanView, 'title' | 'notes' | 'dangerCount' | 'due' | 'diagnostics' | 'found'> {
  /** One sentence that says what the live state is compared with. Empty if the manifests have no known commit. */
  readonly compared: string;
  /** The dangers that changes at the service cause: by group, the most severe of each group first. */
  readonly dangers: readonly DangerView[];
  /** The resources that differ, by state. No group is empty. */
  readonly groups: readonly DriftGroup[];
  readonly unmanaged: readonly UnmanagedResourceView[];
  /** Notes on resources that are in sync. Each sentence starts with an address. */
  readonly unchanged: readonly string[];
  /** Whether at least one resource has an owner. */
  readonly hasOwners: boolean;
  readonly counts: Readonly<Record<DriftState, number>>;
  /** The whole comparison on one line, dangers first: `⚠ 1 danger (1 access) · 2 drifted, 3 in sync`. */
  readonly headline: string;
  /** The number of resources in each state, in one sentence. */
  readonly summary: string;
  /** One sentence with the number of live resources that stacks manage. */
  readonly coverage: string;
  /** Sentences on unknown facts about the drift, and on what the user can do. */
  readonly hints: readonly string[];
  /** Sentences on the number of read requests, except in a part of a longer report, and on what is skipped. */
  readonly requests: string;
}

export interface DriftGroup {
  readonly state: Exclude<DriftState, 'in-sync'>;
  /** The meaning of the state. */
  readonly heading: string;
  readonly resources: readonly DriftedView[];
}

/**
 * One resource that differs from its manifest. `show` creates what differs, so that the views of all resources never
 * exist at once.
 */
export interface DriftedView {
  readonly state: DriftGroup['state'];
  readonly kind: string;
  readonly address: string;
  readonly id: string | undefined;
  readonly reason: string | undefined;
  /** Absent if neither the manifest nor the mark names an owner. */
  readonly owner: string | undefined;
  readonly change: DriftedChange;
  readonly show: () => DriftedDetails;
}

/** What happened to a resource, and what the next apply does. */
export interface DriftedDetails {
  readonly change: DriftedChange;
  /** The path of the first field that differs, as manifests write it. */
  readonly manifestPath?: string | undefined;
  /** The dangers of what happened at the service. */
  readonly dangers: readonly DangerView[];
  /** What happened at the service: from the expected to the live values. */
  readonly fields: readonly FieldView[];
  /** Clauses that describe a missing or a deleted resource, such as `expected: listens on …`. */
  readonly traits: readonly SummaryClauseView[];
  /** What the next apply does, in one clause. Absent if it does nothing. */
  readonly next?: string | undefined;
  /** The change of the next apply, as a plan shows it. Absent if it changes nothing but a file. */
  readonly planned?: ChangeView | undefined;
}

/** A live resource that no stack manages. */
export interface UnmanagedResourceView {
  readonly kind: string;
  readonly id: string;
  /** The description in quotes. Empty if the resource has none. */
  readonly description: string;
  /** Says that the stack of the resource is not in this repository. Empty if no stack owns the resource. */
  readonly absence: string;
}

export function createDriftView(
  compared: Drift,
  {
    isPart = false,
    unmanaged = listUnmanaged([compared]),
    folder,
  }: Pick<FormatOptions, 'isPart' | 'unmanaged' | 'folder'> = {},
): DriftView {
  const drift = redactDrift(compared);
  const { unowned, changes } = drift;
  const scene = { names: collectPlanAddressesById(drift), refused: listRefusedAddresses(drift) };
  const groups = listGroups(drift, scene);
  const counts = countDriftStates(drift);
  return {
    title: `Drift of ${formatReportSubject(drift)}`,
    compared: formatComparedSentence(drift),
    notes: listLimitNotes(drift),
    dangers: listDriftDangerViews(changes, scene.names),
    dangerCount: formatDriftDangerCount(changes),
    groups,
    unmanaged: unmanaged.map(createUnmanagedView),
    due: listDue(changes, drift.made.at),
    unchanged: changes
      .filter(({ state }) => state === 'in-sync')
      .flatMap((change) => listUnchangedNotes(change, scene.names)),
    hasOwners: groups.some(({ resources }) => resources.some(({ owner }) => owner !== undefined)),
    counts,
    headline: formatDriftHeadline(drift),
    summary: formatDriftSummary(drift),
    coverage: formatCoverageSentence(countResourcesByOwner(drift), {
      unmanaged: countBy(unowned.filter(({ stack }) => stack === undefined).map(({ kind }) => kind)),
      ofOtherStacks: countBy(unowned.flatMap(({ stack }) => stack ?? [])),
    }),
    hints: listHints(drift, { folder }),
    requests: [isPart ? '' : formatReadRequestsSentence(drift.requests.read), formatSkippedSentence(drift.skipped)]
      .filter(Boolean)
      .join(' '),
    diagnostics: drift.diagnostics.map(toPrintableDiagnostic),
    found: formatSeverityCounts(drift.diagnostics),
  };
}

function formatComparedSentence({ made: { commit } }: Drift): string {
  return commit === undefined ? '' : `Compared with the manifests at commit ${shortenCommit(commit)}.`;
}

/** What the view of one resource depends on. `refused`: the addresses that the next apply does not reach. */
interface DriftScene {
  readonly names: ResourceNames;
  readonly refused: ReadonlySet<string | undefined>;
}

/** The addresses of errors, of values that others claim or exchange, and of what a policy refuses: no flag allows these. */
function listRefusedAddresses({ diagnostics, violations }: Drift): DriftScene['refused'] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').map(({ address }) => address);
  const refused = violations.filter(
    ({ rule }) => rule === 'claimed-elsewhere' || rule === 'value-exchange' || rule === 'policy',
  );
  return new Set([...errors, ...refused.flatMap(({ addresses }) => addresses)]);
}

/** The dangers that changes at the service cause: by group, the most severe of each group first. */
export function listDriftDangerViews(changes: readonly DriftedChange[], names: ResourceNames): readonly DangerView[] {
  const happened = changes.map((change): Change => {
    const dangers = (change.driftDangers ?? []).map((danger) => withDoubt(danger, change.differences));
    const differences = change.differences.filter(({ isHidden }) => !isHidden);
    return { ...change, action: 'update', differences, dangers };
  });
  return listDangerViews(happened, names, 'happened');
}

/** Such as `3 dangers (2 access, 1 secrets)`. Empty if nothing that happened is a danger. */
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

function createUnmanagedView({ kind, id, description, stack, absence }: UnownedResource): UnmanagedResourceView {
  return {
    kind: quoteIfNeeded(kind),
    id: quoteIfNeeded(id),
    description: description === '' ? '' : quoteText(description),
    absence: absence === undefined ? '' : `of the stack ${quoteIfNeeded(stack ?? '')}, which is not in this repository`,
  };
}

export const REMOVAL_PAGE = 'docs/how-to/remove-a-stack.md';

export const ABSENT_WORDING = {
  heading: 'Of stacks that are not in this repository',
  hint: `They are not drift: several repositories may share an account. If one of these stacks was removed from this one, see ${REMOVAL_PAGE}.`,
} as const;

export const UNMANAGED_WORDING = {
  heading: 'Unmanaged',
  hint: 'To adopt a resource, write a manifest with its id in lifecycle.adopt. The command edgewise export writes such manifests.',
} as const;

function listHints(
  { changes, diagnostics, violations }: Drift,
  { folder }: Pick<FormatOptions, 'folder'>,
): readonly string[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const reasons = [
    ...(errors === 0 ? [] : [`${formatCount(errors, 'error')}.`]),
    ...violations.map(createViolationView).map(({ message, addresses, remedy }) => {
      const whose = addresses.length === 0 ? '' : `: ${formatNameList(addresses)}`;
      return `${message.replace(/[.]$/, '')}${whose}. ${remedy.replaceAll('\n', ' ')}`;
    }),
  ];
  return [
    ...(changes.some(isDriftedResource) ? [UNKNOWN_WHO] : []),
    ...reasons.map((reason) => `The next apply would be refused: ${reason}`),
    ...listAcceptHints(changes, folder),
  ];
}

const UNKNOWN_WHO =
  'It is unknown who made these changes, and when: the API does not show that, and a mark records only what was last applied.';

/** Names the command that writes what was changed at the service, and not in the manifest too, into the manifests. */
function listAcceptHints(changes: readonly DriftedChange[], folder = '.'): readonly string[] {
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
  const others = isLong ? ` It lists the fields that have to be named, such as ${toPrintable(names[0] ?? '')}.` : '';
  return [
    `To keep a change, write it into the manifests: ${toPrintable(words.map(quoteForShell).join(' '))}${others === '' ? '' : `.${others}`}`,
  ];
}

/** More names do not fit on a few lines. */
const MAX_NAMED = 6;

function isOnlyDrift({ origin }: Difference): boolean {
  return origin === 'drift';
}

function isDriftedResource({ state }: DriftedChange): boolean {
  return state === 'drifted' || state === 'drifted-and-pending';
}

function listGroups(drift: Drift, scene: DriftScene): readonly DriftGroup[] {
  return DRIFT_STATES.flatMap((state): readonly DriftGroup[] => {
    const found = drift.changes.filter((change) => change.state === state);
    if (state === 'in-sync' || found.length === 0) return [];
    return [
      { state, heading: STATE_HEADINGS[state], resources: found.map((one) => createDriftedView(one, state, scene)) },
    ];
  });
}

function createDriftedView(change: DriftedChange, state: DriftGroup['state'], scene: DriftScene): DriftedView {
  const { address, kind, reason } = change;
  const id = findDriftedId(change);
  return {
    state,
    kind: quoteIfNeeded(kind),
    address: quoteIfNeeded(address),
    id: id === undefined ? undefined : quoteIfNeeded(id),
    reason: reason === undefined ? undefined : toPrintable(reason),
    owner: formatOwner(change),
    change,
    show: () => createDriftedDetails(change, scene),
  };
}

function createDriftedDetails(change: DriftedChange, { names, refused }: DriftScene): DriftedDetails {
  const { address, action, differences } = change;
  const context = { kind: findKind(change.kind), names };
  const first = differences.find(isOfService) ?? differences[0];
  const pending = differences.filter(({ origin, isHidden }) => origin === 'manifest' || origin === 'both' || isHidden);
  const planned =
    action === 'no-op'
      ? undefined
      : createChangeView({ change, action, differences: pending, isContinued: false }, names);
  const next = refused.has(address) ? 'is refused' : formatNextClause(change);
  return {
    change,
    manifestPath: first && formatPathWithTargetName(first.path, context),
    dangers: listDriftDangerViews([change], names),
    fields: differences.filter(isOfService).map((one) => createHappenedFieldView(one, context)),
    traits: listExpectedTraits(change, planned),
    next,
    planned:
      planned === undefined
        ? undefined
        : { ...planned, fields: planned.fields.map((field) => withProtectionDoubt(field, change)) },
  };
}

function listExpectedTraits({ action }: DriftedChange, planned: ChangeView | undefined): readonly SummaryClauseView[] {
  const [first, ...more] = planned?.traits ?? [];
  if (first === undefined || action !== 'create') return planned?.traits ?? [];
  return [{ ...first, said: `expected: ${first.said}` }, ...more];
}

/**
 * Adds a note that `protect` may have been removed at the service. A mark has no digest of `protect`, so the side that
 * changed is unknown.
 */
function withProtectionDoubt(view: FieldView, { differences }: DriftedChange): FieldView {
  const isRemoved = differences.some(({ path, from, to }) => path === PROTECT_PATH && to === true && from === false);
  if (view.path !== PROTECT_PATH || !isRemoved) return view;
  return { ...view, notes: [...view.notes, 'or removed at the service: the mark does not tell which'] };
}

function formatNextClause({ action, besideId, differences }: DriftedChange): string | undefined {
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

function countBy(words: readonly string[]): readonly (readonly [string, number])[] {
  const counts = Map.groupBy(words, (word) => word);
  return [...counts].map(([word, all]) => [quoteIfNeeded(word), all.length] as const).sort();
}

const STATE_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
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

type Counts = readonly (readonly [word: string, number: number])[];

function formatCoverageSentence(
  coverage: OwnershipCoverage,
  { unmanaged, ofOtherStacks }: { readonly unmanaged: Counts; readonly ofOtherStacks: Counts },
): string {
  const formatCounts = (counts: Counts): string => counts.map(([word, number]) => `${word} ${number}`).join(', ');
  const others =
    coverage.ofOtherStacks === 0 ? '' : `, ${coverage.ofOtherStacks} of other stacks (${formatCounts(ofOtherStacks)})`;
  const nobodys = coverage.unmanaged === 0 ? '' : ` (${formatCounts(unmanaged)})`;
  return `Live resources of the kinds that were read: ${coverage.owned} of this stack${others}, ${coverage.unmanaged} unmanaged${nobodys}.`;
}
