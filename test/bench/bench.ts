import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeCredentials, writeManifests } from './manifests.ts';
import { measure, type ProcessUsage, startServer, toMedian } from './measure.ts';

/**
 * `npm run bench`: counts the requests of the built command line, and measures its processes. Prints two tables of
 * docs/reference/benchmarks.md, and the requests that it compares with those of Terraform.
 */

const SIZES = [1, 50, 1_000, 10_000];
const EDGEWISE = resolve('dist/cli.js');

interface Step {
  readonly name: string;
  readonly words: readonly string[];
  readonly exitCode: number;
}

const STEPS: readonly Step[] = [
  { name: 'plan, all new', words: ['plan', '--detailed-exitcode'], exitCode: 2 },
  { name: 'apply', words: ['apply', '--yes'], exitCode: 0 },
  { name: 'plan, unchanged', words: ['plan', '--detailed-exitcode'], exitCode: 0 },
];

/** A step at one size: its requests, and the median of its measurements. */
interface Measured extends ProcessUsage {
  readonly requests: number;
}

const measured: (readonly Measured[])[] = [];
for (const edges of SIZES) measured.push(await measureSize(edges));
const names = STEPS.map(({ name }) => name);
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
console.log(renderTable(['TCP edges', ...names], (one) => [formatCount(one.requests)]));
console.log();
console.log(renderTable(['TCP edges', ...names], (one) => [formatUsage(one)]));
console.log(`\n${await countCredentialRequests(1_000)}`);

/** Plans, applies and plans again: three times, or once if it takes long and varies little. */
async function measureSize(edges: number): Promise<readonly Measured[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'));
  try {
    writeManifests(folder, edges);
    const runs: (readonly Measured[])[] = [];
    for (let run = 0; run < (edges > 1_000 ? 1 : 3); run += 1) runs.push(await measureOnce(folder));
    return STEPS.map((_, index) => {
      const same = runs.flatMap((run) => run[index] ?? []);
      return { requests: same[0]?.requests ?? Number.NaN, ...toMedian(same) };
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** The requests of a plan that changes none of that many credentials, with how many there are of each path. */
async function countCredentialRequests(count: number): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'));
  const server = await startServer();
  try {
    writeCredentials(folder, count);
    await measure([EDGEWISE, 'apply', '--yes', folder], { url: server.url });
    server.takeRequests();
    await measure([EDGEWISE, 'plan', '--detailed-exitcode', folder], { url: server.url });
    const paths = server.takeRequests();
    const shown = Array.from(
      Map.groupBy(paths, (path) => path),
      ([path, same]) => `${same.length} × ${path}`,
    );
    return `A plan of ${formatCount(count)} unchanged credentials: ${paths.length} requests (${shown.join(', ')})`;
  } finally {
    await server.close();
    rmSync(folder, { recursive: true });
  }
}

async function measureOnce(folder: string): Promise<readonly Measured[]> {
  const server = await startServer();
  const found: Measured[] = [];
  try {
    for (const { words, exitCode } of STEPS) {
      const taken = await measure([EDGEWISE, ...words, folder], { url: server.url, exitCode });
      found.push({ requests: server.takeRequests().length, ...taken });
    }
  } finally {
    await server.close();
  }
  return found;
}

function formatUsage({ seconds, cpuSeconds, peakMegabytes }: ProcessUsage): string {
  return [seconds.toFixed(1), cpuSeconds.toFixed(1), Math.round(peakMegabytes)].join('/');
}

function formatCount(value: number): string {
  return value.toLocaleString('en');
}

function renderTable(head: readonly string[], toCells: (one: Measured) => readonly string[]): string {
  const rows = SIZES.map((edges, index) => {
    const cells = (measured[index] ?? []).flatMap(toCells);
    return [formatCount(edges), ...cells];
  });
  return [head, head.map(() => '---:'), ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
