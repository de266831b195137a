import pLimit from 'p-limit';
import type { RateLimit } from '../model/stack.ts';

/**
 * Decides when each request of a client may start: within the rate limit, within the concurrency, and not during a pause that the service asked for.
 * Shared by all requests, including retries.
 */
export interface RequestLimiter {
  /** Runs one attempt when it may be sent. If `waitSignal` is aborted and the attempt would have to wait, rejects with the reason of `waitSignal`. */
  readonly admit: <T>(attempt: () => Promise<T>, waitSignal: AbortSignal | undefined) => Promise<T>;
  /** The service is busy: pauses all requests for `delayMs` and halves the concurrency. */
  readonly throttle: (delayMs: number) => void;
  /** A request succeeded. After as many successes as the current concurrency, the concurrency grows by one. */
  readonly recover: () => void;
  /** The current maximum number of requests under way at once. */
  readonly concurrency: () => number;
}

/** Passed to `onWait` before a request waits. */
export interface WaitNotice {
  readonly waitMs: number;
  /** `budget`: the rate limit is used up. `pause`: the service asked for a pause. */
  readonly reason: 'budget' | 'pause';
}

/** Runs a limited number of tasks at once, in the order of the calls. A task must not wait for another task of the same limit. */
export type ConcurrencyLimit = <T>(run: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimit(concurrency: number): ConcurrencyLimit {
  return pLimit(concurrency);
}

/** Limits of a client, and effects that tests replace to control time. */
export interface RequestLimiterOptions {
  /** Absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Maximum number of requests under way at once. */
  readonly concurrency: number;
  /** Milliseconds since a fixed moment. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const most = Math.min(options.concurrency, options.rateLimit?.requests ?? options.concurrency);
  const gate = pLimit(most);
  const clock = createClock(options.now);
  const budget = options.rateLimit === undefined ? UNLIMITED : createRollingWindow(options.rateLimit);
  let resumeAt = NEVER_PAUSED;
  let goneWell = 0;
  /** Whether there is no rate limit and the service never asked for a pause. The clock is then not read, because that takes time too. */
  const isFree = (): boolean => budget === UNLIMITED && resumeAt === NEVER_PAUSED;

  /** Waits for a free slot in the rate limit and takes it. Nothing is awaited between finding and taking the slot, so two requests never take the same one. */
  const waitTurn = async (waitSignal: AbortSignal | undefined): Promise<void> => {
    for (;;) {
      const pauseMs = resumeAt - clock.now();
      const waitMs = Math.max(pauseMs, budget.toWaitMs(clock.now()));
      if (waitMs <= 0) {
        budget.start();
        return;
      }
      waitSignal?.throwIfAborted();
      options.onWait?.({ waitMs, reason: waitMs > pauseMs ? 'budget' : 'pause' });
      const until = clock.now() + waitMs;
      await options.sleep(waitMs, waitSignal);
      if (waitSignal?.aborted !== true) clock.passed(until);
    }
  };

  return {
    admit: (attempt, waitSignal) =>
      gate(async () => {
        if (isFree()) return attempt();
        await waitTurn(waitSignal);
        try {
          return await attempt();
        } finally {
          budget.end(clock.now());
        }
      }),
    throttle: (delayMs) => {
      const now = clock.now();
      if (now >= resumeAt) gate.concurrency = Math.max(1, Math.floor(gate.concurrency / 2));
      resumeAt = Math.max(resumeAt, now + delayMs);
      goneWell = 0;
    },
    recover: () => {
      if (gate.concurrency >= most) return;
      goneWell += 1;
      if (goneWell < gate.concurrency) return;
      gate.concurrency += 1;
      goneWell = 0;
    },
    concurrency: () => gate.concurrency,
  };
}

const NEVER_PAUSED = Number.NEGATIVE_INFINITY;

const UNLIMITED: RollingWindow = { toWaitMs: () => 0, start: () => undefined, end: () => undefined };

/** Creates a clock that never shows an earlier time than the end of the last sleep, even if the injected clock did not advance. */
function createClock(now: () => number): { readonly now: () => number; readonly passed: (until: number) => void } {
  let least = Number.NEGATIVE_INFINITY;
  return {
    now: () => Math.max(least, now()),
    passed: (until) => {
      least = Math.max(least, until);
    },
  };
}

/** A rolling window that limits requests. */
export interface RollingWindow {
  /** Milliseconds until a request may start. 0: now. `Infinity`: not before a request under way has ended. */
  readonly toWaitMs: (now: number) => number;
  readonly start: () => void;
  /** Records that a request has ended, with or without a response. */
  readonly end: (now: number) => void;
}

/**
 * Creates a rolling window. A request occupies a slot from its start until `windowMs` after its end. The service counts the request at an unknown time
 * between start and end, so no window of the service's clock ever contains more requests than the limit.
 */
export function createRollingWindow({ requests, windowMs }: RateLimit): RollingWindow {
  let underWay = 0;
  let ends: number[] = [];
  let oldest = 0;
  const forget = (now: number): void => {
    while (oldest < ends.length && (ends[oldest] ?? now) + windowMs <= now) oldest += 1;
    if (oldest <= requests) return;
    ends = ends.slice(oldest);
    oldest = 0;
  };
  return {
    toWaitMs: (now) => {
      forget(now);
      if (underWay + ends.length - oldest < requests) return 0;
      const first = ends[oldest];
      return first === undefined ? Number.POSITIVE_INFINITY : first + windowMs - now;
    },
    start: () => {
      underWay += 1;
    },
    end: (now) => {
      underWay -= 1;
      ends.push(now);
    },
  };
}
