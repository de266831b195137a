import { DANGER_GROUP_NAMES } from '../../model/danger.ts';
import { type Diagnostic, hasErrors, isLintWarning } from '../../model/diagnostic.ts';
import { type Drift, hasDrift, listUnmanaged } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { isSamePlan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import type { Removals, StackListing } from '../../model/stack-tree.ts';
import type { Validation } from '../../model/validation.ts';
import type { ApplyReport, PlanReport, Report, StackReportPart, StacksRunReport } from '../report.ts';
import { formatOutcomeTotals } from './apply-wording.ts';
import { chooseComparisonWords, formatComparisonSummary } from './comparison-wording.ts';
import { type DangerView, listDangerViews } from './danger-view.ts';
import { formatDriftDangerCount, formatDriftHeadline, listDriftDangerViews, REMOVAL_PAGE } from './drift-wording.ts';
import { quoteIfNeeded } from './escape.ts';
import { createErrorView } from './finding-wording.ts';
import { collectPlanAddressesById, formatPlanHeadline, isEmptyPlan } from './plan-headline.ts';
import { numberStacksRun, redactDrift, redactPlan } from './redact.ts';
import {
  countWriteOutcomes,
  formatCount,
  formatNameList,
  formatResourceAndFileCounts,
  formatSeverityCounts,
  formatWaitTime,
  removeFinalDot,
  removeZeroCountsFromText,
} from './wording.ts';

/** One stack of the run, shown on one line. The texts are printable. */
export interface StackRow {
  readonly name: string;
  readonly folder: string;
  /** The heading of the stack in the report. */
  readonly title: string;
  /** The result, as in the headline of the stack's own report. */
  readonly said: string;
  /** The minimum time of an apply at the rate limit. Empty if the rate limit delays nothing. */
  readonly time: string;
  /**
   * Whether there is nothing to act on, so that the report has only this row for the stack and no section. In a plan or
   * drift report, lint warnings do not count, because they concern the manifests, not the changes.
   */
  readonly isQuiet: boolean;
  /** Whether the command failed for this stack, or its result is refused. */
  readonly isBad: boolean;
}

export interface StackTeamDangers {
  /** The index of the stack in `parts` of the run. */
  readonly index: number;
  readonly title: string;
  /** Absent if neither the manifest nor the mark names a team. */
  readonly team?: string | undefined;
  readonly dangers: readonly DangerView[];
}

/**
 * Removes from each stack the errors that an earlier stack of the run has too, such as a rejected API key or a mistake in
 * a Defaults, so that a report for people says them once. Programs get every error with each of its stacks.
 */
export function withErrorsOnce<T extends { readonly parts: readonly StackReportPart[] }>(run: T): T {
  const first = new Map<string, number>();
  const parts = run.parts.map((part, index): StackReportPart => {
    const keys = listErrorKeys(part.report);
    const earlier = keys.flatMap((key) => first.get(key) ?? []);
    const isNew = (key: string): boolean => (first.get(key) ?? index) === index;
    const [source] = earlier;
    for (const key of keys) if (!first.has(key)) first.set(key, index);
    if (source === undefined) return part;
    return { ...part, report: selectErrors(part.report, isNew), repeated: { count: earlier.length, index: source } };
  });
  return { ...run, parts };
}

/** Identifies the errors of a report that other stacks can have too: each has the same text, and the same position. */
function listErrorKeys(report: Report): readonly string[] {
  switch (report.about) {
    case 'failure': {
      const { error, diagnostics = [] } = report.failure;
      const own = error === undefined ? [] : [createErrorKey(error)];
      return [...own, ...diagnostics.flatMap(listDiagnosticKeys)];
    }
    case 'validation':
      return report.validation.diagnostics.flatMap(listDiagnosticKeys);
    case 'plan':
      return report.blocking.length > 0 ? [] : listDependencyKeys(report.plan.diagnostics);
    default:
      return [];
  }
}

/** The key of a plan that only lacks other stacks: a plan of another stack that lacks the same has the same advice. */
function listDependencyKeys(diagnostics: readonly Diagnostic[]): readonly string[] {
  const errors = diagnostics.filter(({ severity }) => severity === 'error');
  if (errors.length === 0 || errors.some(({ code }) => code !== 'bad-reference')) return [];
  return [JSON.stringify([...new Set(errors.map(({ remedy = '' }) => remedy))].sort())];
}

/**
 * Requests that fail for one reason, such as a service that is down, fail with different paths and ids: only the origin
 * and the reason count.
 */
function createErrorKey({ message }: { readonly message: string }): string {
  const reason = message.replace(/^[A-Z]+ (https?:\/\/[^/\s]+)?\/\S*: /, '$1 ').replace(/ \(operation_id: [^)]*\)/, '');
  return JSON.stringify([reason]);
}

