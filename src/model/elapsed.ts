import { hrtime } from 'node:process';
import { setTimeout } from 'node:timers/promises';

/** Milliseconds of a clock that only goes forward. Node loads a lot for the first use of `performance`, and nothing for this. */
export function toElapsedMs(): number {
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
