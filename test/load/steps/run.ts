import { type Profiler, Session } from 'node:inspector/promises';
import type { Prepare } from './count.ts';

/**
 * Takes the URL of a module, the name of a `Prepare` that it exports, and sizes. Prints, for each size, how often each function of the sources
 * was called.
 */

const [module = '', name = '', ...sizes] = process.argv.slice(2);

const session = new Session();
session.connect();
await session.post('Profiler.enable');
// Only functions that are compiled after this line are counted.
await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
const exported: Readonly<Record<string, Prepare>> = await import(module);
const prepare = exported[name];
if (prepare === undefined) throw new RangeError(`${module} does not export ${name}`);
const counts: Record<string, number>[] = [];
for (const size of sizes) counts.push(await count(await prepare(Number(size))));
session.disconnect();
process.stdout.write(JSON.stringify(counts));

async function count(run: () => Promise<void>): Promise<Record<string, number>> {
  await session.post('Profiler.takePreciseCoverage');
  await run();
  const { result } = await session.post('Profiler.takePreciseCoverage');
  const blocks = result
    .filter(({ url }) => url.includes('/src/'))
    .flatMap(({ url, functions }) => functions.flatMap((one) => listBlocks(url, one)));
  return Object.fromEntries(blocks);
}

function listBlocks(url: string, { functionName, ranges }: Profiler.FunctionCoverage): readonly [string, number][] {
  const file = url.slice(url.indexOf('/src/') + 1);
  return ranges.map(({ startOffset, endOffset, count: times }) => [
    `${file} ${functionName} ${startOffset}-${endOffset}`,
    times,
  ]);
}
