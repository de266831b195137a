import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { STACK, toEdge } from '../cli/workspace.ts';
import { listCodeBlocks } from '../docs/documents.ts';
import { requireProgramOrSkip } from '../needs.ts';
import { readOnlyStack } from '../results.ts';
import {
  type ControlledService,
  createErrorResponse,
  type Intercept,
  startControlledService,
} from './controlled-service.ts';
import { type Ended, PROGRAM, type Run, startEdgewise, waitForOutput } from './processes.ts';

const LIST = 'GET /edges/tcp';
const CREATE = 'POST /edges/tcp';
/** Far longer than a test may take: a run that waits that long fails. */
const LONG = { 'retry-after': '110' };
/** The requests of a plan, one list of each kind, and one write. The request after that must wait. */
const ONE_WRITE_IN_TIME = ['--rate-limit', '7/100s'];

/** Signals within this time are one interrupt. */
const SAME_INTERRUPT_MS = 500;

/** Manifests of two edges, and a service that the test controls. */
async function createTwoEdges(intercept: Intercept) {
  const service = await startControlledService(intercept);
  const folder = await mkdtemp(join(tmpdir(), 'edgewise-signals-'));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  const file = join(folder, 'edgewise.yaml');
  await writeFile(file, `${STACK}spec: { api: { concurrency: 1 } }\n${toEdge('a', 20001)}${toEdge('b', 20002)}`);
  const env = { PATH: process.env['PATH'], EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: service.url };
  const start = (...args: string[]): Run => startEdgewise([...args, file], env);
  return {
    service,
    env,
    file,
    start,
    apply: (...args: string[]) => start('apply', '--yes', ...args),
  };
}

/** Holds back the first request of a route until it is released. */
function createHeldRequest(wanted: string) {
  const arrived = Promise.withResolvers<void>();
  const released = Promise.withResolvers<void>();
  onTestFinished(() => released.resolve());
  const intercept: Intercept = async ({ route, count }) => {
    if (route !== wanted || count > 1) return undefined;
    arrived.resolve();
    await released.promise;
    return undefined;
  };
  return { intercept, arrived: arrived.promise, release: () => released.resolve() };
}

function readOutcomes({ stdout }: Ended): readonly string[] {
  const { outcomes } = readOnlyStack(stdout);
  return outcomes.map(({ outcome, message }: Record<string, string>) => [outcome, message].filter(Boolean).join(': '));
}

function listWrites({ log }: ControlledService): readonly string[] {
  return log.filter((route) => !route.startsWith('GET'));
}

