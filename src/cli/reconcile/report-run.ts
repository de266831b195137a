import type { Diagnostic } from '../../model/diagnostic.ts';
import { hasDrift, isEveryTargetCompared } from '../../model/drift.ts';
import { assertDefined } from '../../model/errors.ts';
import { EMPTY_APPLY_RESULT } from '../../model/outcome.ts';
import { isIncomplete, type Plan, type PlanComparison } from '../../model/plan.ts';
import { listBlockingViolations } from '../../plan/guard.ts';
import type {
  CommandLine,
  ComparisonReport,
  PlanReport,
  Report,
  StackReportPart,
  StacksRunReport,
} from '../../report/report.ts';
import { formatStackSelectionSummary } from '../../report/view/run-wording.ts';
import { findPlan, findRefusal, type Session, SHOWN_PLAN } from '../../run/session.ts';
import { addExchangeViolations } from '../../run/value-exchanges.ts';
import {
  computeWorstExitCode,
  EXIT,
  type ExitCode,
  exitCodeOfApply,
  exitCodeOfError,
  exitCodeOfPlan,
  exitCodeOfRefusal,
  exitCodeOfValidation,
} from '../exit-code.ts';
import { getReportedErrorPart, outputReport, outputStacksReport } from '../output/output-report.ts';
import { createListing, type StacksRun } from './with-stacks.ts';

/** What a command reports of a stack, and the exit code that it would have for this stack alone. */
type Said = Pick<StackReportPart, 'report' | 'exitCode'>;

/** Creates the parts of a report. Errors, and conflicts with other stacks, have one form in all commands. */
export function createParts(run: StacksRun, say: (session: Session) => Said): readonly StackReportPart[] {
  return run.sessions.map((session) => {
    const { folder: stack, locate, error, findings } = session;
    const { name, folder, keyEnv } = stack;
    const part =
      error === undefined
        ? { name, folder, keyEnv, ...say(session), options: { locate } }
        : createFailedPart(session, run);
    return findings.conflicts.length === 0 ? part : addConflicts(part, findings.conflicts);
  });
}

/** The part of a stack whose error is its result. */
export function createFailedPart({ folder: stack, error, service }: Session, { command }: StacksRun): StackReportPart {
  const { name, folder, file, keyEnv } = stack;
  const place = { file, line: 1, column: 1 };
  const failure = { command, stack: name || undefined, service, ...getReportedErrorPart(error) };
  return {
    ...{ name, folder, keyEnv },
    report: { about: 'failure', failure },
    exitCode: exitCodeOfError(error),
    options: { locate: (address) => (address === undefined ? place : undefined) },
  };
}

/** What `plan` says of a stack. */
export function sayPlan(session: Session, run: StacksRun, flags: { readonly detailedExitcode?: boolean }): Said {
  const report = createPlanReport(session, run);
  const refusal = findRefusal(session, run);
  const isBlocked = refusal?.why === 'dependency';
  const exitCode = isBlocked ? exitCodeOfRefusal(refusal) : exitCodeOfPlan(report.plan, report.blocking, flags);
  return { report, exitCode };
}

/** What `apply` says of a stack, before and after its apply. */
export function sayApply(session: Session, run: StacksRun): Said {
  const refusal = findRefusal(session, run);
  const exitCode = exitCodeOfRefusal(refusal);
  if (refusal?.why === 'differs') return { report: createRefusedReport(refusal.comparison, session), exitCode };
  const report = createPlanReport(session, run);
  const { plan } = report;
  if (refusal !== undefined && refusal.why !== 'conflict') return { report, exitCode };
  const incomplete = isIncomplete(plan) ? [EXIT.failed] : [];
  const { result } = session;
  if (result !== undefined)
    return {
      report: { about: 'apply', plan, result },
      exitCode: computeWorstExitCode([exitCodeOfApply(result), ...incomplete]),
    };
  if (plan.writes.length > 0) return { report, exitCode: EXIT.success };
  return { report: { about: 'apply', plan, result: EMPTY_APPLY_RESULT }, exitCode: computeWorstExitCode(incomplete) };
}

function createPlanReport(session: Session, { consentTo }: StacksRun): PlanReport {
  const plan = assertDefined(findPlan(session), `a plan of ${session.folder.folder}`);
  return { about: 'plan', plan, blocking: listBlockingViolations(plan.violations, consentTo(plan)) };
}

