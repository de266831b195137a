import { createConcurrencyLimit } from '../client/request-limiter.ts';
import { assertDefined, NetworkError } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write, WriteId } from '../model/write.ts';

/** How writes are carried out in their order. */
export interface RunWritesOptions {
  /** Outcomes of earlier writes: writes may depend on these too. */
  readonly ended?: readonly Outcome[];
  /** How a write ended before this run; `undefined`: it did not. */
  readonly find: (write: Write) => Outcome | undefined;
  /** Whether a write can start, given how one of its dependencies ended. */
  readonly accepts: (write: Write, needed: Outcome) => boolean;
  /** Makes one write whose dependencies have succeeded. Never rejects because of the service or the network. */
  readonly perform: (write: Write) => Promise<Outcome>;
  /** Called when a write ends, with the number that have ended. */
  readonly onEnded: (outcome: Outcome, done: number) => void;
}

/**
 * Runs the writes of a plan: each when its dependencies have succeeded and its turn has come, those marked `last` when all others have ended. When a write
 * fails, writes that depend on it are skipped and the others go on. A write depends only on writes before it in the list.
 */
export async function runWrites(writes: readonly Write[], options: RunWritesOptions): Promise<readonly Outcome[]> {
  const early = writes.filter(({ last }) => !last);
  const late = writes.filter(({ last }) => last);
  const ended = new Map(options.ended?.map((outcome) => [outcome.write.id, outcome] as const));
  for (const part of [early, late])
    await new Promise<void>((resolve, reject) => new Run(ended, { ...options, resolve, reject }).start(part));
  return [...early, ...late].map(({ id }) => assertDefined(ended.get(id), `outcome of ${id}`));
}

/** So many writes in a row without a connection, each tried several times, and no other is tried. */
const MOST_UNSENT = 3;

/** Notices that the service cannot be reached any more. */
export interface ReachWatch {
  /** Aborted once it cannot. */
  readonly signal: AbortSignal;
  /** Takes in how a write ended. A write that was stopped by `signal` says so. */
  readonly judge: (outcome: Outcome) => Outcome;
}

/** A watch for one run. `interrupted`: the run's own end, which is told as such. */
export function watchReach(interrupted: AbortSignal): ReachWatch {
  const stop = new AbortController();
  let unsent = 0;
  return {
    signal: stop.signal,
    judge: (outcome) => {
      const isUnsent = outcome.outcome === 'failed' && outcome.isUnsent === true;
      if (outcome.outcome !== 'skipped') unsent = isUnsent ? unsent + 1 : 0;
      if (unsent === MOST_UNSENT) stop.abort(new NetworkError(UNREACHABLE));
      const isStopped = outcome.outcome === 'skipped' && stop.signal.aborted && !interrupted.aborted;
      return isStopped ? { ...outcome, message: UNREACHABLE, isUnreachable: true } : outcome;
    },
  };
}

const UNREACHABLE = 'the service cannot be reached';

/** As many as a client has requests at once. Of ten thousand writes that are ready, those started would take as much memory as everything else. */
const MOST_UNDER_WAY = 64;

interface Settle {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/** Writes on their way. Of one that waits nothing is kept but what it waits for: ten thousand promises take as much memory as a plan of that many writes. */
class Run {
  readonly #ended: Map<WriteId, Outcome>;
  readonly #options: RunWritesOptions & Settle;
  /** How many dependencies have not ended yet. */
  readonly #open = new Map<WriteId, number>();
  readonly #waiting = new Map<WriteId, Write[]>();
  readonly #start = createConcurrencyLimit(MOST_UNDER_WAY);
  #left = 0;

  constructor(ended: Map<WriteId, Outcome>, options: RunWritesOptions & Settle) {
    this.#ended = ended;
    this.#options = options;
  }

  start(writes: readonly Write[]): void {
    this.#left = writes.length;
    if (this.#left === 0) this.#options.resolve();
    const known = new Set(this.#ended.keys());
    for (const write of writes) {
      const missing = write.dependsOn.find((id) => !known.has(id));
      if (missing !== undefined) throw new Error(`${write.id} needs ${missing}, which is not before it`);
      known.add(write.id);
    }
    for (const write of writes) this.#wait(write);
  }

  #wait(write: Write): void {
    const open = write.dependsOn.filter((id) => !this.#ended.has(id));
    if (open.length === 0) {
      this.#begin(write);
      return;
    }
    this.#open.set(write.id, open.length);
    for (const id of open) {
      const others = this.#waiting.get(id);
      if (others === undefined) this.#waiting.set(id, [write]);
      else others.push(write);
    }
  }

  #begin(write: Write): void {
    const { find, accepts, perform, reject } = this.#options;
    const needed = write.dependsOn.map((id) => assertDefined(this.#ended.get(id), `outcome of ${id}`));
    const inVain = needed.filter((one) => !accepts(write, one));
    const known = find(write) ?? toSkipped(write, inVain);
    // Not at once: a long chain of writes that are skipped would be a deep call.
    if (known !== undefined) queueMicrotask(() => this.#end(known));
    else this.#start(() => perform(write)).then((outcome) => this.#end(outcome), reject);
  }

  #end(outcome: Outcome): void {
    const { onEnded, resolve, reject } = this.#options;
    const { id } = outcome.write;
    try {
      this.#ended.set(id, outcome);
      onEnded(outcome, this.#ended.size);
      this.#left -= 1;
      for (const write of this.#waiting.get(id) ?? []) this.#countDown(write);
      this.#waiting.delete(id);
      if (this.#left === 0) resolve();
    } catch (error) {
      reject(error);
    }
  }

  #countDown(write: Write): void {
    const open = (this.#open.get(write.id) ?? 0) - 1;
    this.#open.set(write.id, open);
    if (open === 0) this.#begin(write);
  }
}

function toSkipped(write: Write, inVain: readonly Outcome[]): Outcome | undefined {
  const waitedFor = inVain.map((result) => result.write.id);
  if (waitedFor.length === 0) return undefined;
  return { outcome: 'skipped', write, message: `depends on ${waitedFor.join(', ')}`, waitedFor };
}
