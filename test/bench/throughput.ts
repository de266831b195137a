import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { API_KEY } from './server.ts';

/**
 * `npm run bench -- server [CLI…]`: how many requests the bundled server answers to fifty clients, and how long single ones take, with
 * ever more resources. The clients are a process of their own. Other builds of the command line, by the path of their `cli.js`, are
 * measured in turn with this one, as is a server that answers a constant: only what is measured in one run can be compared.
 */

const SIZES = [1_000, 10_000, 100_000];
const WORKS = ['get', 'list', 'change', 'create', 'mixed'];
const CLIENTS = 50;
const REQUESTS = 2_000;
const ROUNDS = 3;

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

/** What the clients found. */
interface Found {
  readonly answered: number;
  readonly seconds: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Measures the built command line and others, and gives a Markdown table, line by line: it takes minutes. */
export async function* benchServer(others: readonly string[]): AsyncGenerator<string> {
  const folder = mkdtempSync(join(tmpdir(), 'edgewise-throughput-'));
  try {
    yield HEAD;
    for (const size of SIZES) yield* measureSize(folder, size, others);
  } finally {
    rmSync(folder, { recursive: true });
  }
}

const HEAD = [
  '| resources | server | work | requests a second | median | 99 % |',
  '| ---: | --- | --- | ---: | ---: | ---: |',
].join('\n');

async function* measureSize(folder: string, size: number, others: readonly string[]): AsyncGenerator<string> {
  const seed = join(folder, `seed-${size}.json`);
  writeFileSync(seed, JSON.stringify(toSeed(size)));
  const serve = ['serve', '--port', '0', '--api-key', `${API_KEY}:admin`, '--seed', seed];
  const contenders: Contender[] = [await start('this build', [resolve('dist/cli.js'), ...serve])];
  for (const other of others) contenders.push(await start(other, [resolve(other), ...serve]));
  contenders.push(await start('constant', [resolve('test/bench/bare-server.mjs')]));
  try {
    for (const work of WORKS) yield* await measureWork(contenders, { work, size });
  } finally {
    for (const { stop } of contenders) await stop();
  }
}

/** In turn, so that what else the machine does is the same for all; the first round warms up. */
async function measureWork(
  contenders: readonly Contender[],
  { work, size }: { readonly work: string; readonly size: number },
): Promise<readonly string[]> {
  const rounds: (readonly Found[])[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const found: Found[] = [];
    for (const { url } of contenders) found.push(await ask(url, work));
    if (round > 0) rounds.push(found);
  }
  return contenders.map(({ name }, index) => {
    const toFigure = (pick: (found: Found) => number): number =>
      toMedian(rounds.flatMap((one) => one[index] ?? []).map(pick));
    const rate = Math.round(toFigure(({ answered, seconds }) => answered / seconds)).toLocaleString('en');
    const times = [toFigure(({ p50Ms }) => p50Ms), toFigure(({ p99Ms }) => p99Ms)].map((ms) => `${ms.toFixed(1)} ms`);
    return `| ${[size.toLocaleString('en'), name, work, rate, ...times].join(' | ')} |`;
  });
}

function toMedian(values: readonly number[]): number {
  return values.toSorted((left, right) => left - right)[values.length >> 1] ?? Number.NaN;
}

async function ask(origin: string, work: string): Promise<Found> {
  const options = JSON.stringify({ origin, clients: CLIENTS, requests: REQUESTS, work, key: API_KEY });
  const { stdout } = await promisify(execFile)(process.execPath, [resolve('test/bench/many-clients.mjs'), options]);
  return JSON.parse(stdout);
}

async function start(name: string, args: readonly string[]): Promise<Contender> {
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  const [line] = await once(createInterface({ input: child.stdout }), 'line');
  const ended = once(child, 'close');
  const stop = (): Promise<unknown> => {
    child.kill('SIGINT');
    return ended;
  };
  return { name, url: String(line).replace(/^.* /, ''), stop };
}

function toSeed(size: number) {
  const edges = Array.from({ length: size }, (_, index) => ({
    id: `edgtcp_${String(index).padStart(27, '0')}`,
    description: `edge ${index}`,
    hostports: [`e${index}.example.net:443`],
  }));
  return { resources: { TCPEdge: edges } };
}
