import { createWriteRequestLine } from '../../kinds/request-body.ts';
import { findKind } from '../../kinds/tables/registry.ts';
import {
  CHANGE_ACTIONS,
  type Change,
  type ChangingAction,
  countActions,
  formatAction,
  formatChangeAddress,
  type Totals,
} from '../../model/change.ts';
import { type Diagnostic, hasErrors, isLintWarning } from '../../model/diagnostic.ts';
import { isBlockedByDependency, isIncomplete, type Plan, type SafetyViolation } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Write } from '../../model/write.ts';
import type { FormatOptions } from '../report.ts';
import { createChangeHead, createChangeView, listPlanParts, type PlanPart, type ShownChange } from './change-view.ts';
import { type DangerView, formatDangerCountsOfChanges, listDangerViews } from './danger-view.ts';
import { toPrintableDiagnostic, toPrintablePlace } from './diagnostic-view.ts';
import { type DueView, listDue } from './due-view.ts';
import { quoteIfNeeded, toPrintableLines } from './escape.ts';
import type { ResourceNames } from './field-view.ts';
import { listLeftNotes, listSpellingNotes } from './left-values.ts';
import {
  describeTargetLimit,
  formatPlanOrApplyTitle,
  formatPlanSummary,
  formatRehearsalSentence,
  formatRequestSentence,
} from './plan-wording.ts';
import { redactPlan } from './redact.ts';
import { formatCount, formatSeverityCounts, formatSkippedSentence, formatWriteName } from './wording.ts';

/**
 * A plan as printable texts in reading order, without secrets. All formats for people use it; they only style, wrap and
 * escape the texts.
 */
export interface PlanView {
  readonly title: string;
  /** The whole plan on one line. */
  readonly headline: string;
  /** Sentences on the selected targets, and on references that wait for another stack. */
  readonly notes: readonly string[];
  /** The safety rules that the plan breaks. `addresses` excludes addresses that the message names. */
  readonly violations: readonly SafetyViolation[];
  /** The dangers by group, the most severe of each group first. */
  readonly dangers: readonly DangerView[];
  /** Such as `3 dangers (2 access, 1 secrets)`. Empty if there are no dangers. */
  readonly dangerCount: string;
  /** In the order of the names in PlanPart: deletes and replaces first, drift to revert last. No part is empty. */
  readonly parts: readonly PlanPart<ShownChange>[];
  /** The new resources that everyone may use, because their manifests ask for no restriction. */
  readonly open: readonly OpenView[];
  /** Notes on resources that the plan does not change. Each sentence starts with an address. */
  readonly unchanged: readonly string[];
  readonly due: readonly DueView[];
  /** What an approved plan contains and is done already. Each sentence starts with an action, or a path. */
  readonly done: readonly string[];
  /** All diagnostics except lint warnings, and except warnings that a change shows. */
  readonly diagnostics: readonly Diagnostic[];
  /** Lint warnings that no change causes, by rule. `edgewise validate` shows them in full. */
  readonly lint: readonly LintView[];
  /** Such as `2 errors, 1 warning`, including lint warnings. Empty if there are no diagnostics. */
  readonly found: string;
  readonly totals: Totals;
  /** The totals in one sentence. */
  readonly summary: string;
  /** Sentences on the read requests, the requests needed to apply, the rehearsal, and what is skipped. */
  readonly requests: string;
  readonly writes: readonly WriteView[];
  /** Whether the Stack names an owner label. */
  readonly hasOwners: boolean;
  readonly isEmpty: boolean;
  /** Whether the plan changes something, and nothing refuses it. */
  readonly isApplicable: boolean;
  /** Whether an apply of it leaves something undone. */
  readonly isIncomplete: boolean;
}

interface OpenView {
  readonly address: string;
  /** What everyone may do, such as `may bind anything`. Empty if the kind has no words for it. */
  readonly said: string;
}

interface LintView {
  readonly rule: string;
  readonly places: readonly LintedPlace[];
}

interface LintedPlace extends Pick<Diagnostic, 'place'> {
  /** Such as `(WeightedBackend/pool)`, or the number of findings that are not listed. */
  readonly said: string;
}

export interface WriteView {
  /** The position in the plan, from 1. */
  readonly number: number;
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly reason: string;
  /** The numbers of the writes that this write waits for. */
  readonly waitsFor: readonly number[];
  /** Whether the write waits for all writes that are not `last`. */
  readonly last: boolean;
}

