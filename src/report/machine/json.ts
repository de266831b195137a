import type { SubmittedKind } from '../../kinds/kind.ts';
import { createPlanFileContent, type PlanFileContent } from '../../kinds/plan-file-content.ts';
import { formatChangeAddress } from '../../model/change.ts';
import { countDangersByGroup } from '../../model/danger.ts';
import { hasErrors } from '../../model/diagnostic.ts';
import {
  countDriftStates,
  countResourcesByOwner,
  type Drift,
  hasDrift,
  isEveryTargetCompared,
} from '../../model/drift.ts';
import { ApiError, assertNever } from '../../model/errors.ts';
import { toHarmlessJson } from '../../model/job-commands.ts';
import { type Json, type JsonObject, renderStableJson } from '../../model/json.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { type ExtraChange, isSamePlan, PLAN_FORMAT, type SafetyViolation } from '../../model/plan.ts';
import type { PolicyTestResults } from '../../model/policy.ts';
import { toFileJson } from '../../model/secret-value.ts';
import type { ComparisonReport, Failure, FormatOptions, LintRuleRow, Report, SettingRow } from '../report.ts';
import { listNextSteps } from '../view/apply-wording.ts';
import { listComparisonDiagnostics } from '../view/comparison-wording.ts';
import { numberPlan, redactComparison, redactDrift, redactPlan } from '../view/redact.ts';
import { countWriteOutcomes, isFullyApplied } from '../view/wording.ts';

/**
 * JSON documents for programs. What `validate`, `plan`, `drift`, `apply`, `destroy`, `release` and `get` print is one shape: an entry for each
 * stack, also for one stack. A plan file is that document with one entry. Each document is one object with sorted keys and
 * ends with a line break. What a terminal or a CI system would act on is escaped, which does not change the values.
 */

/** The version of the format of documents that are no results of stacks. New fields do not change it. */
const REPORT_FORMAT = 1;

/** The last known state of a submission. `error` is present if the submission is not decided yet. */
export interface SubmissionState {
  readonly kind: SubmittedKind;
  readonly command: string;
  /** The service's response. */
  readonly shown: JsonObject;
  readonly error?: Failure['error'];
}

/** What one stack of a run has: a result, or why it has none. */
export interface ResultEntry {
  /** Absent: the name of the stack could not be read. */
  readonly stack?: string | undefined;
  /** The path of its manifests, as it was given or found. Absent: they were not files. */
  readonly folder?: string | undefined;
  /** The environment variable with the API key of the account. Absent if it is the default variable. */
  readonly keyEnv?: string | undefined;
  /** Whether the stack has a result without errors, of which nothing is refused or failed. */
  readonly ok: boolean;
  readonly plan?: PlanFileContent;
  readonly result?: object;
  readonly drift?: object;
  readonly validation?: object;
  readonly inventory?: object;
  readonly comparison?: object;
  readonly failure?: object;
}

/** Facts about a whole run. `failure`: it failed before it had a stack. */
type RunFacts = { readonly failure?: object | undefined } & Readonly<Record<string, unknown>>;

export function createResultDocument(
  command: string | undefined,
  stacks: readonly ResultEntry[],
  more: RunFacts = {},
): Json {
  const ok = more.failure === undefined && stacks.every((entry) => entry.ok);
  const document: object = { ...more, format: PLAN_FORMAT, command: command ?? null, ok, stacks };
  return toFileJson(document as JsonObject); // all of it is JSON, besides members that are undefined
}

export function renderResultJson(...parts: Parameters<typeof createResultDocument>): string {
  return toHarmlessJson(renderStableJson(createResultDocument(...parts)));
}

/** The result of a run on one stack. */
export function renderJsonReport(report: Report, { command, folder, summary }: FormatOptions = JSON_ALONE): string {
  const name = command ?? getCommandOfReport(report);
  if (report.about === 'failure' && report.failure.stack === undefined)
    return renderResultJson(name, [], { summary, failure: createFailureDocument(report.failure) });
  return renderResultJson(name, [{ folder, ...createResultEntry(report) }], { summary });
}

const JSON_ALONE: FormatOptions = { color: false, width: 0, verbose: false };

function getCommandOfReport(report: Report): string | undefined {
  switch (report.about) {
    case 'plan':
    case 'drift':
      return report.about;
    case 'comparison':
      return report.command === 'diff' ? 'diff' : 'apply';
    case 'apply':
      return report.plan.mode;
    case 'validation':
      return report.command;
    case 'failure':
      return report.failure.command;
    default:
      return assertNever(report);
  }
}

/** The entry of a stack with this report. */
export function createResultEntry(report: Report): ResultEntry {
  switch (report.about) {
    case 'plan':
      return createPlanEntry(report.plan, report.blocking);
    case 'comparison': {
      const { command, comparison } = report;
      const ok = command === 'diff' || isSamePlan(comparison);
      return { stack: comparison.after.stack, ok, comparison: createComparisonJson(report) };
    }
    case 'apply':
      return createApplyEntry(report.plan, report.result);
    case 'drift':
      return {
        stack: report.drift.stack,
        keyEnv: report.keyEnv,
        ok: isEveryTargetCompared(report.drift) && !hasErrors(report.drift.diagnostics),
        drift: createDriftJson(report.drift),
      };
    case 'validation': {
      const { files, resources, diagnostics, stack, skipped } = report.validation;
      return { stack, ok: !hasErrors(diagnostics), validation: { files, resources, skipped, diagnostics } };
    }
    case 'failure':
      return { stack: report.failure.stack, ok: false, failure: createFailureDocument(report.failure) };
    default:
      return assertNever(report);
  }
}

