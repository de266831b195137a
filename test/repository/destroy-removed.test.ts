import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, listWrites, toStack } from './tree.ts';

const FILES = {
  'live/web/edgewise.yaml': toStack('web'),
  'live/web/a.yaml': toEdge('a', 20_001),
  'live/web/b.yaml': toEdge('b', 20_002),
  'live/api/edgewise.yaml': toStack('api'),
  'live/api/c.yaml': toEdge('c', 20_003),
};

/** A repository whose stacks are applied and committed. A second commit removes the stack web, and changes the others. */
async function createRemovalMerge(
  changed: Readonly<Record<string, string>> = {},
  files: Readonly<Record<string, string>> = FILES,
): Promise<Workspace> {
  const workspace = await createWorkspace(files);
  commitAll(workspace.folder);
  expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
  rmSync(join(workspace.folder, 'live/web'), { recursive: true });
  await workspace.write(changed);
  git(workspace.folder, 'add', '-A');
  git(workspace.folder, 'commit', '-q', '-m', 'merge');
  workspace.recorder.take();
  return workspace;
}

const PLAN = 'plan -R live --destroy-removed HEAD~1';

describe('--destroy-removed', () => {
  it('plans to destroy the removed stacks beside the others, with each resource, and writes nothing', async () => {
    const workspace = await createRemovalMerge({ 'live/api/d.yaml': toEdge('d', 20_004) });
    const { stdout, exitCode } = await workspace.edgewise(PLAN);
    expect(exitCode).toBe(0);
    const text = stdout.replace(/\s+/g, ' ');
    for (const said of [
      'The stack web (live/web) was removed since HEAD~1, and its plan is to destroy.',
      '- TCPEdge/a',
      '- TCPEdge/b',
      '+ TCPEdge/d',
    ])
      expect(text).toContain(said);
    expect(text).not.toContain('stay at the service');
    expect(listWrites(workspace)).toEqual([]);
  });

  it('deletes what they own after the approval, and nothing without it', async () => {
    const workspace = await createRemovalMerge({ 'live/api/d.yaml': toEdge('d', 20_004) });
    expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual(['POST /edges/tcp']);
    const declined = await workspace.edgewise('apply -R live --destroy-removed HEAD~1', { answers: ['no'] });
    expect(declined.exitCode).toBe(130);
    expect(listWrites(workspace)).toEqual([]);
    const { exitCode } = await workspace.edgewise('apply -R live --destroy-removed HEAD~1 --yes');
    expect(exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([expect.stringMatching(/^DELETE/), expect.stringMatching(/^DELETE/)]);
    expect((await workspace.edgewise(`${PLAN} --detailed-exitcode`)).exitCode).toBe(0);
  });

  it.each(['apply plans --yes', 'apply -R live --approved plans --yes'])(
    'is part of what a folder of plans approves: %s',
    async (line) => {
      const workspace = await createRemovalMerge({ 'live/api/d.yaml': toEdge('d', 20_004) });
      expect((await workspace.edgewise(`${PLAN} -o plans`)).exitCode).toBe(0);
      // A later commit changes the meaning of HEAD~1. The plans name the commit.
      git(workspace.folder, 'commit', '-q', '--allow-empty', '-m', 'later');
      const { stdout, stderr, exitCode } = await workspace.edgewise(line);
      expect([exitCode, stdout, stderr]).toEqual([
        0,
        expect.stringContaining('2 writes applied'),
        expect.stringContaining('[3/3] web: delete TCPEdge/b'),
      ]);
      expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['POST', 'DELETE', 'DELETE']);
      expect((await workspace.edgewise(line)).exitCode).toBe(0);
      expect(listWrites(workspace)).toEqual([]);
    },
  );

  it('deletes nothing that the approved plan does not show', async () => {
    const workspace = await createRemovalMerge();
    await workspace.edgewise('plan -R live -o plans');
    const { exitCode } = await workspace.edgewise('apply -R live --approved plans --destroy-removed HEAD~1 --yes');
    expect(exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('refuses the plan of a stack that is back again', async () => {
    const workspace = await createRemovalMerge();
    expect((await workspace.edgewise(`${PLAN} -o plans`)).exitCode).toBe(0);
    git(workspace.folder, 'checkout', '-q', 'HEAD~1', '--', 'live/web');
    expect((await workspace.edgewise('apply plans --yes')).exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('needs consent for many deletes, and for protected resources', async () => {
    const edges = Array.from({ length: 6 }, (_, index) => toEdge(`e${index}`, 20_010 + index)).join('---\n');
    const guarded = toEdge('a', 20_001).replace(/\n*$/, '\nlifecycle: { protect: true }\n');
    const workspace = await createRemovalMerge(
      {},
      { ...FILES, 'live/web/more.yaml': edges, 'live/web/a.yaml': guarded },
    );
    const { stdout, exitCode } = await workspace.edgewise(
      'apply -R live --destroy-removed HEAD~1 --yes --allow-deletes',
    );
    expect([exitCode, stdout]).toEqual([5, expect.stringContaining('protect')]);
    expect((await workspace.edgewise('apply -R live --destroy-removed HEAD~1 --yes')).exitCode).toBe(5);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('keeps what another stack takes over in the same merge', async () => {
    const moved = toEdge('a', 20_001).replace(/\n*$/, '\nlifecycle: { renamed_from: { stack: web, name: a } }\n');
    const workspace = await createRemovalMerge({ 'live/api/a.yaml': moved });
    const { exitCode } = await workspace.edgewise('apply -R live --destroy-removed HEAD~1 --yes');
    expect(exitCode).toBe(0);
    expect(listWrites(workspace).map((write) => write.split(' ')[0])).toEqual(['PATCH', 'DELETE']);
  });

  it('frees a unique value for another stack of the same merge', async () => {
    const workspace = await createRemovalMerge({ 'live/api/new.yaml': toEdge('new', 20_001) });
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --destroy-removed HEAD~1 --yes');
    expect([exitCode, stdout]).toEqual([
      0,
      expect.stringContaining('could not be tried: another stack of the run frees a value first.'),
    ]);
    expect(stdout).not.toContain('would be rejected');
    expect((await workspace.edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });

  it('deletes nothing while another stack cannot be read, and says how to', async () => {
    const workspace = await createRemovalMerge({
      'live/api/c.yaml': toEdge('c', 20_003).replace('hostports', 'hostport'),
    });
    const { exitCode, stdout } = await workspace.edgewise('apply -R live --destroy-removed HEAD~1 --yes');
    expect(exitCode).toBe(1);
    const text = stdout.replace(/\s+/g, ' ');
    expect(text).toContain('kept in this run: live/api cannot be read');
    expect(text).toContain("edgewise destroy --stack web --from 'HEAD~1'");
    expect(listWrites(workspace)).toEqual([]);
  });

  it('works if the last stack of the folder was removed', async () => {
    const { 'live/api/edgewise.yaml': _, 'live/api/c.yaml': __, ...files } = FILES;
    const workspace = await createRemovalMerge({ 'README.md': 'gone' }, files);
    expect((await workspace.edgewise('apply -R . --destroy-removed HEAD~1 --yes')).exitCode).toBe(0);
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('divides the removed stacks by shard, like the others', async () => {
    const workspace = await createRemovalMerge();
    for (const shard of ['1/2', '2/2'])
      expect((await workspace.edgewise(`apply -R live --destroy-removed HEAD~1 --shard ${shard} --yes`)).exitCode).toBe(
        0,
      );
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('changes nothing if no stack was removed', async () => {
    const workspace = await createRemovalMerge();
    expect((await workspace.edgewise('plan -R live --destroy-removed HEAD --detailed-exitcode')).exitCode).toBe(0);
  });

  it('is refused without --recursive, and with names', async () => {
    const { edgewise } = await createRemovalMerge();
    expect(await edgewise('plan live/api --destroy-removed HEAD~1')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('--destroy-removed works only in a run over many stacks'),
    });
    expect(await edgewise('plan -R live --stack web --destroy-removed HEAD~1')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('takes no --stack'),
    });
  });
});
