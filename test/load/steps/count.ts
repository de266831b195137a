import { execFile } from 'node:child_process';
import { promisify } from 'node:util';

/** How often each block of the sources ran, by the function and the place of the block. */
export type Steps = ReadonlyMap<string, number>;

/** Makes a task of some size ready; what that then does is counted. */
export type Prepare = (size: number) => Promise<() => Promise<void>>;

/**
 * Counts what the engine does of our code: the same on every machine, whatever else runs there. In a process of its own, where nothing was compiled
 * before the count began, and nothing else runs. `name` is that of a `Prepare` which the module exports.
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
