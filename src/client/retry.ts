import { setTimeout } from 'node:timers/promises';
import { NetworkError } from '../model/errors.ts';
import type { Answer, Attempt } from './attempt.ts';
import type { Governor } from './governor.ts';
import { toPath } from './target.ts';

/** Tells of a request that failed and will be sent again. */
export interface RetryNotice {
  readonly method: string;
  /** Path and query. */
  readonly path: string;
  /** The attempt that failed, counting from 1. */
  readonly attempt: number;
  readonly delayMs: number;
  readonly cause: string;
}

/** What retries take from outside, so that tests can hold the time. */
export interface RetryOptions {
  readonly sleep?: ((ms: number, signal?: AbortSignal) => Promise<void>) | undefined;
  /** 0 to 1. */
  readonly random?: (() => number) | undefined;
  readonly onRetry?: ((notice: RetryNotice) => void) | undefined;
}

/**
 * What went wrong. `unsent`: the request surely was not sent. `network`: no answer, or none that can be used. `throttled`: refused unprocessed,
 * with 429. `server`: 5xx.
 */
type Trouble = 'unsent' | 'network' | 'throttled' | 'server';

/** How often a request is sent at most, by method and by what went wrong. */
const ATTEMPTS: Readonly<Record<string, Readonly<Record<Trouble, number>>>> = {
  GET: { unsent: 4, network: 4, throttled: 10, server: 5 },
  PUT: { unsent: 4, network: 4, throttled: 10, server: 5 },
  DELETE: { unsent: 4, network: 4, throttled: 10, server: 5 },
  // Every PATCH of the interface states values, not changes of values: twice is like once.
  PATCH: { unsent: 4, network: 4, throttled: 10, server: 5 },
  // What may have been created is looked up instead, by its mark.
  POST: { unsent: 4, network: 1, throttled: 10, server: 1 },
};

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A service that asks for more patience than this gets its answer reported instead. */
const MAX_RETRY_AFTER_MS = 120_000;

/**
 * A request until it is answered for good; `create` makes one for each attempt, since a body is read only once. `patience`: aborted, nothing waits
 * any more, and no write is sent that is not under way. Then rejects with its reason, unless an attempt was made that may have taken effect: what that one
 * came to is the end.
 */
export type Persistence = (create: () => Request, patience?: AbortSignal) => Promise<Answer>;

/**
 * Sends again what may be sent again, after a delay that grows, with full jitter, or that the service asks for. A service that
 * throttles slows down every request and not only this one.
 */
export function withRetries(attempt: Attempt, governor: Governor, options: RetryOptions): Persistence {
  const { sleep = sleepFor, random = Math.random, onRetry } = options;
  return async (create, patience) => {
    let uncertain: End | undefined;
    const persist = async (): Promise<Answer> => {
      for (let count = 1; ; count += 1) {
        const request = create();
        const end = await governor.admit(
          () => tryOnce(() => attempt(request, count), request, patience),
          patience ?? request.signal,
        );
        const trouble = toTrouble(end);
        if (trouble === undefined) governor.recover();
        if (trouble === 'network' || trouble === 'server') uncertain = end;
        const delayMs = toDelay({ end, trouble, count, method: request.method, random });
        if (delayMs === undefined) return settle(end);
        onRetry?.({ ...describe(request, end), attempt: count, delayMs });
        if (trouble === 'throttled') governor.throttle(delayMs);
        else await sleep(delayMs, patience ?? request.signal);
        (patience ?? request.signal).throwIfAborted();
      }
    };
    try {
      return await persist();
    } catch (error) {
      if (uncertain !== undefined && patience?.aborted && error === patience.reason) return settle(uncertain);
      throw error;
    }
  };
}

type End = Answer | NetworkError;

/** A read asks nothing of anybody: it is sent as long as it need not wait. */
async function tryOnce(
  attempt: () => Promise<Answer>,
  request: Request,
  patience: AbortSignal | undefined,
): Promise<End> {
  request.signal.throwIfAborted();
  if (request.method !== 'GET') patience?.throwIfAborted();
  try {
    return await attempt();
  } catch (error) {
    // What is not wanted any more rejects with its reason, which may be the failure of another request.
    if (error instanceof NetworkError && !request.signal.aborted) return error;
    throw error;
  }
}

function settle(end: End): Answer {
  if (end instanceof NetworkError) throw end;
  return end;
}

/** How long to wait before sending again; `undefined`: don't. */
function toDelay(after: {
  readonly end: End;
  readonly trouble: Trouble | undefined;
  readonly count: number;
  readonly method: string;
  readonly random: () => number;
}): number | undefined {
  const { end, trouble, count, method, random } = after;
  if (trouble === undefined || count >= (ATTEMPTS[method]?.[trouble] ?? 1)) return undefined;
  const askedMs = end instanceof NetworkError ? undefined : parseRetryAfter(end.response.headers);
  if (askedMs === undefined) return Math.round(random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (count - 1)));
  return askedMs > MAX_RETRY_AFTER_MS ? undefined : askedMs + Math.round(random() * FIRST_DELAY_MS);
}

/** An answer that is too large would be so again. */
function toTrouble(end: End): Trouble | undefined {
  if (end instanceof NetworkError && end.head !== undefined) return undefined;
  if (end instanceof NetworkError) return end.isUnsent ? 'unsent' : 'network';
  if (end.response.status === 429) return 'throttled';
  return end.response.status >= 500 ? 'server' : undefined;
}

/** Milliseconds that the service asks to wait: in seconds, or as a date beside the date of its answer. */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function describe(request: Request, end: End): Pick<RetryNotice, 'method' | 'path' | 'cause'> {
  const cause = end instanceof NetworkError ? end.message : `HTTP ${end.response.status}`;
  return { method: request.method, path: toPath(new URL(request.url)), cause };
}

/** Resolves after a time, or as soon as the signal is aborted. */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