function listDiagnosticKeys({ code, message, place }: Diagnostic): readonly string[] {
  return place === undefined ? [] : [JSON.stringify([code, message, place.file, place.line, place.column])];
}

function selectErrors(report: Report, isNew: (key: string) => boolean): Report {
  const select = (diagnostics: readonly Diagnostic[] = []) =>
    diagnostics.filter((one) => listDiagnosticKeys(one).every(isNew));
  if (report.about === 'validation')
    return { ...report, validation: { ...report.validation, diagnostics: select(report.validation.diagnostics) } };
  if (report.about !== 'failure') return report;
  const { error, diagnostics, ...failure } = report.failure;
  const isShown = error !== undefined && isNew(createErrorKey(error));
  return { ...report, failure: { ...failure, diagnostics: select(diagnostics), ...(isShown && { error }) } };
}

/** The lines of all stacks. */
export function listStackRows(parts: readonly StackReportPart[]): readonly StackRow[] {
  const names = Map.groupBy(parts, ({ name }) => name);
  const hasOwnName = ({ name }: StackReportPart): boolean => name !== '' && names.get(name)?.length === 1;
  return parts.map((part) => {
    const earlier = part.repeated === undefined ? undefined : parts[part.repeated.index];
    const title = earlier && (hasOwnName(earlier) ? quoteIfNeeded(earlier.name) : formatStackTitle(earlier));
    return createStackRow(part, { isOnly: hasOwnName(part), earlier: title });
  });
}

/** What was selected, and what was found, in sentences. */
export function formatRunSummary({ parts, selection }: StacksRunReport, rows: readonly StackRow[]): string {
  const bad = rows.filter(({ isBad }) => isBad).length;
  const counts = [
    ...listContentCounts(parts.filter((_, index) => rows[index]?.isBad === false)),
    ...(bad > 0 ? [`${bad} failed or refused`] : []),
  ];
  return [toPrintable(selection), ...(counts.length === 0 ? [] : [`${counts.join(', ')}.`])].join(' ');
}

/** Returns, for example, `Plan for the stacks below live`. */
export function formatRunTitle({ command, root, names = [] }: StacksRunReport): string {
  const stacks = names.length === 0 ? 'the stacks' : `stack ${formatNameList(names.map(quoteIfNeeded))}`;
  const place = root === '.' ? '' : ` below ${toPrintable(root)}`;
  return `${RUN_TITLES[command] ?? `edgewise ${toPrintable(command)} of`} ${stacks}${place}`;
}

const RUN_TITLES: Readonly<Record<string, string>> = {
  plan: 'Plan for',
  apply: 'Apply of',
  drift: 'Drift of',
  accept: 'Drift of',
};

/** The numbers of stacks that have changes, differences or findings. */
function listContentCounts(parts: readonly StackReportPart[]): readonly string[] {
  const groups = Map.groupBy(
    parts.flatMap(({ report }) => (hasReportContent(report) ? [CONTENTS[report.about]] : [])),
    (content) => content,
  );
  return [...groups].map(([content, { length }]) => `${length} with ${content}`);
}