describe.each(['SIGINT', 'SIGTERM'] as const)('%s', (signal) => {
  it.each(['text', 'json'])('finishes a running write, starts no other, and reports %s', async (format) => {
    const hold = createHeldRequest(CREATE);
    const { service, apply } = await createTwoEdges(hold.intercept);
    const { child, ended } = apply('--format', format);
    const stopping = waitForOutput(child.stderr, 'Stopping after the writes in progress');
    await hold.arrived;
    child.kill(signal);
    await stopping;
    hold.release();
    const end = await ended;
    expect(end.exitCode, end.stderr).toBe(130);
    if (format === 'json') expect(readOutcomes(end)).toEqual(['applied', 'skipped: interrupted']);
    else expect(end.stdout).toContain('1 write applied, 0 failed, 1 skipped');
    expect(listWrites(service)).toEqual([CREATE]);
  });

  it('ends at once the second time', async () => {
    const hold = createHeldRequest(CREATE);
    const { apply } = await createTwoEdges(hold.intercept);
    const { child, ended } = apply();
    const stopping = waitForOutput(child.stderr, 'Stopping after the writes in progress');
    await hold.arrived;
    child.kill(signal);
    await stopping;
    await new Promise((done) => setTimeout(done, SAME_INTERRUPT_MS));
    child.kill(signal);
    // The plan was shown before the first write; there is no result.
    expect(await ended).toMatchObject({ exitCode: 130, stdout: expect.not.stringContaining('applied') });
  });

  it('is one interrupt if npm or a shell passes it on to a process that has got it already', async () => {
    const hold = createHeldRequest(CREATE);
    const { service, apply } = await createTwoEdges(hold.intercept);
    const { child, ended } = apply();
    const stopping = waitForOutput(child.stderr, 'Stopping after the writes in progress');
    await hold.arrived;
    child.kill('SIGINT');
    child.kill('SIGTERM');
    await stopping;
    child.kill(signal);
    hold.release();
    const { exitCode, stdout } = await ended;
    expect(stdout).toContain('1 write applied, 0 failed, 1 skipped');
    expect(exitCode).toBe(130);
    expect(listWrites(service)).toEqual([CREATE]);
  });

  it.each([
    ['apply', 'text'],
    ['apply', 'json'],
    ['plan', 'markdown'],
    ['drift', 'json'],
    ['export', 'text'],
  ])('ends at once while %s reads, and reports %s', async (command, format) => {
    const hold = createHeldRequest(LIST);
    const { start, env } = await createTwoEdges(hold.intercept);
    const { child, ended } = command === 'export' ? startEdgewise([command], env) : start(command, '--format', format);
    await hold.arrived;
    child.kill(signal);
    const { exitCode, stdout, stderr } = await ended;
    expect(stderr).toContain('Interrupted.');
    expect(stderr).toContain('Nothing was written.');
    expect(exitCode).toBe(130);
    if (format === 'json') expect(readOnlyStack(stdout)).toMatchObject({ error: { message: 'Interrupted.' } });
    if (format === 'markdown') expect(stdout).toContain('Interrupted.');
  });
});

describe('an interrupt', () => {
  it('ends a wait for the rate limit during a read', async () => {
    const { start, service } = await createTwoEdges(async () => undefined);
    const { child, ended } = start('plan', '--rate-limit', '2/100s');
    await waitForOutput(child.stderr, 'Waiting 100 s');
    child.kill('SIGINT');
    const { exitCode, stderr } = await ended;
    expect(stderr).toContain('Nothing was written.');
    expect(exitCode).toBe(130);
    expect(service.log).toHaveLength(2);
  });

  it('ends a wait for a retry during a read', async () => {
    const { start } = await createTwoEdges(async ({ route }) =>
      route === LIST ? createErrorResponse(503, LONG) : undefined,
    );
    const { child, ended } = start('plan');
    await waitForOutput(child.stderr, 'Reading continues in ');
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ exitCode: 130, stderr: expect.stringContaining('Nothing was written.') });
  });

  it('ends a wait for the rate limit between two writes, and reports what was written', async () => {
    const { apply, service } = await createTwoEdges(async () => undefined);
    const { child, ended } = apply('--format', 'json', ...ONE_WRITE_IN_TIME);
    await waitForOutput(child.stderr, 'Waiting');
    child.kill('SIGINT');
    const end = await ended;
    expect(readOutcomes(end)).toEqual(['applied', 'skipped: interrupted']);
    expect(end.exitCode).toBe(130);
    expect(listWrites(service)).toEqual([CREATE]);
  });

  it('ends a wait that the service asked for, if the request certainly took no effect', async () => {
    const { apply } = await createTwoEdges(async ({ route }) =>
      route === CREATE ? createErrorResponse(429, LONG) : undefined,
    );
    const { child, ended } = apply('--format', 'json');
    await waitForOutput(child.stderr, 'Writing continues in ');
    child.kill('SIGINT');
    const end = await ended;
    expect(readOutcomes(end)).toEqual(['skipped: interrupted', 'skipped: interrupted']);
    expect(end.exitCode).toBe(130);
  });

  it('ends a wait for a retry of a write that may have taken effect, with its error', async () => {
    const { apply, start } = await createTwoEdges(async ({ route }) =>
      route.startsWith('DELETE') ? createErrorResponse(503, LONG) : undefined,
    );
    await apply().ended;
    const { child, ended } = start('destroy', '--yes', '--format', 'json');
    await waitForOutput(child.stderr, 'Writing continues in ');
    child.kill('SIGINT');
    const end = await ended;
    expect(readOutcomes(end)).toEqual([expect.stringMatching(/^failed: .*busy/), 'skipped: interrupted']);
    expect(end.exitCode).toBe(130);
  });

  it('ends the look-up of a creation', async () => {
    const { apply, service } = await createTwoEdges(async ({ route }) =>
      route === CREATE ? createErrorResponse(500) : undefined,
    );
    const { child, ended } = apply('--format', 'json', ...ONE_WRITE_IN_TIME);
    await waitForOutput(child.stderr, 'Waiting');
    child.kill('SIGINT');
    const end = await ended;
    expect(readOutcomes(end)).toEqual([expect.stringMatching(/^failed: .*busy/), 'skipped: interrupted']);
    expect(readOnlyStack(end.stdout).outcomes[0]).toMatchObject({ isUnknown: true });
    expect(end.exitCode).toBe(130);
    expect(listWrites(service)).toEqual([CREATE]);
  });
});

