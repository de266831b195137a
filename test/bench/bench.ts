import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { parseArgs } from 'node:util';
import type { HttpRequest } from '../../src/model/http.ts';
import { countPools, writeManifests } from './manifests.ts';
import { type BenchServer, measure, startServer, type Taken, toMedian } from './measure.ts';

/**
 * `npm run bench [-- --large]`: what the built command line takes, as whole processes, and what the least program takes that could stand
 * in its place. Prints the two tables of docs/benchmarks.md.
 */

const { large } = parseArgs({ options: { large: { type: 'boolean', default: false } } }).values;
const SIZES = [1, 50, 1_000, 10_000, ...(large ? [100_000] : [])];
const EDGEWISE = resolve('dist/cli.js');

/** One stack cannot read the manifests of a hundred thousand edges. */
const EDGES_OF_A_STACK = 10_000;

/** Of what stands beside the floor. */
const START_RUNS = 15;
const APPLY_RUNS = 3;
const APPLIED_EDGES = 1_000;

/** What is large takes minutes, and varies less. */
const toRuns = (edges: number): number => (edges > 1_000 ? 1 : 3);

interface Step {
  readonly name: string;
  readonly words: readonly string[];
  readonly exitCode: number;
}

const APPLY: Step = { name: 'apply', words: ['apply', '--yes'], exitCode: 0 };
const STEPS: readonly Step[] = [
  { name: 'plan, all new', words: ['plan', '--detailed-exitcode'], exitCode: 2 },
  APPLY,
  { name: 'plan, unchanged', words: ['plan', '--detailed-exitcode'], exitCode: 0 },
];

console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
await inFolder(async (folder) => {
  writeStacks(join(folder, '50'), 50);
  // Node keeps what it compiles: not the first run is measured.
  await measure([EDGEWISE, 'plan', join(folder, '50')]);
});
console.log(await renderSizes());
console.log(`\n${await renderFloors()}`);

async function renderSizes(): Promise<string> {
  const head = ['TCP edges', 'command', 'requests', 'time, s', 'CPU, s', 'CPU a resource, ms', 'peak, MB'];
  const lines: (readonly string[])[] = [];
  for (const edges of SIZES) lines.push(...(await inFolder((folder) => benchSize(folder, edges))));
  return renderTable(head, lines);
}

/** Plans, applies and plans again, several times over: a line for each step. */
async function benchSize(folder: string, edges: number): Promise<readonly (readonly string[])[]> {
  const paths = writeStacks(folder, edges);
  const runs: { readonly taken: Taken; readonly requests: number }[][] = STEPS.map(() => []);
  for (let run = 0; run < toRuns(edges); run += 1) {
    await withServer(async ({ url, takeRequests }) => {
      for (const [index, { words, exitCode }] of STEPS.entries()) {
        const taken = await measure([EDGEWISE, ...words, ...paths], { url, exitCode });
        runs[index]?.push({ taken, requests: takeRequests().length });
      }
    });
  }
  const resources = edges + countPools(edges);
  return STEPS.map(({ name }, index) => {
    const { seconds, cpuSeconds, peakMegabytes } = toMedian((runs[index] ?? []).map(({ taken }) => taken));
    const requests = runs[index]?.[0]?.requests ?? 0;
    const figures = [seconds.toFixed(2), cpuSeconds.toFixed(2)];
    const each = ((1000 * cpuSeconds) / resources).toFixed(2);
    const peak = toCount(Math.round(peakMegabytes));
    return [toCount(edges), name, toCount(requests), ...figures, each, peak];
  });
}

function toCount(value: number): string {
  return value.toLocaleString('en');
}

/** Writes the manifests. Gives the words that select them. */
function writeStacks(folder: string, edges: number): readonly string[] {
  for (let first = 0; first < edges; first += EDGES_OF_A_STACK) {
    const name = `stack-${first}`;
    mkdirSync(join(folder, name), { recursive: true });
    writeManifests(join(folder, name), Math.min(edges - first, EDGES_OF_A_STACK), { name, first });
  }
  return edges > EDGES_OF_A_STACK ? ['-R', folder] : [folder];
}

