import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge } from '../cli/workspace.ts';
import { listWrites, toStack } from '../repository/tree.ts';

const PROD = `${toStack('shop')}${toEdge('shop', 20_001)}${toEdge('old', 20_002)}`;
const COPY = `${toStack('shop')}${toEdge('shop', 20_008)}`;

describe('a stack that was copied without a new name', () => {
  it.each(['validate', 'plan', 'apply', 'drift', 'get', 'destroy'])(
    'is refused by %s alone, as by a run over both, before any request',
    async (command) => {
      const workspace = await createWorkspace({ 'live/prod/edgewise.yaml': PROD });
      expect((await workspace.edgewise('apply live/prod --yes')).exitCode).toBe(0);
      await workspace.write({ 'live/qa/edgewise.yaml': COPY });
      workspace.recorder.take();
      const yes = command === 'apply' || command === 'destroy' ? ' --yes' : '';
      const message =
        'live/qa/edgewise.yaml and live/prod/edgewise.yaml both define a stack shop at https://api.test, so each would delete what the other creates';
      const alone = await workspace.edgewise(`${command} live/qa${yes}`);
      expect(alone.exitCode).toBe(3);
      expect(alone.stdout + alone.stderr).toContain(message);
      const both = await workspace.edgewise(`${command} -R live${yes}${command === 'destroy' ? ' --stack shop' : ''}`);
      expect(both.exitCode).toBe(3);
      expect(both.stdout + both.stderr).toContain('both define a stack shop at https://api.test');
      expect(workspace.recorder.take()).toEqual([]);
    },
  );

  it('is accepted at another service, in a checkout inside of the repository, and outside of --root', async () => {
    const { edgewise, write } = await createWorkspace({ 'live/prod/edgewise.yaml': PROD });
    const plan = async (more = ''): Promise<number> => (await edgewise(`plan live/prod${more}`)).exitCode;
    await write({
      'live/qa/edgewise.yaml': COPY.replace('"spec":{}', '"spec":{"api":{"base_url":"https://other.test"}}'),
    });
    expect((await edgewise('plan live/prod', { env: { EDGEWISE_BASE_URL: '' } })).stderr).not.toContain('both define');
    await write({ 'live/qa/edgewise.yaml': COPY });
    expect(await plan()).toBe(3);
    expect(await plan(' --root live/prod')).toBe(0);
    await write({ 'live/qa/.git/HEAD': '' });
    expect(await plan()).toBe(0);
  });

  it.each(['', 'http://b'])('is refused without a service, and at one with a short URL: "%s"', async (url) => {
    const { edgewise } = await createWorkspace({ 'live/prod/edgewise.yaml': PROD, 'live/qa/edgewise.yaml': COPY });
    const { exitCode, stderr } = await edgewise('validate live/qa', { env: { EDGEWISE_BASE_URL: url } });
    expect({ exitCode, stderr }).toEqual({ exitCode: 3, stderr: expect.stringContaining('both define a stack shop') });
  });

  it('is refused in a submodule, and accepted in a linked worktree', async () => {
    const { edgewise, write } = await createWorkspace({ '.git/HEAD': '', 'live/prod/edgewise.yaml': PROD });
    const plan = async (): Promise<number> => (await edgewise('plan live/prod')).exitCode;
    await write({ 'inner/edgewise.yaml': COPY, 'inner/.git': 'gitdir: ../.git/worktrees/inner\n' });
    expect(await plan()).toBe(0);
    await write({ 'inner/.git': 'gitdir: ../.git/modules/inner\n' });
    expect(await plan()).toBe(3);
  });

  it('is searched in the whole repository, and without one only beside the stack', async () => {
    const { edgewise, write } = await createWorkspace({
      'live/prod/edgewise.yaml': PROD,
      'old/qa/edgewise.yaml': COPY,
    });
    expect((await edgewise('plan live/prod')).exitCode).toBe(0);
    await write({ '.git/HEAD': '' });
    expect((await edgewise('plan live/prod')).exitCode).toBe(3);
  });

  it('is not searched beside manifests on standard input, because it may be their source', async () => {
    const { edgewise } = await createWorkspace({ 'live/prod/edgewise.yaml': PROD });
    expect((await edgewise('plan -', { stdin: COPY })).exitCode).toBe(0);
  });
});

describe('a stack beside an unreadable Stack document', () => {
  it('is applied with a warning, and without one if a variable decides its name, or it is of another tool', async () => {
    const workspace = await createWorkspace({
      'live/prod/edgewise.yaml': PROD,
      'live/broken/edgewise.yaml': 'kind: Stack\nmetadata: {\n',
    });
    const { exitCode, stdout } = await workspace.edgewise('apply live/prod --yes');
    expect(exitCode).toBe(0);
    expect(stdout).toMatch(/^warning\[duplicate-stack\]: live\/broken\/edgewise.yaml seems to contain a Stack/m);
    expect(listWrites(workspace)).toHaveLength(2);
    for (const text of [toStack('$' + '{env:NAME}'), 'apiVersion: example.com/v1\nkind: Stack\n']) {
      await workspace.write({ 'live/broken/edgewise.yaml': text });
      expect((await workspace.edgewise('plan live/prod')).stdout).not.toContain('duplicate-stack');
    }
  });
});
