import type { MultiStackRounds } from '../../apply/apply.ts';
import { awaitPendingResources, type WaitOptions } from '../../client/await-work.ts';
import { assertDefined } from '../../model/errors.ts';
import type { ApplyEvent, ApplyResult, Outcome } from '../../model/outcome.ts';
import { isEmptyWork, isSamePlan, type Plan } from '../../model/plan.ts';
import type { StackFolder } from '../../model/stack-tree.ts';
import { isDelete } from '../../model/write.ts';
import {
  createEventBody,
  createEventStream,
  type EventBody,
  listStartEvents,
} from '../../report/machine/json-lines.ts';
import { renderRunText } from '../../report/render-text.ts';
import type { StackReportPart, WrittenEvents } from '../../report/report.ts';
import { formatDangerCountsOfChanges } from '../../report/view/danger-view.ts';
import { formatCount } from '../../report/view/wording.ts';
import {
  computeWriteRounds,
  listDependencies,
  orderStacks,
  type RoundByWriteId,
} from '../../repository/order-stacks.ts';
import { createPlannedResources } from '../../repository/planned-resources.ts';
import type { PlanOptions } from '../../stack/plan-live.ts';
import { type ApplyRunOptions, EMPTY_APPLY_RESULT } from '../../stack/run-plan.ts';
import type { OutputStream } from '../context.ts';
import { CommandError, EXIT, type ExitCode } from '../exit-code.ts';
import { findEventOutput, getTextOptions } from '../output/present.ts';
import { type ApplyProgress, createApplyProgress, getProgressStream } from '../output/progress.ts';
import { type ApplyFlags, findRefusal } from '../reconcile/apply-plan.ts';
import { createApprovalReport, exitCodeOfApply, listPendingResourcesOfApply } from '../reconcile/execute-plan.ts';
import { toConsentOptions } from '../reconcile/plan-flags.ts';
import {
  computeWorstExitCode,
  createFailedStack,
  createStackReportPart,
  createStacksReport,
  forEachStack,
  type OpenedStack,
  type PooledAccount,
  planOpenedStack,
  reportStacksRun,
  type StackFilterFlags,
  type StackPlan,
  type StackResult,
  type StacksRun,
} from './stacks-run.ts';

export interface ApplyStacksFlags extends ApplyFlags, StackFilterFlags {
  readonly stack?: readonly string[];
}

/** A planned stack. */
interface PlannedStack extends StackPlan {
  readonly opened: OpenedStack;
  readonly options: PlanOptions;
}

/** An apply of many stacks. */
export interface ApplyRun {
  readonly run: StacksRun;
  readonly flags: ApplyStacksFlags;
  readonly mode: 'apply' | 'destroy';
  /** The stacks whose plans are shown to the user, also those without changes. */
  readonly planned: Map<StackFolder, PlannedStack>;
  /** The stacks to apply: their plans have changes and are not blocked. */
  readonly ready: Map<StackFolder, PlannedStack>;
}

/** Shows every plan, asks once, and applies the ready stacks. If one fails, only its dependents are not applied. */
export async function showPlansAndApply(applying: ApplyRun, planned: readonly StackReportPart[]): Promise<ExitCode> {
  const { run, flags, ready } = applying;
  const isShown = flags.format === 'text';
  if (isShown) showPlans(run, planned);
  if (ready.size === 0) return reportStacksRun(run, planned, { isShown });
  if (flags.yes !== true) {
    await confirm(applying, planned);
    const again = await planAgain(applying, planned);
    const differing = again.filter(({ exitCode }, index) => exitCode !== planned[index]?.exitCode);
    if (differing.length > 0) {
      if (isShown) showPlans(run, differing);
      return reportStacksRun(run, again, { isShown });
    }
  }
  const watch = createRunProgress(
    run,
    Array.from(ready.values(), ({ plan, opened }) => ({ plan, pooled: opened.pooled })),
  );
  const applied = await applyReady(applying, planned, watch);
  // The results of planning are on the screen already.
  const ended = applied.map((part, index) => (part === planned[index] ? { ...part, isShown: true } : part));
  if (isShown) showEnds(run, ended);
  return reportStacksRun(run, applied, { isShown, sent: watch.sent() });
}

/**
 * Plans every stack that was shown once more, and compares it with what was shown. Replaces the plans in `ready`.
 * Returns the results; a stack whose plan is not as shown has another exit code.
 */