async function renderFloors(): Promise<string> {
  const nothing = ['-e', '0'];
  const quickstart = resolve('examples/quickstart');
  const rows = [
    await besideFloor('`--version`', START_RUNS, {
      ours: () => measure([EDGEWISE, '--version']),
      floor: () => measure(nothing),
    }),
    await besideFloor('`validate examples/quickstart`', START_RUNS, {
      ours: () => measure([EDGEWISE, 'validate', quickstart]),
      floor: () => measure(nothing),
    }),
    await inFolder((folder) => benchApply(folder)),
  ];
  return renderTable(['command', 'time, s', 'CPU, s', 'time / floor', 'CPU / floor'], rows);
}

async function benchApply(folder: string): Promise<readonly string[]> {
  const manifests = writeStacks(join(folder, 'manifests'), APPLIED_EDGES);
  let requests: readonly HttpRequest[] = [];
  return besideFloor(`\`apply\` of ${toCount(APPLIED_EDGES)} edges`, APPLY_RUNS, {
    ours: () =>
      withServer(async ({ url, takeRequests }) => {
        const taken = await measure([EDGEWISE, ...APPLY.words, ...manifests], { url });
        requests = takeRequests();
        return taken;
      }),
    floor: () =>
      withServer(({ url: origin }) => {
        const file = join(folder, 'requests.json');
        writeFileSync(file, JSON.stringify({ origin, concurrency: 8, waves: toWaves(requests) }));
        return measure([resolve('test/bench/send-requests.mjs'), file]);
      }),
  });
}

/** Requests that may be under way together: what is created first has its id before another names it. */
function toWaves(requests: readonly HttpRequest[]): readonly (readonly object[])[] {
  const waves: { readonly to: string; readonly sent: object[] }[] = [];
  for (const { method, url, headers, body } of requests) {
    const { pathname, search } = new URL(url);
    const to = `${method} ${pathname}`;
    if (waves.at(-1)?.to !== to) waves.push({ to, sent: [] });
    waves.at(-1)?.sent.push({ method, path: `${pathname}${search}`, headers: toSendable(headers), body: toText(body) });
  }
  return waves.map(({ sent }) => sent);
}

/** In turn, so that what else the machine does is the same for both. */
async function besideFloor(
  name: string,
  runs: number,
  { ours, floor }: { readonly ours: () => Promise<Taken>; readonly floor: () => Promise<Taken> },
): Promise<readonly string[]> {
  const taken: Taken[] = [];
  const least: Taken[] = [];
  for (let run = 0; run < runs; run += 1) {
    taken.push(await ours());
    least.push(await floor());
  }
  const [mine, other] = [toMedian(taken), toMedian(least)];
  const times = [mine.seconds, mine.cpuSeconds].map((seconds) => seconds.toFixed(2));
  const ratios = [mine.seconds / other.seconds, mine.cpuSeconds / other.cpuSeconds].map((ratio) => ratio.toFixed(2));
  return [name, ...times, ...ratios];
}

function toSendable(headers: HttpRequest['headers']): HttpRequest['headers'] {
  const ofConnection = ['host', 'connection', 'content-length', 'transfer-encoding'];
  return Object.fromEntries(Object.entries(headers).filter(([name]) => !ofConnection.includes(name)));
}

function toText(body: HttpRequest['body']): string | null {
  return body === null || typeof body === 'string' ? body : new TextDecoder().decode(body);
}

async function withServer<T>(use: (server: BenchServer) => Promise<T>): Promise<T> {
  const server = await startServer();
  try {
    return await use(server);
  } finally {
    await server.close();
  }
}

async function inFolder<T>(use: (folder: string) => Promise<T>): Promise<T> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'));
  try {
    return await use(folder);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function renderTable(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const rule = head.map((name) => (name === 'command' ? '---' : '---:'));
  return [head, rule, ...rows].map((cells) => `| ${cells.join(' | ')} |`).join('\n');
}
