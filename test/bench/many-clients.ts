import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { promisify } from 'node:util';
import { API_KEY } from './server.ts';

/** What the clients do, as `many-clients.lua` has it. */
export type Work = 'get' | 'list' | 'change' | 'mixed' | 'create';

/** What the clients found. */
export interface Found {
  readonly answered: number;
  /** Of the answered, those that say no, and what was not answered. */
  readonly failed: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const CLIENTS = 50;

let runs = 0;

/** Fifty clients, which are wrk, ask a server that began with `writeSeed` until the time is over. Rejects when a request fails. */
export async function askAsMany(
  origin: string,
  { work, seconds }: { readonly work: Work; readonly seconds: number },
): Promise<Found> {
  runs += 1;
  const clients = ['-t1', `-c${CLIENTS}`, `-d${seconds}s`, '-s', resolve('test/bench/many-clients.lua'), origin];
  const { stdout } = await promisify(execFile)('wrk', [...clients, '--', work, API_KEY, `run${runs}`]);
  const found: Found = JSON.parse(stdout.trimEnd().split('\n').at(-1) ?? '');
  if (found.failed > 0) throw new Error(`${found.failed} of ${found.answered} requests of ${work} failed`);
  return found;
}

/** Writes so many edges for `serve --seed`. */
export function writeSeed(file: string, size: number): void {
  const edges = Array.from({ length: size }, (_, index) => ({
    id: `edgtcp_${String(index).padStart(27, '0')}`,
    description: `edge ${index}`,
    hostports: [`e${index}.example.net:443`],
  }));
  writeFileSync(file, JSON.stringify({ resources: { TCPEdge: edges } }));
}