/**
 * Renders a plan file, as the published schema of results describes it. Equal plans give equal text.
 * @example
 * await writeFile('plan.json', renderPlanJson(plan));
 */
export function renderPlanJson(
  plan: Plan,
  {
    folder,
    blocking = plan.violations,
  }: {
    /** The path of its manifests. */
    readonly folder?: string | undefined;
    /** The violations without consent. Default: all of the plan. */
    readonly blocking?: readonly SafetyViolation[] | undefined;
  } = {},
): string {
  return renderResultJson('plan', [{ folder, ...createPlanEntry(numberPlan(plan), blocking) }]);
}

function createPlanEntry(plan: Plan, blocking: readonly SafetyViolation[]): ResultEntry {
  const { stack, settings, diagnostics } = plan;
  const ok = !hasErrors(diagnostics) && blocking.length === 0;
  return { stack, keyEnv: settings.keyEnv, ok, plan: createPlanFileContent(redactPlan(plan)) };
}

/**
 * A JSON document with the plan and the result of its apply.
 * @example
 * const json = renderApplyJson(plan, result);
 */
export function renderApplyJson(plan: Plan, result: ApplyResult, more: ApplyFailure = {}): string {
  return renderResultJson(plan.mode, [createApplyEntry(numberPlan(plan), result, more)]);
}

/** Why an apply ended early. */
type ApplyFailure = Pick<Failure, 'diagnostics' | 'error'>;

/** `ok`: all writes succeeded, no token had to be rescued, and there was no other error. */
function createApplyEntry(
  plan: Plan,
  result: ApplyResult,
  { diagnostics = [], error }: ApplyFailure = {},
): ResultEntry {
  return {
    stack: plan.stack,
    keyEnv: plan.settings.keyEnv,
    ok: isFullyApplied(result) && error === undefined && !hasErrors(diagnostics),
    plan: createPlanFileContent(redactPlan(plan)),
    result: {
      interrupted: result.interrupted,
      totals: countWriteOutcomes(result),
      // The plan has the whole writes.
      outcomes: result.outcomes.map(({ write, ...outcome }) => ({
        write: write.id,
        address: write.address,
        ...outcome,
      })),
      tokens: result.tokens,
      lookUps: result.lookUps,
      next: listNextSteps(plan, result),
      diagnostics: [...result.diagnostics, ...diagnostics],
      error: error && createErrorDocument(error),
    },
  };
}

/** The live state, compared with the manifests or a plan. */
function createDriftJson(drift: Drift): object {
  return {
    drifted: hasDrift(drift),
    dangers: countDangersByGroup(drift.changes.flatMap(({ driftDangers = [] }) => driftDangers)),
    counts: countDriftStates(drift),
    coverage: countResourcesByOwner(drift),
    ...redactDrift(drift),
  };
}

/** Why a command did not complete. */
function createFailureDocument({ diagnostics = [], error }: Failure): object {
  return { diagnostics, error: error && createErrorDocument(error) };
}

/**
 * The service's response to a submission, in a property with the short name of the kind. If there is an error, the
 * submission is not decided yet and `ok` is false.
 */
export function renderSubmissionJson({ kind, command, shown, error }: SubmissionState): string {
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command,
    ok: error === undefined,
    error: error && createErrorDocument(error),
    [kind.submission.noun]: shown,
  });
}

export function renderLintRulesJson(rows: readonly LintRuleRow[]): string {
  return renderPrintableJson({ command: 'validate', ok: true, rules: rows });
}

export function renderSettingsJson(rows: readonly SettingRow[]): string {
  return renderPrintableJson({ command: 'explain', ok: true, settings: rows });
}

/** Renders a JSON document. Escapes even the unprintable characters that `JSON.stringify` leaves as they are. */
export function renderPrintableJson(document: object): string {
  return toHarmlessJson(`${JSON.stringify(document, null, 2)}\n`);
}

function createErrorDocument(error: NonNullable<Failure['error']>): object {
  if (!(error instanceof Error)) return error;
  const { name, message } = error;
  return error instanceof ApiError ? { name, message, ...error.response } : { name, message };
}

/** A comparison of two plans. `same`: they do the same, apart from what is done already. */
function createComparisonJson({ comparison, names }: ComparisonReport): object {
  const redacted = redactComparison(comparison);
  const { before, after, members, more, less, done } = redacted;
  return {
    same: isSamePlan(comparison),
    before: { name: names.before, ...before.made },
    after: { name: names.after, ...after.made },
    members,
    more: more.map(createChangeDocument),
    less: less.map(createChangeDocument),
    done,
    diagnostics: listComparisonDiagnostics(redacted),
  };
}

/**
 * Without `fields`, the whole change is extra: the other plan has none for the resource, or one with another action.
 */
function createChangeDocument({ change, other, fields, dangers, changed }: ExtraChange): object {
  return {
    address: formatChangeAddress(change),
    kind: change.kind,
    action: change.action,
    otherAction: other?.action,
    ...(fields.length > 0 && {
      fields: fields.map(({ difference: { path, from, to }, ...one }) => ({
        path,
        from,
        to,
        other: one.other,
        changed: one.changed,
        isUncompared: one.isUncompared,
      })),
    }),
    ...(dangers.length > 0 && { dangers }),
    changed,
    change,
  };
}

/** The results of policy tests as a JSON document. `ok`: all cases pass. */
export function renderPolicyTestsJson({ cases, untested }: PolicyTestResults): string {
  const failed = cases.filter(({ failure }) => failure !== undefined).length;
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command: 'test-policy',
    ok: failed === 0,
    totals: { passed: cases.length - failed, failed },
    cases: cases.map(({ failure, ...one }) => ({
      ...one,
      ok: failure === undefined,
      failure,
    })),
    untested,
  });
}
