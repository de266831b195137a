import { ApiError } from '../model/errors.ts';
import type { ApplyEvent } from '../model/outcome.ts';
import type { Plan } from '../model/plan.ts';
import type { Write, WriteId } from '../model/write.ts';

/**
 * Services free a unique value, or stop counting a use, some seconds after they have answered the delete or the update.
 * So a write that the service rejects with 409 is tried again if it depends on such a write of the same run. Any other
 * conflict is final.
 */

/** How long conflicts are waited out by default. */
export const DEFAULT_CONFLICT_MS = 60_000;

/** The first pause, and the longest. Pauses double: a service that needs five seconds gets the third or fourth try. */
const FIRST_PAUSE_MS = 1_000;
const MAX_PAUSE_MS = 15_000;

export interface ConflictOptions {
  /** The longest total of the pauses, in milliseconds. 0: conflicts are final. */
  readonly limitMs: number;
  /** Resolves after `ms`, or as soon as the signal is aborted. */
  readonly sleep: (ms: number, signal: AbortSignal) => Promise<void>;
  /** When aborted, nothing is tried again. */
  readonly signal: AbortSignal;
  readonly onEvent: (event: ApplyEvent) => void;
  /** Writes that follow writes of other stacks in the same run, which may free what they claim. Default: none. */
  readonly afterOthers?: ReadonlySet<WriteId> | undefined;
}

/** Decides whether the writes of a plan are tried again after a conflict. */
export class ConflictWaits {
  readonly #freeing: ReadonlySet<WriteId>;
  readonly #options: ConflictOptions;

  constructor({ writes }: Pick<Plan, 'writes'>, options: ConflictOptions) {
    // Only what exists already can free a value or a use.
    this.#freeing = new Set(writes.filter(({ ids }) => ids !== undefined).map(({ id }) => id));
    this.#options = options;
  }

  /** Creates the state of one write. */
  start(write: Write): ConflictWait {
    const waitsFor = write.dependsOn.filter((id) => this.#freeing.has(id));
    const mayPass = waitsFor.length > 0 || this.#options.afterOthers?.has(write.id) === true;
    return new ConflictWait(write, waitsFor, { ...this.#options, limitMs: mayPass ? this.#options.limitMs : 0 });
  }
}

/** The conflicts of one write. */
class ConflictWait {
  readonly #write: Write;
  readonly #waitsFor: readonly WriteId[];
  readonly #options: ConflictOptions;
  #waitedMs = 0;
  #pauseMs = FIRST_PAUSE_MS;

  constructor(write: Write, waitsFor: readonly WriteId[], options: ConflictOptions) {
    this.#write = write;
    this.#waitsFor = waitsFor;
    this.#options = options;
  }

  /** Whether the write is tried again after this error. */
  canWait(error: unknown): boolean {
    const { limitMs, signal } = this.#options;
    return isConflict(error) && this.#waitedMs < limitMs && !signal.aborted;
  }

  /** Waits before the next try. Resolves with false if the run was interrupted. */
  async wait(): Promise<boolean> {
    const { limitMs, sleep, signal, onEvent } = this.#options;
    const pauseMs = Math.min(this.#pauseMs, limitMs - this.#waitedMs);
    onEvent({
      event: 'write-waiting',
      write: this.#write,
      waitsFor: this.#waitsFor,
      isFirst: this.#waitedMs === 0,
      leftMs: limitMs - this.#waitedMs,
    });
    await sleep(pauseMs, signal);
    this.#waitedMs += pauseMs;
    this.#pauseMs = Math.min(this.#pauseMs * 2, MAX_PAUSE_MS);
    return !signal.aborted;
  }

  /** How long the write was tried again, for the message of its failure. Empty if it was not. */
  describe(): string {
    return this.#waitedMs === 0 ? '' : ` (tried again for ${Math.round(this.#waitedMs / 1000)} s)`;
  }
}

export function isConflict(error: unknown): error is ApiError {
  return error instanceof ApiError && error.response.status === 409;
}
