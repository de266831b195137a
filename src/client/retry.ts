import { type ApiErrorDetails, isQuotaFailure, NetworkError } from '../model/errors.ts';
import type { HttpRequest, HttpResponse } from '../model/http.ts';
import { findMember, parseJson } from '../model/json.ts';
import { sleepFor } from '../model/sleep.ts';
import { formatPathAndQuery, type ReceivedResponse, type SendOnce } from './api-error.ts';
import type { RequestLimiter } from './request-limiter.ts';
import type { NoticeStart } from './request-notice.ts';

/** Reports a failed attempt that will be retried. */
export interface RetryNotice extends NoticeStart {
  readonly delayMs: number;
  /** The part of `delayMs` that the service asked for in `Retry-After`. Absent: the service did not ask for a delay. */
  readonly askedMs?: number;
  readonly cause: string;
}

/** Timer and random numbers, which tests replace, and a callback for retries. */
export interface RetryOptions {
  /**
   * Maximum time of a request until its whole response is there, over all attempts. Waits between attempts do not count.
   * Absent: each attempt has the limit of the transport.
   */
  readonly requestTimeoutMs?: number | undefined;
  /** Returns milliseconds since a fixed moment. Used for the rate limit and the durations of requests. */
  readonly now?: (() => number) | undefined;
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** Returns a number from 0 to below 1. */
  readonly random?: (() => number) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/** A failure after which a request may be sent again. */
interface RetriedFailure {
  /** Maximum attempts of a request. */
  readonly attempts: number;
  /**
   * Whether the service may have processed the request. A POST is then not repeated, as it may have created a resource:
   * the caller searches for that resource by its mark. Every PATCH of the API is idempotent: it sends values, not
   * increments.
   */
  readonly mayHaveTakenEffect: boolean;
  /** Whether all other requests pause, too. */
  readonly pausesAll: boolean;
}

/**
 * The failures that are retried. With the delays below, 4 attempts wait up to 3.5 seconds in total, and 5 up to 7.5
 * seconds. 10 attempts wait up to two minutes, after which most rate limits admit new requests.
 */
const FAILURES = {
  /** The request was certainly not sent. */
  unsent: { attempts: 4, mayHaveTakenEffect: false, pausesAll: false },
  /** The request may have been sent, but there is no usable response. */
  network: { attempts: 4, mayHaveTakenEffect: true, pausesAll: false },
  /** The service rejected the request with 429 before processing it. */
  throttled: { attempts: 10, mayHaveTakenEffect: false, pausesAll: true },
  /** The service responded with 5xx. */
  server: { attempts: 5, mayHaveTakenEffect: true, pausesAll: false },
} as const satisfies Readonly<Record<string, RetriedFailure>>;

/**
 * Delays double from the first to the maximum. Half a second is enough for a service that restarts a connection. The
 * maximum is half the window of the usual rate limit, 120 requests in 60 seconds, so that a retry follows soon after
 * requests are admitted again.
 */
const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** If the service asks for a longer delay, the request is not retried. A rate limit of a minute needs at most one. */
const MAX_RETRY_AFTER_MS = 120_000;
/** If less than this share of `requestTimeoutMs` is left, the request is not retried: the attempt would be cut off. */
const LEAST_TIME_LEFT = 0.1;

/**
 * A read of the state that a write relies on. The write and the read get slots of the rate limit together, so that
 * nothing delays the write after the read.
 */
export interface ReadBeforeWrite {
  /** Whether to read before an attempt of the write. Called when the attempt's turn has come. */
  readonly isNeeded: () => boolean;
  /** Creates the GET request. */
  readonly create: () => HttpRequest;
  /** Takes the response to the read. Returns the failure if the response does not show the state. */
  readonly accept: (response: ReceivedResponse) => ReceivedResponse | NetworkError | undefined;
  /** Called right before each attempt of the write, after the read. Rejects if the write must not be sent. */
  readonly prepare: () => Promise<void>;
}

/** What to send, and how. */
export interface RetriedCall {
  /** Creates the request of each attempt, because a body can be read only once, and may change between attempts. */
  readonly create: () => HttpRequest;
  /** The signal of the request. */
  readonly signal?: AbortSignal | undefined;
  readonly waitSignal?: AbortSignal | undefined;
  readonly before?: ReadBeforeWrite | undefined;
}

/** The response that ends a call. `request`: the write or, if it was not sent, the read before it. */
export interface FinalResponse extends ReceivedResponse {
  readonly request: HttpRequest;
}

/**
 * Sends a request until its result is final. Once `waitSignal` is aborted, a call ends as soon as its next step would be
 * to wait or to send a write: with the result of an earlier attempt that may have taken effect, or else by rejecting
 * with the reason of the abort.
 */
export type SendWithRetries = (call: RetriedCall) => Promise<FinalResponse>;

/**
 * Retries requests that are safe to repeat, after an exponential delay with full jitter, or after the delay that the
 * service asks for. After a 429 for one request, all requests pause.
 */
export function withRetries(attempt: SendOnce, limiter: RequestLimiter, options: RetryOptions): SendWithRetries {
  const { sleep = sleepFor, random = Math.random, onRetry } = options;
  return async (call) => {
    const { waitSignal } = call;
    const signal = waitSignal ?? call.signal;
    const timer = createRequestTimer(options);
    let uncertain: Attempted | undefined;
    try {
      for (let count = 1; ; count += 1) {
        const send = (request: HttpRequest) =>
          tryOnce(() => timer.run(request, (limited) => attempt(limited, count)), request, waitSignal);
        const attempted = await limiter.admit((second) => tryTurn(call, send, second), signal, call.before?.isNeeded);
        const { request, end } = attempted;
        const failure = classify(end);
        if (failure === undefined) limiter.recover();
        if (failure?.mayHaveTakenEffect === true && !isReadBefore(call, attempted)) uncertain = attempted;
        const delayMs = computeDelay({ end, failure, count, method: request.method, random });
        if (delayMs === undefined || timer.isUsedUp(request)) return settle(attempted);
        onRetry?.({ ...describeAttempt(request, end), attempt: count, delayMs });
        if (failure?.pausesAll === true) limiter.throttle(delayMs);
        else await sleep(delayMs, signal);
        signal?.throwIfAborted();
      }
    } catch (error) {
      if (uncertain !== undefined && waitSignal?.aborted && error === waitSignal.reason) return settle(uncertain);
      throw error;
    }
  };
}

/** Limits the time of all attempts of a request together. A write and the read before it have the full time each. */
interface RequestTimer {
  /** Makes an attempt with the time that is left. */
  readonly run: <T>(request: HttpRequest, attempt: (limited: HttpRequest) => Promise<T>) => Promise<T>;
  /** Whether too little time is left for another attempt. */
  readonly isUsedUp: (request: HttpRequest) => boolean;
}

function createRequestTimer({ requestTimeoutMs, now = () => performance.now() }: RetryOptions): RequestTimer {
  if (requestTimeoutMs === undefined) return { run: (request, attempt) => attempt(request), isUsedUp: () => false };
  const spent = new Map<string, number>();
  const getLeftMs = ({ method }: HttpRequest): number => requestTimeoutMs - (spent.get(method) ?? 0);
  return {
    run: async (request, attempt) => {
      const startedMs = now();
      try {
        return await attempt({ ...request, timeoutMs: Math.max(1, Math.round(getLeftMs(request))) });
      } finally {
        spent.set(request.method, (spent.get(request.method) ?? 0) + now() - startedMs);
      }
    },
    isUsedUp: (request) => getLeftMs(request) < requestTimeoutMs * LEAST_TIME_LEFT,
  };
}

interface Attempted {
  readonly request: HttpRequest;
  readonly end: End;
}

function isReadBefore({ before }: RetriedCall, { request }: Attempted): boolean {
  return before !== undefined && request.method === 'GET';
}

/** Makes one attempt. `second` is set if the state that the write relies on must be read first. */
async function tryTurn(
  { create, waitSignal, before }: RetriedCall,
  send: (request: HttpRequest) => Promise<End>,
  second: (() => Promise<void>) | undefined,
): Promise<Attempted> {
  if (before !== undefined && second !== undefined) {
    waitSignal?.throwIfAborted();
    const read = before.create();
    const end = await send(read);
    const failure = end instanceof NetworkError ? end : before.accept(end);
    if (failure !== undefined) return { request: read, end: failure };
    await second();
  }
  await before?.prepare();
  const request = create();
  return { request, end: await send(request) };
}

type End = ReceivedResponse | NetworkError;

/**
 * Makes one attempt. Resolves with a `NetworkError` instead of rejecting with it. Once `waitSignal` is aborted, rejects
 * instead of sending a write. Still sends a read, because a read that would have to wait does not get past the limiter.
 */
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
    // If the request was aborted, `error` is the reason of the abort, perhaps the NetworkError of another request.
    if (error instanceof NetworkError && !request.signal?.aborted) return error;
    throw error;
  }
}