/** Creates the view of a plan: printable texts without secrets. Has no side effects. */
export function createPlanView(plan: Plan, { isPart }: Pick<FormatOptions, 'isPart'> = {}): PlanView {
  const redacted = redactPlan(plan);
  const { changes, diagnostics, violations, writes } = redacted;
  const totals = countActions(changes);
  const isEmpty = isEmptyPlan(redacted);
  const isValid = !hasErrors(diagnostics);
  const isRefused = !isValid || violations.length > 0 || isBlockedByDependency(redacted);
  const names = collectPlanAddressesById(redacted);
  const { caused, apart } = divideDiagnostics(redacted);
  return {
    title: formatPlanOrApplyTitle('plan', plan),
    headline: formatPlanHeadline(redacted, isEmpty),
    // A release needs no note on its targets, because it is always limited to some addresses.
    notes: redacted.mode === 'release' ? [] : listLimitNotes(redacted),
    violations: violations.map(createViolationView),
    dangers: listDangerViews(changes, names),
    dangerCount: formatDangerCountsOfChanges(changes),
    parts: listPlanParts(changes).map((part) => ({
      ...part,
      changes: part.changes.map((share) => ({
        ...createChangeHead(share),
        show: () => createChangeView(share, names, { warnings: caused.get(share.change.address) }),
      })),
    })),
    open: listOpen(changes),
    due: listDue(changes, plan.made?.at),
    unchanged: changes.filter(({ action }) => action === 'no-op').flatMap((one) => listUnchangedNotes(one, names)),
    done: listDone(redacted),
    diagnostics: apart.filter((one) => !isLintWarning(one)).map(toPrintableDiagnostic),
    lint: createLintViews(apart.filter(isLintWarning)),
    found: formatSeverityCounts(diagnostics),
    totals,
    summary: formatPlanSummary({ changes, names, totals, diagnostics, isEmpty }),
    requests: [
      formatRequestSentence(plan, { isApplied: !isEmpty && isValid, isPart }),
      ...(isRefused ? [] : [formatRehearsalSentence(plan)]),
      formatSkippedSentence(plan.skipped),
    ]
      .filter(Boolean)
      .join(' '),
    writes: createWriteViews(writes),
    hasOwners: plan.ownerLabel !== undefined,
    isEmpty,
    isApplicable: !isEmpty && !isRefused,
    isIncomplete: isIncomplete(plan),
  };
}

export function isEmptyPlan({ writes, changes }: Pick<Plan, 'writes' | 'changes'>): boolean {
  return writes.length === 0 && changes.every(({ action }) => action === 'no-op');
}

/** What limits a plan or drift: targets, and ids that are known only after another stack is applied. */
export function listLimitNotes({
  targets,
  exclusions,
  crossStackReferences = {},
}: Pick<Plan, 'targets' | 'exclusions' | 'crossStackReferences'>): readonly string[] {
  const waits = Object.entries(crossStackReferences).map(([address, { stack, resource }]) => {
    return `${quoteIfNeeded(address)} is ${quoteIfNeeded(resource)} of the stack ${quoteIfNeeded(stack)}: its id is known after that stack is applied.`;
  });
  return [...describeTargetLimit(targets, exclusions), ...waits];
}

/** What an apply leaves as it is, and why. */
export function listUnchangedNotes(change: Change, names: ResourceNames): readonly string[] {
  const { notes = [] } = change;
  const address = formatChangeAddress(change);
  return [...notes, ...listLeftNotes(change, names), ...listSpellingNotes(change)].map(
    (note) => `${quoteIfNeeded(address)}: ${toPrintable(note)}`,
  );
}

function listOpen(changes: readonly Change[]): readonly OpenView[] {
  return changes.flatMap(({ action, isOpenToEveryone, address, kind }) => {
    if (action !== 'create' || isOpenToEveryone !== true) return [];
    const lists = findKind(kind)?.specFields.filter(([, { restriction }]) => restriction === 'allow-list-or-all') ?? [];
    return [{ address: quoteIfNeeded(address), said: lists.map(([, { summary }]) => summary?.unset ?? '').join(', ') }];
  });
}

function listDone({ done = [] }: Plan): readonly string[] {
  return done.map(({ action, address, paths }) => {
    const part = paths === undefined ? '' : `: ${paths.map(toPrintable).join(', ')}`;
    return `${formatAction(action)} ${quoteIfNeeded(address)}${part}`;
  });
}

/** `caused`: the warnings that a shown change causes, by the address of the change. `apart`: all other diagnostics. */
function divideDiagnostics({ changes, diagnostics }: Plan): {
  readonly caused: ReadonlyMap<string, readonly Diagnostic[]>;
  readonly apart: readonly Diagnostic[];
} {
  const shown = changes.filter(({ action, duplicateOf }) => action !== 'no-op' && duplicateOf === undefined);
  const addresses = new Set<string>(shown.map(({ address }) => address));
  const isCaused = ({ severity, isOfChange, address = '' }: Diagnostic): boolean =>
    severity === 'warning' && isOfChange === true && addresses.has(address);
  return {
    caused: Map.groupBy(diagnostics.filter(isCaused), ({ address = '' }) => address),
    apart: diagnostics.filter((one) => !isCaused(one)),
  };
}

