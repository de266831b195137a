import type { Locate } from '../../model/diagnostic.ts';
import type { ApplyResult } from '../../model/outcome.ts';
import type { Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import type { StackPart } from '../../report/stacks-report.ts';
import { renderStackEnds, renderStacksReportText, renderStacksTable } from '../../report/text/stacks-report.ts';
import { toCount } from '../../report/view/wording.ts';
import { isInvalid } from '../../stack/plan-live.ts';
import { NOTHING_DONE, type RunOptions } from '../../stack/run-plan.ts';
import type { SharedAccount } from '../../stack/shared-account.ts';
import { listNeeded } from '../../stacks/order-stacks.ts';
import type { Output } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { toTextOptions } from '../output/present.ts';
import type { ApplyFlags } from '../reconcile/apply-manifests.ts';
import { toAppliedExitCode } from '../reconcile/execute-plan.ts';
import { listRefused } from '../reconcile/plan-flags.ts';
import type { PooledAccount } from './account-pool.ts';
import { createGate, type Gate } from './create-gate.ts';
import type { NarrowingFlags } from './narrowing.ts';
import { createRunProgress, type RunProgress } from './run-progress.ts';
import { publishRun, type StackResult, type StacksRun, toFailed, toPart, toStacksReport } from './stacks-run.ts';

/** Flags of an apply of many stacks. */
export interface ApplyStacksFlags extends ApplyFlags, NarrowingFlags {
  readonly stack?: readonly string[];
}

/** A stack whose plan was let through. */
export interface ReadyStack {
  readonly plan: Plan;
  readonly apply: (options: RunOptions) => Promise<ApplyResult>;
  readonly pooled: PooledAccount;
  readonly locate: Locate;
}

/** An apply of many stacks: what may be applied of them. */
export interface Applying {
  readonly run: StacksRun;
  readonly flags: ApplyStacksFlags;
  readonly mode: 'apply' | 'destroy';
  readonly ready: Map<StackFolder, ReadyStack>;
}

/** Shows every plan, asks once, and applies what is ready. What stops one stack stops no other that does not depend on it. */
export async function finishApply(applying: Applying, planned: readonly StackPart[]): Promise<ExitCode> {
  const { run, flags, ready } = applying;
  const isShown = flags.format === 'text';
  if (isShown) showPlans(run, planned);
  if (ready.size === 0) return publishRun(run, planned, { isShown });
  await confirm(applying, planned);
  const watch = createRunProgress(run, [...ready.values()]);
  const applied = await applyReady(applying, planned, watch);
  // What was found before is on the screen already.
  const ended = applied.filter((part, index) => part !== planned[index]);
  if (isShown) showEnds(run, { applied, ended });
  return publishRun(run, applied, { isShown, sent: watch.sent() });
}

function showPlans(run: StacksRun, planned: readonly StackPart[]): void {
  const { context } = run;
  context.stdout.write(renderPlans(run, planned, context.stdout));
}

function renderPlans(run: StacksRun, planned: readonly StackPart[], output: Output): string {
  return renderStacksReportText(toStacksReport(run, planned), toTextOptions(output, run.context, run.flags));
}

function showEnds(
  run: StacksRun,
  { applied, ended }: { readonly applied: readonly StackPart[]; readonly ended: readonly StackPart[] },
): void {
  const { context, flags } = run;
  const options = toTextOptions(context.stdout, context, flags);
  const { requests: _, ...report } = toStacksReport(run, applied);
  context.stdout.write(`\n${renderStackEnds(ended, options)}${renderStacksTable(report, options)}`);
}

/** In another form than text nobody has seen the plans yet: what is asked has them. */
async function confirm({ run, flags, ...rest }: Applying, planned: readonly StackPart[]): Promise<void> {
  if (flags.yes === true) return;
  const { context } = run;
  const ready = [...rest.ready.values()];
  const writes = ready.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const places = [...new Set(ready.map(({ plan }) => plan.baseUrl))].join(', ');
  const unseen = flags.format === 'text' ? '' : `${renderPlans(run, planned, context.stderr)}\n`;
  const question = `${unseen}Do ${toCount(writes, 'write')} in ${toCount(ready.length, 'stack')} on ${places}? Only "yes" does it: `;
  const answer = await context.ask(question);
  if (answer?.trim() === 'yes') return;
  if (answer !== undefined) throw new CommandError('Declined: nothing was written.', { exitCode: EXIT.interrupted });
  throw new CommandError('There is no terminal to ask on.', {
    exitCode: EXIT.invalid,
    remedy: 'Use --yes to apply without asking. Nothing was written.',
  });
}

/** Applies what is ready: each stack as soon as those that it waits for are done, all of them within the rate limit of their account. */
async function applyReady(
  applying: Applying,
  planned: readonly StackPart[],
  watch: RunProgress,
): Promise<readonly StackPart[]> {
  const { run, ready, mode } = applying;
  const { stacks } = run.selected;
  const gates = toGates(ready);
  const results = new Map<StackFolder, Promise<StackResult | undefined>>();
  const start = (folder: StackFolder): Promise<StackResult | undefined> => {
    const known = results.get(folder);
    if (known !== undefined) return known;
    // To destroy is to go the other way: who refers to something is gone before it.
    const [needed, users] = [
      listNeeded(folder, stacks),
      stacks.filter((one) => listNeeded(one, stacks).includes(folder)),
    ];
    const [before, after] = mode === 'apply' ? [needed, users] : [users, needed];
    const result = applyOne(applying, {
      folder,
      before: before.map((one) => ({ folder: one, result: start(one) })),
      isAwaited: after.some((one) => ready.has(one)),
      gate: gates.get(ready.get(folder)?.pooled.account),
      planned,
      watch,
    });
    results.set(folder, result);
    return result;
  };
  try {
    const done = await Promise.all(stacks.map(start));
    return planned.map((part, index) => {
      const [folder, result] = [stacks[index], done[index]];
      return folder === undefined || result === undefined ? part : toPart(folder, result);
    });
  } finally {
    watch.end();
    for (const { pooled } of ready.values()) pooled.account.forget();
  }
}

/** One gate for each account: the look for what concurrent applies created is one for all of its stacks. */
function toGates(ready: Applying['ready']): ReadonlyMap<SharedAccount | undefined, Gate> {
  const groups = Map.groupBy(ready.values(), ({ pooled }) => pooled.account);
  return new Map([...groups].map(([account, members]) => [account, createGate(members.length)]));
}

interface Turn {
  readonly folder: StackFolder;
  /** Others wait for it, so it waits for none of its account. */
  readonly isAwaited: boolean;
  readonly gate: Gate | undefined;
  readonly before: readonly { readonly folder: StackFolder; readonly result: Promise<StackResult | undefined> }[];
  readonly planned: readonly StackPart[];
  readonly watch: RunProgress;
}

/** `undefined`: its plan is its result. */
async function applyOne({ run, flags, ready, mode }: Applying, turn: Turn): Promise<StackResult | undefined> {
  const { folder, before, planned, watch } = turn;
  const one = ready.get(folder);
  const { stacks } = run.selected;
  const failed: string[] = [];
  const ids = new Map<string, string>();
  for (const { folder: other, result } of before) {
    const ended = await result;
    if (one !== undefined) for (const [address, id] of listMadeIds(one.plan, other, ended)) ids.set(address, id);
    const exitCode = ended?.exitCode ?? planned[stacks.indexOf(other)]?.exitCode ?? EXIT.done;
    if (exitCode !== EXIT.done && !(mode === 'apply' && hasOnlyDeletesLeft(ended))) failed.push(other.name);
  }
  if (one === undefined) return undefined;
  const { journal } = flags;
  const { untilOthersWrote, pass } = toPassage(turn);
  try {
    if (failed.length > 0) return toFailed(toWaited(failed), folder, run.command);
    const result = await one.apply({
      ...watch.follow(folder, one.plan),
      journal,
      ids,
      signal: run.signal,
      untilOthersWrote,
    });
    const report = { about: 'apply', plan: one.plan, result } as const;
    return { report, exitCode: toAppliedExitCode(result), options: { locate: one.locate } };
  } catch (error) {
    return toFailed(error, folder, run.command);
  } finally {
    pass();
    // A plan file is held against what is live, and that now has what this stack made.
    if (turn.isAwaited) one.pooled.account.forget();
  }
}

/** The gate of a stack, which it goes through once: behind its writes, or when it ends without any. */
function toPassage({ gate, isAwaited }: Turn): Pick<Gate, 'pass'> & Required<Pick<RunOptions, 'untilOthersWrote'>> {
  let isThrough = false;
  const once = <T>(through: () => T): T | undefined => {
    if (isThrough) return undefined;
    isThrough = true;
    return through();
  };
  const pass = (): void => once(() => gate?.pass());
  return { pass, untilOthersWrote: async () => (isAwaited ? pass() : once(() => gate?.wait())) };
}

/** Nobody waits for a delete. One that is refused because of what another stack refers to would otherwise stop the very stack that lets go of it. */
function hasOnlyDeletesLeft(ended: StackResult | undefined): boolean {
  if (ended?.report.about !== 'apply') return false;
  const left = ended.report.result.outcomes.filter(({ outcome }) => outcome !== 'applied');
  return left.length > 0 && left.every(({ write }) => write.act === 'delete');
}

/** The ids that a stack waits for, as far as another one has made them. */
function listMadeIds(
  { awaited = {} }: Plan,
  { name }: StackFolder,
  ended: StackResult | undefined,
): readonly (readonly [string, string])[] {
  const outcomes = ended?.report.about === 'apply' ? ended.report.result.outcomes : [];
  const made = outcomes.flatMap((one) =>
    one.outcome === 'applied' && one.write.act === 'create' && one.id !== undefined
      ? [[one.write.address, one.id] as const]
      : [],
  );
  const byAddress = new Map(made);
  return Object.entries(awaited).flatMap(([address, { stack, resource }]) => {
    const id = stack === name ? byAddress.get(resource) : undefined;
    return id === undefined ? [] : [[address, id] as const];
  });
}

function toWaited(names: readonly string[]): CommandError {
  return new CommandError(`Not applied: it waited for ${names.join(', ')}, which did not succeed.`, {
    exitCode: EXIT.failed,
    remedy: 'Nothing of it was written. Run the command again when the other is done.',
  });
}

/** What a plan that was just made or read comes to before anybody is asked: it is ready, it has nothing to do, or something stands against it. */
export function admit(
  { flags, ready }: Pick<Applying, 'flags' | 'ready'>,
  folder: StackFolder,
  candidate: ReadyStack,
): StackResult {
  const { plan, locate } = candidate;
  const standing = listRefused(plan, flags);
  const options = { locate };
  if (isInvalid(plan) || standing.length > 0) {
    const exitCode = isInvalid(plan) ? EXIT.invalid : EXIT.refused;
    return { report: { about: 'plan', plan, standing }, exitCode, options };
  }
  if (plan.writes.length + plan.files.length === 0)
    return { report: { about: 'apply', plan, result: NOTHING_DONE }, exitCode: EXIT.done, options };
  ready.set(folder, candidate);
  return { report: { about: 'plan', plan, standing }, exitCode: EXIT.done, options };
}
