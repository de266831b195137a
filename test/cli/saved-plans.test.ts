import { describe, expect, it } from 'vitest';
import { BASE_URL } from './fake-context.ts';
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

  it('is for the same place with and without a slash at its end', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    const slash = { env: { EDGEWISE_BASE_URL: `${BASE_URL}/` } };
    await edgewise('plan edgewise.yaml -o plan.json');
    await edgewise('plan edgewise.yaml -o slash.json', slash);
    expect((await edgewise('show slash.json --format json')).stdout).toContain(`"baseUrl": "${BASE_URL}"`);
    expect(await edgewise('apply plan.json --yes', slash)).toMatchObject({ exitCode: 0 });
    expect(await edgewise('apply slash.json --yes')).toMatchObject({ exitCode: 0 });
  });

  it('with an error in it is shown and refused in both formats', async () => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': ONE });
    const plan = JSON.parse((await edgewise('plan edgewise.yaml --format json')).stdout);
    const error = { code: 'unknown-target', severity: 'error', message: 'There is no such thing.' };
    await write({ 'plan.json': JSON.stringify({ ...plan, writes: [], diagnostics: [error] }) });
    const text = await edgewise('apply plan.json --yes');
    expect(text).toMatchObject({ exitCode: 3 });
    expect(text.stdout).toContain('There is no such thing.');
    const json = await edgewise('apply plan.json --yes --format json');
    expect(json).toMatchObject({ exitCode: 3 });
    expect(JSON.parse(json.stdout)).toMatchObject({ diagnostics: [error] });
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
