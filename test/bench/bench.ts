import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { cpus, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { benchBesideOthers, renderBesideTable } from './beside-others.ts';
import { countPools, writeManifests } from './manifests.ts';
import { benchRehearsal } from './rehearsal.ts';
import { recordCreations, toReads, type Wave, writeFloor } from './replay.ts';
import { type Measured, runMeasured } from './run-measured.ts';
import { type BenchServer, startServer } from './server.ts';
import { parseSizes } from './sizes.ts';
import { type Row, renderTable, toMedians } from './table.ts';
import { benchServer } from './throughput.ts';

/**
 * `npm run bench [-- EDGES…]`: times plan and apply of the built command line as whole processes, against the bundled server in a
 * process of its own. Beside each stands the floor, measured in the same run: the same requests at the same concurrency, sent by
 * undici alone, as a whole process too, and what yaml alone takes to read the manifests. Prints a Markdown table of medians, and one of the same work as other tools do it.
 * `server` and `rehearsal` instead of sizes measure those.
 */

const CONCURRENCY = 8;
const COMMAND = resolve('dist/cli.js');

interface Bench {
  /** For everything that is written. */
  readonly folder: string;
  readonly manifests: string;
  readonly server: BenchServer;
  readonly edges: number;
}

interface Step {
  readonly command: string;
  readonly args: readonly string[];
  readonly exitCode: number;
  /** Requests of the floor, which are sent to another server than the command's when they write. */
  readonly toFloor: (reads: Wave) => Promise<readonly Wave[]>;
}

async function benchSize(edges: number): Promise<readonly Row[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-bench-'));
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests);
  writeManifests(manifests, edges);
  const server = await startServer(COMMAND, join(folder, 'server.log'));
  try {
    const bench: Bench = { folder, manifests, server, edges };
    const rows: Row[] = [];
    for (const step of listSteps(server)) rows.push(await measureStep(bench, step));
    return rows;
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

function listSteps({ url }: BenchServer): readonly Step[] {
  const plan = ['plan', '--detailed-exitcode'];
  return [
    { command: 'plan, all new', args: plan, exitCode: 2, toFloor: async (reads) => [reads] },
    {
      command: 'apply',
      args: ['apply', '--yes'],
      exitCode: 0,
      // What the other server has made has other ids: of its look-ups only first pages can be asked for.
      toFloor: async (reads) => [
        reads.filter(({ path }) => !path.includes('before_id')),
        ...(await recordCreations(url)),
      ],
    },
    { command: 'plan, unchanged', args: plan, exitCode: 0, toFloor: async (reads) => [reads] },
  ];
}

async function measureStep(bench: Bench, { command, args, exitCode, toFloor }: Step): Promise<Row> {
  const { server, edges, manifests } = bench;
  server.takeRequests();
  const measured = runMeasured([COMMAND, ...args, manifests], { ...toRun(bench), exitCode });
  const requests = server.takeRequests();
  const floor = await measureFloor(bench, await toFloor(toReads(requests)));
  const yaml = runMeasured([resolve('test/bench/yaml-alone.mjs'), manifests], { ...toRun(bench), exitCode: 0 });
  return {
    ...measured,
    edges,
    resources: edges + countPools(edges),
    command,
    requests: requests.length,
    floorSeconds: floor.seconds,
    floorCpuSeconds: floor.cpuSeconds,
    yamlCpuSeconds: yaml.cpuSeconds,
  };
}

/** Writes go to an empty server of their own, since what they create is there already on the other. */
async function measureFloor(bench: Bench, waves: readonly Wave[]): Promise<Measured> {
  const { folder, server } = bench;
  const isWriting = waves.flat().some(({ method }) => method !== 'GET');
  const target = isWriting ? await startServer(COMMAND, join(folder, 'floor.log')) : server;
  try {
    const file = join(folder, 'floor.json');
    writeFloor(file, { origin: target.url, concurrency: CONCURRENCY, waves });
    return runMeasured([resolve('test/bench/floor.mjs'), file], { ...toRun(bench), exitCode: 0 });
  } finally {
    if (target !== server) await target.stop();
  }
}

function toRun({ folder, server: { url } }: Bench) {
  return { folder, url, concurrency: CONCURRENCY };
}

/** What is large takes minutes, and varies less. */
function toRuns(edges: number): number {
  return edges > 1000 ? 1 : 3;
}

async function benchCommands(words: readonly string[]): Promise<void> {
  const rows: Row[] = [];
  for (const edges of parseSizes(words)) {
    const runs: (readonly Row[])[] = [];
    for (let run = 0; run < toRuns(edges); run += 1) runs.push(await benchSize(edges));
    rows.push(...toMedians(runs));
  }
  console.log(`concurrency ${CONCURRENCY}, medians of three runs, and one of more than 1,000 edges\n`);
  console.log(renderTable(rows));
  console.log('\nBeside tools that keep a state file, 20 ms to each answer:\n');
  console.log(renderBesideTable(await benchBesideOthers(COMMAND)));
}

const [part = '', ...rest] = process.argv.slice(2);
console.log(`Node ${process.version}, ${cpus().length} × ${cpus()[0]?.model ?? 'unknown CPU'}\n`);
if (part === 'server') for await (const line of benchServer(rest)) console.log(line);
else if (part === 'rehearsal') console.log(await benchRehearsal(COMMAND));
else await benchCommands(process.argv.slice(2));
