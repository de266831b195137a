import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How often each block of the sources ran, by its function and position. */
export type Steps = ReadonlyMap<string, number>;

/** Prepares a task of a given size. Only the returned function is counted. */
export type Prepare = (size: number) => Promise<() => Promise<void>>;

/**
 * Counts the runs of blocks in our code. The count does not depend on the machine or its load. It runs in its own process, in which nothing was
 * compiled before and nothing else runs. `name`: the `Prepare` that the module exports.
 */
export async function countSteps(
  { module, name }: { readonly module: URL; readonly name: string },
  sizes: readonly number[],
): Promise<readonly Steps[]> {
  const args = [new URL('run.ts', import.meta.url).pathname, module.href, name, ...sizes.map(String)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { maxBuffer: 256 * 1024 * 1024 });
  const counts: readonly Readonly<Record<string, number>>[] = JSON.parse(stdout);
  return counts.map((blocks) => new Map(Object.entries(blocks)));
}
