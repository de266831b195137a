import { sleepFor } from '../model/elapsed.ts';
import { NetworkError } from '../model/errors.ts';
import type { HttpRequest, HttpResponse } from '../model/http.ts';
import { type Attempt, formatUrlPath, type ReceivedResponse } from './api-error.ts';
import type { RequestLimiter } from './request-limiter.ts';

/** The notice of a failed request that will be sent again. */
export interface RetryNotice {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** The attempt that failed, counting from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  /** What of it the service asked for, in `Retry-After`; absent: nothing. */
  readonly askedMs?: number;
  readonly cause: string;
}

/** Effects that tests replace, to control time. */
export interface RetryOptions {
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** 0 to 1. */
  readonly random?: (() => number) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/**
 * The class of a failure. `unsent`: the request was certainly not sent. `network`: no usable answer. `throttled`: refused with 429 before it was
 * processed. `server`: 5xx.
 */
type FailureClass = 'unsent' | 'network' | 'throttled' | 'server';

/**
 * Attempts of a request at most, by method and failure. With the delays below, 4 attempts wait up to 3.5 seconds in all, 5 up to 7.5 seconds, and 10 up to
 * two minutes, in which most rate limits admit new requests.
 */
const ATTEMPTS: Readonly<Record<string, Readonly<Record<FailureClass, number>>>> = {
  GET: { unsent: 4, network: 4, throttled: 10, server: 5 },
  PUT: { unsent: 4, network: 4, throttled: 10, server: 5 },
  DELETE: { unsent: 4, network: 4, throttled: 10, server: 5 },
  // Every PATCH of the interface is idempotent: it sends values, not changes of values.
  PATCH: { unsent: 4, network: 4, throttled: 10, server: 5 },
  // A POST may have created a resource: the caller looks for it by its mark.
  POST: { unsent: 4, network: 1, throttled: 10, server: 1 },
};

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** If the service asks to wait longer than this, its answer is reported instead. */
const MAX_RETRY_AFTER_MS = 120_000;

/**
 * Sends a request until it has a final answer; `create` makes one for each attempt, because a body can be read only once. When `waitSignal` is
 * aborted, nothing waits any more and no further write is sent: it rejects with the reason of the abort, unless an attempt may have taken effect;
 * then that attempt's result is final.
 */
export type SendWithRetries = (create: () => HttpRequest, waitSignal?: AbortSignal) => Promise<ReceivedResponse>;

/**
 * Retries requests that are safe to repeat, after an exponential delay with full jitter or the delay that the service asks for. A service that throttles one
 * request slows down all of them.
 */
export function withRetries(attempt: Attempt, limiter: RequestLimiter, options: RetryOptions): SendWithRetries {
  const { sleep = sleepFor, random = Math.random, onRetry } = options;
  return async (create, waitSignal) => {
    let uncertain: End | undefined;
    try {
      for (let count = 1; ; count += 1) {
        const request = create();
        const end = await limiter.admit(
          () => tryOnce(() => attempt(request, count), request, waitSignal),
          waitSignal ?? request.signal,
        );
        const failure = classify(end);
        if (failure === undefined) limiter.recover();
        if (failure === 'network' || failure === 'server') uncertain = end;
        const delayMs = toDelay({ end, failure, count, method: request.method, random });
        if (delayMs === undefined) return settle(end);
        onRetry?.({ ...describe(request, end), attempt: count, delayMs });
        if (failure === 'throttled') limiter.throttle(delayMs);
        else await sleep(delayMs, waitSignal ?? request.signal);
        (waitSignal ?? request.signal)?.throwIfAborted();
      }
    } catch (error) {
      if (uncertain !== undefined && waitSignal?.aborted && error === waitSignal.reason) return settle(uncertain);
      throw error;
    }
  };
}

type End = ReceivedResponse | NetworkError;

/** After an abort of `waitSignal` a read is still sent if it need not wait. */
async function tryOnce(
  attempt: () => Promise<ReceivedResponse>,
  request: HttpRequest,
  waitSignal: AbortSignal | undefined,
): Promise<End> {
  request.signal?.throwIfAborted();
  if (request.method !== 'GET') waitSignal?.throwIfAborted();
  try {
    return await attempt();
  } catch (error) {
    // An aborted request rejects with the reason of the abort, which may be the failure of another request.
    if (error instanceof NetworkError && !request.signal?.aborted) return error;
    throw error;
  }
}

function settle(end: End): ReceivedResponse {
  if (end instanceof NetworkError) throw end;
  return end;
}

/** How long to wait before sending again; `undefined`: don't. */
function toDelay(after: {
  readonly end: End;
  readonly failure: FailureClass | undefined;
  readonly count: number;
  readonly method: string;
  readonly random: () => number;
}): number | undefined {
  const { end, failure, count, method, random } = after;
  if (failure === undefined || count >= (ATTEMPTS[method]?.[failure] ?? 1)) return undefined;
  const askedMs = end instanceof NetworkError ? undefined : parseRetryAfter(end.response.headers);
  if (askedMs === undefined) return Math.round(random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1)));
  return askedMs > MAX_RETRY_AFTER_MS ? undefined : askedMs + Math.round(random() * FIRST_DELAY_MS);
}

/** A retry of an answer that is too large would be too large again. */
function classify(end: End): FailureClass | undefined {
  if (end instanceof NetworkError && end.head !== undefined) return undefined;
  if (end instanceof NetworkError) return end.isUnsent ? 'unsent' : 'network';
  if (end.response.status === 429) return 'throttled';
  return end.response.status >= 500 ? 'server' : undefined;
}

/** Milliseconds that the service asks to wait: in seconds, or as a date beside the date of its answer. */
function parseRetryAfter(headers: HttpResponse['headers']): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - Date.parse(headers['date'] ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function describe(request: HttpRequest, end: End): Pick<RetryNotice, 'method' | 'path' | 'cause' | 'askedMs'> {
  const cause = end instanceof NetworkError ? end.message : `HTTP ${end.response.status}`;
  const askedMs = end instanceof NetworkError ? undefined : parseRetryAfter(end.response.headers);
  const asked = askedMs === undefined ? {} : { askedMs };
  return { method: request.method, path: formatUrlPath(new URL(request.url)), cause, ...asked };
}
