import { renderTimeSpan } from '../kinds/duration.ts';
import { listClockSkewWarnings } from '../model/clock.ts';
import { countInCondition } from '../model/conditions.ts';
import type { Diagnostic } from '../model/diagnostic.ts';
import { assertDefined } from '../model/errors.ts';
import { type ApplyResult, createFailedOutcome, type Outcome } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import { sleepFor } from '../model/sleep.ts';
import { isDelete, type Write, type WriteId } from '../model/write.ts';
import { type ApplyContext, type ApplyRun, createApplyRun } from './apply-run.ts';
import { DEFAULT_CONFLICT_MS } from './conflicts.ts';
import { deleteOwnDuplicates } from './duplicates.ts';
import { performWrite } from './perform-write.ts';
import { runWrites } from './run-writes.ts';
import { findUndoneDeletes } from './verify-deletes.ts';

/**
 * Applies a plan as a whole, for a rehearsal, and for programs that have a client. `edgewise apply` and `Stack.apply` use
 * `StartedApply` instead. Each write starts as soon as its dependencies have succeeded. If a write fails, the writes that
 * depend on it are skipped and the others continue. An apply also lists kinds, to find out whether a creation took
 * effect and whether a concurrent apply created the same resource first. In the latter case it deletes its own
 * creation. Does not check whether the plan is still right. Never rejects because of the service or the network:
 * failures are in the result.
 * @example
 * const { outcomes } = await applyPlan(plan, context);
 * console.log(outcomes.map(({ outcome, write }) => `${write.address} ${outcome}`));
 */
export async function applyPlan(plan: Plan, context: ApplyContext): Promise<ApplyResult> {
  const started = new StartedApply(plan, context);
  await started.send(plan.writes);
  await verifyDeletes([started]);
  return started.end();
}

/** Verifies deletes: each that took no effect fails. `started`: the applies of one account. */
export async function verifyDeletes(started: readonly StartedApply[]): Promise<void> {
  const [first] = started;
  const messages = await first?.findUndoneDeletes(started.flatMap((one) => one.listDeletes()));
  if (messages !== undefined) for (const one of started) one.fail(messages);
}

/** An apply under way. Its writes are sent in one part or several. */
export class StartedApply {
  readonly #plan: Plan;
  readonly #context: ApplyContext;
  readonly #run: ApplyRun;
  readonly #ended = new Map<WriteId, Outcome>();
  readonly #diagnostics: Diagnostic[] = [];
  /** The number of requests that checked deletes. */
  #checks = 0;

  constructor(plan: Plan, context: ApplyContext) {
    this.#plan = plan;
    this.#context = context;
    this.#run = createApplyRun(plan, context, (diagnostic) => this.#note(diagnostic));
  }

  /**
   * Sends writes of the plan. The writes that they depend on are among them, or were passed before. Resolves with their
   * outcomes. Never rejects because of the service or the network: failures are in the outcomes.
   */
  async send(writes: readonly Write[]): Promise<readonly Outcome[]> {
    const run = this.#run;
    await runWrites(writes, {
      ended: this.#ended,
      mayFollow: (write, needed) => needed.outcome === 'applied' || canFollowFailure(write, needed, run),
      perform: async (write, limit) => run.watch.judge(await performWrite(write, run, limit)),
      onEnded: (outcome) => this.#tell(outcome),
    });
    const settled = await deleteOwnDuplicates(this.#listOutcomes(writes), run);
    for (const outcome of settled) this.#ended.set(outcome.write.id, outcome);
    return settled;
  }

  /** Leaves out prunes of the plan. Writes that depend on them are then skipped. `message` says why. */
  keep(writes: readonly Write[], message: string): void {
    for (const write of writes) {
      const outcome: Outcome = { outcome: 'skipped', write, message, waitedFor: [], isKept: true };
      this.#ended.set(write.id, outcome);
      this.#tell(outcome);
    }
  }

  /** The deletes of resources and modules that the service has answered with success. */
  listDeletes(): readonly Write[] {
    const applied = [...this.#ended.values()].filter(({ outcome }) => outcome === 'applied');
    return applied.map(({ write }) => write).filter(({ method }) => method === 'DELETE');
  }

  /**
   * Finds deletes of a run, of this plan and of others, that took no effect. Called after the last write of the run.
   * Returns a message for each.
   */
  async findUndoneDeletes(deletes: readonly Write[]): Promise<ReadonlyMap<Write, string>> {
    const { client, sleep = sleepFor, conflictMs: limitMs = DEFAULT_CONFLICT_MS, signal } = this.#context;
    const { list, readModule } = client;
    if (readModule === undefined || deletes.length === 0) return new Map();
    const found = await findUndoneDeletes(deletes, { client: { list, readModule }, limitMs, sleep, signal });
    this.#checks += found.requests;
    return found.undone;
  }

  /** Turns the outcomes of these writes into failures. Ignores writes of other plans. */
  fail(messages: ReadonlyMap<Write, string>): void {
    for (const write of this.#plan.writes) {
      const message = messages.get(write);
      if (message !== undefined) this.#ended.set(write.id, createFailedOutcome(write, message));
    }
  }

  /** Returns the result. Called once, after every write was sent or skipped. */
  end(): ApplyResult {
    const { clockSkew, deliveries, settling, recording } = this.#run;
    // A plan that warns already says what happens. Otherwise, the times of new resources have shown it.
    if (countInCondition(this.#plan, 'skewed') === 0)
      for (const warning of listClockSkewWarnings(clockSkew(), renderTimeSpan)) this.#note(warning);
    return {
      outcomes: this.#listOutcomes(this.#plan.writes),
      tokens: deliveries.tokens,
      diagnostics: this.#diagnostics,
      lookUps: settling.lookUps.count + recording.lookUps.count + this.#checks,
      interrupted: this.#context.signal.aborted,
    };
  }

  #listOutcomes(writes: readonly Write[]): readonly Outcome[] {
    return writes.map(({ id }) => assertDefined(this.#ended.get(id), `outcome of ${id}`));
  }

  #note(diagnostic: Diagnostic): void {
    this.#diagnostics.push(diagnostic);
    this.#context.onEvent({ event: 'diagnostic', diagnostic });
  }

  #tell(result: Outcome): void {
    const { onEvent } = this.#context;
    onEvent({ event: 'write-ended', result, done: this.#ended.size, total: this.#plan.writes.length });
  }
}

/**
 * Whether a write may start although its dependency `needed` failed. True if only a text for people failed; for a delete
 * if `needed` delivered the token and only failed to record that in the mark; and for a delivery after a delete: the new
 * credential stays.
 */
function canFollowFailure(write: Write, needed: Outcome, { followable }: Pick<ApplyRun, 'followable'>): boolean {
  const who = followable.get(needed.write.id);
  if (write.purpose === 'deliver' && isDelete(needed.write)) return true;
  return who === 'all' || (who === 'deletes' && isDelete(write));
}