/** The noun for the content of a report. */
const CONTENTS = {
  plan: 'changes',
  apply: 'changes',
  comparison: 'differences',
  drift: 'differences',
  validation: 'findings',
  failure: 'results',
} as const satisfies Record<Report['about'], string>;

function hasReportContent(report: Report): boolean {
  switch (report.about) {
    case 'plan':
      return !isEmptyPlan(report.plan);
    case 'apply':
      return !isEmptyPlan(report.plan);
    case 'comparison':
      return true;
    case 'drift':
      return hasDrift(report.drift);
    case 'validation':
      return report.validation.diagnostics.length > 0;
    case 'failure':
      return false;
    default:
      return assertNever(report);
  }
}

/** The heading of the stacks that have only a row, such as `9 stacks without changes`. */
export function formatUnchangedStacksHeading(
  run: Pick<StacksRunReport, 'parts'>,
  { length }: readonly StackRow[],
): string {
  const contents = new Set(run.parts.map(({ report }) => CONTENTS[report.about]));
  contents.delete(CONTENTS.failure);
  return `${formatCount(length, 'stack')} without ${[...contents].join(' and ')}`;
}

/**
 * The indexes of the stacks in reading order: failed or refused stacks, then stacks by their most severe danger, then
 * the others by folder. Quiet stacks come last.
 */
export function listRowIndexesInOrder(
  rows: readonly StackRow[],
  dangers: readonly StackTeamDangers[],
): readonly number[] {
  const rank = (index: number): number => {
    const row = rows[index];
    if (row?.isBad === true) return -1;
    const place = dangers.findIndex((one) => one.index === index);
    if (place >= 0) return place;
    return dangers.length + Number(row?.isQuiet === true);
  };
  return [...rows.keys()].sort((left, right) => rank(left) - rank(right) || left - right);
}

/** The dangers of a plan or of drift. Empty for an apply, because its report shows dangers with the outcomes. */
function listReportDangers({ report, isShown }: StackReportPart): readonly DangerView[] {
  if (isShown === true) return [];
  switch (report.about) {
    case 'plan': {
      const plan = redactPlan(report.plan);
      return listDangerViews(plan.changes, collectPlanAddressesById(plan));
    }
    case 'drift': {
      const drift = redactDrift(report.drift);
      return listDriftDangerViews(drift.changes, collectPlanAddressesById(drift));
    }
    default:
      return [];
  }
}

/** The dangers of all stacks. The stack with the most severe danger comes first. */
export function listStackDangers(parts: readonly StackReportPart[]): readonly StackTeamDangers[] {
  const byName = Map.groupBy(parts, ({ name }) => name);
  const dangers = parts.flatMap((part, index): readonly StackTeamDangers[] => {
    const { name } = part;
    // Omit the folder if no other stack has the name.
    const title = name !== '' && byName.get(name)?.length === 1 ? quoteIfNeeded(name) : formatStackTitle(part);
    const byTeam = Map.groupBy(listReportDangers(part), ({ team }) => team);
    return [...byTeam].map(([team, dangers]) => ({ index, title, team, dangers }));
  });
  return dangers.toSorted((left, right) => computeRank(left) - computeRank(right));
}

function computeRank({ dangers: [first] }: StackTeamDangers): number {
  return first === undefined ? DANGER_GROUP_NAMES.length : DANGER_GROUP_NAMES.indexOf(first.group);
}

/** One headline for all stacks, as if they were one stack, with the number of failed or refused stacks. */
export function formatRunHeadline(
  parts: readonly StackReportPart[],
  { bad, isDangerous }: { readonly bad: number; readonly isDangerous: boolean },
): string {
  const reports = parts.map(({ report }) => report);
  const all = [
    ...joinPlans(reports.flatMap((report) => (report.about === 'plan' ? [report] : []))),
    ...joinDrifts(reports.flatMap((report) => (report.about === 'drift' ? [report.drift] : []))),
    ...joinApplies(reports.flatMap((report) => (report.about === 'apply' ? [report] : []))),
    ...joinValidations(reports.flatMap((report) => (report.about === 'validation' ? [report.validation] : []))),
  ].join(' · ');
  if (parts.length === 0) return '✓ Nothing to do: no stack is selected';
  const failed = bad === 0 ? '' : `✗ ${bad} of ${formatCount(parts.length, 'stack')} failed or refused`;
  return (isDangerous ? [all, failed] : [failed, all]).filter((text) => text !== '').join(' · ');
}

