import type { SubmittedKind } from '../../kinds/kind.ts';
import { createPlanFileContent } from '../../kinds/plan-file-content.ts';
import { countActionsForDisplay, formatChangeAddress } from '../../model/change.ts';
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
import { type JsonObject, renderStableJson } from '../../model/json.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { type ExtraChange, isSamePlan } from '../../model/plan.ts';
import type { PolicyTestResults } from '../../model/policy.ts';
import type { ComparisonReport, Failure, LintRuleRow, Report, SettingRow, Validation } from '../report.ts';
import { createApplyView } from '../view/apply-view.ts';
import { redactComparison, redactDrift, redactPlan } from '../view/redact.ts';
import { countWriteOutcomes, isFullyApplied } from '../view/wording.ts';

/**
 * JSON documents for programs. The document of a plan is its plan file; every other document starts with `format`,
 * `command` and `ok`. Each document is one object and ends with a line break. What a terminal or a CI system would act on
 * is escaped, which does not change the values.
 */

/** The version of the format of these documents. New fields do not change it. */
const REPORT_FORMAT = 1;

/** The last known state of a submission. `error` is present if the submission is not decided yet. */
export interface SubmissionState {
  readonly kind: SubmittedKind;
  readonly command: string;
  /** The service's response. */
  readonly shown: JsonObject;
  readonly error?: Failure['error'];
}

/** A report as one JSON document. For a plan, even a blocked one, it is the content of the plan file. */
export function renderJsonReport(report: Report): string {
  switch (report.about) {
    case 'plan':
      return renderPlanJson(report.plan);
    case 'comparison':
      return renderPrintableJson({
        format: REPORT_FORMAT,
        command: report.command === 'diff' ? 'diff' : 'apply',
        ok: report.command === 'diff' || isSamePlan(report.comparison),
        ...createComparisonJson(report),
      });
    case 'apply':
      return renderApplyJson(report.plan, report.result);
    case 'drift':
      return renderDriftJson(report.drift);
    case 'validation':
      return renderValidationJson(report.validation, report.command);
    case 'failure':
      return renderFailureJson(report.failure);
    default:
      return assertNever(report);
  }
}

/** Renders the content of a plan file, as its published schema describes it. Equal plans give equal text. */
export function renderPlanJson(plan: Plan): string {
  return toHarmlessJson(renderStableJson(createPlanFileContent(redactPlan(plan))));
}

/**
 * A JSON document with the plan and the result of its apply. `ok`: all writes succeeded, no token had to be rescued, and
 * there was no other error.
 */
export function renderApplyJson(plan: Plan, result: ApplyResult, more: Omit<Failure, 'plan'> = {}): string {
  const { command = plan.mode, diagnostics = [], error } = more;
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command,
    ok: isFullyApplied(result) && error === undefined && !hasErrors(diagnostics),
    interrupted: result.interrupted,
    totals: countWriteOutcomes(result),
    // The plan has the whole writes.
    outcomes: result.outcomes.map(({ write, ...outcome }) => ({ write: write.id, address: write.address, ...outcome })),
    tokens: result.tokens,
    lookUps: result.lookUps,
    next: createApplyView(plan, result).next,
    diagnostics: [...result.diagnostics, ...diagnostics],
    error: error && createErrorDocument(error),
    plan: createPlanFileContent(redactPlan(plan)),
  });
}

/** The live state, compared with the manifests or a plan. `ok`: the comparison was complete. */
function renderDriftJson(drift: Drift): string {
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command: 'drift',
    ok: isEveryTargetCompared(drift),
    drifted: hasDrift(drift),
    dangers: countDangersByGroup(drift.changes.flatMap(({ driftDangers = [] }) => driftDangers)),
    counts: countDriftStates(drift),
    coverage: countResourcesByOwner(drift),
    ...redactDrift(drift),
  });
}

/** The result of a check of manifests. `ok`: the manifests are valid. */
export function renderValidationJson(
  { files, resources, diagnostics, stack, skipped }: Validation,
  command = 'validate',
): string {
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command,
    ok: !hasErrors(diagnostics),
    stack,
    files,
    resources,
    skipped,
    diagnostics,
  });
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

/** The document of a command that did not complete. `error` and `plan` are absent if there are none. */
export function renderFailureJson({ command, stack, diagnostics = [], error, plan }: Failure): string {
  return renderPrintableJson({
    format: REPORT_FORMAT,
    command: command ?? null,
    ok: false,
    stack,
    diagnostics,
    error: error && createErrorDocument(error),
    totals: plan && countActionsForDisplay(plan.changes),
    plan: plan && createPlanFileContent(redactPlan(plan)),
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
  const { before, after, members, more, less, done } = redactComparison(comparison);
  return {
    stack: after.stack,
    same: isSamePlan(comparison),
    before: { name: names.before, ...before.made },
    after: { name: names.after, ...after.made },
    members,
    more: more.map(createChangeDocument),
    less: less.map(createChangeDocument),
    done,
    diagnostics: after.diagnostics.filter(({ severity }) => severity === 'error'),
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
    format: 1,
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
