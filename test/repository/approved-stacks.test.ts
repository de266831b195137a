import { readFile, rm } from 'node:fs/promises';
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

async function editIndex({ folder, write }: Workspace, edit: (index: PlanIndex) => object): Promise<void> {
  const text = await readFile(join(folder, 'plans/_index.json'), 'utf8');
  await write({ 'plans/_index.json': JSON.stringify(edit(JSON.parse(text))) });
}

interface PlanIndex {
  readonly plans: readonly { readonly stack: string }[];
}

/** Both ways to apply the stacks of a folder of plans. */
const COMMANDS = ['apply plans --yes', 'apply -R live --approved plans --yes'];

describe.each(COMMANDS)('%s', (line) => {
  it('skips stacks that have nothing to do, and applies the others', async () => {
    const workspace = await createApprovedPlans();
    await workspace.edgewise('apply live/s01 --yes');
    workspace.recorder.take();
    expect((await workspace.edgewise(line)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(2));
    expect((await workspace.edgewise(line)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('writes to no stack if the repository has no stack any more for one of the plans', async () => {
    const workspace = await createApprovedPlans();
    await rm(join(workspace.folder, 'live/s01'), { recursive: true });
    const { exitCode, stderr } = await workspace.edgewise(line);
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
      const { exitCode, stderr } = await workspace.edgewise(line, { env });
      expect(stderr).toContain('plans approves plans of shop on https://stage.test, but there is no such stack below');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual([]);
    });

    it('writes to none if the plan of one of them was removed', async () => {
      const workspace = await approveBoth();
      const { plans } = JSON.parse(await readFile(join(workspace.folder, 'plans/_index.json'), 'utf8'));
      const { file } = plans.find(({ baseUrl }: { baseUrl: string }) => baseUrl === 'https://stage.test');
      await rm(join(workspace.folder, 'plans', file));
      const { exitCode, stderr } = await workspace.edgewise(line, { env });
      expect(stderr).toContain('plans has no plan for shop, which was in the run that made the plans');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual([]);
    });

    it('refuses one in another folder, and names its former folder', async () => {
      const workspace = await approveBoth();
      const moved = toStack('shop', { api: { base_url: 'https://other.test' } });
      await workspace.write({ 'live/stage/edgewise.yaml': moved });
      const { exitCode, stdout } = await workspace.edgewise(line, { env });
      expect(stdout).toContain('the service: approved for https://stage.test, now https://other.test');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual(toEdges(1));
    });
  });

  const TAKE_OUT: readonly (readonly [string, (workspace: Workspace) => Promise<void>])[] = [
    ['the folder', ({ folder }) => rm(join(folder, 'plans/s01.json'))],
    [
      'the folder and the plans of the index',
      async (workspace) => {
        await rm(join(workspace.folder, 'plans/s01.json'));
        await editIndex(workspace, (index) => ({
          ...index,
          plans: index.plans.filter(({ stack }) => stack !== 's01'),
        }));
      },
    ],
  ];

  it.each(TAKE_OUT)(
    'writes to no stack if a plan was removed from %s, and its stack has something to do',
    async (_, takeOut) => {
      const workspace = await createApprovedPlans();
      await takeOut(workspace);
      const { exitCode, stderr } = await workspace.edgewise(line);
      expect(stderr).toContain(
        'plans has no plan for s01, which was in the run that made the plans and has something to do.',
      );
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual([]);
    },
  );

  it.each(TAKE_OUT)('applies without a plan removed from %s if its stack has nothing to do', async (_, takeOut) => {
    const workspace = await createApprovedPlans();
    await workspace.edgewise('apply live/s01 --yes');
    await takeOut(workspace);
    workspace.recorder.take();
    expect((await workspace.edgewise(line)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(2));
  });
});

describe('a stack that was not in the run that made the plans', () => {
  it('is refused if it has something to do, as not part of the review', async () => {
    const workspace = await createApprovedPlans(' --stack s00');
    await workspace.edgewise('apply live/s02 --yes');
    workspace.recorder.take();
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --approved plans --yes');
    expect(stdout).toContain('s01 was not part of the review: plans has no plan for it, and it has 1 change.');
    expect(stdout).not.toContain('s02 was not part of the review');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual(toEdges(1));
  });

  it('is left alone and named if the folder of plans is applied', async () => {
    const workspace = await createApprovedPlans(' --stack s00');
    const { exitCode, stdout } = await workspace.edgewise('apply plans --yes');
    expect(stdout).toContain('1 of 3 stacks below live. Left alone, without a plan: s01, s02.');
    expect(exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(toEdges(1));
  });
});
