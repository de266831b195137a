import { readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from './tree.ts';

/** Three stacks with a change each, and approved plans. */
async function createApprovedPlans(flags = ''): Promise<Workspace> {
  const workspace = await createWorkspace(toRepository(3));
  expect((await workspace.edgewise(`plan -R live -o plans${flags}`)).exitCode).toBe(0);
  workspace.recorder.take();
  return workspace;
}

const toEdges = (count: number): readonly string[] => Array.from({ length: count }, () => 'POST /edges/tcp');

const LINE = 'apply -R live --approved plans --yes';

describe(LINE, () => {
  it('skips stacks that have nothing to do, and applies the others', async () => {
    const workspace = await createApprovedPlans();
    await workspace.edgewise('apply live/s01 --yes');
    workspace.recorder.take();
    expect((await workspace.edgewise(LINE)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(2));
    expect((await workspace.edgewise(LINE)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('writes to no stack if the repository has no stack any more for one of the plans', async () => {
    const workspace = await createApprovedPlans();
    await rm(join(workspace.folder, 'live/s01'), { recursive: true });
    const { exitCode, stderr } = await workspace.edgewise(LINE);
    expect(stderr).toContain('plans approves plans of s01 on https://api.test, but there is no such stack below live.');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  describe('with two stacks of one name at two services', () => {
    const env = { EDGEWISE_API_KEY: 'dev', EDGEWISE_BASE_URL: '' };

    async function approveBoth(): Promise<Workspace> {
      const toFiles = (place: string, port: number) => ({
        [`live/${place}/edgewise.yaml`]: toStack('shop', { api: { base_url: `https://${place}.test` } }),
        [`live/${place}/edge.yaml`]: toEdge('door', port),
      });
      const workspace = await createWorkspace({ ...toFiles('api', 20_001), ...toFiles('stage', 20_002) });
      expect((await workspace.edgewise('plan -R live -o plans', { env })).exitCode).toBe(0);
      workspace.recorder.take();
      return workspace;
    }

    it('writes to none if the repository lost one of them', async () => {
      const workspace = await approveBoth();
      await rm(join(workspace.folder, 'live/stage'), { recursive: true });
      const { exitCode, stderr } = await workspace.edgewise(LINE, { env });
      expect(stderr).toContain('plans approves plans of shop on https://stage.test, but there is no such stack below');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual([]);
    });

    it('refuses one whose plan was removed', async () => {
      const workspace = await approveBoth();
      expect(await readdir(join(workspace.folder, 'plans'))).toEqual(['shop@live-api.json', 'shop@live-stage.json']);
      await rm(join(workspace.folder, 'plans/shop@live-stage.json'));
      const { exitCode, stdout } = await workspace.edgewise(LINE, { env });
      expect(stdout).toContain('an empty plan, because plans has none for this stack');
      expect(exitCode).toBe(6);
      expect(workspace.recorder.take().filter(({ method }) => method === 'POST')).toHaveLength(1);
    });

    it('refuses one in another folder, and names its former folder', async () => {
      const workspace = await approveBoth();
      const moved = toStack('shop', { api: { base_url: 'https://other.test' } });
      await workspace.write({ 'live/stage/edgewise.yaml': moved });
      const { exitCode, stdout } = await workspace.edgewise(LINE, { env });
      expect(stdout).toContain('the service: approved for https://stage.test, now https://other.test');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual(toEdges(1));
    });
  });

  it('applies without a plan that was removed if its stack has nothing to do', async () => {
    const workspace = await createApprovedPlans();
    await workspace.edgewise('apply live/s01 --yes');
    await rm(join(workspace.folder, 'plans/s01.json'));
    workspace.recorder.take();
    expect((await workspace.edgewise(LINE)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(2));
  });
});

describe('a stack without an approved plan', () => {
  it('is refused and shown if it has something to do, and the others are applied', async () => {
    const workspace = await createApprovedPlans(' --stack s00');
    await workspace.edgewise('apply live/s02 --yes');
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise(LINE);
    const [, refused = ''] = /── s01\n([^─]*)/.exec(stdout) ?? [];
    expect(refused).toContain('against an empty plan, because plans has none for this stack');
    expect(refused).toMatch(/Not approved:\n\n\+ TCPEdge\/s01-edge {3}create/);
    expect(refused).toContain('+ 1.tcp.example.net:20001');
    expect(stdout).not.toContain('── s02');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual(toEdges(1));
  });

  it('prunes nothing, also in the stacks around it', async () => {
    const workspace = await createApprovedPlans(' --stack s00');
    await workspace.edgewise('apply -R live --yes');
    for (const name of ['s00', 's01']) await workspace.write({ [`live/${name}/edges/edge.yaml`]: '' });
    await workspace.edgewise('plan -R live --stack s00 --allow-deletes -o plans');
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise(`${LINE} --allow-deletes`);
    expect(stdout).toContain('kept-prune');
    expect(exitCode).toBe(1);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('is not part of a run with the filter of the plan', async () => {
    const workspace = await createApprovedPlans(' --stack s00');
    expect((await workspace.edgewise(`${LINE} --stack s00`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(1));
  });
});