async function planAgain(
  { run: shown, ...applying }: ApplyRun,
  planned: readonly StackReportPart[],
): Promise<readonly StackReportPart[]> {
  const run = { ...shown, planned: createPlannedResources() };
  for (const { opened } of applying.planned.values()) opened.pooled.account.forget();
  const parts = new Map(shown.selected.stacks.map((folder, index) => [folder, planned[index]]));
  return forEachStack(run, async (folder): Promise<StackResult> => {
    const known = applying.planned.get(folder);
    if (known === undefined) {
      const part = assertDefined(parts.get(folder), `a result of ${folder.folder}`);
      return { ...part, exitCode: computeWorstExitCode([part.exitCode]) };
    }
    const { opened, options, plan } = known;
    const again = await planOpenedStack(run, opened, { options, approved: { plan, name: 'the plan that was shown' } });
    const { comparison } = again;
    if (comparison === undefined || isSamePlan(comparison))
      return classifyPlannedStack({ ...applying, run }, { ...again, opened, options });
    const report = createApprovalReport(comparison, undefined);
    return { report, exitCode: EXIT.stale, options: { locate: opened.locate } };
  });
}

function showPlans(run: StacksRun, planned: readonly StackReportPart[]): void {
  const { context } = run;
  context.stdout.write(renderPlans(run, planned, context.stdout));
}

function renderPlans(run: StacksRun, planned: readonly StackReportPart[], output: OutputStream): string {
  return renderRunText(createStacksReport(run, planned), getTextOptions(output, run.context, run.flags));
}

function showEnds(run: StacksRun, ended: readonly StackReportPart[]): void {
  const { context, flags } = run;
  const options = { ...getTextOptions(context.stdout, context, flags), isPlanShown: true };
  const { requests: _, ...report } = createStacksReport(run, ended);
  context.stdout.write(`\n${renderRunText(report, options)}`);
}

/**
 * Asks for approval. In a format other than text, the plans were not shown yet, so the question contains them. Throws
 * if the user declines, or if there is no terminal.
 */
async function confirm({ run, flags, ...rest }: ApplyRun, planned: readonly StackReportPart[]): Promise<void> {
  const { context } = run;
  const ready = [...rest.ready.values()];
  const writes = ready.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const places = [...new Set(ready.map(({ plan }) => plan.baseUrl))].join(', ');
  const unseen = flags.format === 'text' ? '' : `${renderPlans(run, planned, context.stderr)}\n`;
  const dangers = formatDangerCountsOfChanges(ready.flatMap(({ plan }) => plan.changes));
  const warning = dangers === '' ? '' : `! ${dangers}. `;
  const question = `${unseen}${warning}Send ${formatCount(writes, 'write')} in ${formatCount(ready.length, 'stack')} to ${places}? Only "yes" is accepted: `;
  const answer = await context.ask(question);
  if (answer?.trim() === 'yes') return;
  if (answer !== undefined) throw new CommandError('Declined: nothing was written.', { exitCode: EXIT.interrupted });
  throw new CommandError('Edgewise cannot ask for confirmation: there is no terminal.', {
    exitCode: EXIT.invalid,
    remedy: 'Use --yes to apply without asking. Nothing was written.',
  });
}

/** Applies the ready stacks, each after the writes of its dependencies. Stacks of an account share its rate limit. */
async function applyReady(
  applying: ApplyRun,
  planned: readonly StackReportPart[],
  watch: RunProgress,
): Promise<readonly StackReportPart[]> {
  const { run, ready } = applying;
  const { stacks } = run.selected;
  const rounds = createRounds(ready);
  const started = new Map<StackFolder, Started>();
  for (const { folder, before, isAwaited } of listTurns(applying)) {
    const turn = {
      folder,
      isAwaited,
      // A dependency that has not started is in a dependency cycle. Omit it: stacks in a cycle are never ready.
      before: before.flatMap((other) => started.get(other) ?? []),
      ...rounds.get(folder),
      exitCode: planned[stacks.indexOf(folder)]?.exitCode ?? EXIT.success,
      watch,
    };
    started.set(folder, startOne(applying, turn));
  }
  try {
    const done = await Promise.all(stacks.map((folder) => started.get(folder)?.result));
    return planned.map((part, index) => {
      const [folder, result] = [stacks[index], done[index]];
      return folder === undefined || result === undefined ? part : createStackReportPart(folder, result);
    });
  } finally {
    watch.end();
    for (const { opened } of ready.values()) opened.pooled.account.forget();
  }
}

