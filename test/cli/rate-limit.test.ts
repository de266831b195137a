import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const MANY = [STACK, ...Array.from({ length: 60 }, (_, index) => toEdge(`e${index}`, 20_000 + index))].join('');

/** A clock for client and server alike, which only waiting moves on. */
function createTime() {
  let time = Date.UTC(2026, 0, 1);
  const sleep = async (ms: number): Promise<void> => {
    time += ms;
  };
  return { now: () => new Date(time), sleep, passed: () => time - Date.UTC(2026, 0, 1) };
}

describe('a rate limit', () => {
  it('is kept by a whole run, so that a service with that limit refuses nothing', async () => {
    const { now, sleep, passed } = createTime();
    const rateLimit = { requests: 20, windowMs: 10_000 };
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': MANY }, { now, rateLimit });
    const { exitCode, stdout, stderr } = await edgewise('apply --yes --rate-limit 20/10s', { now, sleep });
    expect(exitCode).toBe(0);
    expect(stdout).toContain('applying needs 60 requests, at least 20 s at 20/10s.');
    expect(recorder.take().filter(({ status }) => status === 429)).toEqual([]);
    expect(passed()).toBeGreaterThanOrEqual(30_000);
    expect(stderr).toMatch(
      /^Waiting 10 s: the limit is 20\/10s\. \d+ writes to go, at least \d+ s left at 20\/10s\.$/m,
    );
  });

  it('of the service that is lower than one knows slows the run down, and loses nothing', async () => {
    const { now, sleep } = createTime();
    const rateLimit = { requests: 10, windowMs: 10_000 };
    const { edgewise, server } = await createWorkspace({ 'edgewise.yaml': MANY }, { now, rateLimit });
    const { exitCode, stderr } = await edgewise('apply --yes --rate-limit none', { now, sleep });
    expect([exitCode, server.snapshot().resources['TCPEdge']?.length]).toEqual([0, 60]);
    expect(stderr).toContain('goes on after a pause: HTTP 429.');
  });

  it('is 120/60s unless somebody says otherwise, and none for the embedded server', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': MANY });
    const read = async (words: string) => JSON.parse((await edgewise(`plan --format json ${words}`)).stdout);
    expect((await read('')).settings.rateLimit).toBe('120/60s');
    expect((await read('--base-url embedded:')).settings.rateLimit).toBe('none');
    expect((await read('--rate-limit 30/60s')).requests).toMatchObject({ apply: 60, leastMs: 60_000 });
  });

  it.each(['--rate-limit 120', '--rate-limit 0/60s', '--request-timeout 5', '--ca-file missing.pem'])(
    'and the like that mean nothing are refused: %s',
    async (words) => {
      const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': MANY });
      const { exitCode, stderr } = await edgewise(`plan ${words}`);
      expect([exitCode, recorder.take()]).toEqual([3, []]);
      expect(stderr).toMatch(/must (be|hold)/);
    },
  );

  it('and a proxy that is none are refused without showing it, for it may hold a password', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': MANY });
    const { exitCode, stderr } = await edgewise('plan', { env: { HTTPS_PROXY: 'ftp://user:hunter2@proxy' } });
    expect(exitCode).toBe(3);
    expect(stderr).toContain('HTTPS_PROXY is not the URL of an HTTP proxy.');
    expect(stderr).not.toContain('hunter2');
  });
});
