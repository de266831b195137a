import { describe, expect, it, vi } from 'vitest';
import type { Context } from '../../src/cli/context.ts';
import { OWNED_KINDS } from '../../src/kinds/tables/registry.ts';
import type { Transport } from '../../src/model/transport.ts';
import { NOW } from './fake-context.ts';
import { createWorkspace, STACK } from './workspace.ts';

/** One list of each kind. */
const READS = OWNED_KINDS.length;

/** After its create, an apply lists the pools again: another apply may have created the same one. */
const POOL = `---
apiVersion: edgewise/v1
kind: WeightedBackend
metadata:
  name: pool
spec:
  backends: { bkdhr_blue: 1 }
`;

/** A clock that stands still until the test advances it. */
function createManualClock() {
  let time = NOW.getTime();
  const timers = new Set<{ readonly at: number; readonly act: () => void }>();
  const after: Context['after'] = (ms, act) => {
    const timer = { at: time + ms, act };
    timers.add(timer);
    return () => timers.delete(timer);
  };
  const pass = (ms: number): void => {
    const end = time + ms;
    for (;;) {
      const [next] = [...timers].filter(({ at }) => at <= end).sort((left, right) => left.at - right.at);
      if (next === undefined) break;
      timers.delete(next);
      time = next.at;
      next.act();
    }
    time = end;
  };
  return { now: () => new Date(time), after, pass, open: () => timers.size };
}

function untilAborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason));
  });
}

/** Runs a command against a service that answers the first requests at once, and the others when the test says so. */
async function runAgainstSlowService(
  line: string,
  { prompt, terminal }: { readonly prompt: number; readonly terminal?: number },
) {
  const { edgewise, server } = await createWorkspace({ 'stack.yaml': `${STACK}${POOL}` });
  const { promise: released, resolve: release } = Promise.withResolvers<void>();
  const { promise: stuck, resolve: setStuck } = Promise.withResolvers<void>();
  const time = createManualClock();
  let count = 0;
  const transport: Transport = async (request) => {
    count += 1;
    if (count > prompt) {
      setImmediate(setStuck);
      // Of the interrupted requests, only the first ends at once.
      await (count === prompt + 1 ? Promise.race([released, untilAborted(request.signal)]) : released);
    }
    return server.handle(request);
  };
  let shown = '';
  const onWrite = (text: string) => {
    shown += text;
  };
  const { now, after } = time;
  let interrupt = (): void => undefined;
  const onListen = (listener: () => void) => {
    interrupt = listener;
  };
  const result = edgewise(line, {
    transport,
    now,
    after,
    onWrite,
    onListen,
    ...(terminal !== undefined && { terminal }),
  });
  await stuck;
  return { time, release, result, shown: () => shown, interrupt: () => interrupt() };
}

describe('a slow service', () => {
  it('causes a log line after 1.5 s, and then ever fewer', async () => {
    const { time, release, result, shown } = await runAgainstSlowService('plan', { prompt: 2 });
    time.pass(1_400);
    expect(shown()).toBe('');
    time.pass(100);
    expect(shown()).toBe(`Reading from https://api.test: 2 of ${READS} done after 2 s\n`);
    time.pass(8_500);
    time.pass(600_000);
    const lines = shown().trimEnd().split('\n');
    expect(lines[1]).toBe(`Reading from https://api.test: 2 of ${READS} done after 10 s`);
    expect(lines.length).toBeLessThan(15);
    release();
    expect((await result).stdout).toContain('Plan for stack test');
    expect(time.open()).toBe(0);
  });

  it('causes one counting line on a terminal, which disappears before the result', async () => {
    const { time, release, result, shown } = await runAgainstSlowService('plan', { prompt: 0, terminal: 80 });
    time.pass(3_500);
    const [first, second, third] = ['2', '3', '4'].map(
      (seconds) => `\r\u001b[KReading from https://api.test: 0 of ${READS} done after ${seconds} s`,
    );
    expect(shown()).toBe(`${first}${second}${third}`);
    release();
    const { stdout, stderr } = await result;
    expect(stderr.endsWith('\r\u001b[K')).toBe(true);
    expect(stdout).toContain('Plan for stack test');
  });

  it('causes no line while an apply shows its progress', async () => {
    const { time, release, result, shown } = await runAgainstSlowService('apply --yes', { prompt: 7 });
    time.pass(60_000);
    release();
    expect(await result).toMatchObject({ exitCode: 0 });
    expect(shown()).not.toContain('Reading from');
  });

  it('shows an interrupt on a line of its own', async () => {
    const { time, result, shown, interrupt } = await runAgainstSlowService('plan', { prompt: 0, terminal: 80 });
    time.pass(1_500);
    interrupt();
    expect((await result).exitCode).toBe(130);
    expect(shown()).toMatch(/after 2 s\r.\[Kedgewise: Interrupted\./);
  });

  it('causes a line in every command that reads', async () => {
    for (const line of ['drift', 'export', 'destroy --yes', 'abuse-report get abrp_1']) {
      const { time, release, result, shown } = await runAgainstSlowService(line, { prompt: 0 });
      time.pass(2_000);
      expect(shown(), line).toContain('Reading from https://api.test: 0 of ');
      release();
      await result;
    }
  });
});

it('shows nothing for the embedded server, however slow the machine is', async () => {
  const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
  // The first timer is late already when it is set.
  const after = vi
    .fn<Context['after']>(() => () => undefined)
    .mockImplementationOnce((_, act) => {
      act();
      return () => undefined;
    });
  const { stderr } = await edgewise('plan --base-url embedded:account.json', { after });
  expect(stderr).toMatch(/^Using the embedded server.*\n$/);
});

it('shows nothing for a fast service', async () => {
  const { edgewise } = await createWorkspace({ 'stack.yaml': STACK });
  const time = createManualClock();
  const { stderr } = await edgewise('plan', { now: time.now, after: time.after });
  expect(stderr).toBe('');
  expect(time.open()).toBe(0);
});
