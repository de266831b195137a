import { execFileSync } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { listWrites, toRepository, toStack } from '../repository/tree.ts';

/** The attacker can change the artifacts of a pipeline between the job that plans and the job that applies. */
async function createPlanFolder(): Promise<Workspace> {
  const workspace = await createWorkspace({
    ...toRepository(2),
    'evil/edgewise.yaml': `${toStack('evil')}${toEdge('door', 26_666)}`,
  });
  await workspace.edgewise('plan evil -o evil.json');
  expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
  workspace.recorder.take();
  return workspace;
}

const read = ({ folder }: Workspace, file: string): string => readFileSync(join(folder, file), 'utf8');

function createPipe({ folder }: Workspace, file: string): void {
  rmSync(join(folder, file));
  execFileSync('mkfifo', [join(folder, file)]);
}

describe('a folder of plans is refused before any request if', () => {
  it.each<[string, string, (workspace: Workspace) => unknown]>([
    [
      'a plan was added',
      'plans/zz.json is not in its index',
      (workspace) => workspace.write({ 'plans/zz.json': read(workspace, 'evil.json') }),
    ],
    [
      'manifests were added',
      'plans/edge.yaml is not in its index',
      ({ write }) => write({ 'plans/edge.yaml': toEdge('door', 26_666) }),
    ],
    [
      'a plan was replaced with another one',
      'plans/s01.json is not the file that was written',
      (workspace) => workspace.write({ 'plans/s01.json': read(workspace, 'evil.json') }),
    ],
    [
      'its index is a pipe, and the run does not wait for it',
      'plans/_index.json is not the index of a folder of plans: it is a pipe',
      (workspace) => createPipe(workspace, 'plans/_index.json'),
    ],
    [
      'a plan is a pipe, and the run does not wait for it',
      'plans/s01.json is not the file that was written',
      (workspace) => createPipe(workspace, 'plans/s01.json'),
    ],
    ['its index was removed', 'plans has no index', ({ folder }) => rmSync(join(folder, 'plans/_index.json'))],
    [
      'its index names a file elsewhere',
      'plans/_index.json is not the index of a folder of plans: plans.0.file',
      (workspace) =>
        workspace.write({
          'plans/_index.json': read(workspace, 'plans/_index.json').replace('"s00.json"', '"../evil.json"'),
        }),
    ],
  ])('%s', async (_, why, change) => {
    const workspace = await createPlanFolder();
    await change(workspace);
    const { exitCode, stderr } = await workspace.edgewise('apply plans --yes');
    expect(stderr).toContain(why);
    expect([3, 6]).toContain(exitCode);
    expect(workspace.recorder.take()).toEqual([]);
  });
});

describe('a stack whose plan was removed from the folder and from every list of its index', () => {
  it('is named in each report of the apply', async () => {
    const workspace = await createPlanFolder();
    const index = JSON.parse(read(workspace, 'plans/_index.json'));
    const [first] = index.plans;
    await workspace.write({ 'plans/_index.json': JSON.stringify({ ...index, stacks: ['s00'], plans: [first] }) });
    rmSync(join(workspace.folder, 'plans/s01.json'));
    for (const format of ['text', 'markdown', 'json', 'html']) {
      const { exitCode, stdout } = await workspace.edgewise(`apply plans --manifests live --yes --format ${format}`);
      expect(stdout, format).toContain('1 of 2 stacks below live. Left alone, without a plan: s01.');
      expect(exitCode).toBe(0);
    }
  });
});

describe('new plans are not written beside', () => {
  it.each<[string, string, (workspace: Workspace) => unknown]>([
    [
      'a plan that no index names',
      'plans/zz.json',
      (workspace) => workspace.write({ 'plans/zz.json': read(workspace, 'evil.json') }),
    ],
    [
      'a plan that was altered since it was written',
      'plans/s01.json',
      (workspace) => workspace.write({ 'plans/s01.json': `${read(workspace, 'plans/s01.json')} ` }),
    ],
  ])('%s', async (_, file, change) => {
    const workspace = await createPlanFolder();
    await change(workspace);
    const before = read(workspace, file);
    const { exitCode, stderr } = await workspace.edgewise('plan -R live -o plans');
    expect(stderr).toContain(`${file} was not written by an earlier run, so no plan is written to plans.`);
    expect(exitCode).toBe(3);
    expect(read(workspace, file)).toBe(before);
  });

  it('a committed index, which could name files to remove', async () => {
    const workspace = await createPlanFolder();
    execFileSync('git', ['init', '--quiet'], { cwd: workspace.folder });
    execFileSync('git', ['add', 'plans/_index.json'], { cwd: workspace.folder });
    const { exitCode, stderr } = await workspace.edgewise('plan -R live -o plans');
    expect(stderr).toContain('plans/_index.json belongs to the commit that is checked out, and is not overwritten.');
    expect(exitCode).toBe(3);
    expect(read(workspace, 'plans/s01.json')).not.toBe('');
  });

  it('the plan of an earlier run whose stack a filter has left out: it is not applied', async () => {
    const workspace = await createPlanFolder();
    await workspace.edgewise('plan -R live -o plans --stack s01');
    expect((await workspace.edgewise('apply plans --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });
});
