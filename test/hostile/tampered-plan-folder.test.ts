import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, symlinkSync } from 'node:fs';
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
      'a plan of another stack was added',
      'plans approves plans of evil on https://api.test, but there is no such stack below live',
      (workspace) => workspace.write({ 'plans/zz.json': read(workspace, 'evil.json') }),
    ],
    [
      'a second plan of a stack was added',
      'plans/s01.json and plans/zz.json are both plans of the stack s01',
      (workspace) => workspace.write({ 'plans/zz.json': read(workspace, 'plans/s01.json') }),
    ],
    [
      'a plan was replaced with that of another stack',
      'plans approves plans of evil on https://api.test',
      (workspace) => workspace.write({ 'plans/s01.json': read(workspace, 'evil.json') }),
    ],
    [
      'a plan was replaced with something else',
      'plans/s01.json is not a plan file',
      ({ write }) => write({ 'plans/s01.json': '[]' }),
    ],
    [
      'a plan is a pipe, and the run does not wait for it',
      'plans/s01.json is not a regular file',
      (workspace) => createPipe(workspace, 'plans/s01.json'),
    ],
    [
      'a plan is a link',
      'plans/s01.json is not a regular file',
      ({ folder }) => {
        rmSync(join(folder, 'plans/s01.json'));
        symlinkSync('../evil.json', join(folder, 'plans/s01.json'));
      },
    ],
    [
      'all of its plans were removed',
      'plans is not a folder of plans',
      ({ folder }) => {
        for (const name of readdirSync(join(folder, 'plans'))) rmSync(join(folder, 'plans', name));
      },
    ],
  ])('%s', async (_, why, change) => {
    const workspace = await createPlanFolder();
    await change(workspace);
    const { exitCode, stderr } = await workspace.edgewise('apply -R live --approved plans --yes');
    expect(stderr).toContain(why);
    expect([3, 6]).toContain(exitCode);
    expect(workspace.recorder.take()).toEqual([]);
  });
});

describe('manifests that were added to a folder of plans', () => {
  it('are not read', async () => {
    const workspace = await createPlanFolder();
    const evil = `${toStack('evil')}${toEdge('door', 26_666)}`;
    await workspace.write({ 'plans/edgewise.yaml': evil, 'plans/sub/edgewise.yaml': evil });
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(0);
    expect(JSON.stringify(workspace.server.snapshot().resources)).not.toContain('26666');
  });
});

describe('a stack whose plan was removed from the folder', () => {
  it('is refused, and shown in each report of the apply', async () => {
    for (const format of ['text', 'markdown', 'json', 'html']) {
      const workspace = await createPlanFolder();
      rmSync(join(workspace.folder, 'plans/s01.json'));
      const { exitCode, stdout } = await workspace.edgewise(`apply -R live --approved plans --yes --format ${format}`);
      expect(stdout, format).toContain('because plans has none for this stack');
      expect(stdout, format).toContain('1.tcp.example.net:20001');
      expect(exitCode).toBe(6);
      expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
    }
  });
});

describe('new plans are written only to a folder that has nothing but plans of an earlier run, and is left whole if it has', () => {
  const track = (file: string) => (workspace: Workspace) => {
    execFileSync('git', ['init', '--quiet'], { cwd: workspace.folder });
    execFileSync('git', ['add', file], { cwd: workspace.folder });
  };

  it.each<[string, string, (workspace: Workspace) => unknown]>([
    [
      'manifests',
      'plans/zz.yaml is not a plan file',
      ({ write }) => write({ 'plans/zz.yaml': toEdge('door', 26_666) }),
    ],
    ['another text', 'plans/note.txt is not a plan file', ({ write }) => write({ 'plans/note.txt': 'mine' })],
    ['a hidden file', 'plans/.env is not a plan file', ({ write }) => write({ 'plans/.env': 'mine' })],
    ['other JSON', 'plans/zz.json is not a plan file', ({ write }) => write({ 'plans/zz.json': '{"changes":[]}' })],
    ['broken JSON', 'plans/zz.json is not a plan file', ({ write }) => write({ 'plans/zz.json': '{"chan' })],
    [
      'a plan of another name',
      'plans/s01.txt is not a plan file',
      ({ folder }) => renameSync(join(folder, 'plans/s01.json'), join(folder, 'plans/s01.txt')),
    ],
    ['a folder', 'plans/sub.json is not a regular file', ({ folder }) => mkdirSync(join(folder, 'plans/sub.json'))],
    [
      'a pipe',
      'plans/zz.json is not a regular file',
      ({ folder }) => execFileSync('mkfifo', [join(folder, 'plans/zz.json')]),
    ],
    [
      'a link to a plan',
      'plans/zz.json is not a regular file',
      ({ folder }) => symlinkSync('../evil.json', join(folder, 'plans/zz.json')),
    ],
    ['a plan that git tracks', 'plans/s01.json belongs to the commit', track('plans/s01.json')],
  ])('%s', async (_, why, change) => {
    const workspace = await createPlanFolder();
    await change(workspace);
    const before = readdirSync(join(workspace.folder, 'plans'));
    const first = read(workspace, 'plans/s00.json');
    const { exitCode, stderr } = await workspace.edgewise('plan -R live -o plans');
    expect(stderr).toContain(why);
    expect(stderr).toContain('so no plan is written to plans.');
    expect(exitCode).toBe(3);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(before);
    expect(read(workspace, 'plans/s00.json')).toBe(first);
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('but for what a killed run left of its own', async () => {
    const workspace = await createPlanFolder();
    await workspace.write({ [`plans/.s01.json.${crypto.randomUUID()}`]: '{"form' });
    expect((await workspace.edgewise('plan -R live -o plans')).exitCode).toBe(0);
    expect(readdirSync(join(workspace.folder, 'plans'))).toEqual(['s00.json', 's01.json']);
  });

  it('the plan of an earlier run whose stack a filter has left out: it is not applied', async () => {
    const workspace = await createPlanFolder();
    await workspace.edgewise('plan -R live -o plans --stack s01');
    expect((await workspace.edgewise('apply -R live --approved plans --yes')).exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
  });
});
