import { countActionsForDisplay } from '../../model/change.ts';
import { type Diagnostic, hasErrors } from '../../model/diagnostic.ts';
import { countDriftStates, type Drift, type DriftedChange, hasDrift, listUnmanaged } from '../../model/drift.ts';
import { assertNever } from '../../model/errors.ts';
import { toHarmlessJson } from '../../model/job-commands.ts';
import type { ApplyEvent, Outcome } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { isSamePlan } from '../../model/plan.ts';
import type { ApplyReport, FormatOptions, Report, WrittenEvents } from '../report.ts';
import { countDangersInReports } from '../view/danger-view.ts';
import { redactDrift } from '../view/redact.ts';
import { countWriteOutcomes, isFullyApplied } from '../view/wording.ts';

/** The version of the event format. New fields do not change it. */
const EVENT_FORMAT = 1;

/** An event without its number and time, which are added when the event is sent. */
export interface EventBody {
  readonly event: string;
  readonly [name: string]: unknown;
}

/**
 * A report as a stream of events, one JSON object per line. Events that an apply sent while it ran come first. Every
 * stream ends with a summary, even after a failure.
 */
export function renderJsonLinesReport(report: Report, options: FormatOptions): string {
  const { sent = { text: '', count: 0 }, at = new Date(0) } = options;
  const bodies = [
    ...listReportEvents(report, sent.count > 0, options),
    { event: 'summary', ...createSummary(report, options) },
  ];
  const lines = bodies.map((body, index) => renderEventLine(body, { seq: sent.count + index + 1, time: at }));
  return `${sent.text}${lines.join('')}`;
}

function listReportEvents(report: Report, isSent: boolean, options: FormatOptions): readonly EventBody[] {
  switch (report.about) {
    case 'plan':
      return listDiagnosticEvents(report.plan.diagnostics);
    case 'comparison':
      return [];
    case 'apply':
      return isSent ? [] : listApplyEvents(report);
    case 'drift':
      return listDriftEvents(redactDrift(report.drift), options);
    case 'validation':
      return listDiagnosticEvents(report.validation.diagnostics);
    case 'failure':
      return listDiagnosticEvents(report.failure.diagnostics ?? []);
    default:
      return assertNever(report);
  }
}

/** All events of an apply that sent none while it ran. */
function listApplyEvents({ plan, result }: ApplyReport): readonly EventBody[] {
  const total = result.outcomes.length;
  return [
    ...listStartEvents(plan),
    ...result.outcomes.map((one, index) =>
      createEventBody({ event: 'write-ended', result: one, done: index + 1, total }),
    ),
    ...listDiagnosticEvents(result.diagnostics),
  ];
}

/** An event for each resource with dangers, then for each other one that differs, then for each unmanaged one. */
function listDriftEvents(
  drift: Drift,
  { unmanaged = listUnmanaged([drift]) }: Pick<FormatOptions, 'unmanaged'>,
): readonly EventBody[] {
  const { changes, diagnostics } = drift;
  const isGrave = ({ driftDangers = [] }: DriftedChange): boolean => driftDangers.length > 0;
  const rest = changes.filter((change) => change.state !== 'in-sync' && !isGrave(change));
  return [
    ...[...changes.filter(isGrave), ...rest].map((change) => ({ event: 'drift', change })),
    ...listDiagnosticEvents(diagnostics),
    ...unmanaged.map((resource) => ({ event: 'unmanaged', resource })),
  ];
}

function listDiagnosticEvents(diagnostics: readonly Diagnostic[]): readonly EventBody[] {
  return diagnostics.map((diagnostic) => ({ event: 'diagnostic', diagnostic }));
}

