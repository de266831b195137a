import type { ApplyEvent } from '../../model/outcome.ts';
import { toPrintable } from '../../model/printable.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { renderRunText, renderTextReport } from '../../report/render-text.ts';
import type { Report, StackReportPart, TextStyleOptions } from '../../report/report.ts';
import { formatDangerCountsOfChanges } from '../../report/view/danger-view.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { ApplyRunOptions } from '../../stack/run-plan.ts';
import type { OutputStream } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import { getTextOptions } from '../output/present.ts';
import { type ApplyProgress, createApplyProgress, getProgressStream } from '../output/progress.ts';
import { createStacksReport, type PlannedStack, reportStacksRun, type StacksRun } from './stacks-run.ts';

/** Shows the plans, the progress and the results of an apply. */
export interface RunPresenter {
  /** Shows plans before the apply, in text. Other formats are one document, which is shown at the end. */
  readonly showPlans: (parts: readonly StackReportPart[]) => void;
  /** Formats the question for the user. It contains the plans if they were not shown. */
  readonly formatQuestion: (ready: readonly PlannedStack[], parts: readonly StackReportPart[]) => string;
  readonly startProgress: (ready: readonly PlannedStack[]) => RunProgress;
  /** Shows the results, and returns the exit code. What was shown as a plan is not repeated. */
  readonly report: (parts: readonly StackReportPart[]) => Promise<ExitCode>;
}

export function createPresenter(run: StacksRun): RunPresenter {
  const { flags, isOfMany, context } = run;
  const isText = flags.format === 'text';
  const shown = new Set<StackReportPart>();
  let isApplied = false;
  const render = (parts: readonly StackReportPart[], output: OutputStream): string => {
    const options = getTextOptions(output, context, flags);
    return isOfMany
      ? renderRunText(createStacksReport(run, parts.map(toPlanPart)), options)
      : parts.map((part) => renderPlan(toPlanPart(part), options)).join('');
  };
  return {
    showPlans: (parts) => {
      // The report of a stack that is refused says everything.
      const isShown = isText && (isOfMany || parts.every(({ report }) => !isRefused(report)));
      if (!isShown || parts.length === 0) return;
      context.stdout.write(render(parts, context.stdout));
      for (const part of parts) shown.add(part);
    },
    formatQuestion: (ready, parts) => {
      const unseen = isText ? '' : `${render(parts, context.stderr)}\n`;
      const dangers = formatDangerCountsOfChanges(ready.flatMap(({ plan }) => plan.changes));
      const warning = dangers === '' ? '' : `! ${dangers}.\n`;
      return `${unseen}${warning}${isOfMany ? askForMany(ready) : askForOne(ready)}`;
    },
    startProgress: (ready) => {
      isApplied = true;
      return createRunProgress(run, ready);
    },
    report: async (parts) => {
      const ended = parts.filter((part) => !shown.has(part));
      const isShown = isOfMany ? shown.size > 0 : isText && (ended.length === 0 || isApplied);
      const isEnded = isShown && ended.length > 0 && isApplied;
      if (isEnded) context.stdout.write(renderEnds(run, parts, (part) => shown.has(part)));
      return reportStacksRun(run, parts, { isShown });
    },
  };
}

function isRefused(report: Report): boolean {
  return (
    report.about === 'comparison' || (report.about === 'plan' && report.blocking.length > 0) || hasErrorsInPlan(report)
  );
}

function hasErrorsInPlan(report: Report): boolean {
  return report.about === 'plan' && report.plan.diagnostics.some(({ severity }) => severity === 'error');
}

/** An apply that had nothing to do has ended before it is shown. What is shown is its plan. */
function toPlanPart(part: StackReportPart): StackReportPart {
  const { report } = part;
  return report.about === 'apply' ? { ...part, report: { about: 'plan', plan: report.plan, blocking: [] } } : part;
}

function renderPlan({ report }: StackReportPart, options: TextStyleOptions): string {
  return report.about === 'plan' ? renderTextReport(report, options) : '';
}

