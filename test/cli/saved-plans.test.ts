import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge } from './workspace.ts';

const ONE = `${STACK}${toEdge('a', 20001)}`;

describe('a saved plan', () => {
  it('is known by what it holds, whatever it is called', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('plan edgewise.yaml -o my.plan');
    expect((await edgewise('show my.plan')).exitCode).toBe(0);
    expect(await edgewise('apply my.plan --yes')).toMatchObject({ exitCode: 0 });
    expect((await edgewise('apply my.plan --yes')).stdout).toContain('1 done before');
  });

  it('is not what other files are: manifests, folders, and none', async () => {
    const flow = JSON.stringify({ apiVersion: 'edgewise/v1', kind: 'Stack', metadata: { name: 'test' } });
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE, 'flow.yaml': flow, 'empty.yaml': '' });
    expect(await edgewise('apply edgewise.yaml --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply flow.yaml --target TCPEdge/a')).toMatchObject({ exitCode: 3 });
    expect((await edgewise('apply empty.yaml')).stderr).not.toContain('plan file');
    expect((await edgewise('apply missing.plan')).stderr).toContain('missing.plan');
  });
});
