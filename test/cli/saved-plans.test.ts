import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
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

  it('of another version of the tool is refused, and says which', async () => {
    const { edgewise, recorder, write } = await createWorkspace({ 'edgewise.yaml': ONE });
    const plan = JSON.parse((await edgewise('plan edgewise.yaml --format json')).stdout);
    await write({ 'plan.json': JSON.stringify({ ...plan, tool: { name: 'edgewise', version: '0.0.1' } }) });
    recorder.take();
    const refused = await edgewise('apply plan.json --yes');
    expect(refused).toMatchObject({ exitCode: 6 });
    expect(refused.stderr).toContain('plan.json was made by edgewise 0.0.1, and this is edgewise');
    expect(recorder.take()).toEqual([]);
    expect(await edgewise('show plan.json')).toMatchObject({ exitCode: 0 });
  });

  it.each([
    ['invalid manifests', `${ONE}nonsense: true\n`],
    ['a plan that can not be applied', `${ONE}${toEdge('b', 20002)}lifecycle: { adopt: edgtcp_none }\n`],
  ])('does not stay where %s made none', async (_, manifests) => {
    const { edgewise, write } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('plan edgewise.yaml -o plan.json');
    await write({ 'edgewise.yaml': manifests });
    const failed = await edgewise('plan edgewise.yaml -o plan.json');
    expect(failed).toMatchObject({ exitCode: 3 });
    expect(failed.stderr).toContain('plan.json was not written');
    expect(failed.stderr).toContain('the older plan that stood there was removed');
    expect((await edgewise('show plan.json')).stderr).toContain('can not be read');
  });

  it('made with --no-delete deletes nothing either, and lists what stays', async () => {
    const { edgewise, write, server } = await createWorkspace({ 'edgewise.yaml': `${ONE}${toEdge('b', 20002)}` });
    await edgewise('apply edgewise.yaml --yes');
    await write({ 'edgewise.yaml': `${ONE}${toEdge('c', 20003)}` });
    await edgewise('plan edgewise.yaml --no-delete -o plan.json');
    const applied = await edgewise('apply plan.json --yes --format json');
    expect(applied).toMatchObject({ exitCode: 0 });
    const { plan } = JSON.parse(applied.stdout);
    expect(plan.withheld).toMatchObject([{ address: 'TCPEdge/b', reason: 'not in the manifests any more' }]);
    expect(server.snapshot().resources['TCPEdge']).toHaveLength(3);
  });

  it('does what it shows: flags of plans do not go with it', async () => {
    const { edgewise } = await createWorkspace({ 'edgewise.yaml': ONE });
    await edgewise('plan edgewise.yaml -o plan.json');
    const refused = await edgewise('apply plan.json --yes --no-delete --no-revert-drift');
    expect(refused).toMatchObject({ exitCode: 3 });
    expect(refused.stderr).toContain('--no-revert-drift and --no-delete goes with manifests');
  });

  it('that can not be made removes no file but a plan', async () => {
    const files = { 'edgewise.yaml': `${ONE}nonsense: true\n`, 'notes.txt': 'mine' };
    const { edgewise, folder } = await createWorkspace(files);
    expect((await edgewise('plan edgewise.yaml -o notes.txt')).stderr).toContain(
      'notes.txt was not written, because there is no plan that can be applied.\n',
    );
    expect(await readFile(join(folder, 'notes.txt'), 'utf8')).toBe('mine');
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
