import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { API_KEY } from './server.ts';

/** What a process took, from start to exit. */
export interface Measured {
  readonly seconds: number;
  /** Of the processors, for the program and for the system on its behalf. */
  readonly cpuSeconds: number;
  readonly peakMegabytes: number;
}

/** Where a measured process works, and the service that it is told of. */
export interface MeasuredRun {
  /** For everything that is written. */
  readonly folder: string;
  readonly url: string;
  readonly concurrency: number;
  readonly exitCode: number;
}

/** Runs a program of Node's. Throws when it ends with another exit code. */
export function runMeasured(command: readonly string[], { folder, url, concurrency, exitCode }: MeasuredRun): Measured {
  const usageFile = join(folder, 'usage.json');
  const start = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--import', new URL('usage.mjs', import.meta.url).href, ...command],
    {
      env: {
        ...process.env,
        BENCH_USAGE_FILE: usageFile,
        EDGEWISE_BASE_URL: url,
        EDGEWISE_API_KEY: API_KEY,
        EDGEWISE_RATE_LIMIT: 'none',
        EDGEWISE_CONCURRENCY: String(concurrency),
      },
      stdio: ['ignore', 'ignore', 'pipe'],
      maxBuffer: 2 ** 30,
    },
  );
  const seconds = (performance.now() - start) / 1000;
  if (status !== exitCode) throw new Error(`${command.join(' ')} exited with ${status}:\n${stderr}`);
  const usage: Omit<Measured, 'seconds'> = JSON.parse(readFileSync(usageFile, 'utf8'));
  return { seconds, ...usage };
}