/** The report of an apply whose plan is not as approved or, without a name of an approved plan, not as shown. */
function createRefusedReport(comparison: PlanComparison, { approvedBy }: Session): ComparisonReport {
  const command = approvedBy === undefined ? 'question' : 'apply';
  return { about: 'comparison', command, comparison, names: { before: approvedBy ?? SHOWN_PLAN, after: 'The plan' } };
}

/** What `drift` says of a stack. */
export function sayDrift({ drift: computed, opened, folder, findings }: Session, { isOfMany }: StacksRun): Said {
  const compared = assertDefined(computed, `drift of ${folder.folder}`);
  const { exchanges } = findings;
  const drift = exchanges.length === 0 ? compared : addExchangeViolations(compared, exchanges);
  const keyEnv = isOfMany ? {} : { keyEnv: opened?.settings.keyEnv };
  const differs = hasDrift(compared) ? EXIT.changes : EXIT.success;
  return {
    report: { about: 'drift', drift, ...keyEnv },
    exitCode: isEveryTargetCompared(compared) ? differs : EXIT.invalid,
  };
}

/** What `validate` says of a stack. */
export function sayValidation({ validation: found, folder }: Session): Said {
  const validation = assertDefined(found, `a validation of ${folder.folder}`);
  return {
    report: { about: 'validation', command: 'validate', validation },
    exitCode: exitCodeOfValidation(validation.diagnostics),
  };
}

export function createStacksReport(
  { selected, command, accounts, flags }: StacksRun,
  parts: readonly StackReportPart[],
): StacksRunReport {
  const requests = accounts.countReads();
  const selection = formatStackSelectionSummary(createListing(selected));
  const { tree, changes } = selected;
  return {
    command,
    root: tree.root,
    names: flags.stack,
    selection,
    removals: changes,
    ...(requests > 0 && { requests }),
    parts,
  };
}

/** Writes the report of a run, or only its files if it was shown. Returns the most severe exit code of its parts. */
export function reportStacksRun(
  run: StacksRun,
  parts: readonly StackReportPart[],
  { applyCommand, exitCode = computeWorstExitCode(parts.map((part) => part.exitCode)), ...more }: PublishOptions = {},
): Promise<ExitCode> {
  const { flags, context } = run;
  const [one] = parts;
  if (!run.isOfMany && one !== undefined)
    return outputReport(
      one.report,
      { flags, exitCode, applyCommand, locate: one.options.locate, command: run.command, folder: one.folder, ...more },
      context,
    );
  const report = { ...createStacksReport(run, parts), applyCommand };
  return outputStacksReport(report, { flags, exitCode, ...more }, context);
}

type PublishOptions = Pick<Parameters<typeof outputStacksReport>[1], 'isShown'> & {
  readonly applyCommand?: CommandLine | undefined;
  /** Default: the most severe one of the stacks. */
  readonly exitCode?: ExitCode;
};

function addConflicts(
  { options: { locate }, ...part }: StackReportPart,
  errors: readonly Diagnostic[],
): StackReportPart {
  return {
    ...part,
    report: withErrors(part.report, errors),
    exitCode: computeWorstExitCode([part.exitCode, EXIT.invalid]),
    options: { locate },
  };
}

/** Adds errors to a report. The report of an apply that had nothing to write becomes the report of its plan. */
function withErrors(report: Report, errors: readonly Diagnostic[]): Report {
  const add = (diagnostics: readonly Diagnostic[] = []): readonly Diagnostic[] => [...errors, ...diagnostics];
  // Drop the rehearsal, because it ran without the conflicting stack.
  const addToPlan = ({ rehearsal: _, ...plan }: Plan): Plan => ({ ...plan, diagnostics: add(plan.diagnostics) });
  switch (report.about) {
    case 'plan':
      return { ...report, plan: addToPlan(report.plan) };
    case 'apply':
      return { about: 'plan', plan: addToPlan(report.plan), blocking: [] };
    case 'drift':
      return { ...report, drift: { ...report.drift, diagnostics: add(report.drift.diagnostics) } };
    case 'validation':
      return { ...report, validation: { ...report.validation, diagnostics: add(report.validation.diagnostics) } };
    case 'failure':
      return { ...report, failure: { ...report.failure, diagnostics: add(report.failure.diagnostics) } };
    default:
      return report;
  }
}
