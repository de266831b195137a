import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { writeManifests } from './manifests.ts';
import { type FloorRequest, recordCreations, type Wave, writeFloor } from './replay.ts';
import { type Measured, runMeasured } from './run-measured.ts';
import { type BenchServer, startServer } from './server.ts';

/**
 * The same work as tools do it that keep a state file: they read every resource that the file names with a request of its own, ten at
 * once, and send one write for each change. A bare loop stands for them, so that the time of no such tool is in it. Both go through a
 * proxy that takes its time.
 */

/** Work that was done in both ways. */
export interface BesideRow {
  readonly work: string;
  readonly ours: Measured & { readonly requests: number };
  readonly others: Measured & { readonly requests: number };
}

const EDGES = 1_000;
const CREDENTIALS = 1_000;

/** How many requests are under way at once. */
const CONCURRENCY = 10;

/** Each way, so that an answer takes twenty. */
const DELAY_MS = 10;

interface Place {
  readonly folder: string;
  readonly manifests: string;
  readonly command: string;
  readonly server: BenchServer;
  /** The server behind the delay. */
  readonly url: string;
}

/** Runs all of it, once. */
export async function benchBesideOthers(command: string): Promise<readonly BesideRow[]> {
  return [...(await withPlace(command, benchEdges)), ...(await withPlace(command, benchCredentials))];
}

async function withPlace(
  command: string,
  bench: (place: Place) => Promise<readonly BesideRow[]>,
): Promise<readonly BesideRow[]> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-beside-'));
  const manifests = join(folder, 'manifests');
  mkdirSync(manifests);
  const server = await startServer(command, join(folder, 'server.log'));
  const proxy = await startProxy(server.url);
  try {
    return await bench({ folder, manifests, command, server, url: proxy.url });
  } finally {
    proxy.stop();
    await server.stop();
    rmSync(folder, { recursive: true });
  }
}

async function startProxy(target: string): Promise<{ readonly url: string; readonly stop: () => void }> {
  const words = [resolve('test/bench/latency-proxy.mjs'), new URL(target).port, String(DELAY_MS)];
  const child = spawn(process.execPath, words, { stdio: ['ignore', 'pipe', 'inherit'] });
  const [url]: readonly string[] = await once(createInterface({ input: child.stdout }), 'line');
  return { url: url ?? '', stop: () => child.kill() };
}

async function benchEdges(place: Place): Promise<readonly BesideRow[]> {
  writeManifests(place.manifests, EDGES);
  runOurs(place, ['apply', '--yes']);
  const made = (await recordCreations(place.server.url)).flat();
  const reads = made.map(({ path, id }) => ({ method: 'GET', path: `${path}/${id}` }));
  const unchanged = {
    work: `plan of ${count(made.length)} resources, nothing changed`,
    ours: runOurs(place, ['plan']),
    others: runOthers(place, [reads]),
  };
  const writes = made
    .filter(({ path }) => path.endsWith('/tcp'))
    .map(({ path, id }) => ({
      method: 'PATCH',
      path: `${path}/${id}`,
      body: JSON.stringify({ description: 'other' }),
    }));
  const others = runOthers(place, [reads, writes]);
  // The loop leaves each edge changed, as if somebody had: ours has to take it back, one write for each.
  return [
    unchanged,
    { work: `apply of ${count(writes.length)} changes`, ours: runOurs(place, ['apply', '--yes']), others },
  ];
}

async function benchCredentials(place: Place): Promise<readonly BesideRow[]> {
  const names = Array.from({ length: CREDENTIALS }, (_, index) => `agent-${String(index).padStart(4, '0')}`);
  const documents = names.map(
    (name) =>
      `apiVersion: edgewise/v1\nkind: Credential\nmetadata: { name: ${name} }\nspec: { description: ${name} }\n`,
  );
  const stack = 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: bench }\n';
  writeFileSync(join(place.manifests, 'credentials.yaml'), [stack, ...documents].join('---\n'));
  const ours = runOurs(place, ['apply', '--yes', '--token-directory', join(place.folder, 'tokens')]);
  const writes = names.map(
    (name): FloorRequest => ({
      method: 'POST',
      path: '/credentials',
      body: JSON.stringify({ description: `${name} of others` }),
    }),
  );
  return [{ work: `creation of ${count(CREDENTIALS)} credentials`, ours, others: runOthers(place, [writes]) }];
}

function runOurs(place: Place, words: readonly string[]): BesideRow['ours'] {
  return measure(place, [place.command, ...words, place.manifests]);
}

function runOthers(place: Place, waves: readonly Wave[]): BesideRow['others'] {
  const file = join(place.folder, 'others.json');
  writeFloor(file, { origin: place.url, concurrency: CONCURRENCY, waves });
  return measure(place, [resolve('test/bench/floor.mjs'), file]);
}

function measure({ folder, url, server }: Place, command: readonly string[]): BesideRow['ours'] {
  server.takeRequests();
  const measured = runMeasured(command, { folder, url, concurrency: CONCURRENCY, exitCode: 0 });
  return { ...measured, requests: server.takeRequests().length };
}

/** What services allow. */
const REQUESTS_A_MINUTE = 120;

/** The rows as a Markdown table: a line for each way. */
export function renderBesideTable(rows: readonly BesideRow[]): string {
  const lines = rows.flatMap(({ work, ours, others }) => [
    toLine(work, 'Edgewise', ours),
    toLine(work, 'one by one', others),
  ]);
  const head = ['work', 'by', 'requests', 'time', 'CPU', 'peak memory', `at ${REQUESTS_A_MINUTE} requests a minute`];
  return [toCells(head), toCells(['---', '---', ...head.slice(2).map(() => '---:')]), ...lines].join('\n');
}

function toLine(work: string, by: string, { requests, seconds, cpuSeconds, peakMegabytes }: BesideRow['ours']): string {
  const minutes = requests / REQUESTS_A_MINUTE;
  const cells = [
    count(requests),
    `${seconds.toFixed(1)} s`,
    `${cpuSeconds.toFixed(1)} s`,
    `${peakMegabytes.toFixed(0)} MB`,
  ];
  return toCells([work, by, ...cells, `${minutes.toFixed(1)} min`]);
}

function toCells(cells: readonly string[]): string {
  return `| ${cells.join(' | ')} |`;
}

function count(value: number): string {
  return value.toLocaleString('en');
}
