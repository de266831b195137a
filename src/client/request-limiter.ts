import pLimit from 'p-limit';
import type { RateLimit } from '../model/stack.ts';

/**
 * Decides when each request of a client may start: within the rate limit and the concurrency, and not during a pause
 * after a 429. All requests share one limiter, including retries.
 */
export interface RequestLimiter {
  /**
   * Runs an attempt as soon as it may be sent, in the order of the calls. Once `waitSignal` is aborted, rejects with the
   * reason of the abort instead of waiting for the rate limit or a pause. `isPair` is called when the attempt's turn has
   * come. If it returns true, the attempt sends two requests, for which it gets slots of the rate limit together: it
   * must call `second` between them.
   */
  readonly admit: <T>(
    attempt: (second: (() => Promise<void>) | undefined) => Promise<T>,
    waitSignal: AbortSignal | undefined,
    isPair?: () => boolean,
  ) => Promise<T>;
  /** Called after a 429. Pauses all requests for `delayMs`. Halves the concurrency, unless already paused. */
  readonly throttle: (delayMs: number) => void;
  /**
   * Called after each request that the service processed. Raises the concurrency from n to n + 1 after n calls, up to
   * the configured maximum.
   */
  readonly recover: () => void;
  /** Returns the current maximum number of concurrent requests. */
  readonly concurrency: () => number;
}

/** Passed to `onWait` before a request waits. */
export interface WaitNotice {
  readonly waitMs: number;
  /** `budget`: the rate limit is used up. `pause`: all requests pause after a 429. */
  readonly reason: 'budget' | 'pause';
}

/**
 * Runs a limited number of tasks at once, in the order of the calls. A task must not wait for another task of the same
 * limit: that could deadlock.
 */
export type ConcurrencyLimiter = <T>(run: () => Promise<T>) => Promise<T>;

export function createConcurrencyLimiter(concurrency: number): ConcurrencyLimiter {
  return pLimit(concurrency);
}

/** Limits on requests, and the clock and timer, which tests replace. */
export interface RequestLimiterOptions {
  /** The rate limit of the service. Absent: no limit. */
  readonly rateLimit?: RateLimit | undefined;
  /** Maximum number of concurrent requests. */
  readonly concurrency: number;
  /** Returns milliseconds since a fixed moment. */
  readonly now: () => number;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  readonly onWait?: ((notice: WaitNotice) => void) | undefined;
}

export function createRequestLimiter(options: RequestLimiterOptions): RequestLimiter {
  const { concurrency, rateLimit } = options;
  const tasks = createAdaptiveConcurrency(Math.min(concurrency, rateLimit?.requests ?? concurrency));
  const slots = createSlots(options);
  return {
    admit: (attempt, waitSignal, isPair = () => false) =>
      tasks.run(async () => {
        let isOfPair = false;
        let taken = await slots.take(waitSignal, () => {
          isOfPair = isPair();
          return isOfPair ? 2 : 1;
        });
        const second = async (): Promise<void> => {
          slots.end(1);
          taken -= 1;
          if (taken === 0) taken = await slots.take(waitSignal, () => 1);
        };
        try {
          return await attempt(isOfPair ? second : undefined);
        } finally {
          slots.end(taken);
        }
      }),
    throttle: (delayMs) => {
      if (!slots.isPaused()) tasks.halve();
      tasks.restartCount();
      slots.pause(delayMs);
    },
    recover: tasks.countSuccess,
    concurrency: tasks.limit,
  };
}

interface AdaptiveConcurrency {
  readonly run: ConcurrencyLimiter;
  /** Returns the current maximum number of concurrent tasks. */
  readonly limit: () => number;
  readonly halve: () => void;
  /** Counts a success. After as many as the limit, raises the limit by one, up to `most`, and starts again. */
  readonly countSuccess: () => void;
  readonly restartCount: () => void;
}

function createAdaptiveConcurrency(most: number): AdaptiveConcurrency {
  const gate = pLimit(most);
  let successes = 0;
  return {
    run: gate,
    limit: () => gate.concurrency,
    halve: () => {
      gate.concurrency = Math.max(1, Math.floor(gate.concurrency / 2));
    },
    countSuccess: () => {
      if (gate.concurrency >= most) return;
      successes += 1;
      if (successes < gate.concurrency) return;
      gate.concurrency += 1;
      successes = 0;
    },
    restartCount: () => {
      successes = 0;
    },
  };
}