function settle({ request, end }: Attempted): FinalResponse {
  if (end instanceof NetworkError) throw end;
  return { ...end, request };
}

/** Computes the delay before the next attempt. `undefined`: no further attempt. */
function computeDelay(after: {
  readonly end: End;
  readonly failure: RetriedFailure | undefined;
  readonly count: number;
  readonly method: string;
  readonly random: () => number;
}): number | undefined {
  const { end, failure, count, method, random } = after;
  if (failure === undefined || (method === 'POST' && failure.mayHaveTakenEffect)) return undefined;
  if (count >= failure.attempts) return undefined;
  const askedMs = end instanceof NetworkError ? undefined : parseRetryAfter(end.response.headers);
  if (askedMs === undefined) return Math.round(random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1)));
  return askedMs > MAX_RETRY_AFTER_MS ? undefined : askedMs + Math.round(random() * FIRST_DELAY_MS);
}

/**
 * Classifies a failure that may be retried. `undefined`: success, or a failure that a retry would repeat, such as a
 * response that is too large, or a certificate that is not trusted.
 */
function classify(end: End): RetriedFailure | undefined {
  if (end instanceof NetworkError && end.isFinal) return undefined;
  if (end instanceof NetworkError) return end.isUnsent ? FAILURES.unsent : FAILURES.network;
  if (isQuotaFailure(readFailure(end))) return undefined;
  if (end.response.status === 429) return FAILURES.throttled;
  return end.response.status >= 500 ? FAILURES.server : undefined;
}

function readFailure({ response: { status }, body }: ReceivedResponse): Pick<ApiErrorDetails, 'status' | 'code'> {
  const code = findMember(parseJson(body), 'error_code');
  return { status, code: typeof code === 'string' ? code : undefined };
}

/**
 * Converts `Retry-After` to milliseconds. It is a number of seconds, or a date, which is compared with the `Date`
 * header of the response. `undefined`: `Retry-After` is absent or malformed.
 */
function parseRetryAfter(headers: HttpResponse['headers']): number | undefined {
  const text = headers['retry-after']?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - Date.parse(headers['date'] ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function describeAttempt(request: HttpRequest, end: End): Pick<RetryNotice, 'method' | 'path' | 'cause' | 'askedMs'> {
  const cause = end instanceof NetworkError ? end.message : `HTTP ${end.response.status}`;
  const askedMs = end instanceof NetworkError ? undefined : parseRetryAfter(end.response.headers);
  const asked = askedMs === undefined ? {} : { askedMs };
  return { method: request.method, path: formatPathAndQuery(new URL(request.url)), cause, ...asked };
}