/** A stack with its position in the order of an apply. */
interface Place {
  readonly folder: StackFolder;
  /** The stacks that this stack waits for. */
  readonly before: readonly StackFolder[];
  /** Whether a ready stack waits for this stack, directly or through other stacks. */
  readonly isAwaited: boolean;
}

/**
 * Orders the stacks after their dependencies. `destroy` reverses the order, because a resource is deleted after the
 * resources that refer to it.
 */
function listTurns({ run, ready, mode }: ApplyRun): readonly Place[] {
  const { ordered } = orderStacks(run.selected.stacks);
  const needed = new Map(ordered.map((folder) => [folder, listDependencies(folder, ordered)]));
  const isBefore = (one: StackFolder, other: StackFolder): boolean =>
    mode === 'apply' ? needed.get(other)?.includes(one) === true : needed.get(one)?.includes(other) === true;
  const places: Place[] = [];
  const awaited = new Set<StackFolder>();
  // Iterate backwards, so that the stacks that wait for a stack are visited before that stack.
  for (const folder of mode === 'apply' ? ordered.toReversed() : ordered) {
    const before = ordered.filter((other) => isBefore(other, folder));
    const isAwaited = awaited.has(folder);
    if (isAwaited || ready.has(folder)) for (const other of before) awaited.add(other);
    places.unshift({ folder, before, isAwaited });
  }
  return places;
}

/** Assigns writes to rounds. All ready stacks of an account finish a round before any begins the next. */
function createRounds(ready: ApplyRun['ready']): ReadonlyMap<StackFolder, Pick<Turn, 'barriers' | 'rounds'>> {
  const accounts = Map.groupBy(ready, ([, { opened }]) => opened.pooled.account);
  return new Map(
    [...accounts.values()].flatMap((members) => {
      const found = computeWriteRounds(members.map(([, { plan }]) => plan));
      const last = Math.max(1, ...[...found.values()].flatMap((rounds) => [...rounds.values()]));
      const barriers = createBarriers(members.length, last);
      return members.map(([folder, { plan }]) => [folder, { barriers, rounds: found.get(plan) }] as const);
    }),
  );
}

/** A stack that waits, is being applied, or has ended. */
interface Started {
  readonly folder: StackFolder;
  /** Resolves when the writes of this stack that belong to no round have ended, at the latest when the stack ends. */
  readonly written: Promise<Written>;
  /** Resolves with `undefined` if the stack was not ready. Its result is then the result of planning. */
  readonly result: Promise<StackResult | undefined>;
}

/** The finished writes of a stack, for the stacks that wait for it. */
interface Written {
  readonly outcomes: readonly Outcome[];
  /** If true, the stacks that wait for this stack are not applied. */
  readonly hasFailed: boolean;
}

interface Turn extends Pick<Place, 'folder' | 'isAwaited'> {
  /** Absent if the stack is not ready. */
  readonly barriers?: Barriers | undefined;
  readonly rounds?: RoundByWriteId | undefined;
  readonly before: readonly Started[];
  /** Exit code of the plan. */
  readonly exitCode: ExitCode | number;
  readonly watch: RunProgress;
}

/**
 * Starts a stack. The promises in the result never reject. `written` resolves before the stack waits at a barrier.
 * Otherwise there would be a deadlock: the barrier waits for the stacks that wait for `written`.
 */
function startOne(applying: ApplyRun, turn: Turn): Started {
  const { folder } = turn;
  const { promise: written, resolve } = Promise.withResolvers<Written>();
  const onWritten = (outcomes: readonly Outcome[]): void =>
    resolve({ outcomes, hasFailed: !outcomes.every((one) => letsOthersContinue(one, applying)) });
  const result = applyOne(applying, turn, onWritten);
  // If the stack ends before its writes are reported, it has failed, unless it had nothing to do.
  const end = (ended: StackResult | undefined): void =>
    resolve({ outcomes: [], hasFailed: (ended?.exitCode ?? turn.exitCode) !== EXIT.success });
  result.then(end, () => resolve({ outcomes: [], hasFailed: true }));
  return { folder, written, result };
}

