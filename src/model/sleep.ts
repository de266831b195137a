import { setTimeout } from 'node:timers/promises';

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. Does not reject when aborted. */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