describe('an output without a reader', () => {
  it.each(['text', 'json'])('does not end an apply: %s', async (format) => {
    const hold = createHeldRequest(CREATE);
    const { apply, service, start } = await createTwoEdges(hold.intercept);
    const { child, ended } = apply('--format', format);
    // Its output cannot be read.
    ended.catch(() => undefined);
    const exited = once(child, 'exit');
    await hold.arrived;
    child.stdout?.destroy();
    hold.release();
    expect(await exited).toEqual([0, null]);
    expect(listWrites(service)).toEqual([CREATE, CREATE]);
    expect(await start('plan', '--detailed-exitcode').ended).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['a pipe to head', '| head -n 1'],
    ['outputs that both go to head', '2>&1 | head -n 1'],
    ['outputs that are closed from the start', '>&- 2>&-'],
  ])('is accepted: %s', async (_, end) => {
    const { env, file, service } = await createTwoEdges(async () => undefined);
    const line = `"$0" "$1" apply "$2" --yes --verbose ${end}; exit "\${PIPESTATUS[0]}"`;
    const child = spawn('bash', ['-c', line, process.execPath, PROGRAM, file], { env, stdio: 'ignore' });
    const [exitCode] = await once(child, 'close');
    expect(exitCode).toBe(0);
    expect(listWrites(service)).toEqual([CREATE, CREATE]);
  });
});

/** Applies with the log at level debug, and kills the process while it waits for the answer to its first write. Returns the log. */
async function killDuringWrite(): Promise<string> {
  const hold = createHeldRequest(CREATE);
  const { file, env } = await createTwoEdges(hold.intercept);
  const { child, ended } = startEdgewise(['apply', '--yes', file], { ...env, EDGEWISE_LOG_LEVEL: 'debug' });
  await hold.arrived;
  child.kill('SIGKILL');
  return (await ended).stderr;
}

describe('the log at level debug', () => {
  it('ends with the unfinished request if the process is killed', async () => {
    const lines = (await killDuringWrite()).split('\n').filter((line) => line.startsWith('{'));
    expect(JSON.parse(lines.at(-1) ?? '')).toMatchObject({
      method: 'POST',
      path: '/edges/tcp',
      msg: 'request is sent',
    });
  });

  it('shows what a killed run may have done, by the jq of day two', async () => {
    requireProgramOrSkip('jq');
    const recipe = listCodeBlocks('sh').find(({ text }) => text.startsWith('jq -Rnr'));
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-log-'));
    onTestFinished(() => rm(folder, { recursive: true, force: true }));
    await writeFile(join(folder, 'apply.log'), await killDuringWrite());
    const listed = execFileSync('sh', ['-euc', recipe?.text ?? 'false'], { cwd: folder, encoding: 'utf8' });
    expect(listed).toBe(`${CREATE}\n`);
  });
});
