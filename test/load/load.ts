import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '../end-to-end/processes.ts';
import { applyThroughLimit, type Heap, readHeap, toHeapEnvironment } from './apply-through-limit.ts';
import { type Crowd, sendCrowd, toPercentile } from './clients.ts';
import { type BudgetRun, keepBudget } from './keep-budget.ts';

/**
 * `npm run load [-- SECONDS]`: ten thousand resources through a rate limit, on a clock that does not wait and on a real one, and fifty
 * clients at once on one server for that long, a minute unless it is said otherwise. Prints Markdown tables; fails when anything was
 * answered otherwise than it should be.
 */

const EDGES = 9_524;
const CLIENTS = 50;
const API_KEY = 'load';

const seconds = Number(process.argv[2] ?? 60);
const virtual = await keepBudget(EDGES, '120/60s');
const real = await applyThroughLimit(EDGES, '600/1s');
const { crowd, heap } = await runCrowd();
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`;
console.log(`Node ${process.version}, ${machine}, ${new Date().toISOString().slice(0, 10)}\n`);
console.log(
  renderBudgets([toBudgetCells('120/60s, clock that does not wait', virtual), toBudgetCells('600/1s', real)]),
);
console.log(`\n${renderCrowd(crowd)}`);
console.log(`\n${renderHeaps([toHeapCells('apply', real.heap), toHeapCells(`server, ${CLIENTS} clients`, heap)])}`);
const refused = virtual.refused + real.refused;
for (const [error, count] of crowd.errors) console.error(`${count} × ${error}`);
if (refused + crowd.errors.size > 0) process.exitCode = 1;

async function runCrowd(): Promise<{ readonly crowd: Crowd; readonly heap: Heap }> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-load-'));
  const env = toHeapEnvironment(join(folder, 'heap'));
  try {
    const server = await startServerProcess(['--api-key', `${API_KEY}:admin`], { program: 'dist/cli.js', env });
    const end = performance.now() + 1000 * seconds;
    const goesOn = (): boolean => performance.now() < end;
    const crowd = await sendCrowd({ url: server.url, apiKey: API_KEY, clients: CLIENTS, goesOn });
    await server.stop();
    return { crowd, heap: readHeap(join(folder, 'heap')) };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function toBudgetCells(name: string, { requests, refused, ms, leastMs }: BudgetRun): readonly string[] {
  const times = [leastMs, ms].map((time) => `${(time / 1000).toFixed(1)} s`);
  return [name, requests.toLocaleString('en'), String(refused), ...times, (ms / leastMs).toFixed(3)];
}

function renderBudgets(rows: readonly (readonly string[])[]): string {
  return renderTable(['apply of 10,001 resources', 'requests', '429', 'least time', 'time', 'time / least'], rows);
}

function renderCrowd({ requests, errors, latenciesMs }: Crowd): string {
  const failed = [...errors.values()].reduce((sum, count) => sum + count, 0);
  const shares = [0.5, 0.95, 0.99, 1].map((share) => `${toPercentile(latenciesMs, share).toFixed(1)} ms`);
  const cells = [String(CLIENTS), `${seconds} s`, requests.toLocaleString('en'), String(failed), ...shares];
  return renderTable(['clients', 'for', 'requests', 'errors', 'median', '95 %', '99 %', 'longest'], [cells]);
}

function toHeapCells(name: string, { afterTenSeconds, atTheEnd }: Heap): readonly string[] {
  return [name, ...[afterTenSeconds ?? Number.NaN, atTheEnd].map((bytes) => `${(bytes / 1e6).toFixed(1)} MB`)];
}

function renderHeaps(rows: readonly (readonly string[])[]): string {
  return renderTable(['heap after a collection', 'after 10 s', 'at the end'], rows);
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((_, column) => (column === 0 ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
