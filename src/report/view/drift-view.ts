import { findKind } from '../../kinds/tables/registry.ts';
import { formatAddress } from '../../model/address.ts';
import type { Change, Difference, Origin } from '../../model/change.ts';
import type { Danger } from '../../model/danger.ts';
import type { Diagnostic } from '../../model/diagnostic.ts';
import {
  type Coverage,
  countCoverage,
  countDriftStates,
  DRIFT_STATES,
  type Drift,
  type DriftedField,
  type DriftState,
  PROTECT_PATH,
  type ResourceDrift,
} from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { parsePath } from '../../model/field-path.ts';
import { toPrintable } from '../../model/printable.ts';
import type { FormatOptions } from '../report.ts';
import { listTraits } from './change-view.ts';
import { type DangerView, formatDangerCount, listDangerViews } from './danger-view.ts';
import { toPrintableDiagnostic } from './diagnostic-view.ts';
import { quoteIfNeeded, quoteText } from './escape.ts';
import {
  createDifferenceView,
  createDriftedFieldView,
  type FieldView,
  formatFieldPath,
  type Names,
} from './field-view.ts';
import { listNarrowing } from './plan-wording.ts';
import { redactDrift } from './redact.ts';
import {
  formatCount,
  formatNameList,
  formatReadSentence,
  formatSubject,
  type ReportSubject,
  shortenCommit,
  withoutZeros,
} from './wording.ts';

/** The one view of a comparison that all formats for people share: printable texts in reading order. */
export interface DriftView {
  readonly title: string;
  /** What the live state is compared with, in one sentence; empty: the manifests, of which nothing more is known. */
  readonly compared: string;
  /** It is a saved plan. */
  readonly isAgainstPlan: boolean;
  readonly notes: readonly string[];
  /** Dangers of the changes at the service: by group, the most severe of each first. */
  readonly dangers: readonly DangerView[];
  /** `3 dangers (2 access, 1 secrets)`; empty: none. */
  readonly dangerCount: string;
  /** Resources that differ, by state; no group is empty. */
  readonly groups: readonly DriftGroup[];
  /** What nobody manages. */
  readonly unmanaged: readonly UnownedView[];
  /** Some say whose they are. */
  readonly hasOwners: boolean;
  readonly counts: Readonly<Record<DriftState, number>>;
  /** The whole comparison on one line, dangers first: `⚠ 1 danger (1 access) · 2 drifted, 3 in sync`. */
  readonly headline: string;
  /** What it comes to, in one sentence. */
  readonly summary: string;
  /** How much of the live state any stack manages, in one sentence. */
  readonly coverage: string;
  /** What can be said of who and when, and what to do, in sentences. */
  readonly remarks: readonly string[];
  /** What reading took, in one sentence. */
  readonly requests: string;
  readonly diagnostics: readonly Diagnostic[];
}

/** The resources of one state. */
export interface DriftGroup {
  readonly state: Exclude<DriftState, 'in-sync'>;
  /** What the state means. */
  readonly heading: string;
  readonly resources: readonly DriftedView[];
}

/** One resource that is not as it should be. */
export interface DriftedView {
  readonly kind: string;
  readonly address: string;
  readonly id?: string;
  readonly reason?: string;
  /** What a resource that is missing would do, in one clause: `expected: listens on …`. */
  readonly expected?: string;
  /** Whose it is; absent: nobody says. */
  readonly owner?: string;
  /** Where its manifest starts, and the first field that is not as it should be, as that states it. */
  readonly change: Pick<Change, 'address' | 'place'>;
  readonly stated?: string;
  /** Dangers of the changes to it at the service. */
  readonly dangers: readonly DangerView[];
  /** Fields that drifted, and of which nobody knows what they were. */
  readonly moved: readonly string[];
  /** Changes at the service, from expected to live. */
  readonly fields: readonly FieldView[];
  /** Changes of the manifest, from live to desired. */
  readonly pending: readonly FieldView[];
  /** What the next apply does about it, in one clause; absent: nothing, or it is not known. */
  readonly next?: string;
}

/** A live resource without an owner. */
export interface UnownedView {
  readonly kind: string;
  readonly id: string;
  /** In quotes; empty: it has none. */
  readonly description: string;
}

