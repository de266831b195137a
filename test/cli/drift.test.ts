import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const TWO = `${STACK}${toEdge('a', 20001)}${toEdge('b', 20002)}`;
const AUTHORIZED = { authorization: 'Bearer dev', 'service-version': '2', 'content-type': 'application/json' };

describe('drift', () => {
  it('is none after an apply, and sends reads only', async () => {
    const { edgewise, recorder } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    recorder.take();
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(0);
    expect(stdout).toContain('No drift: 2 resources are as the manifests say.');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('is told from what was not applied yet, and from what nobody manages', async () => {
    const { edgewise, server, write } = await createWorkspace({ 'edgewise.yaml': TWO });
    await edgewise('apply --yes');
    const call = async (method: string, path: string, body: object) =>
      server.handle(
        new Request(`https://api.test${path}`, { method, headers: AUTHORIZED, body: JSON.stringify(body) }),
      );
    for (const { id, hostports } of server.snapshot().resources['TCPEdge'] ?? [])
      if (String(hostports).endsWith(':20001')) await call('PATCH', `/edges/tcp/${id}`, { description: 'by hand' });
    await call('POST', '/edges/tcp', { description: 'nobody’s', hostports: ['9.tcp.example.net:9'] });
    await write({ 'edgewise.yaml': `${TWO.replace('20002"]', '20003"]')}${toEdge('c', 20004)}` });
    const { exitCode, stdout } = await edgewise('drift edgewise.yaml');
    expect(exitCode).toBe(2);
    await expect(stdout).toMatchFileSnapshot('goldens/drift.txt');
    const json = JSON.parse((await edgewise('drift edgewise.yaml --format json')).stdout);
    expect(json).toMatchObject({ command: 'drift', ok: true, drifted: true, coverage: { owned: 2, unmanaged: 1 } });
    expect(json.counts).toMatchObject({ drifted: 1, pending: 1, missing: 1, 'in-sync': 0 });
  });
});
