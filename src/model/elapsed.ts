import { hrtime } from 'node:process';

/** Milliseconds of a clock that only goes forward. Node loads a lot for the first use of `performance`, and nothing for this. */
export function toElapsedMs(): number {
  const [seconds, nanoseconds] = hrtime();
  return seconds * 1000 + nanoseconds / 1_000_000;
}
