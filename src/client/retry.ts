import { setTimeout } from 'node:timers/promises';
import { NetworkError } from '../model/errors.ts';
import type { Transport } from '../model/transport.ts';
import { toPath } from './target.ts';
import { toWhole } from './whole-body.ts';

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

type Trouble = 'network' | 'throttled' | 'server';
type AttemptLimits = Readonly<Record<Trouble, number>>;

/** How often a request is sent at most, by method and by what went wrong. What is not here is sent once: a POST above all. */
const ATTEMPTS: Readonly<Record<string, AttemptLimits>> = {
  GET: { network: 4, server: 5, throttled: 10 },
};

const FIRST_DELAY_MS = 500;
const MAX_DELAY_MS = 30_000;
/** A service that asks for more patience than this gets its answer reported instead. */
const MAX_RETRY_AFTER_MS = 120_000;

/** Sends again what may be sent again, after a delay that grows, with jitter, or that the service asks for. */
export function withRetries(transport: Transport, options: RetryOptions): Transport {
  const { sleep = sleepFor, random = Math.random, onRetry } = options;
  return async (request) => {
    const limits = ATTEMPTS[request.method];
    if (limits === undefined) return transport(request);
    for (let attempt = 1; ; attempt += 1) {
      const answer = await tryOnce(transport, request);
      const delayMs = toDelay({ answer, attempt, limits, random });
      if (delayMs === undefined) return settle(answer);
      onRetry?.({ ...describe(request, answer), attempt, delayMs });
      await sleep(delayMs, request.signal);
      request.signal.throwIfAborted();
    }
  };
}

type Attempt = Response | NetworkError;

async function tryOnce(transport: Transport, request: Request): Promise<Attempt> {
  try {
    return await toWhole(await transport(request), request);
  } catch (error) {
    if (error instanceof NetworkError) return error;
    throw error;
  }
}

function settle(answer: Attempt): Response {
  if (answer instanceof NetworkError) throw answer;
  return answer;
}

/** How long to wait before sending again; `undefined`: don't. */
function toDelay(after: {
  readonly answer: Attempt;
  readonly attempt: number;
  readonly limits: AttemptLimits;
  readonly random: () => number;
}): number | undefined {
  const { answer, attempt, limits, random } = after;
  const trouble = toTrouble(answer);
  if (trouble === undefined || attempt >= limits[trouble]) return undefined;
  const askedMs = answer instanceof Response ? parseRetryAfter(answer.headers) : undefined;
  if (askedMs === undefined) return Math.round(random() * Math.min(MAX_DELAY_MS, FIRST_DELAY_MS * 2 ** (attempt - 1)));
  return askedMs > MAX_RETRY_AFTER_MS ? undefined : askedMs + Math.round(random() * FIRST_DELAY_MS);
}

function toTrouble(answer: Attempt): Trouble | undefined {
  if (answer instanceof NetworkError) return 'network';
  if (answer.status === 429) return 'throttled';
  return answer.status >= 500 ? 'server' : undefined;
}

/** Milliseconds that the service asks to wait: in seconds, or as a date beside the date of its answer. */
function parseRetryAfter(headers: Headers): number | undefined {
  const text = headers.get('retry-after')?.trim() ?? '';
  if (/^\d+$/.test(text)) return Number(text) * 1000;
  const waitMs = Date.parse(text) - Date.parse(headers.get('date') ?? '');
  return Number.isNaN(waitMs) ? undefined : Math.max(0, waitMs);
}

function describe(request: Request, answer: Attempt): Pick<RetryNotice, 'method' | 'path' | 'cause'> {
  const cause = answer instanceof NetworkError ? answer.message : `HTTP ${answer.status}`;
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