/** One headline for all plans. It omits violations, because they are listed with their stack. */
function joinPlans(reports: readonly PlanReport[]): readonly string[] {
  if (reports.length === 0) return [];
  const plans = reports.map(({ plan }) => plan);
  const whole = {
    changes: plans.flatMap(({ changes }) => changes),
    diagnostics: [],
    violations: [],
  };
  return [formatPlanHeadline(whole, plans.every(isEmptyPlan))];
}

function joinDrifts(drifts: readonly Drift[]): readonly string[] {
  return drifts.length === 0 ? [] : [formatDriftHeadline({ changes: drifts.flatMap(({ changes }) => changes) })];
}

function joinApplies([first, ...more]: readonly ApplyReport[]): readonly string[] {
  if (first === undefined) return [];
  const outcomes = [first, ...more].flatMap(({ result }) => result.outcomes);
  return [removeZeroCountsFromText(formatOutcomeTotals(countWriteOutcomes({ ...first.result, outcomes })))];
}

function joinValidations(validations: readonly Validation[]): readonly string[] {
  if (validations.length === 0) return [];
  const sum = (count: (one: Validation) => number): number => validations.reduce((all, one) => all + count(one), 0);
  const size = { files: sum(({ files }) => files), resources: sum(({ resources }) => resources) };
  const found = listFound(validations.flatMap(({ diagnostics }) => diagnostics));
  return [[formatResourceAndFileCounts(size), ...found].join(' · ')];
}

/** The name of a stack, followed by the folder if it differs from the name. */
export function formatStackTitle({ name, folder }: Pick<StackReportPart, 'name' | 'folder'>): string {
  const shown = name === '' ? '(no name)' : quoteIfNeeded(name);
  return name === folder ? shown : `${shown} (${toPrintable(folder)})`;
}

interface RowContext {
  /** Whether no other stack of the run has the name. */
  readonly isOnly: boolean;
  /** The earlier stack with which errors of this one are shown. `undefined`: there is none. */
  readonly earlier: string | undefined;
}

function createStackRow(part: StackReportPart, { isOnly, earlier }: RowContext): StackRow {
  const { name, folder, exitCode } = part;
  const shown = {
    name: name === '' ? '(no name)' : quoteIfNeeded(name),
    folder: toPrintable(folder),
    // Omit the folder if it ends with the name and no other stack has the name.
    title: isOnly && folder.endsWith(`/${name}`) ? quoteIfNeeded(name) : formatStackTitle(part),
  };
  const isBad = exitCode !== 0 && exitCode !== 2;
  return { ...shown, time: '', isBad, ...describeReport(part, earlier) };
}

/** Whether an earlier stack of the report shows everything about this one, so that it needs no section of its own. */
export function isShownWithEarlierStack({ report, repeated }: StackReportPart): boolean {
  if (repeated === undefined) return false;
  if (report.about === 'validation') return report.validation.diagnostics.length === 0;
  if (report.about === 'plan') return true;
  if (report.about !== 'failure') return false;
  const { error, diagnostics = [] } = report.failure;
  return error === undefined && diagnostics.length === 0;
}

/** Such as `the same error as a`. Empty if all errors of the stack are its own. */
function listRepeatedErrors({ repeated }: StackReportPart, earlier: string | undefined): readonly string[] {
  if (repeated === undefined || earlier === undefined) return [];
  return [`the same ${repeated.count === 1 ? 'error' : `${repeated.count} errors`} as ${earlier}`];
}

