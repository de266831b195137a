import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { writeManifests } from './manifests.ts';
import { runMeasured } from './run-measured.ts';
import { API_KEY, type BenchServer, startServer } from './server.ts';

/**
 * `npm run bench -- rehearsal`: what a rehearsal takes beside the plan that it is about, in CPU time of all threads, those that compile and collect
 * garbage among them, and in time. Cold: the first plan of a process. Warm: the median of later ones, which are rehearsed and not in turn. Reading the
 * manifests is part of every plan.
 */

const EDGES = 1_000;
const COLD_RUNS = 9;
const WARM_TURNS = 50;
/** In which the code of a warm process gets fast. */
const FIRST_TURNS = 10;

/** In milliseconds. */
interface Taken {
  readonly cpu: number;
  readonly time: number;
}

interface Run {
  readonly with: readonly Taken[];
  readonly without: readonly Taken[];
  readonly writes: number;
}

/** Measures plans of few and of many writes, and gives a Markdown table. */
export async function benchRehearsal(command: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-rehearsal-'));
  const server = await startServer(command, join(folder, 'server.log'));
  try {
    const manifests = join(folder, 'manifests');
    mkdirSync(manifests);
    writeManifests(manifests, EDGES);
    const run = { folder, url: server.url, concurrency: 8, exitCode: 0 };
    runMeasured([command, 'apply', '--yes', manifests], run);
    const lines = [10, EDGES].flatMap((writes) => {
      changeFirst(manifests, writes);
      return measure(manifests, server);
    });
    return [HEAD, ...lines].join('\n');
  } finally {
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

const HEAD = [
  '| writes | | plan | rehearsal | rehearsal / plan | a write |',
  '| ---: | --- | ---: | ---: | ---: | ---: |',
].join('\n');

/** Gives this many edges another description. */
function changeFirst(manifests: string, count: number): void {
  let left = count;
  for (const name of readdirSync(manifests)
    .filter((one) => one.startsWith('edges-'))
    .sort()) {
    const file = join(manifests, name);
    const text = readFileSync(file, 'utf8').replace(
      /(?<=kind: TCPEdge\n.*\nspec:\n {2}description: )(.*)/g,
      (found) => {
        left -= 1;
        return left >= 0 && !found.startsWith('Changed') ? `Changed ${found}` : found;
      },
    );
    writeFileSync(file, text);
  }
}

function measure(manifests: string, server: BenchServer): readonly string[] {
  const run = (times: number, first: 'with' | 'without'): Run => {
    const script = resolve('test/bench/rehearsal-run.mjs');
    const args = [script, server.url, API_KEY, manifests, String(times), first];
    return JSON.parse(execFileSync(process.execPath, args, { encoding: 'utf8' }));
  };
  const cold = Array.from({ length: COLD_RUNS }, () => ({ plain: run(1, 'without'), rehearsed: run(1, 'with') }));
  const warm = run(WARM_TURNS, 'without');
  return (['cpu', 'time'] as const).flatMap((what) => {
    const toTypical = (all: readonly Taken[]): number => toMedian(all.map((one) => one[what]));
    const coldOnes = {
      plan: cold.flatMap(({ plain }) => plain.without),
      rehearsed: cold.flatMap((one) => one.rehearsed.with),
    };
    const warmOnes = { plan: warm.without.slice(FIRST_TURNS), rehearsed: warm.with.slice(FIRST_TURNS) };
    return [
      toLine(warm.writes, `cold, ${NAMES[what]}`, {
        plan: toTypical(coldOnes.plan),
        rehearsed: toTypical(coldOnes.rehearsed),
      }),
      toLine(warm.writes, `warm, ${NAMES[what]}`, {
        plan: toTypical(warmOnes.plan),
        rehearsed: toTypical(warmOnes.rehearsed),
      }),
    ];
  });
}

const NAMES = { cpu: 'CPU', time: 'time' } as const;

function toLine(
  writes: number,
  how: string,
  { plan, rehearsed }: { readonly plan: number; readonly rehearsed: number },
): string {
  const rehearsal = rehearsed - plan;
  const cells = [plan, rehearsal].map((ms) => `${ms.toFixed(0)} ms`);
  const share = (rehearsal / plan).toFixed(2);
  return `| ${[writes.toLocaleString('en'), how, ...cells, share, `${(rehearsal / writes).toFixed(2)} ms`].join(' | ')} |`;
}

function toMedian(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}