async function applyOne(
  applying: ApplyRun,
  turn: Turn,
  onWritten: (outcomes: readonly Outcome[]) => void,
): Promise<StackResult | undefined> {
  const { run, flags, ready } = applying;
  const { folder, watch } = turn;
  const one = ready.get(folder);
  const { ids, failed } = await awaitOthers(turn, one?.plan);
  if (one === undefined) return undefined;
  const { stack, pooled, locate } = one.opened;
  const { account } = pooled;
  const { journal } = flags;
  const { sideBySide, pass } = createPassage(turn, (outcomes) => {
    // Drop the shared lists, which lack what this stack wrote: waiting stacks compare plan files with the live state.
    if (turn.isAwaited) account.forget();
    onWritten(outcomes);
  });
  try {
    if (failed.length > 0) return createFailedStack(createDependencyError(failed), folder, run.command);
    const written = await stack.apply(one.plan, {
      ...toConsentOptions(flags),
      ...watch.follow(folder, one.plan),
      journal,
      ids,
      signal: run.signal,
      ...(applying.mode === 'apply' && { sideBySide }),
    });
    // Pass the remaining barriers before the wait below: other stacks need not wait for work that the service continues.
    pass();
    const result = await waitFor(written, account, applying, watch);
    const report = { about: 'apply', plan: one.plan, result } as const;
    return { report, exitCode: exitCodeOfApply(result), options: { locate } };
  } catch (error) {
    return createFailedStack(error, folder, run.command);
  } finally {
    pass();
  }
}

/**
 * Waits for work that the service continues after the writes of a stack, and adds the results of that work. Stacks of
 * one account share list requests.
 */
async function waitFor(
  result: ApplyResult,
  { write }: PooledAccount['account'],
  { run, flags }: ApplyRun,
  { wait }: Pick<RunProgress, 'wait'>,
): Promise<ApplyResult> {
  const subjects = listPendingResourcesOfApply(result);
  const { now, sleep } = run.context;
  const { signal } = run;
  const { wait: timeoutMs } = flags;
  if (timeoutMs === undefined || signal.aborted || subjects.length === 0) return result;
  const onReading: WaitOptions['onReading'] = (_, [first], delayMs) =>
    wait({ until: now().getTime() + delayMs, reason: `${first?.address}: ${first?.message}` });
  const waited = await write((client) =>
    awaitPendingResources(client, subjects, { timeoutMs, now, sleep, signal, onReading }),
  );
  return { ...result, waited, interrupted: signal.aborted };
}

/**
 * Waits for the dependencies of a stack. Returns the ids that the cross-stack references of the plan need, and the
 * names of the stacks that failed.
 */
async function awaitOthers(
  { before }: Turn,
  plan: Plan | undefined,
): Promise<{ readonly ids: ReadonlyMap<string, string>; readonly failed: readonly string[] }> {
  const failed: string[] = [];
  const ids = new Map<string, string>();
  for (const { folder, written } of before) {
    const { outcomes, hasFailed } = await written;
    if (plan !== undefined) for (const [address, id] of listCreatedIds(plan, folder, outcomes)) ids.set(address, id);
    if (hasFailed) failed.push(folder.name);
  }
  return { ids, failed };
}

/**
 * Creates the functions with which a stack passes the barriers. `untilRound` passes the barriers up to a round; `pass` passes
 * all remaining barriers, at the end of the stack.
 */
function createPassage(
  { barriers, rounds = new Map(), isAwaited }: Turn,
  onWritten: MultiStackRounds['onWritten'],
): { readonly sideBySide: MultiStackRounds; readonly pass: () => void } {
  let passed = 0;
  const pass = (until = Number.POSITIVE_INFINITY): void => {
    for (const barrier of barriers?.slice(passed, until) ?? []) barrier.pass();
    passed = Math.max(passed, until);
  };
  const untilRound = async (round: number): Promise<void> => {
    pass(round);
    await barriers?.[round - 1]?.opened;
  };
  return { pass: () => pass(), sideBySide: { isAwaited, rounds, onWritten, untilRound } };
}

/**
 * Whether waiting stacks can continue. In an apply, a failed delete does not stop them: the service may reject the
 * delete because of a reference that only a waiting stack removes.
 */
function letsOthersContinue({ outcome, write }: Outcome, { mode }: ApplyRun): boolean {
  return outcome === 'applied' || (mode === 'apply' && isDelete(write));
}