function describeReport(
  part: StackReportPart,
  earlier: string | undefined,
): Pick<StackRow, 'said' | 'isQuiet'> & Partial<StackRow> {
  const { report } = part;
  const repeated = listRepeatedErrors(part, earlier);
  switch (report.about) {
    case 'plan':
      return repeated.length === 0 ? describePlan(report) : { said: `✗ ${repeated.join(' · ')}`, isQuiet: false };
    case 'apply':
      return describeApply(report);
    case 'drift': {
      const { drift } = report;
      const { unmanaged = [] } = part.options;
      const absent = unmanaged.filter(({ absence }) => absence !== undefined);
      const listed = [
        [unmanaged.length - absent.length, 'unmanaged'] as const,
        [absent.length, 'of stacks that are not here'] as const,
      ].flatMap(([count, what]) => (count === 0 ? [] : [`${count} ${what}`]));
      const said = [formatDriftHeadline(drift), ...listed, ...listFound(drift.diagnostics)].join(' · ');
      return { said, isQuiet: isQuietDrift(drift) && listed.length === 0 };
    }
    case 'validation': {
      const { diagnostics } = report.validation;
      const said = [formatResourceAndFileCounts(report.validation), ...listFound(diagnostics), ...repeated].join(' · ');
      return { said, isQuiet: diagnostics.length + repeated.length === 0 };
    }
    case 'comparison': {
      const { command, comparison, names } = report;
      const isRefused = command !== 'diff' && !isSamePlan(comparison);
      const summary = formatComparisonSummary(comparison, chooseComparisonWords(command, names));
      return { said: `${isRefused ? '✗ ' : ''}${removeFinalDot(summary)}`, isQuiet: false };
    }
    case 'failure': {
      const { diagnostics = [], error } = report.failure;
      const lines = error === undefined ? [] : createErrorView(error, report.failure).lines;
      const why = [...lines, ...diagnostics.map(({ message }) => toPrintable(message))];
      const first = why.slice(0, 1).map((line) => line.replace(/[.:]$/, ''));
      const own = why.length === 0 ? [] : [[...listFound(diagnostics), ...first].join(': ')];
      return { said: `✗ ${[...own, ...repeated].join(' · ')}`, isQuiet: false };
    }
    default:
      return assertNever(report);
  }
}

function isQuietDrift(drift: Drift): boolean {
  return !hasDrift(drift) && drift.diagnostics.every(isLintWarning) && formatDriftDangerCount(drift.changes) === '';
}

/** Prepares a run for a format: it says what an account has only once, and equal hidden values have one number. */
export function prepareStacksRun(run: StacksRunReport): StacksRunReport {
  return numberStacksRun(withUnmanagedOncePerAccount(run));
}

/**
 * Lists the unmanaged resources of each account only once: with the first of its stacks that is shown in any case or, if
 * there is none, with its first stack.
 */
function withUnmanagedOncePerAccount(run: StacksRunReport): StacksRunReport {
  const compared = run.parts.flatMap((part) => (part.report.about === 'drift' ? [{ part, ...part.report }] : []));
  const accounts = Map.groupBy(compared, ({ part, drift }) => JSON.stringify([drift.baseUrl, part.keyEnv]));
  const lists = new Map(
    [...accounts.values()].map((stacks) => {
      const teller = stacks.find(({ drift }) => !isQuietDrift(drift)) ?? stacks[0];
      return [teller?.part, listUnmanaged(stacks.map(({ drift }) => drift))];
    }),
  );
  const parts = run.parts.map((part) => ({ ...part, options: { ...part.options, unmanaged: lists.get(part) ?? [] } }));
  return { ...run, parts };
}

function describePlan({ plan, blocking }: PlanReport): Pick<StackRow, 'said' | 'isQuiet' | 'time'> {
  const { diagnostics, writes, requests } = plan;
  const isEmpty = isEmptyPlan(plan);
  const headline = formatPlanHeadline({ ...plan, violations: blocking }, isEmpty);
  // If there are errors, the headline already has their number.
  const said = [headline, ...(hasErrors(diagnostics) ? [] : listFound(diagnostics))].join(' · ');
  const isQuiet = isEmpty && blocking.length === 0 && diagnostics.every(isLintWarning);
  const time = requests.leastMs > 0 && writes.length > 0 ? formatWaitTime(requests.leastMs) : '';
  return { said, isQuiet, time };
}

