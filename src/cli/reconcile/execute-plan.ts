import { awaitPendingResources, listAsynchronousResources, type PendingResource } from '../../client/await-work.ts';
import type { LocateManifest } from '../../model/diagnostic.ts';
import type { ApplyResult, ResourceWaitResult } from '../../model/outcome.ts';
import type { Plan, PlanComparison } from '../../model/plan.ts';
import { toPrintable } from '../../model/printable.ts';
import { isDelete } from '../../model/write.ts';
import {
  createEventBody,
  createEventStream,
  type EventStream,
  listStartEvents,
} from '../../report/machine/json-lines.ts';
import { renderTextReport } from '../../report/render-text.ts';
import type { ComparisonReport, TextStyleOptions } from '../../report/report.ts';
import { formatDangerCountsOfChanges } from '../../report/view/danger-view.ts';
import { formatWaitTime } from '../../report/view/wording.ts';
import { NotApprovedError } from '../../stack/approval.ts';
import type { ReadingClient } from '../../stack/plan-live.ts';
import type { ApplyRunOptions } from '../../stack/run-plan.ts';
import type { SetNoticeWriter } from '../connection/notices.ts';
import type { Context } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { outputReport, showFailure } from '../output/output-report.ts';
import { type FormatFlags, findEventOutput, getTextOptions } from '../output/present.ts';
import {
  type ApplyProgress,
  callPeriodically,
  createApplyProgress,
  createStatusLine,
  getProgressStream,
} from '../output/progress.ts';

/** A plan that is not blocked, and the function that applies it. */
export interface PlanExecutionInput {
  readonly plan: Plan;
  readonly apply: (options: ApplyRunOptions) => Promise<ApplyResult>;
  readonly flags: FormatFlags & { readonly yes?: boolean; readonly journal?: string; readonly wait?: number };
  /** Opens a read-only client, for `--wait`. */
  readonly open: () => Promise<ReadingClient>;
  /** Redirects the notices of the client to the output that shows the progress. */
  readonly setLineWriter: SetNoticeWriter;
  /** If aborted before the first write, nothing is written. If aborted later, no new write starts. */
  readonly signal: AbortSignal;
  readonly locate: LocateManifest;
}

/**
 * Asks the user, applies the plan, and reports the result. The caller has shown the plan, and has checked that it has
 * writes or files, and that it is not blocked.
 */
export async function executePlan(execution: PlanExecutionInput, context: Context): Promise<ExitCode> {
  const { flags, locate } = execution;
  const stream = createEventStream(context.now, findEventOutput(flags, context));
  const applied = await applyWithProgress(execution, stream, context).catch((error: unknown) => ({ error }));
  if ('error' in applied) {
    if (applied.error instanceof NotApprovedError) {
      const report = createApprovalReport(applied.error.comparison, undefined);
      return outputReport(report, { flags, exitCode: EXIT.stale, locate }, context);
    }
    if (stream.sent().count === 0) throw applied.error;
    // The report of the failure continues the stream of the events that were sent already.
    const { mode, stack } = execution.plan;
    const failed = { command: mode, stack, locate, flags, sent: stream.sent() };
    return showFailure(applied.error, failed, context);
  }
  const { plan } = applied;
  const result = await waitForApplied(applied.result, execution, context);
  const isShown = flags.format === 'text';
  if (isShown) {
    const options = { ...getTextOptions(context.stdout, context, flags), locate, isPlanShown: true };
    context.stdout.write(`\n${renderTextReport({ about: 'apply', plan, result }, options)}`);
  }
  const exitCode = exitCodeOfApply(result);
  const publication = { flags, isShown, exitCode, sent: stream.sent(), locate };
  return outputReport({ about: 'apply', plan, result }, publication, context);
}

/** Waits for work that the service continues after its responses, and adds the results of that work. */
async function waitForApplied(
  result: ApplyResult,
  execution: PlanExecutionInput,
  context: Context,
): Promise<ApplyResult> {
  const { open, flags, signal, setLineWriter } = execution;
  const subjects = listPendingResourcesOfApply(result);
  if (flags.wait === undefined || signal.aborted || subjects.length === 0) return result;
  const wait = { timeoutMs: flags.wait, signal, setLineWriter };
  const waited = await awaitPendingResourcesWithProgress(await open(), subjects, wait, context);
  return { ...result, waited, interrupted: signal.aborted };
}

/** Lists the written resources that the service may still be working on. */
export function listPendingResourcesOfApply({ outcomes }: ApplyResult): readonly PendingResource[] {
  return listAsynchronousResources(
    outcomes.flatMap((one) => {
      if (one.outcome !== 'applied' || one.id === undefined || isDelete(one.write)) return [];
      const { kind, address } = one.write;
      return [{ kind, address, id: one.id }];
    }),
  );
}

interface VisibleWait {
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  readonly setLineWriter: SetNoticeWriter;
}

