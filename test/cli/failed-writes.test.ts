import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { NetworkError } from '../../src/model/errors.ts';
import { type Transport, toSend } from '../../src/model/transport.ts';
import { withFaults } from '../../src/server/index.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, STACK, toEdge, toManifest } from './workspace.ts';

/** The backend of `lost` does not exist, which only the service knows. It is in line 15. */
const LOST = `${STACK}---
apiVersion: edgewise/v1
kind: TCPEdge
metadata:
  name: lost
spec:
  hostports: ["1.tcp.example.net:20001"]
  description: An edge without its backend
  backend:
    enabled: true
    backend_id: bkdhr_gone
`;

/** A service that forbids writes below a path. */
function createForbiddingService(transport: Transport, path: string): Transport {
  return async (request) => {
    const isForbidden = request.method !== 'GET' && new URL(request.url).pathname.startsWith(path);
    return isForbidden ? Response.json({ error_code: 'ERR_9', msg: 'not yours' }, { status: 403 }) : transport(request);
  };
}

describe('a failed write', () => {
  it('is shown at the line of its manifest, at the field that the service names', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edge.yaml': LOST }, { seed: { externals: [] } });
    const words = '--report markdown=a.md --report github=a.gh --report sarif=a.sarif --report json=a.json';
    const { exitCode, stdout } = await edgewise(`apply edge.yaml --yes ${words}`);
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('    --> edge.yaml:15:17\n');
    expect(stdout).toMatch(/15 \| +backend_id: bkdhr_gone\n/);
    expect(await read('a.md')).toContain('- **failed** `create TCPEdge/lost` at `edge.yaml:15:17`: ');
    expect(await read('a.gh')).toMatch(/^::error file=edge.yaml,line=15,col=17,title=edgewise%3A write-failed::/);
    const { runs } = JSON.parse(await read('a.sarif'));
    expect(runs[0].results[0].locations[0].physicalLocation.region).toEqual({ startLine: 15, startColumn: 17 });
    const [outcome] = readOnlyStack(await read('a.json')).outcomes;
    expect(outcome).toMatchObject({ outcome: 'failed', status: 400, field: 'backend.backend_id' });
  });

  it('is shown at the start of its manifest if the service names no field', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edge.yaml': `${STACK}${toEdge('a', 20001)}` });
    const { stdout } = await edgewise('apply edge.yaml --yes', {
      transport: createForbiddingService(recorder.transport, '/edges'),
    });
    expect(stdout).toContain('    POST /edges/tcp: 403 ERR_9: not yours\n    --> edge.yaml:6:1\n');
  });
});

describe('an apply that the service forbids', () => {
  const TWO = `${STACK}${toEdge('a', 20001)}---
apiVersion: edgewise/v1
kind: AgentIngress
metadata: { name: b }
spec: { domain: b.example.com }
`;

  it('exits with 1 if some writes failed', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'two.yaml': TWO });
    const result = await edgewise('apply two.yaml --yes', {
      transport: createForbiddingService(recorder.transport, '/edges'),
    });
    expect(result.exitCode).toBe(1);
    expect(result.stdout).toContain('The service does not permit create TCPEdge/a: get the permission');
    expect(result.stdout).not.toContain('API key');
  });

  it('exits with 1 if another write failed for another reason', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'two.yaml': TWO });
    const forbidding = createForbiddingService(recorder.transport, '/edges');
    const result = await edgewise('apply two.yaml --yes', {
      transport: async (request) =>
        request.method === 'POST' && request.url.endsWith('/agent_ingresses')
          ? Response.json({ error_code: 'ERR_1', msg: 'no' }, { status: 400 })
          : forbidding(request),
    });
    expect(result.exitCode).toBe(1);
  });

  it('exits with 4 if all writes failed', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'two.yaml': TWO });
    const result = await edgewise('apply two.yaml --yes', {
      transport: createForbiddingService(recorder.transport, '/'),
    });
    expect(result.exitCode).toBe(4);
    expect(result.stdout).toContain('does not permit create AgentIngress/b, create TCPEdge/a: get the permission');
  });
});

