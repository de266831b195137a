import { resolve } from 'node:path';
import { applyPlan } from '../../apply/apply.ts';
import { createFileWriter } from '../../apply/certificate-file.ts';
import type { Journal } from '../../apply/journal.ts';
import { type JournalFile, openJournal } from '../../apply/journal-file.ts';
import type { TokenSinks } from '../../apply/token-sinks.ts';
import type { Client } from '../../client/client.ts';
import { toReason } from '../../model/errors.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { TokenSettings } from '../../model/stack.ts';
import type { WriteId } from '../../model/write.ts';
import { createEventStream, type EventStream, listStartEvents, toEventBody } from '../../report/programs/json-lines.ts';
import type { Locate } from '../../report/report.ts';
import { renderApplyResultText } from '../../report/text/apply.ts';
import type { TellBy } from '../connection/notices.ts';
import type { Context, Output } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { showFailure } from '../output/failure.ts';
import { isLogWanted } from '../output/logger.ts';
import { type FormatFlags, renderAskedPlan, toTextOptions } from '../output/present.ts';
import { createProgress } from '../output/progress.ts';
import { publish } from '../output/publish.ts';
import { chooseSinks, listOpenWrites } from './token-sinks.ts';

/** A plan that was let through, and what is known of it already. */
export interface Execution {
  readonly plan: Plan;
  readonly tokens: TokenSettings;
  readonly flags: FormatFlags & { readonly yes?: boolean; readonly journal?: string };
  readonly done: ReadonlyMap<WriteId, string | undefined>;
  readonly ids: ReadonlyMap<string, string>;
  readonly texts: ReadonlyMap<string, string>;
  /** Has what the client tells shown beside the progress. */
  readonly tellBy: TellBy;
  /** Aborted: before the first write, nothing is written; then no new write starts. */
  readonly signal: AbortSignal;
  readonly locate: Locate;
}

/** Asks, applies, reports. The plan has been shown; it has writes, no errors, and no safety rule stands against it. */
export async function executePlan(client: Client, execution: Execution, context: Context): Promise<ExitCode> {
  const { plan, flags, tokens, done, locate } = execution;
  const open = listOpenWrites(plan, done);
  const { sinks, test } = chooseSinks(open, tokens, context);
  if (flags.yes !== true && open.length + plan.files.length > 0) await confirm(execution, open.length, context);
  for (const warning of await test()) context.stderr.write(`Warning: ${warning}\n`);
  execution.signal.throwIfAborted();
  const journal = open.length === 0 ? undefined : await startJournal(plan, flags.journal, context);
  const stream = createEventStream(context.now, flags.format === 'json-lines' ? context.stdout.write : () => undefined);
  for (const event of listStartEvents(plan)) stream.send(event);
  const run = { ...execution, sinks, stream, journal: journal?.write };
  const result = await applyWithProgress(client, run, context).catch((error: unknown) => ({ error }));
  const lost = await journal?.close();
  // The events that are out already are a part of the failure's stream.
  if ('error' in result) {
    const failed = { command: plan.mode, stack: plan.stack, locate, flags, sent: stream.sent() };
    return showFailure(result.error, failed, context);
  }
  if (lost !== undefined) context.stderr.write(`The journal lacks lines, which could not be written: ${lost}\n`);
  const isShown = flags.format === 'text';
  if (isShown) {
    const options = { ...toTextOptions(context.stdout, context, flags), locate };
    context.stdout.write(`\n${renderApplyResultText(plan, result, options)}`);
  }
  const exitCode = toExitCode(result);
  const publication = { flags, isShown, exitCode, sent: stream.sent(), locate };
  return publish({ about: 'apply', plan, result }, publication, context);
}

/** A journal that cannot be written stops everything before the first write. */
async function startJournal(
  plan: Plan,
  flag: string | undefined,
  { cwd, env, now }: Context,
): Promise<JournalFile | undefined> {
  const file = flag ?? env['EDGEWISE_JOURNAL'] ?? '';
  if (file === '') return undefined;
  try {
    return await openJournal(resolve(cwd, file), plan, now);
  } catch (cause) {
    const message = `The journal cannot be written: ${toReason(cause)}`;
    throw new CommandError(message, { exitCode: EXIT.failed, remedy: 'Nothing was written.', cause });
  }
}

/** In another form than text nobody has seen the plan yet: what is asked has it. */
async function confirm({ plan, flags }: Execution, writes: number, context: Context): Promise<void> {
  const what = writes === 1 ? 'this write' : `these ${writes} writes`;
  const question = writes === 0 ? 'Write the files?' : `Do ${what} on ${plan.baseUrl}?`;
  const unseen = flags.format !== 'text' ? `${renderAskedPlan(plan, context, flags)}\n` : '';
  const answer = await context.ask(`${unseen}${question} Only "yes" does it: `);
  if (answer === undefined)
    throw new CommandError('There is nobody to ask.', {
      exitCode: EXIT.invalid,
      remedy: 'Use --yes to apply without asking. Nothing was written.',
    });
  if (answer.trim() !== 'yes') throw new CommandError('Declined: nothing was written.', { exitCode: EXIT.interrupted });
}

async function applyWithProgress(
  client: Client,
  execution: Execution & {
    readonly sinks: TokenSinks;
    readonly stream: EventStream;
    readonly journal: Journal | undefined;
  },
  context: Context,
): Promise<ApplyResult> {
  const { plan, flags, done, ids, texts, sinks, stream, journal, signal } = execution;
  const ahead = { total: plan.writes.length, rateLimit: plan.settings.rateLimit };
  const progress = createProgress(toProgressOutput(context), ahead, toTextOptions(context.stderr, context, flags));
  execution.tellBy(progress.tell);
  const tellStopping = () =>
    progress.tell('Stopping: no new writes; those under way finish. Interrupt again to stop at once.');
  signal.addEventListener('abort', tellStopping, { once: true });
  try {
    return await applyPlan(plan, {
      client,
      sinks,
      onEvent: (event) => {
        progress.onEvent(event);
        stream.send(toEventBody(event));
      },
      now: context.now,
      sleep: context.sleep,
      signal,
      done,
      ids,
      texts,
      writeFile: createFileWriter(context.cwd),
      journal,
    });
  } finally {
    signal.removeEventListener('abort', tellStopping);
    progress.end();
    execution.tellBy(undefined);
  }
}

/** Log lines would be drawn over by a live view. */
function toProgressOutput({ env, stderr }: Context): Output {
  return isLogWanted({ env }) ? { ...stderr, isTerminal: false } : stderr;
}

/** An apply that did nothing, for nothing but permissions, says so; one that did a part has failed, whatever the rest failed for. */
function toExitCode({ outcomes, files, interrupted }: ApplyResult): ExitCode {
  const failed = outcomes.filter((one) => one.outcome === 'failed');
  const isWhole = outcomes.every(({ outcome }) => outcome === 'applied');
  if (isWhole && files.every(({ outcome }) => outcome === 'applied')) return EXIT.done;
  if (interrupted) return EXIT.interrupted;
  const isRefused = failed.length > 0 && failed.every((one) => one.isAuthentication);
  const isNothingDone = outcomes.every(({ outcome }) => outcome !== 'applied');
  return isRefused && isNothingDone ? EXIT.authentication : EXIT.failed;
}