/** Waits until the service has finished with the resources. Shows progress and the remaining time on stderr. */
export async function awaitPendingResourcesWithProgress(
  client: ReadingClient,
  subjects: readonly PendingResource[],
  { timeoutMs, signal, setLineWriter }: VisibleWait,
  context: Context,
): Promise<readonly ResourceWaitResult[]> {
  const { now, sleep, after } = context;
  const output = getProgressStream(context);
  const line = createStatusLine(output);
  const deadline = now().getTime() + timeoutMs;
  let said = ['', ''];
  const show = (): void => {
    const left = formatWaitTime(Math.max(0, deadline - now().getTime()));
    // The time comes before the names, because a narrow terminal may cut off the end.
    const [done = '', what = ''] = said;
    if (done !== '') line.show(toPrintable(`${done}, ${left} left at most: ${what}`));
  };
  const stop = callPeriodically(show, { ...output, after });
  setLineWriter(line.tell);
  try {
    return await awaitPendingResources(client, subjects, {
      ...{ timeoutMs, now, sleep, signal },
      onReading: (all, [first, ...others]) => {
        const more = others.length === 0 ? '' : `, and ${others.length} more`;
        const done = all.filter(({ state }) => state === 'ready').length;
        said = [`${done} of ${all.length} ready`, `${first?.address}: ${first?.message}${more}`];
        show();
      },
    });
  } finally {
    stop();
    line.clear();
    setLineWriter(undefined);
  }
}

/**
 * Asks for approval. In a format other than text, the plan was not shown yet, so the question contains it. Throws if
 * there is no terminal.
 */
async function confirm({ plan, flags }: PlanExecutionInput, writes: number, context: Context): Promise<boolean> {
  const what = writes === 1 ? 'this write' : `these ${writes} writes`;
  const dangers = formatDangerCountsOfChanges(plan.changes);
  const warning = dangers === '' ? '' : `! ${dangers}. `;
  const question = `${warning}${writes === 0 ? 'Write the files?' : `Send ${what} to ${plan.baseUrl}?`}`;
  const unseen = flags.format !== 'text' ? `${renderAskedPlan(plan, context, flags)}\n` : '';
  const answer = await context.ask(`${unseen}${question} Only "yes" is accepted: `);
  if (answer === undefined)
    throw new CommandError('Edgewise cannot ask for confirmation: there is no terminal.', {
      exitCode: EXIT.invalid,
      remedy: 'Use --yes to apply without asking. Nothing was written.',
    });
  return answer.trim() === 'yes';
}

/**
 * Applies the plan, and returns the plan that was applied: it is made again after the user was asked. Shows progress only from the first write on, because until then the user may be asked for approval.
 */
async function applyWithProgress(
  execution: PlanExecutionInput,
  stream: EventStream,
  context: Context,
): Promise<{ readonly plan: Plan; readonly result: ApplyResult }> {
  const { flags, signal } = execution;
  let { plan } = execution;
  let progress: ApplyProgress | undefined;
  const tellStopping = () =>
    progress?.tell('Stopping: no new writes; those under way finish. Interrupt again to stop at once.');
  signal.addEventListener('abort', tellStopping, { once: true });
  const endProgress = (): void => {
    progress?.end();
    progress = undefined;
    execution.setLineWriter(undefined);
  };
  try {
    const result = await execution.apply({
      signal,
      journal: flags.journal,
      ...(flags.yes !== true && { confirm: (writes: number) => confirm(execution, writes, context) }),
      onWarning: (message) => {
        endProgress();
        context.stderr.write(`Warning: ${toPrintable(message)}\n`);
      },
      onStart: (applied) => {
        plan = applied;
        const ahead = { total: plan.writes.length, rateLimit: plan.settings.rateLimit };
        for (const event of listStartEvents(plan)) stream.send(event);
        const place = { ...context, output: getProgressStream(context) };
        progress = createApplyProgress(place, ahead, getTextOptions(context.stderr, context, flags));
        execution.setLineWriter(progress.tell, progress.wait);
      },
      onEvent: (event) => {
        progress?.onEvent(event);
        stream.send(createEventBody(event));
      },
    });
    return { plan, result };
  } finally {
    signal.removeEventListener('abort', tellStopping);
    endProgress();
  }
}

/**
 * Returns `authentication` only if nothing was applied and every failure is about permissions. After a partial apply,
 * returns `failed` for such failures.
 */
export function exitCodeOfApply({ outcomes, files, interrupted, waited = [] }: ApplyResult): ExitCode {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const isWhole = outcomes.every(({ outcome }) => outcome === 'applied');
  const isReady = waited.every(({ state }) => state === 'ready');
  if (isWhole && isReady && files.every(({ outcome }) => outcome === 'applied')) return EXIT.success;
  if (interrupted) return EXIT.interrupted;
  const isRefused = failed.length > 0 && failed.every((one) => one.isAuthentication);
  const isNothingDone = outcomes.every(({ outcome }) => outcome !== 'applied');
  return isRefused && isNothingDone ? EXIT.authentication : EXIT.failed;
}

/** Renders the plan for the question: always as text, for stderr. */
function renderAskedPlan(plan: Plan, context: Context, flags: FormatFlags): string {
  return renderUnblocked(plan, getTextOptions(context.stderr, context, flags));
}

/** Shows the plan before the apply, in text. Other formats are one document, which is shown at the end. */
export function showPlanFirst(plan: Plan, flags: FormatFlags, context: Context): void {
  if (flags.format !== 'text') return;
  context.stdout.write(renderUnblocked(plan, getTextOptions(context.stdout, context, flags)));
}

function renderUnblocked(plan: Plan, options: TextStyleOptions): string {
  return renderTextReport({ about: 'plan', plan, blocking: [] }, options);
}

/** The report of an apply whose plan is not as approved or, without a name of an approved plan, not as shown. */
export function createApprovalReport(comparison: PlanComparison, approvedName: string | undefined): ComparisonReport {
  const command = approvedName === undefined ? 'question' : 'apply';
  const names = { before: approvedName ?? 'the plan that was shown', after: 'The plan' };
  return { about: 'comparison', command, comparison, names };
}
