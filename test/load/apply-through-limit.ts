import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseRateLimit, toLeastMs } from '../../src/model/rate-limit.ts';
import { writeManifests } from '../bench/manifests.ts';
import { parseLog } from '../bench/server.ts';
import { startServerProcess } from '../end-to-end/processes.ts';
import type { BudgetRun } from './keep-budget.ts';

/** What a program has on its heap after a collection, in bytes. */
export interface Heap {
  readonly afterTenSeconds?: number;
  readonly atTheEnd: number;
}

/** The name of the file from which a program that is started with this environment leaves its heap. */
export function toHeapEnvironment(file: string): NodeJS.ProcessEnv {
  return { LOAD_HEAP_FILE: file, NODE_OPTIONS: `--import ${new URL('heap.mjs', import.meta.url).href}` };
}

/** What a program left that has ended. */
export function readHeap(file: string): Heap {
  return JSON.parse(readFileSync(file, 'utf8'));
}

const API_KEY = 'load';

/**
 * Applies that many TCP edges, with the weighted backends that they need, by the built command line as a process, through a server in
 * another that keeps to the rate limit and answers after 20 ms. Throws when the apply fails.
 */
export async function applyThroughLimit(
  edges: number,
  rateLimit: string,
): Promise<BudgetRun & { readonly heap: Heap }> {
  const limit = parseRateLimit(rateLimit);
  if (limit === undefined) throw new RangeError(`${rateLimit} is no rate limit`);
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
  try {
    mkdirSync(join(folder, 'manifests'));
    writeManifests(join(folder, 'manifests'), edges);
    writeFileSync(join(folder, 'faults.json'), '{"rules":[{"on":"*","fault":"latency","ms":20}]}');
    const log = join(folder, 'log');
    const args = ['--rate-limit', rateLimit, '--faults', join(folder, 'faults.json'), '--api-key', `${API_KEY}:admin`];
    const server = await startServerProcess(args, { program: 'dist/cli.js', log: openSync(log, 'w') });
    const start = performance.now();
    try {
      runApply(folder, server.url, rateLimit);
    } finally {
      await server.stop();
    }
    const ms = performance.now() - start;
    const requests = parseLog(readFileSync(log, 'utf8'));
    const refused = requests.filter(({ status }) => status === 429).length;
    const heap = readHeap(join(folder, 'heap'));
    return { requests: requests.length, refused, ms, leastMs: toLeastMs(requests.length, limit), heap };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function runApply(folder: string, url: string, rateLimit: string): void {
  const flags = ['--yes', '--rate-limit', rateLimit, '--concurrency', '64', '--base-url', url];
  const { status, stderr } = spawnSync(
    process.execPath,
    ['dist/cli.js', 'apply', join(folder, 'manifests'), ...flags],
    {
      env: { EDGEWISE_API_KEY: API_KEY, ...toHeapEnvironment(join(folder, 'heap')) },
      stdio: ['ignore', 'ignore', 'pipe'],
      encoding: 'utf8',
      maxBuffer: 2 ** 30,
    },
  );
  if (status !== 0) throw new Error(`The apply exited with ${status}:\n${stderr}`);
}
