import { type ConcurrencyLimiter, createConcurrencyLimiter } from '../client/request-limiter.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write, WriteId } from '../model/write.ts';

export interface WriteRunCallbacks {
  /** Outcomes of earlier writes, on which these writes may depend. Those of these writes are added. */
  readonly ended: Map<WriteId, Outcome>;
  /** Whether a write can start, given the outcome of one of its dependencies. */
  readonly mayFollow: (write: Write, needed: Outcome) => boolean;
  /**
   * Performs one write whose dependencies have succeeded. Never rejects because of the service or the network. Each
   * attempt takes a slot of `limit`, so that others can start while the write waits for its next attempt.
   */
  readonly perform: (write: Write, limit: ConcurrencyLimiter) => Promise<Outcome>;
  /** Called when a write has ended. */
  readonly onEnded: (outcome: Outcome) => void;
}

/** The maximum number of writes under way, which look-ups and deliveries of other writes have to wait for. */
const MAX_UNDER_WAY = 64;

/**
 * Runs the writes of a plan. Each write starts when its dependencies have succeeded and fewer than MAX_UNDER_WAY writes
 * are under way. Writes marked `last` start when all others have ended. If a write fails, the writes that depend on it
 * are skipped and the others continue. A write may depend only on writes before it in the list.
 * After an interrupt, `perform` skips.
 */
export async function runWrites(
  writes: readonly Write[],
  { ended, mayFollow, perform, onEnded }: WriteRunCallbacks,
): Promise<void> {
  const limit = createConcurrencyLimiter(MAX_UNDER_WAY);
  const run = async (write: Write, needed: readonly (Outcome | Promise<Outcome> | undefined)[]): Promise<Outcome> => {
    const outcomes = (await Promise.all(needed)).filter((one) => one !== undefined);
    const failed = outcomes.filter((one) => !mayFollow(write, one));
    const outcome = createSkipped(write, failed) ?? (await perform(write, limit));
    ended.set(write.id, outcome);
    onEnded(outcome);
    return outcome;
  };
  for (const isLast of [false, true]) {
    const part = writes.filter(({ last }) => last === isLast);
    assertOrder(part, ended);
    const running = new Map<WriteId, Promise<Outcome>>();
    for (const write of part) {
      const needed = write.dependsOn.map((id) => running.get(id) ?? ended.get(id));
      running.set(write.id, run(write, needed));
    }
    await Promise.all(running.values());
  }
}

function assertOrder(writes: readonly Write[], ended: ReadonlyMap<WriteId, Outcome>): void {
  const known = new Set(ended.keys());
  for (const { id, dependsOn } of writes) {
    const missing = dependsOn.find((needed) => !known.has(needed));
    if (missing !== undefined) throw new Error(`${id} depends on ${missing}, which does not precede it`);
    known.add(id);
  }
}

function createSkipped(write: Write, failed: readonly Outcome[]): Outcome | undefined {
  const waitedFor = failed.map((result) => result.write.id);
  if (waitedFor.length === 0) return undefined;
  return { outcome: 'skipped', write, message: `depends on ${waitedFor.join(', ')}`, waitedFor };
}
