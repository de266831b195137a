import { resolve } from 'node:path';
import { applyPlan } from '../apply/apply.ts';
import { createDirectorySink, createRescueSink, type TokenSink } from '../apply/token-sink.ts';
import type { Client } from '../client/client.ts';
import { listOneTimeFields } from '../kinds/kind.ts';
import { getKind } from '../kinds/registry.ts';
import type { ApplyResult } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { renderApplyJson } from '../report/json.ts';
import { renderApplyResultText } from '../report/text-apply.ts';
import type { Context } from './context.ts';
import { CommandError, EXIT, type ExitCode } from './exit-code.ts';
import { type FormatFlags, toTextOptions } from './present.ts';
import { createProgress } from './progress.ts';
import type { RunSettings } from './settings.ts';

/** A plan that was let through, and what is known of it already. */
export interface Execution {
  readonly plan: Plan;
  readonly settings: RunSettings;
  readonly flags: FormatFlags & { readonly yes?: boolean };
  readonly done: ReadonlyMap<string, string | undefined>;
  readonly ids: ReadonlyMap<string, string>;
}

/** Asks, applies, reports. The plan has been shown; it has writes, no errors, and no safety rule stands against it. */
export async function executePlan(client: Client, execution: Execution, context: Context): Promise<ExitCode> {
  const { plan, flags, settings } = execution;
  const sink = chooseSink(plan, settings, context);
  await confirm(plan, flags.yes === true, context);
  await testSink(sink);
  const result = await applyWithProgress(client, { ...execution, sink }, context);
  const text =
    flags.format === 'json'
      ? renderApplyJson(plan, result)
      : renderApplyResultText(plan, result, toTextOptions(context.stdout, context, flags));
  context.stdout.write(text);
  return toExitCode(result);
}

/** Where tokens go; `undefined` when the plan creates no credential. */
function chooseSink(plan: Plan, settings: RunSettings, { cwd }: Context): TokenSink | undefined {
  const creating = plan.writes.filter(
    ({ method, kind }) => method === 'POST' && listOneTimeFields(getKind(kind)).length > 0,
  );
  const [first] = creating;
  if (first === undefined) return undefined;
  if (settings.tokenDirectory !== undefined)
    return createDirectorySink(resolve(cwd, settings.tokenDirectory), settings.tokenDirectory);
  const remedy = 'Set spec.tokens.default.directory in the Stack, or use --token-directory. Nothing was written.';
  throw new CommandError(
    `${first.address} would be created, and nothing says where its token is to go: it is shown only once.`,
    { exitCode: EXIT.invalid, remedy },
  );
}

async function testSink(sink: TokenSink | undefined): Promise<void> {
  try {
    await sink?.test();
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The token sink does not work: ${why}`, {
      exitCode: EXIT.failed,
      remedy: 'Nothing was written.',
      cause: error,
    });
  }
}

async function confirm(plan: Plan, isYes: boolean, context: Context): Promise<void> {
  if (isYes) return;
  const answer = await context.ask(`Do these ${plan.writes.length} writes on ${plan.baseUrl}? Only "yes" does it: `);
  if (answer === undefined)
    throw new CommandError('There is nobody to ask.', {
      exitCode: EXIT.invalid,
      remedy: 'Use --yes to apply without asking. Nothing was written.',
    });
  if (answer.trim() !== 'yes') throw new CommandError('Declined: nothing was written.', { exitCode: EXIT.interrupted });
}

async function applyWithProgress(
  client: Client,
  execution: Execution & { readonly sink: TokenSink | undefined },
  context: Context,
): Promise<ApplyResult> {
  const { plan, flags, done, ids, sink } = execution;
  const progress = createProgress(context.stderr, plan.writes.length, toTextOptions(context.stderr, context, flags));
  const abort = new AbortController();
  const stopListening = context.onInterrupt(() => {
    if (abort.signal.aborted) context.exitNow(EXIT.interrupted);
    abort.abort();
    context.stderr.write('Stopping: no new writes; those under way finish. Interrupt again to stop at once.\n');
  });
  try {
    return await applyPlan(plan, {
      client,
      sink,
      rescue: createRescueSink(),
      onEvent: progress.onEvent,
      signal: abort.signal,
      done,
      ids,
    });
  } finally {
    stopListening();
    progress.end();
  }
}

/** An apply that failed for nothing but permissions says so; one that was interrupted before its end too. */
function toExitCode({ outcomes, interrupted }: ApplyResult): ExitCode {
  const failed = outcomes.filter(({ outcome }) => outcome === 'failed');
  const isWhole = outcomes.every(({ outcome }) => outcome === 'applied');
  if (isWhole) return EXIT.done;
  if (interrupted) return EXIT.interrupted;
  const isRefused = failed.every((result) => result.outcome === 'failed' && result.isAuthentication);
  return isRefused ? EXIT.authentication : EXIT.failed;
}
