import type { Address } from '../model/address.ts';
import { NetworkError } from '../model/errors.ts';
import { type Outcome, SERVICE_STOPS } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { Write } from '../model/write.ts';
import { createStaleError } from './external-error.ts';

/** After this many unsent writes in a row, the service counts as unreachable. Each of them was already retried. */
const MAX_UNSENT = 3;

/** What a run has found out about its service, and which writes it therefore no longer sends. */
export class ServiceWatch {
  readonly #interrupted: AbortSignal;
  readonly #unreachable = new AbortController();
  readonly #unmanageable = new AbortController();
  /** By the name of a kind, the resource that lost its mark when it was updated. */
  readonly #lostMarks = new Map<string, Address>();
  #unsent = 0;

  /** `interrupted`: aborted when the user interrupts the run. */
  constructor(interrupted: AbortSignal) {
    this.#interrupted = interrupted;
  }

  /** Aborted when the service is no longer reachable. */
  get unreachable(): AbortSignal {
    return this.#unreachable.signal;
  }

  /** Aborted when a creation has not kept its mark. What was begun is still recorded and taken back. */
  get unmanageable(): AbortSignal {
    return this.#unmanageable.signal;
  }

  /** Called when a creation has not kept its mark. */
  noteUnkeptMark(): void {
    this.#unmanageable.abort(new NetworkError(SERVICE_STOPS.unmanageable));
  }

  /** Called when an update has removed the mark of a resource. */
  noteLostMark({ kind, address }: Write): void {
    this.#lostMarks.set(kind, address);
  }

  /** Throws if an update of the kind has removed a mark in this run. Called just before a request is sent. */
  refuseAfterLostMark({ kind }: Write): void {
    const lost = this.#lostMarks.get(kind);
    if (lost !== undefined) throw createStaleError(`the service removed the mark of ${lost} when it was updated`);
  }

  /**
   * Must be called with the outcome of each write. Returns the outcome to report: if the service is the reason why the
   * write was not sent, it says so.
   */
  judge(outcome: Outcome): Outcome {
    const { unreachable, unmanageable } = this;
    if (outcome.outcome === 'failed' && outcome.isUnmanageable === true) this.noteUnkeptMark();
    const isUnsent = outcome.outcome === 'failed' && outcome.isUnsent === true;
    if (outcome.outcome !== 'skipped') this.#unsent = isUnsent ? this.#unsent + 1 : 0;
    if (this.#unsent === MAX_UNSENT) this.#unreachable.abort(new NetworkError(SERVICE_STOPS.unreachable));
    const isStopped = unmanageable.aborted || unreachable.aborted;
    if (outcome.outcome !== 'skipped' || this.#interrupted.aborted || !isStopped) return outcome;
    const stop = unmanageable.aborted ? 'unmanageable' : 'unreachable';
    return { ...outcome, message: SERVICE_STOPS[stop], stop };
  }
}

/** Says that an update removed the mark of a resource, and what follows. */
export function describeLostMark({ kind }: Write, { id }: Pick<LiveResource, 'id'>): string {
  return `the update removed the mark of ${id}: the service replaces the resource instead of changing the fields that are sent. Nothing more is sent to ${kind} in this run. Adopt it with lifecycle.adopt: ${id} if the service is corrected`;
}
