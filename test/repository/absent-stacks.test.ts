import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { commitAll, toStack } from './tree.ts';

const FILES = {
  'live/web/edgewise.yaml': toStack('web'),
  'live/web/a.yaml': toEdge('a', 20_001),
  'live/api/edgewise.yaml': toStack('api'),
  'live/api/b.yaml': toEdge('b', 20_002),
  'other/edgewise.yaml': toStack('other'),
  'other/c.yaml': toEdge('c', 20_003),
};

/** An account with resources of the stacks web and elsewhere, which are no longer or never were in the repository. */
async function createAccount(): Promise<Workspace> {
  const workspace = await createWorkspace({
    ...FILES,
    'elsewhere/edgewise.yaml': toStack('elsewhere'),
    'elsewhere/d.yaml': toEdge('d', 20_004),
  });
  for (const folder of ['live/web', 'live/api', 'other', 'elsewhere'])
    expect((await workspace.edgewise(`apply ${folder} --yes`)).exitCode).toBe(0);
  rmSync(join(workspace.folder, 'elsewhere'), { recursive: true });
  commitAll(workspace.folder);
  rmSync(join(workspace.folder, 'live/web'), { recursive: true });
  await workspace.write({ 'live/api/b.yaml': toEdge('b', 20_012) });
  expect((await workspace.edgewise('apply live/api --yes')).exitCode).toBe(0);
  return workspace;
}

async function listIds({ edgewise }: Workspace): Promise<Readonly<Record<string, string>>> {
  const { stdout } = await edgewise('drift live/api --format json');
  const unowned: readonly { readonly stack?: string; readonly id: string }[] = JSON.parse(stdout).unowned;
  return Object.fromEntries(unowned.map(({ stack = '', id }) => [stack, id]));
}

describe('drift -R', () => {
  it('lists what stacks own that are not in the repository, with ids, in each format, and exits with 0', async () => {
    const workspace = await createAccount();
    const { web, elsewhere, other } = await listIds(workspace);
    for (const format of ['text', 'json', 'markdown', 'html', 'github', 'sarif', 'junit']) {
      const { stdout, exitCode } = await workspace.edgewise(`drift -R live --format ${format}`);
      expect(exitCode).toBe(0);
      expect(stdout, format).toContain(web);
      expect(stdout, format).toContain(elsewhere);
      // The stack other is in the repository, but not below live.
      if (format !== 'json') expect(stdout, format).not.toContain(other);
    }
  });

  it('distinguishes resources of a removed stack from those of another repository', async () => {
    const workspace = await createAccount();
    const { stdout: withoutCommit } = await workspace.edgewise('drift -R live');
    expect(withoutCommit).not.toContain('orphaned');
    expect(withoutCommit).toContain('2 of stacks that are not here');
    const { stdout, exitCode } = await workspace.edgewise('drift -R live --changed-since HEAD');
    expect(stdout).toMatch(/TCPEdge edgtcp_\w+ of the stack web, which was removed/);
    expect(stdout).toMatch(/TCPEdge edgtcp_\w+ of the stack elsewhere, which is not in this repository/);
    expect(stdout).toContain('1 orphaned by a removed stack · 1 of stacks that are not here');
    expect(exitCode).toBe(0);
    const { stdout: json } = await workspace.edgewise('drift -R live --changed-since HEAD --format json');
    const [{ report }] = JSON.parse(json).stacks;
    expect(report.unowned).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ stack: 'web', absence: 'removed' }),
        expect.objectContaining({ stack: 'elsewhere', absence: 'not-here' }),
      ]),
    );
    expect(report.unowned.find(({ stack }: { readonly stack: string }) => stack === 'other')).not.toHaveProperty(
      'absence',
    );
  });

  it('counts them in metrics, also when there are none', async () => {
    const workspace = await createAccount();
    const read = async (line: string) => {
      await workspace.edgewise(`${line} --report metrics=m.prom`);
      return Array.from(
        readFileSync(join(workspace.folder, 'm.prom'), 'utf8').matchAll(
          /absent_stack_resources\{.*removed="(\w+)"\} (\d)/g,
        ),
        ([, removed, count]) => [removed, count],
      );
    };
    expect(await read('drift -R live --changed-since HEAD')).toEqual([
      ['no', '1'],
      ['yes', '1'],
    ]);
    expect((await workspace.edgewise('destroy --stack web --from HEAD --yes')).exitCode).toBe(0);
    expect(await read('drift -R live')).toEqual([
      ['no', '1'],
      ['yes', '0'],
    ]);
  });
});