/** Lists the created ids that cross-stack references of the plan need, with the addresses of the references. */
function listCreatedIds(
  { crossStackReferences = {} }: Plan,
  { name }: StackFolder,
  outcomes: readonly Outcome[],
): readonly (readonly [string, string])[] {
  const made = outcomes.flatMap((one) =>
    one.outcome === 'applied' && one.write.purpose === 'create' && one.id !== undefined
      ? [[one.write.address, one.id] as const]
      : [],
  );
  const byAddress = new Map(made);
  return Object.entries(crossStackReferences).flatMap(([address, { stack, resource }]) => {
    const id = stack === name ? byAddress.get(resource) : undefined;
    return id === undefined ? [] : [[address, id] as const];
  });
}

function createDependencyError(names: readonly string[]): CommandError {
  return new CommandError(`Not applied: it depends on ${names.join(', ')}, which did not succeed.`, {
    exitCode: EXIT.failed,
    remedy: 'No write of this stack was sent. Run the command again after the other stack is applied.',
  });
}

/** Classifies a planned stack: ready, without changes, or blocked. A ready stack is added to `ready`. */
export function classifyPlannedStack({ flags, ready, planned }: ApplyRun, candidate: PlannedStack): StackResult {
  const { plan, opened } = candidate;
  const { folder, locate } = opened;
  const options = { locate };
  const refused = findRefusal(plan, flags, candidate);
  ready.delete(folder);
  if (refused !== undefined) return { ...refused, options };
  planned.set(folder, candidate);
  if (isEmptyWork(plan))
    return { report: { about: 'apply', plan, result: EMPTY_APPLY_RESULT }, exitCode: EXIT.success, options };
  ready.set(folder, candidate);
  return { report: { about: 'plan', plan, blocking: [] }, exitCode: EXIT.success, options };
}

interface Barrier {
  /** Records that one more stack has reached the barrier. */
  readonly pass: () => void;
  /** Resolves when all stacks have reached the barrier. */
  readonly opened: Promise<void>;
}

type Barriers = readonly Barrier[];

function createBarriers(stacks: number, rounds: number): Barriers {
  return Array.from({ length: rounds }, () => createBarrier(stacks));
}

function createBarrier(count: number): Barrier {
  const { promise: opened, resolve } = Promise.withResolvers<void>();
  let left = count;
  return {
    opened,
    pass: () => {
      left -= 1;
      if (left <= 0) resolve();
    },
  };
}

/** The combined progress of all applies of a run: for the user, and as a stream of events. */
interface RunProgress {
  readonly follow: (
    folder: StackFolder,
    plan: Plan,
  ) => Required<Pick<ApplyRunOptions, 'onEvent' | 'onStart' | 'onWarning'>>;
  /** Records that no request is sent before a certain time. */
  readonly wait: ApplyProgress['wait'];
  /** Returns the events that were sent so far, and the folders of their stacks. */
  readonly sent: () => WrittenEvents;
  readonly end: () => void;
}

interface Followed {
  readonly plan: Plan;
  readonly pooled: PooledAccount;
}

/** Shows the progress of the applies. With `--format json-lines`, writes events to stdout as they happen. */
function createRunProgress({ context, flags }: StacksRun, all: readonly Followed[]): RunProgress {
  const total = all.reduce((sum, { plan }) => sum + plan.writes.length, 0);
  const rateLimit = all[0]?.plan.settings.rateLimit ?? 'none';
  const options = getTextOptions(context.stderr, context, flags);
  const progress = createApplyProgress(
    { ...context, output: getProgressStream(context) },
    { total, rateLimit },
    options,
  );
  for (const { pooled } of all) pooled.setLineWriter(progress.tell, progress.wait);
  const stream = createEventStream(context.now, findEventOutput(flags, context));
  const parts = new Set<string>();
  let done = 0;
  return {
    follow: ({ name: stack, folder }, plan) => {
      const send = (body: EventBody): void => stream.send({ ...body, stack });
      return {
        onStart: () => {
          parts.add(folder);
          for (const body of listStartEvents(plan)) send(body);
        },
        onEvent: (event) => {
          if (event.event === 'write-ended') done += 1;
          progress.onEvent(withStack(event, { stack, done, total }));
          send(createEventBody(event));
        },
        onWarning: (message) => progress.tell(`Warning: ${message}`),
      };
    },
    wait: progress.wait,
    sent: () => ({ ...stream.sent(), parts }),
    end: () => {
      progress.end();
      for (const { pooled } of all) pooled.setLineWriter(undefined);
    },
  };
}

/** Prefixes write ids with the name of the stack, because writes of several stacks may have the same id. */
function withStack(
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
