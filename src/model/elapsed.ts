import { hrtime } from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds of a monotonic clock. Node loads many modules at the first use of `performance`, and none for this. */
export function getElapsedMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}

/** Resolves after a time, or as soon as the signal is aborted. */
export async function sleepFor(ms: number, signal?: AbortSignal): Promise<void> {
  try {
    await setTimeout(ms, undefined, { signal });
  } catch (error) {
    if (!signal?.aborted) throw error;
  }
}