/** The body of the summary event. `ok` has the same meaning as in the JSON report. */
function createSummary(
  report: Report,
  { exitCode = null }: Pick<FormatOptions, 'exitCode'> | { exitCode?: null },
): object {
  switch (report.about) {
    case 'plan': {
      const { plan, blocking } = report;
      const ok = !hasErrors(plan.diagnostics) && blocking.length === 0;
      const dangers = countDangersInReports([report]);
      return { command: 'plan', ok, exitCode, ...countWork(plan), dangers, violations: blocking };
    }
    case 'apply': {
      const { plan, result } = report;
      const { interrupted, tokens, files } = result;
      const { applied, failed, skipped } = countWriteOutcomes(result);
      const totals = { applied, failed, skipped };
      const ok = isFullyApplied(result);
      return { command: plan.mode, ok, exitCode, interrupted, totals, tokens, files };
    }
    case 'comparison': {
      const { command, comparison } = report;
      const same = isSamePlan(comparison);
      return { command: command === 'diff' ? command : 'apply', ok: command === 'diff' || same, exitCode, same };
    }
    case 'drift':
      return {
        command: 'drift',
        ok: !hasErrors(report.drift.diagnostics),
        exitCode,
        drifted: hasDrift(report.drift),
        dangers: countDangersInReports([report]),
        counts: countDriftStates(report.drift),
        ...countWork(report.drift),
        violations: report.drift.violations,
      };
    case 'validation':
      return { command: report.command, ok: !hasErrors(report.validation.diagnostics), exitCode };
    case 'failure': {
      const { command = null, error } = report.failure;
      return { command, ok: false, exitCode, error: error?.message };
    }
    default:
      return assertNever(report);
  }
}

/** What an apply changes and writes. */
function countWork({ changes, files }: Pick<Plan, 'changes' | 'files'>): object {
  return { changes: countActionsForDisplay(changes), filesToWrite: files.length };
}

/** A stream of events as lines of JSON. Each event has a number, from 1, and a time. */
export interface EventStream {
  readonly send: (body: EventBody) => void;
  /** Returns the text and the number of all events sent so far. */
  readonly sent: () => WrittenEvents;
}

/**
 * Creates a stream that passes each line to `write` and stores it for `sent`. Without `write`, it only counts events.
 */
export function createEventStream(now: () => Date, write: ((line: string) => void) | undefined): EventStream {
  let sent: WrittenEvents = { text: '', count: 0 };
  return {
    send: (body) => {
      const count = sent.count + 1;
      const line = write === undefined ? '' : renderEventLine(body, { seq: count, time: now() });
      sent = { text: sent.text + line, count };
      write?.(line);
    },
    sent: () => sent,
  };
}

/** An event as a line of JSON, without characters that a terminal would act on. */
export function renderEventLine(
  { event, ...body }: EventBody,
  { seq, time }: { readonly seq: number; readonly time: Date },
): string {
  return `${toHarmlessJson(JSON.stringify({ event, seq, time: time.toISOString(), ...body }))}\n`;
}

/** The events before the first write: the stack, the service, the number of writes, and the plan's diagnostics. */
export function listStartEvents(plan: Plan): readonly EventBody[] {
  const { mode, stack, baseUrl, writes, diagnostics } = plan;
  return [
    { event: 'start', format: EVENT_FORMAT, command: mode, stack, baseUrl, writes: writes.length },
    ...diagnostics.map((diagnostic) => ({ event: 'diagnostic', diagnostic })),
  ];
}

export function createEventBody(event: ApplyEvent): EventBody {
  switch (event.event) {
    case 'write-started':
      return { event: 'write-started', write: event.write.id, address: event.write.address };
    case 'write-waiting': {
      const { write, waitsFor, leftMs } = event;
      return { event: 'write-waiting', write: write.id, address: write.address, waitsFor, leftMs };
    }
    case 'write-ended':
      return { ...createOutcomeEvent(event.result), done: event.done, total: event.total };
    case 'diagnostic':
      return { event: 'diagnostic', diagnostic: event.diagnostic };
    default:
      return assertNever(event);
  }
}

function createOutcomeEvent(result: Outcome): EventBody {
  const { write, outcome, ...facts } = result;
  const event = outcome === 'applied' ? 'write-done' : `write-${outcome}`;
  return { event, write: write.id, address: write.address, ...facts };
}
