import { describe, expect, it } from 'vitest';
import { computeMinimumRequestTimeMs, parseRateLimit } from '../../src/model/stack.ts';
import type { Transport } from '../../src/model/transport.ts';
import { readOnlyStack } from '../results.ts';
import { LONG } from '../tries.ts';
import { createVirtualClock } from './virtual-clock.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const MANY = [STACK, ...Array.from({ length: 60 }, (_, index) => toEdge(`e${index}`, 20_000 + index))].join('');

/** One clock for client and server. Only waiting advances it. */
function createSharedClock() {
  let time = Date.UTC(2026, 0, 1);
  const sleep = async (ms: number): Promise<void> => {
    time += ms;
  };
  return { now: () => new Date(time), sleep, passed: () => time - Date.UTC(2026, 0, 1) };
}

describe('a rate limit', () => {
  it('is kept by a whole run, so that a service with that limit rejects nothing', async () => {
    const { now, sleep, passed } = createSharedClock();
    const rateLimit = { requests: 20, windowMs: 10_000 };
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': MANY }, { now, rateLimit });
    const { exitCode, stdout, stderr } = await edgewise('apply --yes --rate-limit 20/10s', { now, sleep });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('applying takes 60 writes, at least 20 s at 20/10s.');
    expect(recorder.take().filter(({ status }) => status === 429)).toEqual([]);
    expect(passed()).toBeGreaterThanOrEqual(30_000);
    expect(stderr).toMatch(
      /^Waiting 10 s: edgewise sends at most 20\/10s\. \d+ writes to go, at least \d+ s left at 20\/10s\.$/m,
    );
  });

  it('slows the run down if the service has a lower one, and loses nothing', async () => {
    const { now, sleep } = createSharedClock();
    const rateLimit = { requests: 10, windowMs: 10_000 };
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': MANY }, { now, rateLimit });
    const { exitCode, stderr } = await edgewise('apply --yes --rate-limit none', { now, sleep });
    expect([exitCode, server.snapshot().resources['TCPEdge']?.length]).toEqual([0, 60]);
    expect(stderr).toContain('Writing continues in 10 s, as the service asked (Retry-After): HTTP 429.');
  });

  /** An apply whose waits last as long as its clock says. Timers are called each second. */
  async function applyInRealTime(terminal: number | undefined) {
    const start = Date.UTC(2026, 0, 1);
    let time = start;
    const due = new Set<{ readonly at: number; readonly run: () => void }>();
    const now = () => new Date(time);
    const after = (ms: number, run: () => void) => {
      const one = { at: time + ms, run };
      due.add(one);
      return () => void due.delete(one);
    };
    const sleep = async (ms: number): Promise<void> => {
      const until = Math.max(time, start + Math.ceil((time - start + ms) / 1000) * 1000);
      while (time < until) {
        time += 1000;
        for (const one of [...due].filter(({ at }) => at <= time)) {
          due.delete(one);
          one.run();
        }
        await new Promise(setImmediate);
      }
    };
    const rateLimit = { requests: 20, windowMs: 60_000 };
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': MANY }, { now, rateLimit });
    const written: [number, string][] = [];
    const onWrite = (text: string) => written.push([(time - start) / 1000, text]);
    const more = { now, sleep, after, onWrite, ...(terminal !== undefined && { terminal }) };
    return { ...(await edgewise('apply --yes --rate-limit 20/60s', more)), written };
  }

  it('is shown as one line of a terminal, which counts down and disappears', async () => {
    const { exitCode, stderr } = await applyInRealTime(80);
    expect(exitCode).toBe(0);
    const shown = stderr.split('\r\u001b[K').filter((line) => line !== '');
    expect(shown.filter((line) => line.includes('\n'))).toEqual([]);
    expect(Math.max(...shown.map((line) => line.length))).toBeLessThanOrEqual(79);
    const waits = shown
      .flatMap((line) => /of 60 done, at least .* left.* waiting (\d+) s/.exec(line)?.[1] ?? [])
      .map(Number);
    const runs = waits.filter((seconds, index) => waits[index + 1] === seconds - 1);
    expect(runs.length).toBeGreaterThan(100);
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
  });

  it('is logged at most every half minute, beside a line for each write', async () => {
    const { exitCode, written, stderr } = await applyInRealTime(undefined);
    expect(exitCode).toBe(0);
    expect(stderr.match(/^\[\d+\/60\] create TCPEdge\/e\d+ … done$/gm)).toHaveLength(60);
    const waits = written.filter(([, text]) => /^(Waiting|\d+ of 60 done)/.test(text)).map(([second]) => second);
    const gaps = waits.slice(1).map((second, index) => second - (waits[index] ?? 0));
    expect(Math.min(...gaps)).toBeGreaterThanOrEqual(29);
    expect(stderr).toMatch(
      /^\d+ of 60 done, at least .* left at 20\/60s, waiting \d+ s: edgewise sends at most 20\/60s$/m,
    );
  });

  it('is 120/60s by default, and none for the embedded server or on a loopback address', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': STACK });
    const read = async (words: string) => readOnlyStack((await edgewise(`plan --format json ${words}`)).stdout);
    expect((await read('')).settings.rateLimit).toBe('120/60s');
    for (const url of ['embedded:', ...LOOPBACK])
      expect([url, (await read(`--base-url ${url}`)).settings.rateLimit]).toEqual([url, 'none']);
    for (const url of ELSEWHERE)
      expect([url, (await read(`--base-url ${url}`)).settings.rateLimit]).toEqual([url, '120/60s']);
    await write({ 'edgewise.yaml': MANY });
    expect((await read('--rate-limit 30/60s')).requests).toMatchObject({ apply: 60, leastMs: 60_000 });
  });

  it('is kept on a loopback address if it is set, by a flag, a variable or the Stack', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': MANY });
    const read = async (words: string, env = {}) =>
      readOnlyStack((await edgewise(`plan --format json --base-url ${LOOPBACK[0]} ${words}`, { env })).stdout).settings;
    expect((await read('--rate-limit 30/60s')).rateLimit).toBe('30/60s');
    expect((await read('', { EDGEWISE_RATE_LIMIT: '35/60s' })).rateLimit).toBe('35/60s');
    await write({ 'edgewise.yaml': MANY.replace(STACK, `${STACK}spec: { api: { rate_limit: 40/60s } }\n`) });
    expect((await read('')).rateLimit).toBe('40/60s');
  });

  it.each(['--rate-limit 120', '--rate-limit 0/60s', '--timeout 5', '--ca-file missing.pem'])(
    'is refused if it is invalid: %s',
    async (words) => {
      const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': MANY });
      const { exitCode, stderr } = await edgewise(`plan ${words}`);
      expect([exitCode, recorder.take()]).toEqual([3, []]);
      expect(stderr).toMatch(/must (be|hold)/);
    },
  );

  it('refuses an invalid proxy without showing it, because it may contain a password', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': MANY });
    const { exitCode, stderr } = await edgewise('plan', { env: { HTTPS_PROXY: 'ftp://user:hunter2@proxy' } });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('HTTPS_PROXY is not the URL of an HTTP proxy.');
    expect(stderr).not.toContain('hunter2');
  });
});

