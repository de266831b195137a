import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
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
  const unowned: readonly { readonly stack?: string; readonly id: string }[] = readOnlyStack(stdout).unowned;
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

  it('names the stack of each, with their number and no command that deletes, also if a commit has that stack', async () => {
    const workspace = await createAccount();
    for (const more of ['', ' --changed-since HEAD']) {
      const { stdout, exitCode } = await workspace.edgewise(`drift -R live${more}`);
      expect(stdout).toMatch(/TCPEdge edgtcp_\w+ of the stack web, which is not in this repository/);
      expect(stdout).toMatch(/TCPEdge edgtcp_\w+ of the stack elsewhere, which is not in this repository/);
      expect(stdout).toContain('2 of stacks that are not here');
      expect(stdout).toContain('docs/how-to/remove-a-stack.md');
      expect(stdout).not.toMatch(/edgewise (?:destroy|apply)/);
      expect(exitCode).toBe(0);
    }
    const { stdout: json } = await workspace.edgewise('drift -R live --changed-since HEAD --format json');
    const { unowned } = readOnlyStack(json);
    expect(unowned).toMatchObject(
      expect.arrayContaining([
        expect.objectContaining({ stack: 'web', absence: 'not-here' }),
        expect.objectContaining({ stack: 'elsewhere', absence: 'not-here' }),
      ]),
    );
    expect(unowned.find(({ stack }: { readonly stack: string }) => stack === 'other')).not.toHaveProperty('absence');
  });

  it('counts them in metrics, also when there are none', async () => {
    const workspace = await createAccount();
    const read = async () => {
      await workspace.edgewise('drift -R live --report metrics=m.prom');
      const text = readFileSync(join(workspace.folder, 'm.prom'), 'utf8');
      return /absent_stack_resources\{[^}]*\} (\d)/.exec(text)?.[1];
    };
    expect(await read()).toBe('2');
    await workspace.write({
      'live/web/edgewise.yaml': toStack('web'),
      'elsewhere/edgewise.yaml': toStack('elsewhere'),
    });
    expect(await read()).toBe('0');
  });
});
