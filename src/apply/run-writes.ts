import { assertDefined, NetworkError } from '../model/errors.ts';
import type { Outcome } from '../model/outcome.ts';
import type { Write, WriteId } from '../model/write.ts';

export interface WriteRunCallbacks {
  /** Outcomes of earlier calls of `runWrites`, on which these writes may depend. */
  readonly ended?: readonly Outcome[];
  /** Returns the outcome of a write that an earlier run has done; `undefined` if the write is still to be done. */
  readonly find: (write: Write) => Outcome | undefined;
  /** Whether a write can start, given the outcome of one of its dependencies. */
  readonly accepts: (write: Write, needed: Outcome) => boolean;
  /** Performs one write whose dependencies have succeeded. Never rejects because of the service or the network. */
  readonly perform: (write: Write) => Promise<Outcome>;
  /** Called when a write ends. `done`: the number of writes that have ended so far. */
  readonly onEnded: (outcome: Outcome, done: number) => void;
}

/**
 * Runs the writes of a plan. Each write starts when its dependencies have succeeded and fewer than MAX_UNDER_WAY writes
 * are under way. Writes marked `last` start when all others have ended. If a write fails, the writes that depend on it
 * are skipped and the others continue. A write may depend only on writes before it in the list.
 */
export async function runWrites(writes: readonly Write[], options: WriteRunCallbacks): Promise<readonly Outcome[]> {
  const early = writes.filter(({ last }) => !last);
  const late = writes.filter(({ last }) => last);
  const ended = new Map(options.ended?.map((outcome) => [outcome.write.id, outcome] as const));
  for (const part of [early, late])
    await new Promise<void>((resolve, reject) => new Run(ended, { ...options, resolve, reject }).start(part));
  return [...early, ...late].map(({ id }) => assertDefined(ended.get(id), `outcome of ${id}`));
}

/** After this many unsent writes in a row, the service counts as unreachable. Each of them was already retried. */
const MAX_UNSENT = 3;

export interface ConnectionWatch {
  /** Aborted when the service is no longer reachable. */
  readonly signal: AbortSignal;
  /**
   * Must be called with the outcome of each write. Returns the outcome to report: if `signal` stopped the write, its
   * message says that the service cannot be reached.
   */
  readonly judge: (outcome: Outcome) => Outcome;
}

/**
 * Creates a watch for one run. `interrupted` is aborted when the user interrupts the run: writes that are then skipped
 * are reported as interrupted, not as unreachable.
 */
export function watchConnection(interrupted: AbortSignal): ConnectionWatch {
  const stop = new AbortController();
  let unsent = 0;
  return {
    signal: stop.signal,
    judge: (outcome) => {
      const isUnsent = outcome.outcome === 'failed' && outcome.isUnsent === true;
      if (outcome.outcome !== 'skipped') unsent = isUnsent ? unsent + 1 : 0;
      if (unsent === MAX_UNSENT) stop.abort(new NetworkError(UNREACHABLE));
      const isStopped = outcome.outcome === 'skipped' && stop.signal.aborted && !interrupted.aborted;
      return isStopped ? { ...outcome, message: UNREACHABLE, isUnreachable: true } : outcome;
    },
  };
}

const UNREACHABLE = 'the service cannot be reached';

/**
 * The maximum number of writes under way, which is the highest concurrency that a client can have. A higher limit would
 * only take memory: ten thousand writes under way take as much as everything else.
 */
const MAX_UNDER_WAY = 64;

interface Settle {
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Runs writes in the order of their dependencies. Stores no promise for a write that waits, neither for its dependencies
 * nor for its turn, because ten thousand promises take as much memory as a plan with as many writes.
 */
class Run {
  readonly #ended: Map<WriteId, Outcome>;
  readonly #options: WriteRunCallbacks & Settle;
  /** For each waiting write, the number of its dependencies that have not ended. */
  readonly #open = new Map<WriteId, number>();
  readonly #waiting = new Map<WriteId, Write[]>();
  /** Writes whose dependencies have succeeded, in the order in which they will start. */
  readonly #ready: Write[] = [];
  #underWay = 0;
  #left = 0;

  constructor(ended: Map<WriteId, Outcome>, options: WriteRunCallbacks & Settle) {
    this.#ended = ended;
    this.#options = options;
  }

  start(writes: readonly Write[]): void {
    this.#left = writes.length;
    if (this.#left === 0) this.#options.resolve();
    const known = new Set(this.#ended.keys());
    for (const write of writes) {
      const missing = write.dependsOn.find((id) => !known.has(id));
      if (missing !== undefined) throw new Error(`${write.id} depends on ${missing}, which does not precede it`);
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
    const { find, accepts } = this.#options;
    const needed = write.dependsOn.map((id) => assertDefined(this.#ended.get(id), `outcome of ${id}`));
    const failed = needed.filter((one) => !accepts(write, one));
    const known = find(write) ?? createSkipped(write, failed);
    // Asynchronous, because a long chain of skipped writes would otherwise be a deep recursion.
    if (known !== undefined) queueMicrotask(() => this.#end(known));
    else {
      this.#ready.push(write);
      this.#startReady();
    }
  }

  #startReady(): void {
    const { perform, reject } = this.#options;
    while (this.#underWay < MAX_UNDER_WAY) {
      const write = this.#ready.shift();
      if (write === undefined) return;
      this.#underWay += 1;
      perform(write).then((outcome) => {
        this.#underWay -= 1;
        this.#end(outcome);
        this.#startReady();
      }, reject);
    }
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

function createSkipped(write: Write, failed: readonly Outcome[]): Outcome | undefined {
  const waitedFor = failed.map((result) => result.write.id);
  if (waitedFor.length === 0) return undefined;
  return { outcome: 'skipped', write, message: `depends on ${waitedFor.join(', ')}`, waitedFor };
}