/** The view of a comparison. */
export function createDriftView(
  compared: Drift,
  { isPart = false, isAccountTold = false, locate }: Pick<FormatOptions, 'isPart' | 'isAccountTold' | 'locate'> = {},
): DriftView {
  const drift = redactDrift(compared);
  const { strangers } = drift;
  const scene = { names: collectDriftNames(drift), locate };
  const groups = listGroups(drift, scene);
  const counts = countDriftStates(drift);
  return {
    title: toDriftTitle(drift),
    compared: toComparedSentence(drift),
    isAgainstPlan: drift.against !== undefined,
    notes: listNarrowing(drift.targets),
    dangers: listDriftDangerViews(drift.resources, scene),
    dangerCount: formatDangerCount(drift.resources),
    groups,
    unmanaged: isAccountTold ? [] : listUnmanaged(drift),
    hasOwners: groups.some(({ resources }) => resources.some(({ owner }) => owner !== undefined)),
    counts,
    headline: formatDriftHeadline(drift),
    summary: formatDriftSummary(drift),
    coverage: toCoverageSentence(countCoverage(drift), {
      unmanaged: countBy(strangers.filter(({ stack }) => stack === undefined).map(({ kind }) => kind)),
      foreign: countBy(strangers.flatMap(({ stack }) => stack ?? [])),
    }),
    remarks: listRemarks(drift),
    requests: isPart ? '' : formatReadSentence(drift.requests),
    diagnostics: drift.diagnostics.map(toPrintableDiagnostic),
  };
}

function toComparedSentence({ against, plannedAt, commit }: Drift): string {
  const at = plannedAt === undefined ? '' : `, made ${toPrintable(plannedAt)}`;
  const from = commit === undefined ? '' : ` at commit ${shortenCommit(commit)}`;
  if (against !== undefined) return `Compared with the planned result of ${toPrintable(against)}${at}${from}.`;
  return commit === undefined ? '' : `Compared with the manifests${from}.`;
}

/** What the resources of a comparison are called, and where their manifests state them. */
interface DriftScene {
  readonly names: Names;
  readonly locate?: FormatOptions['locate'] | undefined;
}

/** Dangers of the changes to some resources: by group, the most severe of each first. */
export function listDriftDangerViews(
  resources: readonly ResourceDrift[],
  { names, locate }: DriftScene,
): readonly DangerView[] {
  // The direction is that of the change at the service: from expected to live.
  const happened = resources.filter(({ dangers = [] }) => dangers.length > 0);
  return listDangerViews(
    happened.map((resource) => ({
      ...resource,
      ...toPlace(resource, locate),
      action: 'update',
      differences: resource.differences.filter(isOfService).map(toDifference),
      dangers: (resource.dangers ?? []).map((danger) => withDoubt(danger, resource.differences)),
    })),
    names,
    'happened',
  );
}

function toPlace({ address }: ResourceDrift, locate: DriftScene['locate']): Pick<Change, 'place'> {
  const place = locate?.(address);
  return place === undefined ? {} : { place };
}

/** Not a change of the manifest alone. */
function isOfService({ origin }: DriftedField): boolean {
  return origin !== 'manifest';
}

/** A danger of a field whose value before is not known was found by comparing with the manifest, which is said. */
function withDoubt(danger: Danger, differences: readonly DriftedField[]): Danger {
  const { path, consequence } = danger;
  const [field] = (path === undefined ? undefined : parsePath(path)) ?? [];
  const own = differences.filter((one) => one.field === field);
  if (own.length === 0 || own.some(isOnlyDrift)) return danger;
  return { ...danger, consequence: [...(consequence === undefined ? [] : [consequence]), DOUBT].join('; ') };
}

const DOUBT = 'so it is compared with its manifest; its value before is not known';

/** Unmanaged resources, without those shown already as a missing resource's candidates. */
function listUnmanaged({ strangers, resources }: Drift): readonly UnownedView[] {
  const shown = new Set(resources.flatMap(({ state, id }) => (state === 'unowned' ? [id] : [])));
  return strangers
    .filter(({ stack, id }) => stack === undefined && !shown.has(id))
    .map(({ kind, id, description }) => ({
      kind: quoteIfNeeded(kind),
      id: quoteIfNeeded(id),
      description: description === '' ? '' : quoteText(description),
    }));
}

/** Heading of the unmanaged resources, and advice. */
export const UNMANAGED_WORDING = {
  heading: 'Unmanaged',
  hint: 'To adopt one, describe it in a manifest whose lifecycle.adopt is its id. The command edgewise export writes such manifests.',
} as const;

/** Label of the next apply's effect on a resource. */
export const NEXT_APPLY = 'next apply';