const LOOPBACK = ['http://127.0.0.1:4750', 'https://127.8.9.10', 'http://[::1]:4750', 'http://LOCALHOST:4750'];
/** A server that listens on every address is reached from elsewhere, and a name can begin like an address. */
const ELSEWHERE = [
  'http://0.0.0.0:4750',
  'https://127.0.0.1.example.net',
  'https://localhost.example.net',
  'https://[::2]',
];

const LATENCY_MS = 20;

describe('an apply of many resources', () => {
  it.each(['120/60s', '1/1s'])(
    'causes no 429 at %s, and hardly more time than the limit demands',
    LONG,
    async (text) => {
      const rateLimit = parseRateLimit(text) ?? expect.fail('no rate limit');
      const clock = createVirtualClock(Date.UTC(2026, 0, 1));
      const now = () => new Date(clock.now());
      const edges = Array.from({ length: 150 }, (_, index) => toEdge(`e${index}`, 20_000 + index));
      const files = { 'edgewise.yaml': [STACK, ...edges].join('') };
      const { edgewise, recorder } = await createWorkspace(files, { now, rateLimit });
      const transport: Transport = async (request) => {
        await clock.sleep(LATENCY_MS / 2);
        const response = await recorder.transport(request);
        await clock.sleep(LATENCY_MS / 2);
        return response;
      };
      const start = clock.now();
      const { exitCode, stderr } = await edgewise(`apply --yes --rate-limit ${text}`, {
        now,
        sleep: clock.sleep,
        transport,
      });
      const passedMs = clock.now() - start;
      const answers = recorder.take();
      const leastMs = computeMinimumRequestTimeMs(answers.length, rateLimit);
      expect(exitCode, stderr).toBe(0);
      expect(answers.length).toBeGreaterThan(150);
      expect(answers.filter(({ status }) => status === 429)).toEqual([]);
      expect(passedMs).toBeGreaterThanOrEqual(leastMs);
      // A request counts until a window after its end, so each window takes the 20 ms of a response in addition.
      expect(passedMs).toBeLessThan(leastMs * 1.05 + 1_000);
    },
  );
});
