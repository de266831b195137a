import type { Client } from '../client/client.ts';
import { renderTimeSpan } from '../kinds/duration.ts';
import type { Address } from '../model/address.ts';
import { listClockSkewWarnings, NO_SKEW } from '../model/clock.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import type { ApplyEvent, ApplyResult, Outcome } from '../model/outcome.ts';
import { listKnownIds, type Plan } from '../model/plan.ts';
import { sleepFor } from '../model/sleep.ts';
import { isDelete, type Write, type WriteId } from '../model/write.ts';
import { ConcurrentChangeDetector } from './concurrent-changes.ts';
import { ConflictWaits, DEFAULT_CONFLICT_MS } from './conflicts.ts';
import { type DuplicateResolutionContext, deleteOwnDuplicates, SharedListRequests } from './duplicates.ts';
import type { JournalWriter } from './journal.ts';
import { performWrite, type WriteContext } from './perform-write.ts';
import { PlanReliances } from './relied-state.ts';
import { type ApplyRequests, createApplyRequests } from './requests.ts';
import { runWrites, type WriteRunCallbacks, watchConnection } from './run-writes.ts';
import { TokenDeliveries, type TokenSinks } from './token-sinks.ts';
import { type WriteFile, writePlannedFiles } from './write-files.ts';

/** The input of `applyPlan` in addition to the plan. */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'> & Partial<Pick<Client, 'get' | 'clockSkew'>>;
  /** Must contain a sink for each credential that the plan creates. */
  readonly sinks: TokenSinks;
  readonly onEvent: (event: ApplyEvent) => void;
  /** The current time. The validity of a new certificate or credential starts when its creation is sent. */
  readonly now: () => Date;
  /** Resolves after `ms`, or as soon as the signal is aborted. Default: the system's timer. */
  readonly sleep?: (ms: number, signal?: AbortSignal) => Promise<void>;
  /**
   * How long a write is tried again that the service rejects with 409, if it depends on a delete or an update of this
   * run, in milliseconds. Default: one minute.
   */
  readonly conflictMs?: number | undefined;
  /** When aborted, no further write starts. Writes under way finish. */
  readonly signal: AbortSignal;
  /** Known ids of resources that another stack creates, by address. */
  readonly ids: ReadonlyMap<string, string>;
  readonly writeFile: WriteFile;
  /** The pipeline to record in marks: `commit 1a2b3c4d5e6f, https://…`. Absent: marks record no pipeline. */
  readonly by?: string | undefined;
  /** Receives an entry before and after each request. Absent: no journal is written. */
  readonly journal?: JournalWriter | undefined;
  /** Set if plans of other stacks are applied at the same time. Absent: this plan is applied alone. */
  readonly sideBySide?: MultiStackRounds | undefined;
}

/**
 * Coordinates a plan with plans of other stacks that are applied to the account at the same time. A write that must
 * wait for a write of another plan is assigned to a numbered round. Rounds run after all other writes. A round begins
 * only when every plan has finished the previous round.
 */
export interface MultiStackRounds {
  /**
   * Whether plans of other stacks wait for the writes of this plan. If so, the check for duplicates runs before
   * `onWritten` is called, which then gets final outcomes. Otherwise the check waits until all plans are ready for
   * round 1.
   */
  readonly isAwaited: boolean;
  /** Maps a write to its round, counted from 1. A write that waits for no other plan is absent. */
  readonly rounds: ReadonlyMap<WriteId, number>;
  /** Called when all writes outside rounds have ended. */
  readonly onWritten: (outcomes: readonly Outcome[]) => void;
  /** Reports that this plan is ready for the round. Resolves when each of the other plans is ready too or has ended. */
  readonly untilRound: (round: number) => Promise<void>;
}

/**
 * Applies a plan. Each write starts as soon as its dependencies have succeeded. If a write fails, the writes that
 * depend on it are skipped and the others continue. An apply also lists kinds, to find out whether a creation took
 * effect and whether a concurrent apply created the same resource first. In the latter case it deletes its own
 * creation. Does not check whether the plan is still right. Never rejects because of the service or the network:
 * failures are in the result.
 */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const { onEvent, signal, now } = context;
  const diagnostics: Diagnostic[] = [];
  const note = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
    onEvent({ event: 'diagnostic', diagnostic });
  };
  const reach = watchConnection(signal);
  const untilEnd = AbortSignal.any([signal, reach.signal]);
  const requests = createApplyRequests({
    ...context,
    signal: untilEnd,
    onStarted: (write) => onEvent({ event: 'write-started', write }),
  });
  const deliveries = new TokenDeliveries({ ...context, known: listKnown(plan) });
  const settle = createSettleContext(plan, context, { requests, note });
  const write: WriteContext = {
    concurrentChanges: new ConcurrentChangeDetector(plan),
    requests,
    deliveries,
    settle,
    now,
    ids: new Map(context.ids),
    texts: new Map(),
    storedForms: new Map(),
    unrecorded: new Set(),
    lateDeliveries: listLateDeliveries(plan),
    judge: reach.judge,
    by: context.by,
    looked: new Set(),
    clockSkew: context.client.clockSkew ?? (() => NO_SKEW),
    conflicts: createConflictWaits(plan, context, untilEnd),
    reliances: context.client.get && new PlanReliances(plan, context.client.shown),
  };
  const outcomes = await runPhases(plan, context, write);
  // A plan that warns already says what happens. Otherwise, the times of new resources have shown it.
  if (!plan.diagnostics.some(({ code }) => code === 'clock-skew'))
    for (const warning of listClockSkewWarnings(write.clockSkew(), renderTimeSpan)) note(warning);
  const texts = selectFileTexts(outcomes, write.texts);
  return {
    outcomes,
    tokens: deliveries.tokens,
    files: await writePlannedFiles(plan, { write: context.writeFile, texts, signal }),
    diagnostics,
    lookUps: settle.duplicates.lookUps.count,
    interrupted: signal.aborted,
  };
}

