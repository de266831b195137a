import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { Transport } from '../../src/model/transport.ts';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

/** The backend of `lost` is not there, which only the service can know; it stands in line 15. */
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
function forbid(transport: Transport, path: string): Transport {
  return async (request) => {
    const isForbidden = request.method !== 'GET' && new URL(request.url).pathname.startsWith(path);
    return isForbidden ? Response.json({ error_code: 'ERR_9', msg: 'not yours' }, { status: 403 }) : transport(request);
  };
}

describe('a write that failed', () => {
  it('is shown at the line of its manifest, at the field that the service names', async () => {
    const { edgewise, folder } = await createWorkspace({ 'edge.yaml': LOST }, { seed: { externals: [] } });
    const words = '--report markdown=a.md --report github=a.gh --report sarif=a.sarif --report json=a.json';
    const { exitCode, stdout } = await edgewise(`apply edge.yaml --yes ${words}`);
    const read = (file: string) => readFile(join(folder, file), 'utf8');
    expect(exitCode).toBe(1);
    expect(stdout).toContain('    --> edge.yaml:15:17\n');
    expect(stdout).toMatch(/15 \| +backend_id: bkdhr_gone\n/);
    expect(await read('a.md')).toContain('| **failed** | `create TCPEdge/lost` at `edge.yaml:15:17` |');
    expect(await read('a.gh')).toMatch(/^::error file=edge.yaml,line=15,col=17,title=edgewise%3A write-failed::/);
    const { runs } = JSON.parse(await read('a.sarif'));
    expect(runs[0].results[0].locations[0].physicalLocation.region).toEqual({ startLine: 15, startColumn: 17 });
    const [outcome] = JSON.parse(await read('a.json')).outcomes;
    expect(outcome).toMatchObject({ outcome: 'failed', status: 400, field: 'backend.backend_id' });
  });

  it('is shown at the start of its manifest where the service names no field', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edge.yaml': `${STACK}${toEdge('a', 20001)}` });
    const { stdout } = await edgewise('apply edge.yaml --yes', { transport: forbid(recorder.transport, '/edges') });
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

  it('in part has failed, with exit code 1', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'two.yaml': TWO });
    const result = await edgewise('apply two.yaml --yes', { transport: forbid(recorder.transport, '/edges') });
    expect(result.exitCode).toBe(1);
    expect(result.stdout).toContain('The service does not permit create TCPEdge/a: get the permission');
    expect(result.stdout).not.toContain('API key');
  });

  it('as a whole is a matter of permission, with exit code 4', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'two.yaml': TWO });
    const result = await edgewise('apply two.yaml --yes', { transport: forbid(recorder.transport, '/') });
    expect(result.exitCode).toBe(4);
    expect(result.stdout).toContain('does not permit create AgentIngress/b, create TCPEdge/a: get the permission');
  });
});
