import pLimit from 'p-limit';

/** Runs a task once a place is free. Tasks must not wait for further tasks of the same limit. */
export type Limit = <T>(run: () => Promise<T>) => Promise<T>;

/** A limit that lets `concurrency` tasks run at once, in the order in which they came. */
export function createLimit(concurrency: number): Limit {
  const limit = pLimit(concurrency);
  return (run) => limit(run);
}