function listRemarks(drift: Drift): readonly string[] {
  const { resources, diagnostics, violations, against } = drift;
  const isDrifted = resources.some(isDriftedResource);
  const errors = diagnostics.filter(({ severity }) => severity === 'error').length;
  const reasons = [
    ...(errors === 0 ? [] : [formatCount(errors, 'error')]),
    ...violations.map(({ message }) => toPrintable(message).replace(/[.]$/, '')),
  ];
  const isKept = resources.some(({ next, differences }) => next === 'update' && differences.some(isOnlyDrift));
  return [
    ...(isDrifted ? [UNKNOWN_WHO] : []),
    ...(reasons.length === 0 || against !== undefined
      ? []
      : [`The next apply would be refused: ${reasons.join('; ')}.`]),
    ...(isKept && against === undefined ? [TO_KEEP] : []),
  ];
}

const UNKNOWN_WHO =
  'Who changed it and when is not known: the API shows neither, and a mark holds what was last applied, not when.';

const TO_KEEP =
  'To keep what was changed at the service, write it into the manifests. To leave it for now, apply with --no-revert-drift.';

function isOnlyDrift({ origin }: DriftedField): boolean {
  return origin === 'drift';
}

function isDriftedResource({ state }: ResourceDrift): boolean {
  return state === 'drifted' || state === 'drifted-and-pending';
}

function listGroups(drift: Drift, scene: DriftScene): readonly DriftGroup[] {
  return DRIFT_STATES.flatMap((state): readonly DriftGroup[] => {
    const found = drift.resources.filter((resource) => resource.state === state);
    if (state === 'in-sync' || found.length === 0) return [];
    return [{ state, heading: STATE_HEADINGS[state], resources: found.map((one) => createDriftedView(one, scene)) }];
  });
}

/** What ids are called. */
export function collectDriftNames({ resources, externals }: Pick<Drift, 'resources' | 'externals'>): Names {
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  return new Map([
    ...named,
    ...resources.flatMap((one) => (one.id === undefined ? [] : [[one.id, formatAddress(one)] as const])),
  ]);
}

/** A resource that differs, ready to read. */
export function createDriftedView(resource: ResourceDrift, { names, locate }: DriftScene): DriftedView {
  const { address, kind, id, owner, reason, moved = [], differences } = resource;
  const context = { kind: findKind(kind), names };
  const next = toNextClause(resource);
  const first = differences.find(isOfService) ?? differences[0];
  const traits = (resource.expected === undefined ? [] : listTraits(context.kind, resource.expected, names)).map(
    ({ said, values }) => `${said} ${values}`.trim(),
  );
  return {
    kind: quoteIfNeeded(kind),
    address: quoteIfNeeded(address),
    ...(id !== undefined && { id: quoteIfNeeded(id) }),
    ...(reason !== undefined && { reason: toPrintable(reason) }),
    ...(traits.length > 0 && { expected: `expected: ${traits.join('; ')}` }),
    ...(owner !== undefined && { owner: toPrintable(owner) }),
    change: { address, ...toPlace(resource, locate) },
    ...(first !== undefined && { stated: formatFieldPath(first.path, context) }),
    dangers: listDriftDangerViews([resource], { names, locate }),
    moved: moved.map(quoteIfNeeded),
    fields: differences.filter(isOfService).map((one) => createDriftedFieldView(one, context)),
    pending: differences
      .filter(({ origin }) => origin === 'manifest' || origin === 'both')
      .map((one) => withProtectionDoubt(createDifferenceView(toDifference(one), context), one)),
    ...(next !== undefined && { next }),
  };
}

/** A mark holds no digest of its own words. */
function withProtectionDoubt(view: FieldView, { path, expected, live }: DriftedField): FieldView {
  if (path !== PROTECT_PATH || expected !== true || live !== false) return view;
  return { ...view, notes: [...view.notes, 'or removed at the service: the mark does not tell which'] };
}

/** In the direction of an apply. */
function toDifference({ expected, live, ...rest }: DriftedField): Difference {
  return { ...rest, ...(live !== undefined && { from: live }), ...(expected !== undefined && { to: expected }) };
}

/** What the next apply does to a resource. */
function toNextClause({ id, next, differences }: ResourceDrift): string | undefined {
  switch (next) {
    case undefined:
      return undefined;
    case 'create':
      return id === undefined ? 'creates it' : 'creates another one beside it';
    case 'delete':
      return 'deletes it';
    case 'replace':
      return `replaces it, which gives it a new id${toForcing(differences)}`;
    case 'adopt':
      return 'adopts it, and sets the values of the manifest';
    case 'release':
      return 'removes its mark';
    case 'write-file':
      return 'writes the file';
    case 'update':
      return toUpdateClause(new Set(differences.map(({ origin }) => origin)));
    default:
      return assertNever(next);
  }
}

