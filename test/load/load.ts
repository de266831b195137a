import { mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServerProcess } from '../end-to-end/processes.ts';
import { applyThroughLimit, type Heap, readHeap, toHeapEnvironment } from './apply-through-limit.ts';
import { type Crowd, sendCrowd } from './clients.ts';
import { keepBudget } from './keep-budget.ts';
import { runShape } from './run-shape.ts';
import { type Named, parseSeconds, renderBudgets, renderCrowd, renderHeaps, renderShapes } from './tables.ts';

/**
 * `npm run load [-- SECONDS]`: ten thousand resources through a rate limit, on a clock that does not wait and on a real one, fifty
 * clients at once on one server for that long, a minute unless it is said otherwise, and up to a hundred thousand resources in up to two hundred stacks. Prints Markdown tables; fails when anything was
 * answered otherwise than it should be.
 */

const EDGES = 9_524;
const CLIENTS = 50;
const API_KEY = 'load';

const RESOURCES = 10_000;
const SHAPES = [
  { stacks: 1, accounts: 1, resources: RESOURCES / 10 },
  { stacks: 1, accounts: 1, resources: RESOURCES },
  { stacks: 20, accounts: 1, resources: RESOURCES },
  { stacks: 200, accounts: 1, resources: RESOURCES },
  { stacks: 200, accounts: 4, resources: RESOURCES },
  { stacks: 10, accounts: 1, resources: 10 * RESOURCES },
];

const seconds = parseSeconds(process.argv[2]);
const virtual = await keepBudget(EDGES, '120/60s');
const real = await applyThroughLimit(EDGES, '600/1s');
const { crowd, heap } = await runCrowd();
const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}`;
console.log(`Node ${process.version}, ${machine}, ${new Date().toISOString().slice(0, 10)}\n`);
console.log(
  renderBudgets([
    ['120/60s, clock that does not wait', virtual],
    ['600/1s', real],
  ]),
);
console.log(`\n${renderCrowd(crowd, { clients: CLIENTS, seconds })}`);
const heaps: readonly Named<Heap>[] = [
  ['apply', real.heap],
  [`server, ${CLIENTS} clients`, heap],
];
console.log(`\n${renderHeaps(heaps)}`);
const shapes = [];
for (const shape of SHAPES) shapes.push(...(await runShape(shape)));
console.log(`\n${renderShapes(shapes)}`);
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