function createLintViews(diagnostics: readonly Diagnostic[]): readonly LintView[] {
  return [...Map.groupBy(diagnostics, ({ code }) => code)].map(([rule, found]) => ({
    rule,
    places: found.map(toPrintableDiagnostic).map(({ message, address, place }) => {
      if (place === undefined) return { said: message };
      return { place, said: address === undefined ? '' : `(${address})` };
    }),
  }));
}

export function createViolationView(violation: SafetyViolation): SafetyViolation {
  const message = toPrintable(violation.message);
  const addresses = violation.addresses.map(quoteIfNeeded).filter((address) => !message.includes(address));
  const places = violation.places?.map((one) => ({
    message: toPrintable(one.message),
    place: toPrintablePlace(one.place),
  }));
  const remedy = toPrintableLines(violation.remedy).join('\n');
  return { ...violation, message, remedy, addresses, places };
}

export function collectPlanAddressesById({ changes, externals }: Pick<Plan, 'changes' | 'externals'>): ResourceNames {
  const known = changes.flatMap((change) =>
    change.live === undefined ? [] : [[change.live.id, formatChangeAddress(change)] as const],
  );
  const named = Object.entries(externals).map(([address, id]) => [id, address] as const);
  // If an id has several names, the last one is used. Sort the names, because a plan file sorts them too.
  return new Map([...named.sort(([, left], [, right]) => (left < right ? -1 : 1)), ...known]);
}

function createWriteViews(writes: readonly Write[]): readonly WriteView[] {
  const numbers = new Map(writes.map(({ id }, index) => [id, index + 1]));
  return writes.map((write, index) => {
    const { method, path } = createWriteRequestLine(write);
    return {
      number: index + 1,
      id: formatWriteName(write),
      method,
      path: toPrintable(path),
      reason: toPrintable(write.reason),
      waitsFor: write.dependsOn.flatMap((id) => numbers.get(id) ?? []),
      last: write.last,
    };
  });
}

/** The fields for the headline of a plan, or of several plans together. */
type HeadlinePlan = Pick<Plan, 'changes' | 'diagnostics' | 'violations'> & Partial<Pick<Plan, 'externals'>>;

/** The whole plan on one line, dangers first, such as `⚠ 3 dangers (2 access, 1 secrets) · 1 delete · 6 updates`. */
export function formatPlanHeadline(
  { changes, externals = {}, diagnostics, violations }: HeadlinePlan,
  isEmpty: boolean,
): string {
  const totals = countActions(changes);
  if (hasErrors(diagnostics)) return `✗ This plan cannot be applied: ${formatSeverityCounts(diagnostics)}`;
  const names = collectPlanAddressesById({ changes, externals });
  const dangers = formatDangerCountsOfChanges(changes);
  if (isEmpty) {
    const summary = formatPlanSummary({ changes, names, totals, diagnostics, isEmpty }).replace(/[.]$/, '');
    return dangers === '' ? `✓ ${summary}` : `⚠ ${dangers} · ${summary}`;
  }
  const losses = listCounts(totals, (action) => LOSSES.has(action)).join(', ');
  const heeded = [dangers, losses].filter((text) => text !== '');
  const rest = listCounts(totals, (action) => !LOSSES.has(action));
  const refused = violations.length === 0 ? [] : [`⛔ refused by ${formatCount(violations.length, 'safety rule')}`];
  const blocked = isBlockedByDependency({ diagnostics }) ? ['⛔ not applied'] : [];
  const unchanged = totals['no-op'] === 0 ? [] : [`${totals['no-op']} unchanged`];
  const said = [...heeded, ...rest, ...unchanged];
  return [...refused, ...blocked, `${heeded.length === 0 ? '' : '⚠ '}${said.join(' · ')}`].join(' · ');
}

const NOUNS: Readonly<Record<ChangingAction, string>> = {
  delete: 'delete',
  replace: 'replace',
  withhold: 'withheld replace',
  update: 'update',
  release: 'release',
  'take-over': 'take-over',
  adopt: 'adoption',
  create: 'create',
};

/** Actions that delete a resource. */
const LOSSES: ReadonlySet<ChangingAction> = new Set(['delete', 'replace']);

function listCounts(totals: Totals, isCounted: (action: ChangingAction) => boolean): readonly string[] {
  return CHANGE_ACTIONS.filter((action) => isCounted(action) && totals[action] > 0).map((action) =>
    formatCount(totals[action], NOUNS[action]),
  );
}