function toForcing(differences: readonly DriftedField[]): string {
  const paths = differences.filter(({ forcesReplace }) => forcesReplace).map(({ path }) => toPrintable(path));
  return paths.length === 0 ? '' : `: ${formatNameList(paths)} cannot be changed in place`;
}

/** Reverts only certain drift. */
function toUpdateClause(origins: ReadonlySet<Origin>): string {
  if (!origins.has('drift')) return origins.has('unknown') ? 'sets the values of the manifest' : 'makes this change';
  return origins.size === 1 ? 'reverts this' : 'reverts the drift, and makes the changes of the manifest';
}

function countBy(words: readonly string[]): readonly (readonly [string, number])[] {
  const counts = Map.groupBy(words, (word) => word);
  return [...counts].map(([word, all]) => [quoteIfNeeded(word), all.length] as const).sort();
}

/** What formats say of drift. */

/** The title of a comparison. */
function toDriftTitle(drift: ReportSubject): string {
  return `Drift of ${formatSubject(drift)}`;
}

/** What each state means to a reader. */
const STATE_HEADINGS: Readonly<Record<Exclude<DriftState, 'in-sync'>, string>> = {
  drifted: 'Changed at the service',
  'drifted-and-pending': 'Changed at the service and in the manifests',
  differs: 'Different; it is unknown who changed it',
  missing: 'Missing: never applied, or deleted at the service',
  unowned: 'Not managed: no mark of this stack',
  'file-differs': 'In sync, but its file differs',
  pending: 'Changed in the manifests and not applied yet',
  'to-prune': 'To prune: no longer in a manifest',
};

/** Short names of the states. */
export const STATE_LABELS: Readonly<Record<DriftState, string>> = {
  drifted: 'drifted',
  'drifted-and-pending': 'drifted and pending',
  differs: 'different',
  missing: 'missing',
  unowned: 'not managed',
  'file-differs': 'file differs',
  pending: 'pending',
  'to-prune': 'to prune',
  'in-sync': 'in sync',
};

/** Said of a field that drifted from a saved plan, which stores only its digest. */
export const CHANGED_VALUE_UNKNOWN = 'changed; the plan does not store the old value';

/** The sum of a comparison in one sentence. Each resource is counted once. */
export function formatDriftSummary(drift: Pick<Drift, 'resources'>): string {
  const counts = countDriftStates(drift);
  const inSync = counts['in-sync'];
  if (inSync === drift.resources.length)
    return `No drift: ${formatCount(inSync, 'resource is as it', 'resources are as they')} should be.`;
  const { drifted, 'drifted-and-pending': both, differs, missing, unowned, pending, 'to-prune': toPrune } = counts;
  const sums = [
    `${missing} missing`,
    `${drifted} drifted`,
    ...(both === 0 ? [] : [`${both} drifted and pending`]),
    ...(differs === 0 ? [] : [`${differs} different`]),
    ...(unowned === 0 ? [] : [`${unowned} not managed`]),
    ...(counts['file-differs'] === 0 ? [] : [`${counts['file-differs']} with a file that differs`]),
  ];
  return `${[...sums, `${pending} pending`, `${toPrune} to prune`].join(', ')}; ${inSync} in sync.`;
}

/** How many resources are how, without zeros, behind the dangers of what happened to them. */
export function formatDriftHeadline({ resources }: Pick<Drift, 'resources'>): string {
  const dangers = formatDangerCount(resources);
  return [...(dangers === '' ? [] : [`⚠ ${dangers}`]), withoutZeros(formatDriftSummary({ resources }))].join(' · ');
}

type Counts = readonly (readonly [word: string, number: number])[];

/** How much of the live state any stack manages. */
function toCoverageSentence(
  coverage: Coverage,
  { unmanaged, foreign }: { readonly unmanaged: Counts; readonly foreign: Counts },
): string {
  const list = (counts: Counts): string => counts.map(([word, number]) => `${word} ${number}`).join(', ');
  const others = coverage.foreign === 0 ? '' : `, ${coverage.foreign} of other stacks (${list(foreign)})`;
  const nobodys = coverage.unmanaged === 0 ? '' : ` (${list(unmanaged)})`;
  return `Live resources of the kinds that were read: ${coverage.owned} of this stack${others}, ${coverage.unmanaged} unmanaged${nobodys}.`;
}