/** The slots of the rate limit, which nobody gets during a pause. */
interface Slots {
  /**
   * Waits for free slots and takes them. Returns their number, which is `countWanted()` or the whole rate limit. Calls
   * `countWanted` anew after each wait.
   */
  readonly take: (waitSignal: AbortSignal | undefined, countWanted: () => number) => Promise<number>;
  /** Records that requests have ended, with or without a response. */
  readonly end: (count: number) => void;
  readonly isPaused: () => boolean;
  readonly pause: (delayMs: number) => void;
}

function createSlots({ rateLimit, now, sleep, onWait }: RequestLimiterOptions): Slots {
  const clock = createClock(now);
  const budget = rateLimit === undefined ? UNLIMITED : createRollingWindow(rateLimit);
  // Only the first caller in line waits, so that callers with one slot do not overtake one with two.
  const line = pLimit(1);
  let resumeAt = Number.NEGATIVE_INFINITY;

  const wait = async (notice: WaitNotice, signal: AbortSignal | undefined): Promise<void> => {
    signal?.throwIfAborted();
    if (notice.waitMs === Number.POSITIVE_INFINITY) return budget.untilEnd();
    onWait?.(notice);
    const until = clock.now() + notice.waitMs;
    await sleep(notice.waitMs, signal);
    if (signal?.aborted !== true) clock.passed(until);
  };
  return {
    take: (waitSignal, countWanted) =>
      line(async () => {
        for (;;) {
          const count = Math.min(countWanted(), budget.most);
          const pauseMs = resumeAt - clock.now();
          const waitMs = Math.max(pauseMs, budget.computeWaitMs(clock.now(), count));
          if (waitMs <= 0) {
            budget.start(count);
            return count;
          }
          await wait({ waitMs, reason: waitMs > pauseMs ? 'budget' : 'pause' }, waitSignal);
        }
      }),
    end: (count) => {
      for (let left = count; left > 0; left -= 1) budget.end(clock.now());
    },
    isPaused: () => clock.now() < resumeAt,
    pause: (delayMs) => {
      resumeAt = Math.max(resumeAt, clock.now() + delayMs);
    },
  };
}

const UNLIMITED: RollingRequestCounter = {
  most: Number.POSITIVE_INFINITY,
  computeWaitMs: () => 0,
  start: () => undefined,
  end: () => undefined,
  untilEnd: async () => undefined,
};

/**
 * Creates a clock. After a sleep, its time is at least the planned end of the sleep, even if `now` advanced less.
 * `passed` records that end.
 */
function createClock(now: () => number): { readonly now: () => number; readonly passed: (until: number) => void } {
  let least = Number.NEGATIVE_INFINITY;
  return {
    now: () => Math.max(least, now()),
    passed: (until) => {
      least = Math.max(least, until);
    },
  };
}

/** Counts requests against a rate limit. */
export interface RollingRequestCounter {
  /** The number of slots. */
  readonly most: number;
  /** Returns the milliseconds until `count` requests may start. `Infinity`: not before a running request ends. */
  readonly computeWaitMs: (now: number, count: number) => number;
  readonly start: (count: number) => void;
  /** Records that a request has ended, with or without a response. */
  readonly end: (now: number) => void;
  /** Resolves when a running request ends. */
  readonly untilEnd: () => Promise<void>;
}

/**
 * Creates a rolling window. A request occupies a slot from its start until `windowMs` after its end, because the
 * service may count it at any time between start and end. So no window that the service measures contains more requests
 * than the limit.
 */
export function createRollingWindow({ requests, windowMs }: RateLimit): RollingRequestCounter {
  let underWay = 0;
  let ends: number[] = [];
  let oldest = 0;
  let ended = Promise.withResolvers<void>();
  const forget = (now: number): void => {
    while (oldest < ends.length && (ends[oldest] ?? now) + windowMs <= now) oldest += 1;
    if (oldest <= requests) return;
    ends = ends.slice(oldest);
    oldest = 0;
  };
  return {
    most: requests,
    computeWaitMs: (now, count) => {
      forget(now);
      const missing = underWay + ends.length - oldest + count - requests;
      if (missing <= 0) return 0;
      const last = ends[oldest + missing - 1];
      return last === undefined ? Number.POSITIVE_INFINITY : last + windowMs - now;
    },
    start: (count) => {
      underWay += count;
    },
    end: (now) => {
      underWay -= 1;
      ends.push(now);
      ended.resolve();
      ended = Promise.withResolvers();
    },
    untilEnd: () => ended.promise,
  };
}
