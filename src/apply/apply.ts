import type { Client } from '../client/client.ts';
import { renderTimeSpan } from '../kinds/duration.ts';
import type { Address } from '../model/address.ts';
import { listClockSkewWarnings, NO_SKEW } from '../model/clock.ts';
import { countInCondition, listAddressesInCondition } from '../model/conditions.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { type ApplyEvent, type ApplyResult, createFailedOutcome, type Outcome } from '../model/outcome.ts';
import { listKnownIds, type Plan } from '../model/plan.ts';
import { sleepFor } from '../model/sleep.ts';
import { isDelete, type Write, type WriteId } from '../model/write.ts';
import { ConcurrentChangeDetector } from './concurrent-changes.ts';
import { findUndoneDeletes } from './confirm-deletes.ts';
import { ConflictWaits, DEFAULT_CONFLICT_MS } from './conflicts.ts';
import { type DuplicateResolutionContext, deleteOwnDuplicates, SharedListRequests } from './duplicates.ts';
import { performWrite, type WriteContext } from './perform-write.ts';
import { PlanReliances } from './relied-state.ts';
import { type ApplyRequests, createApplyRequests } from './requests.ts';
import { runWrites, watchService } from './run-writes.ts';
import { TokenDeliveries, type TokenSinks } from './token-sinks.ts';

/** The input of `applyPlan` in addition to the plan. */
export interface ApplyContext {
  readonly client: Pick<Client, 'send' | 'limit' | 'list' | 'shown'> &
    Partial<Pick<Client, 'get' | 'readModule' | 'clockSkew' | 'readIds' | 'serviceDate'>>;
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
  /** The pipeline to record in marks: `commit 1a2b3c4d5e6f, https://…`. Absent: marks record no pipeline. */
  readonly by?: string | undefined;
  /** Writes that follow writes of other stacks, which may free what they claim. Default: none. */
  readonly afterOthers?: ReadonlySet<WriteId> | undefined;
}

/** An apply under way. Its writes are sent in one part or several. */
export interface StartedApply {
  /**
   * Sends writes of the plan. The writes that they depend on are among them, or were passed before. Resolves with their
   * outcomes. Never rejects because of the service or the network: failures are in the outcomes.
   */
  readonly send: (writes: readonly Write[]) => Promise<readonly Outcome[]>;
  /** Leaves out prunes of the plan. Writes that depend on them are then skipped. `message` says why. */
  readonly keep: (writes: readonly Write[], message: string) => void;
  /** The deletes of resources and modules that the service has answered with success. */
  readonly listDeletes: () => readonly Write[];
  /**
   * Finds deletes of a run, of this plan and of others, that took no effect. Called after the last write of the run.
   * Returns a message for each.
   */
  readonly findUndoneDeletes: (deletes: readonly Write[]) => Promise<ReadonlyMap<Write, string>>;
  /** Turns the outcomes of these writes into failures. Ignores writes of other plans. */
  readonly fail: (messages: ReadonlyMap<Write, string>) => void;
  /** Returns the result. Called once, after every write was sent or skipped. */
  readonly end: () => ApplyResult;
}

/**
 * Applies a plan. Each write starts as soon as its dependencies have succeeded. If a write fails, the writes that
 * depend on it are skipped and the others continue. An apply also lists kinds, to find out whether a creation took
 * effect and whether a concurrent apply created the same resource first. In the latter case it deletes its own
 * creation. Does not check whether the plan is still right. Never rejects because of the service or the network:
 * failures are in the result.
 * @example
 * const { outcomes } = await applyPlan(plan, context);
 * console.log(outcomes.map(({ outcome, write }) => `${write.address} ${outcome}`));
 */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const started = startApply(plan, context);
  await started.send(plan.writes);
  await confirmDeletes([started]);
  return started.end();
}

/** Confirms the deletes of a run: each that took no effect fails. `started`: the applies of one account. */
export async function confirmDeletes(started: readonly StartedApply[]): Promise<void> {
  const [first] = started;
  const messages = await first?.findUndoneDeletes(started.flatMap((one) => one.listDeletes()));
  if (messages !== undefined) for (const one of started) one.fail(messages);
}