function listFound(diagnostics: readonly Diagnostic[]): readonly string[] {
  return diagnostics.length === 0 ? [] : [formatSeverityCounts(diagnostics)];
}

function describeApply({ plan, result }: ApplyReport): Pick<StackRow, 'said' | 'isQuiet'> {
  if (result.outcomes.length > 0)
    return { said: removeZeroCountsFromText(formatOutcomeTotals(countWriteOutcomes(result))), isQuiet: false };
  const diagnostics = [...plan.diagnostics, ...result.diagnostics];
  return { said: ['nothing to do', ...listFound(diagnostics)].join(' · '), isQuiet: diagnostics.length === 0 };
}

/** Says how many of the stacks are selected, and why. Also says why a selection is empty. */
export function formatStackSelectionSummary({ root: given, total, stacks, changes }: StackListing): string {
  const root = given === '.' ? 'the current folder' : given;
  const more = changes === undefined ? [] : listRemovedStackSentences(changes);
  return [`${formatSelectedStacks({ root, total, stacks, changes })}.`, ...more].join(' ');
}

function formatSelectedStacks({
  root,
  total,
  stacks,
  changes,
}: Pick<StackListing, 'root' | 'total' | 'stacks' | 'changes'>): string {
  const all = `${formatStacks(total)} below ${root}`;
  if (changes === undefined) return stacks.length === total ? all : `${stacks.length} of ${all}`;
  if (changes.changed.length === 0) return `No stack has changed since ${changes.since}; ${all}`;
  const changed = `${changes.changed.length} of ${all} changed since ${changes.since}`;
  return stacks.length === changes.changed.length ? changed : `${changed}, ${stacks.length} of them here`;
}

/** A sentence for each file that is gone and probably had a Stack, and for each name that is gone. No command: another repository may have that stack. */
export function listRemovedStackSentences({ removed, renamed, since }: Removals): readonly string[] {
  const lines = new Map(
    renamed.map(({ file, name }) => [
      file,
      `${file} had the stack ${name} at ${since}, and no Stack has this name now. If it has a new one, write into its metadata: renamed_from: ${name}.`,
    ]),
  );
  const gone = removed.map((file) => {
    const sentence = `${file} is gone since ${since}. If it had a Stack, what that stack owns stays at the service: see ${REMOVAL_PAGE}.`;
    return [sentence, lines.get(file) ?? ''].join(' ').trimEnd();
  });
  return [...gone, ...Array.from(lines, ([file, line]) => (removed.includes(file) ? [] : [line])).flat()];
}

function formatStacks(count: number): string {
  return count === 1 ? '1 stack' : `${count} stacks`;
}

/** The maximum number of files named in one line. The line counts the others, because they fill the screen. */
const MAX_LISTED = 10;

/** Lines on manifests and changed files that belong to no stack, and on what looks like a manifest there and is not read. */
export function listFilesWithoutStackLines({
  filesWithoutStack,
  changes,
  diagnostics = [],
}: StackListing): readonly string[] {
  const changed = changes?.filesWithoutStack ?? [];
  const rest = filesWithoutStack.filter((file) => !changed.includes(file));
  return [
    ...(changed.length === 0 ? [] : [`Changed, but not part of a stack: ${formatFiles(changed)}.`]),
    ...(changes !== undefined || rest.length === 0
      ? []
      : [`Manifests that belong to no stack, so no run applies them: ${formatFiles(rest)}.`]),
    ...diagnostics.flatMap(({ code, message }) => (code === 'manifest-not-read' ? [`${message}.`] : [])),
  ];
}

function formatFiles(files: readonly string[]): string {
  const more = files.length > MAX_LISTED ? ` and ${files.length - MAX_LISTED} more` : '';
  return `${files.slice(0, MAX_LISTED).join(', ')}${more}`;
}
