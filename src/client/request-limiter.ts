import pLimit from 'p-limit';
import type { RateLimit } from '../model/stack.ts';

/**
 * Decides when each request of a client may start: within the rate limit, with a limited number at once, and none while the service
 * asks for a pause. Shared by all requests, retries included.
 */
export interface RequestLimiter {
  /** Runs one attempt once it may be sent. Rejects with the reason of `waitSignal` when it would have to wait and that is aborted. */
  readonly admit: <T>(attempt: () => Promise<T>, waitSignal: AbortSignal | undefined) => Promise<T>;
  /** The service is busy: pauses all requests for that time and halves the concurrency. */
  readonly throttle: (delayMs: number) => void;
  /** A request succeeded: after as many successes as the current concurrency, it grows by one. */
  readonly recover: () => void;
  /** Requests that may be under way at once now. */
  readonly concurrency: () => number;
}

/** Tells that requests wait, and why. */
export interface WaitNotice {
  readonly waitMs: number;
  /** `budget`: the rate limit is used up. `pause`: the service asked for a pause. */
  readonly reason: 'budget' | 'pause';
}

/** Lets only so many tasks run at once, in the order in which they came. Tasks must not wait for further tasks of the same limit. */
export type ConcurrencyLimit = <T>(run: () => Promise<T>) => Promise<T>;

/** A limit of that many places. */
export function createConcurrencyLimit(concurrency: number): ConcurrencyLimit {
  return pLimit(concurrency);
}

/** What a limiter takes from outside, so that tests control time. */
export interface RequestLimiterOptions {
  /** Absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Requests under way at once, at most. */
  readonly concurrency: number;
  /** Milliseconds since some moment. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

/** A limiter of one client. */
export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const most = Math.min(options.concurrency, options.rateLimit?.requests ?? options.concurrency);
  const gate = pLimit(most);
  const clock = createClock(options.now);
  const budget = options.rateLimit === undefined ? UNLIMITED : createRollingWindow(options.rateLimit);
  let resumeAt = NEVER_PAUSED;
  let goneWell = 0;
  /** To look at the clock takes time too. */
  const isFree = (): boolean => budget === UNLIMITED && resumeAt === NEVER_PAUSED;

  /** Finds and takes a free place in the budget in one step. */
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

/** After a sleep the time has passed, even if the injected clock did not move. */
function createClock(now: () => number): { readonly now: () => number; readonly passed: (until: number) => void } {
  let least = Number.NEGATIVE_INFINITY;
  return {
    now: () => Math.max(least, now()),
    passed: (until) => {
      least = Math.max(least, until);
    },
  };
}

/** How many requests may be sent. */
export interface RollingWindow {
  /** Milliseconds until a request may start; 0: now. `Infinity`: not before one that is under way has ended. */
  readonly toWaitMs: (now: number) => number;
  readonly start: () => void;
  /** A request has ended, whether or not it was answered. */
  readonly end: (now: number) => void;
}

/**
 * A rolling window over requests. Each takes a place from when it starts until a window after it ended: when the service counted it is not
 * known, but it lies in between. So no window of the service's clock ever sees more than the limit.
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
