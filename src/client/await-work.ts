import { findKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { ApiError, NetworkError } from '../model/errors.ts';
import type { ResourceWaitResult } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { Client } from './client.ts';
import { readLive } from './read-live.ts';

/** A resource that the service may still be provisioning after it responded to the write. */
export interface PendingResource {
  readonly address: Address;
  readonly kind: string;
  readonly id: string;
}

export interface WaitOptions {
  /** Time limit, measured from the start of the first read. */
  readonly timeoutMs: number;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Ends the wait when aborted. */
  readonly signal: AbortSignal;
  /**
   * Called after each read, except the last. `open`: the unfinished results in `all`. `delayMs`: until the next read.
   */
  readonly onReading?: (
    all: readonly ResourceWaitResult[],
    open: readonly ResourceWaitResult[],
    delayMs: number,
  ) => void;
}

/**
 * The first delay between reads, and the maximum. The delay doubles after each read, to save requests: a read sends one
 * for each page of a kind's list. Provisioning usually takes minutes: 5 s notices a fast job, and with 30 s a wait of an
 * hour needs few of the usual 120 requests a minute.
 */
const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 30_000;

/** Returns the resources whose kinds the service provisions asynchronously, each id once. */
export function listAsynchronousResources(subjects: readonly PendingResource[]): readonly PendingResource[] {
  const worked = subjects.filter(({ kind }) => findKind(kind)?.findWork !== undefined);
  return [...new Map(worked.map((one) => [one.id, one])).values()];
}

/**
 * Reads the resources until none is unfinished, time is up, or `signal` is aborted. After an `ApiError` or
 * `NetworkError`, resolves with the state `failed` and the error message for every resource.
 */
export async function awaitPendingResources(
  client: Omit<Client, 'send'>,
  subjects: readonly PendingResource[],
  { timeoutMs, now, sleep, signal, onReading = () => undefined }: WaitOptions,
): Promise<readonly ResourceWaitResult[]> {
  const deadline = now().getTime() + timeoutMs;
  let found: readonly ResourceWaitResult[] = subjects.map((one) =>
    createUnfinished(one, { message: 'it was not read' }),
  );
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const read = await readPendingResources(client, subjects, signal);
    if (read === undefined) return found;
    found = read;
    const open = found.filter(({ state }) => state === 'unfinished');
    const leftMs = deadline - now().getTime();
    if (open.length === 0 || leftMs <= 0 || signal.aborted) return found;
    const pauseMs = Math.min(delayMs, leftMs);
    onReading(found, open, pauseMs);
    await sleep(pauseMs, signal);
    if (signal.aborted) return found;
  }
}

/** Reads all subjects once. `undefined`: `signal` aborted the read. */
async function readPendingResources(
  client: Omit<Client, 'send'>,
  subjects: readonly PendingResource[],
  signal: AbortSignal,
): Promise<readonly ResourceWaitResult[] | undefined> {
  const kinds = [...new Set(subjects.map(({ kind }) => kind))].flatMap((name) => findKind(name) ?? []);
  try {
    const { resources } = await readLive(client, { kinds, attachments: [], signal });
    const live = new Map([...resources.values()].flat().map((one) => [one.id, one]));
    return subjects.map((one) => judge(one, live.get(one.id)));
  } catch (error) {
    if (signal.aborted) return undefined;
    if (!(error instanceof ApiError || error instanceof NetworkError)) throw error;
    const message = `it cannot be read: ${error.message}`;
    return subjects.map((one) => ({ ...createUnfinished(one, { message }), state: 'failed' }));
  }
}

function judge(subject: PendingResource, live: LiveResource | undefined): ResourceWaitResult {
  if (live === undefined)
    return { ...createUnfinished(subject, { message: 'it is no longer there' }), state: 'failed' };
  const kind = findKind(subject.kind);
  const work = kind?.findWork?.(live);
  const { computed } = live;
  if (work === undefined) return { address: subject.address, id: subject.id, state: 'ready', computed };
  const remedy = work.isFailed ? kind?.checkHealth(computed)[0]?.remedy : undefined;
  const state = work.isFailed ? 'failed' : 'unfinished';
  return {
    ...createUnfinished(subject, { message: work.message }),
    state,
    computed,
    remedy,
  };
}

function createUnfinished(
  { address, id }: PendingResource,
  { message }: Required<Pick<ResourceWaitResult, 'message'>>,
): ResourceWaitResult {
  return { address, id, state: 'unfinished', message };
}
