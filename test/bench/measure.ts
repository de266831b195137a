import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { createServer, listen, parseApiKey } from '../../src/server/index.ts';

/** The resources that a process used, from start to exit. */
export interface ProcessUsage {
  readonly seconds: number;
  /** Processor time of the program, and of the system for it. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

const API_KEY = 'bench';
const USAGE = fileURLToPath(new URL('usage.cjs', import.meta.url));

/** Runs a Node program, with the bundled server at that URL. Throws if it ends with another exit code. */
export async function measure(
  words: readonly string[],
  { url = 'embedded:', exitCode = 0 } = {},
): Promise<ProcessUsage> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'));
  const usageFile = join(folder, 'usage.json');
  const settings = { EDGEWISE_BASE_URL: url, EDGEWISE_API_KEY: API_KEY, EDGEWISE_RATE_LIMIT: 'none' };
  try {
    const start = performance.now();
    const child = spawn(process.execPath, ['--require', USAGE, ...words], {
      env: { ...process.env, ...settings, BENCH_USAGE_FILE: usageFile },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    const [stderr, [status]] = await Promise.all([text(child.stderr), once(child, 'close')]);
    const seconds = (performance.now() - start) / 1000;
    if (status !== exitCode) throw new Error(`${words.join(' ')} exited with ${status}:\n${stderr}`);
    const usage: Omit<ProcessUsage, 'seconds'> = JSON.parse(readFileSync(usageFile, 'utf8'));
    return { seconds, ...usage };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

/** Returns the median of each figure. */
export function toMedian(runs: readonly ProcessUsage[]): ProcessUsage {
  const pick = (figure: keyof ProcessUsage): number =>
    runs.map((run) => run[figure]).sort((left, right) => left - right)[runs.length >> 1] ?? Number.NaN;
  return { seconds: pick('seconds'), cpuSeconds: pick('cpuSeconds'), peakMegabytes: pick('peakMegabytes') };
}

/** The bundled server on a socket. */
export interface BenchServer {
  readonly url: string;
  /** The paths of the requests since the last call, without their queries. */
  readonly takeRequests: () => readonly string[];
  readonly close: () => Promise<void>;
}

/** Starts an empty server in this process. Each server creates the same ids for the same requests. */
export async function startServer(): Promise<BenchServer> {
  // Ids contain the time.
  const now = new Date('2026-03-01T12:00:00Z');
  const server = createServer({ apiKeys: [parseApiKey(`${API_KEY}:admin`)], idSeed: 'bench', now: () => now });
  const paths: string[] = [];
  const recording = server.behind((send) => (request) => {
    paths.push(new URL(request.url).pathname);
    return send(request);
  });
  const { url, close } = await listen(recording, { port: 0 });
  return { url, close, takeRequests: () => paths.splice(0) };
}
