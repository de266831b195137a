import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { createInterface } from 'node:readline';
import { askAsMany, type Found, type Work, writeSeed } from './many-clients.ts';
import { API_KEY } from './server.ts';

/**
 * `npm run bench -- server [CLI…]`: how many requests the bundled server answers to fifty clients, and how long single ones take, with
 * ever more resources. The clients are https://github.com/wg/wrk, which takes little of the machine for itself and has to be installed. Other
 * builds of the command line, by the path of their `cli.js`, are measured in turn with this one, as is a server that answers a constant: only
 * what is measured in one run can be compared.
 */

const SIZES = [1_000, 10_000, 100_000];
/** What leaves more behind than it found comes last. */
const WORKS: readonly Work[] = ['get', 'list', 'change', 'mixed', 'create'];
const SECONDS = 2;
const ROUNDS = 3;

interface Contender {
  readonly name: string;
  readonly url: string;
  readonly stop: () => Promise<unknown>;
}

/** Measures the built command line and others, and gives a Markdown table, line by line: it takes minutes. */
export async function* benchServer(others: readonly string[]): AsyncGenerator<string> {
  if (spawnSync('wrk').error !== undefined)
    throw new Error('wrk is missing: install it, on Debian with `apt-get install wrk`');
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
  writeSeed(seed, size);
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
  { work, size }: { readonly work: Work; readonly size: number },
): Promise<readonly string[]> {
  const rounds: (readonly Found[])[] = [];
  for (let round = 0; round <= ROUNDS; round += 1) {
    const found: Found[] = [];
    for (const { url } of contenders) found.push(await askAsMany(url, { work, seconds: SECONDS }));
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