describe('a service that fails during an apply', () => {
  const EDGES = Array.from({ length: 40 }, (_, index) => toEdge(`e${index}`, 20_000 + index)).join('');

  /** A service that answers so many writes, and then fails for the given number of requests, or always. */
  function createFailingService(
    transport: Transport,
    { writes, gone = Number.POSITIVE_INFINITY }: { writes: number; gone?: number },
  ): Transport {
    let count = 0;
    return async (request) => {
      if (request.method !== 'GET') count += 1;
      if (count > writes && count <= writes + gone)
        throw new NetworkError(`${request.method} ${request.url}: the connection was refused`, { isUnsent: true });
      return transport(request);
    };
  }

  it('ends the apply after three writes, and the skipped rest is reported once', async () => {
    // One after the other: of writes that are under way at once, more than three could fail.
    const stack = `${STACK}spec: { api: { concurrency: 1 } }\n`;
    const { edgewise, folder, recorder } = await createWorkspace({ 'edges.yaml': `${stack}${EDGES}` });
    const transport = createFailingService(recorder.transport, { writes: 5 });
    const { exitCode, stdout, stderr } = await edgewise('apply edges.yaml --yes --report json=a.json', { transport });
    expect(exitCode).toBe(1);
    const said = 'not started, because the service cannot be reached.';
    expect(stdout.split(said)).toHaveLength(2);
    expect(stderr.split(said)).toHaveLength(2);
    expect(stdout).not.toContain('interrupted');
    expect(stdout).toContain(
      'Check that the service runs and can be reached from here. Requests that were not sent changed nothing.',
    );
    expect(stdout).toContain('Run apply again. It plans only what is left.');
    expect(stdout).not.toContain('Fix what failed');
    const { outcomes, interrupted } = readOnlyStack(await readFile(join(folder, 'a.json'), 'utf8'));
    const ends = outcomes.map(({ outcome }: { outcome: string }) => outcome);
    expect(interrupted).toBe(false);
    expect(ends.filter((end: string) => end === 'applied')).toHaveLength(5);
    expect(ends.filter((end: string) => end === 'failed')).toHaveLength(3);
    const skipped = outcomes.filter(({ outcome }: { outcome: string }) => outcome === 'skipped');
    expect(skipped).toHaveLength(32);
    for (const one of skipped)
      expect(one).toMatchObject({ message: 'the service cannot be reached', stop: 'unreachable' });
    expect((await edgewise('apply edges.yaml --yes')).exitCode).toBe(0);
  });

  it('loses nothing if it recovers in time', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edges.yaml': `${STACK}${EDGES}` });
    const transport = createFailingService(recorder.transport, { writes: 5, gone: 3 });
    expect((await edgewise('apply edges.yaml --yes', { transport })).exitCode).toBe(0);
  });
});

describe('a service that frees a hostport late', () => {
  it('is waited for as long as the Stack sets, while other writes continue', async () => {
    const stack = `${STACK}spec: { api: { timeouts: { conflict: 3s } } }\n`;
    const { edgewise, recorder, server, write } = await createWorkspace({ 'edge.yaml': stack + toEdge('old', 20001) });
    await edgewise('apply edge.yaml --yes');
    await write({
      'edge.yaml': stack + toManifest('TCPEdge', 'old', {}) + toEdge('new', 20001) + toEdge('other', 20002),
    });
    const late = { rules: [{ on: '*', fault: 'late_release', ms: 600_000 } as const] };
    const { handle: transport } = withFaults(
      server.behind(() => toSend(recorder.transport)),
      late,
    );
    const pauses: number[] = [];
    const sleep = async (ms: number) => void pauses.push(ms);
    const { exitCode, stdout, stderr } = await edgewise('apply edge.yaml --yes', { transport, sleep });
    expect(exitCode).toBe(1);
    expect(stdout).toContain('tried again for 3 s');
    expect(pauses).toEqual([1000, 2000]);
    expect(stderr).toContain(
      'create TCPEdge/new … rejected with 409; tried again for up to 3 s, until the service has finished update TCPEdge/old',
    );
    expect(stderr.indexOf('create TCPEdge/other … done')).toBeLessThan(stderr.indexOf('create TCPEdge/new … failed'));
    expect(stderr).toContain('create TCPEdge/other … done');
  });
});