function createConflictWaits(plan: Plan, context: ApplyContext, signal: AbortSignal): ConflictWaits {
  const { sleep = sleepFor, onEvent, conflictMs = DEFAULT_CONFLICT_MS, sideBySide } = context;
  return new ConflictWaits(plan, {
    limitMs: conflictMs,
    sleep: (ms) => sleep(ms, signal),
    signal,
    onEvent,
    isAfterOtherStacks: (id) => sideBySide?.rounds.has(id) === true,
  });
}

/** The records of a delivery that come after a delete: see the order of writes in a plan. */
function listLateDeliveries({ writes }: Plan): ReadonlySet<WriteId> {
  const deletes = new Set(writes.filter(isDelete).map(({ id }) => id));
  const late = writes.filter(
    ({ purpose, dependsOn }) => purpose === 'deliver' && dependsOn.some((id) => deletes.has(id)),
  );
  return new Set(late.map(({ id }) => id));
}

/** The addresses that had a live resource when the plan was made. */
function listKnown({ changes }: Plan): ReadonlySet<Address> {
  return new Set(changes.flatMap(({ address, live }) => (live === undefined ? [] : [address])));
}

function createSettleContext(
  plan: Plan,
  { client, sleep = sleepFor, signal }: ApplyContext,
  { requests, note }: { readonly requests: ApplyRequests; readonly note: DuplicateResolutionContext['note'] },
): DuplicateResolutionContext {
  const duplicates = {
    lookUps: new SharedListRequests(requests.list, client.shown, requests.listNewest),
    known: listKnownIds(plan),
    sleep: (ms: number) => sleep(ms, signal),
  };
  return { duplicates, remove: requests.remove, note };
}

/**
 * Runs the writes outside rounds, then each round. Returns the outcomes. A creation counts as failed if the created
 * resource was then deleted because a concurrent apply had created the same one.
 */
async function runPhases(plan: Plan, context: ApplyContext, write: WriteContext): Promise<readonly Outcome[]> {
  const { sideBySide } = context;
  const rounds = sideBySide?.rounds ?? new Map<WriteId, number>();
  const run = (round: number | undefined, ended: readonly Outcome[]) =>
    runWrites(
      plan.writes.filter(({ id }) => rounds.get(id) === round),
      createRunOptions(plan, { context, write, ended }),
    );
  const written = await run(undefined, []);
  const early = sideBySide?.isAwaited === true ? await deleteOwnDuplicates(written, write.settle) : undefined;
  sideBySide?.onWritten(early ?? written);
  await sideBySide?.untilRound(1);
  const settled = early ?? (await deleteOwnDuplicates(written, write.settle));
  const late: Outcome[] = [];
  for (let round = 1; round <= Math.max(0, ...rounds.values()); round += 1) {
    await sideBySide?.untilRound(round);
    late.push(...(await run(round, [...written, ...late])));
  }
  return [...settled, ...late];
}

function createRunOptions(
  { writes }: Plan,
  {
    context: { onEvent },
    write: context,
    ended,
  }: { readonly context: ApplyContext; readonly write: WriteContext; readonly ended: readonly Outcome[] },
): WriteRunCallbacks {
  return {
    ended,
    accepts: (write, needed) => needed.outcome === 'applied' || canFollowFailure(write, needed, context),
    perform: async (write, limit) => context.judge(await performWrite(write, context, limit)),
    onEnded: (result, count) => onEvent({ event: 'write-ended', result, done: count, total: writes.length }),
  };
}

/**
 * Whether a write may start although its dependency `needed` failed. True for a delete if `needed` delivered the token
 * and only failed to record that in the mark, and for such a record after a delete: the new credential stays.
 */
function canFollowFailure(write: Write, needed: Outcome, { unrecorded }: WriteContext): boolean {
  if (write.purpose === 'deliver') return isDelete(needed.write);
  return isDelete(write) && unrecorded.has(needed.write.id);
}

/** Selects the file contents to write. Omits those of resources that were not created, or deleted as duplicates. */
function selectFileTexts(
  outcomes: readonly Outcome[],
  texts: ReadonlyMap<string, string>,
): ReadonlyMap<string, string> {
  const made = new Set<string>(outcomes.flatMap((one) => (one.outcome === 'applied' ? [one.write.address] : [])));
  return new Map([...texts].filter(([address]) => made.has(address)));
}