function askForOne([one]: readonly PlannedStack[]): string {
  const { writes = [], baseUrl, mode, stack } = one?.plan ?? {};
  const what = `${writes.length === 1 ? 'this write' : `these ${writes.length} writes`} to ${baseUrl}?`;
  return mode === 'destroy' ? `Destroy the stack ${stack}: send ${what}` : `Send ${what}`;
}

function askForMany(ready: readonly PlannedStack[]): string {
  const writes = ready.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const places = [...new Set(ready.map(({ plan }) => plan.baseUrl))].join(', ');
  const destroyed = ready.filter(({ plan }) => plan.mode === 'destroy').length;
  const what = `${formatCount(writes, 'write')} in ${formatCount(ready.length, 'stack')} to ${places}?`;
  return destroyed === 0 ? `Send ${what}` : `Destroy ${formatCount(destroyed, 'stack')}: send ${what}`;
}

/** Renders the results of the applies. Those of planning are on the screen already. */
function renderEnds(
  run: StacksRun,
  parts: readonly StackReportPart[],
  isShown: (part: StackReportPart) => boolean,
): string {
  const { context, flags } = run;
  const options = { ...getTextOptions(context.stdout, context, flags), isPlanShown: true };
  if (!run.isOfMany)
    return parts.map(({ report, options: own }) => `\n${renderTextReport(report, { ...options, ...own })}`).join('');
  const ended = parts.map((part) => (isShown(part) ? { ...part, isShown: true } : part));
  const { requests: _, ...report } = createStacksReport(run, ended);
  return `\n${renderRunText(report, options)}`;
}

/** The combined progress of all applies of a run. */
export interface RunProgress {
  readonly follow: (
    folder: StackFolder,
  ) => Required<Pick<ApplyRunOptions, 'onEvent' | 'onStart' | 'onWarning' | 'onNote'>>;
  readonly end: () => void;
}

/** Shows the progress of the applies, from the first write on. */
function createRunProgress(run: StacksRun, all: readonly PlannedStack[]): RunProgress {
  const { context, flags, isOfMany, accounts, signal } = run;
  const total = all.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const rateLimit = all[0]?.plan.settings.rateLimit ?? 'none';
  let progress: ApplyProgress | undefined;
  let done = 0;
  const start = (): ApplyProgress => {
    const place = { ...context, output: getProgressStream(context) };
    const started = createApplyProgress(place, { total, rateLimit }, getTextOptions(context.stderr, context, flags));
    accounts.setLineWriter(started.tell, started.wait);
    return started;
  };
  const end = (): void => {
    signal.removeEventListener('abort', tellStopping);
    progress?.end();
    progress = undefined;
    accounts.setLineWriter(undefined);
  };
  const tellStopping = (): void =>
    progress?.tell('Stopping after the writes in progress. Interrupt again to stop at once.');
  const tell = (line: string): void => {
    if (progress === undefined) context.stderr.write(`${line}\n`);
    else progress.tell(line);
  };
  signal.addEventListener('abort', tellStopping, { once: true });
  return {
    follow: ({ name: stack }) => ({
      onStart: () => {
        progress ??= start();
      },
      onEvent: (event) => {
        if (event.event === 'write-ended') done += 1;
        progress?.onEvent(isOfMany ? withStackName(event, { stack, done, total }) : event);
      },
      onWarning: (message) => tell(`Warning: ${toPrintable(message)}`),
      onNote: (message) => tell(toPrintable(message)),
    }),
    end,
  };
}

/** Prefixes write ids with the name of the stack, because writes of several stacks may have the same id. */
function withStackName(
  event: ApplyEvent,
  { stack, done, total }: { readonly stack: string; readonly done: number; readonly total: number },
): ApplyEvent {
  const name = <T extends { readonly id: string }>(write: T): T => ({ ...write, id: `${stack}: ${write.id}` });
  switch (event.event) {
    case 'write-started':
    case 'write-waiting':
      return { ...event, write: name(event.write) };
    case 'write-ended':
      return { ...event, result: { ...event.result, write: name(event.result.write) }, done, total };
    default:
      return event;
  }
}
