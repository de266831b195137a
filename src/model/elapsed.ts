import { hrtime } from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** The time of a monotonic clock. Uses `hrtime`: the first use of `performance` makes Node load many modules. */
export function getMonotonicMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}

/** Resolves after `ms` milliseconds, or as soon as the signal is aborted. Does not reject when aborted. */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
