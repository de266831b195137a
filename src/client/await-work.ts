import { findKind } from '../kinds/tables/registry.ts';
import type { Address } from '../model/address.ts';
import { ApiError, NetworkError } from '../model/errors.ts';
import type { WaitResult } from '../model/outcome.ts';
import type { LiveResource } from '../model/state.ts';
import type { Client } from './client.ts';
import { readLive } from './read-live.ts';

/** A resource whose provisioning may continue after the response. */
export interface WorkSubject {
  readonly address: Address;
  readonly kind: string;
  readonly id: string;
}

/** The time limit and the effects of a wait. */
export interface WaitOptions {
  /** Counted from the first reading. */
  readonly timeoutMs: number;
  readonly now: () => Date;
  readonly sleep: (ms: number, signal?: AbortSignal) => Promise<void>;
  /** Aborted: the wait ends. */
  readonly signal: AbortSignal;
  /** Called after each reading that does not end the wait. `open`: the results of `all` that are unfinished. `delayMs`: the time until the next reading. */
  readonly onReading?: (all: readonly WaitResult[], open: readonly WaitResult[], delayMs: number) => void;
}

/** A reading takes one request for each page of a kind's list. To limit requests, the rate falls from twelve readings a minute to two. */
const FIRST_DELAY_MS = 5_000;
const MAX_DELAY_MS = 30_000;

/** Lists the subjects of kinds that the service provisions after the response, each id once. */
export function listWorkSubjects(subjects: readonly WorkSubject[]): readonly WorkSubject[] {
  const worked = subjects.filter(({ kind }) => findKind(kind)?.findWork !== undefined);
  return [...new Map(worked.map((one) => [one.id, one])).values()];
}

/**
 * Reads resources until none is unfinished, the time is over, or the user interrupts. Never rejects because of the service or the network: a resource
 * that cannot be read has failed, with the reason.
 */
export async function awaitWork(
  client: Omit<Client, 'send'>,
  subjects: readonly WorkSubject[],
  { timeoutMs, now, sleep, signal, onReading = () => undefined }: WaitOptions,
): Promise<readonly WaitResult[]> {
  const deadline = now().getTime() + timeoutMs;
  let found: readonly WaitResult[] = subjects.map((one) => createUnfinished(one, { message: 'it was not read' }));
  for (let delayMs = FIRST_DELAY_MS; ; delayMs = Math.min(delayMs * 2, MAX_DELAY_MS)) {
    const read = await readAll(client, subjects, signal);
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

/** Reads all subjects once. `undefined`: the user interrupted. */
async function readAll(
  client: Omit<Client, 'send'>,
  subjects: readonly WorkSubject[],
  signal: AbortSignal,
): Promise<readonly WaitResult[] | undefined> {
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

function judge(subject: WorkSubject, live: LiveResource | undefined): WaitResult {
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
    ...(remedy !== undefined && { remedy }),
  };
}

function createUnfinished(
  { address, id }: WorkSubject,
  { message }: Required<Pick<WaitResult, 'message'>>,
): WaitResult {
  return { address, id, state: 'unfinished', message };
}
