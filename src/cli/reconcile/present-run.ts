import type { ApplyEvent } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { renderRunText, renderTextReport } from '../../report/render-text.ts';
import type { StackReportPart, TextStyleOptions } from '../../report/report.ts';
import { formatDangerCountsOfChanges } from '../../report/view/danger-view.ts';
import { formatCount } from '../../report/view/wording.ts';
import type { ApplyDialog, ApplyFollower } from '../../run/apply-stacks.ts';
import { findRefusal, type Session } from '../../run/session.ts';
import type { OutputStream } from '../context.ts';
import type { ExitCode } from '../exit-code.ts';
import { getTextOptions } from '../output/present.ts';
import { type ApplyProgress, createApplyProgress, getProgressStream } from '../output/progress.ts';
import { createParts, createStacksReport, reportStacksRun, sayApply } from './report-run.ts';
import type { StacksRun } from './with-stacks.ts';

/** Shows the plans, the progress and the results of an apply. */
export interface RunPresenter {
  /** Shows plans before the apply, in text. Other formats are one document, which is shown at the end. */
  readonly showPlans: (sessions: readonly Session[]) => void;
  /** Formats the question for the user. It contains the plans if they were not shown. */
  readonly formatQuestion: (ready: readonly Session[]) => string;
  readonly createFollower: ApplyDialog['createFollower'];
  /** Shows the results, and returns the exit code. What was shown as a plan is not repeated. */
  readonly report: () => Promise<ExitCode>;
}

export function createPresenter(run: StacksRun): RunPresenter {
  const { flags, isOfMany, context } = run;
  const isText = flags.format === 'text';
  /** What each stack had come to when it was shown. */
  const shown = new Map<Session, string>();
  let isApplied = false;
  const createApplyParts = (sessions: readonly Session[]): readonly StackReportPart[] =>
    createParts({ ...run, sessions }, (session) => sayApply(session, run));
  const render = (sessions: readonly Session[], output: OutputStream): string => {
    const options = getTextOptions(output, context, flags);
    const parts = createApplyParts(sessions).map(toPlanPart);
    return isOfMany
      ? renderRunText(createStacksReport(run, parts), options)
      : parts.map((part) => renderPlan(part, options)).join('');
  };
  const findStage = (session: Session): string => {
    if (session.result !== undefined) return 'applied';
    const isEmpty = session.plan?.writes.length === 0;
    return findRefusal(session, run)?.why ?? (isEmpty ? 'without writes' : 'planned');
  };
  const isShownAsItIs = (session: Session): boolean => shown.get(session) === findStage(session);
  return {
    showPlans: (sessions) => {
      // The report of a stack that is refused says everything.
      const isShown = isText && (isOfMany || sessions.every((session) => findRefusal(session, run) === undefined));
      if (!isShown || sessions.length === 0) return;
      context.stdout.write(render(sessions, context.stdout));
      for (const session of sessions) shown.set(session, findStage(session));
    },
    formatQuestion: (ready) => {
      const unseen = isText ? '' : `${render(run.sessions, context.stderr)}\n`;
      const plans = ready.flatMap(({ plan }) => plan ?? []);
      const dangers = formatDangerCountsOfChanges(plans.flatMap(({ changes }) => changes));
      const warning = dangers === '' ? '' : `! ${dangers}.\n`;
      return `${unseen}${warning}${isOfMany ? askForMany(plans) : askForOne(plans)}`;
    },
    createFollower: (ready) => {
      isApplied = true;
      return createProgressFollower(run, ready);
    },
    report: async () => {
      const ended = run.sessions.filter((session) => !isShownAsItIs(session));
      const isShown = isOfMany ? shown.size > 0 : isText && (ended.length === 0 || isApplied);
      const parts = createApplyParts(run.sessions);
      if (isShown && ended.length > 0 && isApplied)
        context.stdout.write(
          renderEnds(
            run,
            parts.map((part, index) => ({
              ...part,
              isShown: run.sessions.slice(index, index + 1).every(isShownAsItIs),
            })),
          ),
        );
      return reportStacksRun(run, parts, { isShown });
    },
  };
}

/** An apply that had nothing to do has ended before it is shown. What is shown is its plan. */
function toPlanPart(part: StackReportPart): StackReportPart {
  const { report } = part;
  return report.about === 'apply' ? { ...part, report: { about: 'plan', plan: report.plan, blocking: [] } } : part;
}

function renderPlan({ report }: StackReportPart, options: TextStyleOptions): string {
  return report.about === 'plan' ? renderTextReport(report, options) : '';
}

function askForOne([one]: readonly Plan[]): string {
  const { writes = [], baseUrl, mode, stack } = one ?? {};
  const what = `${writes.length === 1 ? 'this write' : `these ${writes.length} writes`} to ${baseUrl}?`;
  return mode === 'destroy' ? `Destroy the stack ${stack}: send ${what}` : `Send ${what}`;
}

function askForMany(plans: readonly Plan[]): string {
  const count = plans.reduce((sum, { writes }) => sum + writes.length, 0);
  const places = [...new Set(plans.map(({ baseUrl }) => baseUrl))].join(', ');
  const destroyed = plans.filter(({ mode }) => mode === 'destroy').length;
  const what = `${formatCount(count, 'write')} in ${formatCount(plans.length, 'stack')} to ${places}?`;
  return destroyed === 0 ? `Send ${what}` : `Destroy ${formatCount(destroyed, 'stack')}: send ${what}`;
}

/** Renders the results of the applies. Those of planning are on the screen already. */
function renderEnds(run: StacksRun, parts: readonly StackReportPart[]): string {
  const { context, flags } = run;
  const options = { ...getTextOptions(context.stdout, context, flags), isPlanShown: true };
  if (!run.isOfMany)
    return parts.map(({ report, options: own }) => `\n${renderTextReport(report, { ...options, ...own })}`).join('');
  const { requests: _, ...report } = createStacksReport(run, parts);
  return `\n${renderRunText(report, options)}`;
}

/** Shows the progress of the applies, from the start of the first one. */
function createProgressFollower(run: StacksRun, ready: readonly Session[]): ApplyFollower {
  const { context, flags, isOfMany, accounts, signal } = run;
  const plans = ready.flatMap(({ plan }) => plan ?? []);
  const total = plans.reduce((sum, { writes }) => sum + writes.length, 0);
  const rateLimit = plans[0]?.settings.rateLimit ?? 'none';
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
  };
  const tellStopping = (): void => {
    progress?.tell('Stopping after the writes in progress. Interrupt again to stop at once.');
  };
  const tell = (line: string): void => {
    if (progress === undefined) context.stderr.write(`${line}\n`);
    else progress.tell(line);
  };
  signal.addEventListener('abort', tellStopping, { once: true });
  return {
    follow: ({ plan }) => ({
      onStart: () => {
        progress ??= start();
      },
      onEvent: (event) => {
        if (event.event === 'write-ended') done += 1;
        progress?.onEvent(isOfMany ? withStackName(event, { stack: plan?.stack ?? '', done, total }) : event);
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