/** Starts an apply like that of `applyPlan`, whose writes the caller sends. */
export function startApply(plan: Plan, context: ApplyContext): StartedApply {
  const { onEvent, signal } = context;
  const diagnostics: Diagnostic[] = [];
  const note = (diagnostic: Diagnostic): void => {
    diagnostics.push(diagnostic);
    onEvent({ event: 'diagnostic', diagnostic });
  };
  let checks = 0;
  const onLookUp = (): void => {
    checks += 1;
  };
  const write = createWriteContext(plan, context, { note, onLookUp });
  const ended = new Map<WriteId, Outcome>();
  const tell = (result: Outcome): void =>
    onEvent({ event: 'write-ended', result, done: ended.size, total: plan.writes.length });
  return {
    send: async (writes) => {
      await runWrites(writes, {
        ended,
        mayFollow: (one, needed) => needed.outcome === 'applied' || canFollowFailure(one, needed, write),
        perform: async (one, limit) => write.judge(await performWrite(one, write, limit)),
        onEnded: tell,
      });
      const settled = await deleteOwnDuplicates(
        writes.map(({ id }) => assertDefined(ended.get(id), `outcome of ${id}`)),
        write.settle,
      );
      for (const outcome of settled) ended.set(outcome.write.id, outcome);
      return settled;
    },
    keep: (writes, message) => {
      for (const one of writes) {
        const outcome: Outcome = { outcome: 'skipped', write: one, message, waitedFor: [], isKept: true };
        ended.set(one.id, outcome);
        tell(outcome);
      }
    },
    listDeletes: () =>
      [...ended.values()].flatMap(({ outcome, write: one }) =>
        outcome === 'applied' && one.method === 'DELETE' ? [one] : [],
      ),
    findUndoneDeletes: async (deletes) => {
      const { client, sleep = sleepFor, conflictMs = DEFAULT_CONFLICT_MS } = context;
      const { readModule } = client;
      if (readModule === undefined || deletes.length === 0) return new Map();
      const found = await findUndoneDeletes(deletes, {
        client: { list: client.list, readModule },
        limitMs: conflictMs,
        sleep: (ms) => sleep(ms, signal),
        signal,
      });
      checks += found.requests;
      return found.undone;
    },
    fail: (messages) => {
      for (const one of plan.writes) {
        const message = messages.get(one);
        if (message !== undefined) ended.set(one.id, createFailedOutcome(one, message));
      }
    },
    end: () => {
      // A plan that warns already says what happens. Otherwise, the times of new resources have shown it.
      if (countInCondition(plan, 'skewed') === 0)
        for (const warning of listClockSkewWarnings(write.clockSkew(), renderTimeSpan)) note(warning);
      const outcomes = plan.writes.map(({ id }) => assertDefined(ended.get(id), `outcome of ${id}`));
      return {
        outcomes,
        tokens: write.deliveries.tokens,
        diagnostics,
        lookUps: write.settle.duplicates.lookUps.count + write.recording.duplicates.lookUps.count + checks,
        interrupted: signal.aborted,
      };
    },
  };
}

interface WriteObserver {
  readonly note: (found: Diagnostic) => void;
  /** Called when a resource is read, to find out whether a creation took effect. */
  readonly onLookUp: () => void;
}

function createWriteContext(plan: Plan, context: ApplyContext, { note, onLookUp }: WriteObserver): WriteContext {
  const { onEvent, signal, now } = context;
  const watch = watchService(signal);
  const untilStopped = AbortSignal.any([signal, watch.unreachable]);
  const untilEnd = AbortSignal.any([untilStopped, watch.unmanageable]);
  const createRequests = (until: AbortSignal): ApplyRequests =>
    createApplyRequests({
      ...context,
      signal: until,
      onStarted: (write) => onEvent({ event: 'write-started', write }),
    });
  const requests = createRequests(untilEnd);
  const lateRequests = createRequests(watch.unreachable);
  const settle = createSettleContext(plan, context, { requests: createRequests(untilStopped), note });
  const { readIds, serviceDate } = context.client;
  const { read } = lateRequests;
  return {
    concurrentChanges: new ConcurrentChangeDetector(plan),
    requests,
    deliveries: new TokenDeliveries({ ...context, known: listKnown(plan) }),
    settle,
    creations: {
      readIds,
      serviceDate,
      known: new Set([...listKnownIds(plan), ...context.ids.values()]),
      read:
        read &&
        (async (one, id) => {
          onLookUp();
          return read(one, id);
        }),
      sleep: settle.duplicates.sleep,
    },
    recording: {
      requests: lateRequests,
      ...createSettleContext(plan, { ...context, signal: watch.unreachable }, { requests: lateRequests, note }),
    },
    now,
    ids: new Map(context.ids),
    doubtful: listAddressesInCondition(plan, 'doubtful'),
    lostMarks: new Map(),
    otherTexts: new Set(),
    unrecorded: new Set(),
    tookEffect: new Set(),
    postponedDeliveries: listPostponedDeliveries(plan),
    endUnmanageable: watch.endUnmanageable,
    judge: watch.judge,
    by: context.by,
    looked: new Set(),
    clockSkew: context.client.clockSkew ?? (() => NO_SKEW),
    conflicts: createConflictWaits(plan, context, untilEnd),
    reliances: context.client.get && new PlanReliances(plan, context.client.shown),
  };
}

function createConflictWaits(plan: Plan, context: ApplyContext, signal: AbortSignal): ConflictWaits {
  const { sleep = sleepFor, onEvent, conflictMs = DEFAULT_CONFLICT_MS, afterOthers } = context;
  return new ConflictWaits(plan, {
    limitMs: conflictMs,
    sleep: (ms) => sleep(ms, signal),
    signal,
    onEvent,
    isAfterOtherStacks: (id) => afterOthers?.has(id) === true,
  });
}

/** The new credentials whose tokens are delivered after a delete: see the order of writes in a plan. */
function listPostponedDeliveries({ writes }: Plan): ReadonlySet<Address> {
  const deletes = new Set(writes.filter(isDelete).map(({ id }) => id));
  return new Set(
    writes.flatMap(({ purpose, dependsOn, address }) =>
      purpose === 'deliver' && dependsOn.some((id) => deletes.has(id)) ? [address] : [],
    ),
  );
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
  return { duplicates, remove: requests.remove, read: requests.read, sleep: duplicates.sleep, note };
}

/**
 * Whether a write may start although its dependency `needed` failed. True if only a text for people failed; for a delete
 * if `needed` delivered the token and only failed to record that in the mark; and for a delivery after a delete: the new
 * credential stays.
 */
function canFollowFailure(write: Write, needed: Outcome, { unrecorded, tookEffect }: WriteContext): boolean {
  if (tookEffect.has(needed.write.id)) return true;
  if (write.purpose === 'deliver') return isDelete(needed.write);
  return isDelete(write) && unrecorded.has(needed.write.id);
}
