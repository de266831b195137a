import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toStack } from './tree.ts';

/** A branch `feature` that lacks two commits of `main`, which change the stack web and the Defaults above the stack ops. */
let workspace: Workspace;
beforeEach(async () => {
  workspace = await createWorkspace({
    'live/web/edgewise.yaml': `${toStack('web')}${toEdge('one', 20_001)}`,
    'live/net/edgewise.yaml': `${toStack('net')}${toEdge('two', 20_002)}`,
    'ops/stack/edgewise.yaml': `${toStack('ops')}${toEdge('three', 20_003)}`,
  });
  const { folder, write } = workspace;
  commitAll(folder);
  git(folder, 'branch', 'feature');
  await write({ 'live/web/others.yaml': toEdge('others', 20_009).replace(/^---\n/, '') });
  commitAll(folder);
  await write({ 'ops/defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: {}\n' });
  commitAll(folder);
  git(folder, 'checkout', '-q', 'feature');
});

const LACKS = /warning\[behind-target\]: HEAD lacks 2 commits of main, which change (.*): what/;

async function plan(path: string, env: Readonly<Record<string, string>>): Promise<string | undefined> {
  const { stdout } = await workspace.edgewise(`plan ${path}`, { env: { PATH: process.env['PATH'] ?? '', ...env } });
  return LACKS.exec(stdout)?.[1];
}

describe('a plan of a branch that is behind its target', () => {
  it.each([
    ['GitHub', { GITHUB_BASE_REF: 'main' }],
    ['GitLab', { CI_MERGE_REQUEST_TARGET_BRANCH_NAME: 'main' }],
    ['Azure', { SYSTEM_PULLREQUEST_TARGETBRANCH: 'refs/heads/main' }],
    ['Jenkins', { CHANGE_TARGET: 'main' }],
  ])('says so, and names the stacks that the missing commits change: %s', async (_, env) => {
    expect(await plan('-R .', env)).toBe('web, ops');
    expect(await plan('live/web', env)).toBe('web, ops');
  });

  it('takes the branch of the remote, if it was fetched, and says nothing of a stack that stays the same', async () => {
    const { folder } = workspace;
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'main~1');
    git(folder, 'branch', '-q', '-D', 'main');
    const { stdout } = await workspace.edgewise('plan live/web', {
      env: { PATH: process.env['PATH'] ?? '', GITHUB_BASE_REF: 'main' },
    });
    expect(stdout).toContain('HEAD lacks 1 commit of main, which changes web');
    expect(await plan('live/net', { GITHUB_BASE_REF: 'main' })).toBeUndefined();
  });

  it.each([
    ['no pull request', {}],
    ['a target that was not fetched', { GITHUB_BASE_REF: 'release' }],
    ['a target that is HEAD', { GITHUB_BASE_REF: 'feature' }],
  ])('says nothing of %s', async (_, env) => {
    expect(await plan('-R .', env)).toBeUndefined();
  });

  it('says nothing without a repository', async () => {
    rmSync(join(workspace.folder, '.git'), { recursive: true });
    expect(await plan('live/web', { GITHUB_BASE_REF: 'main' })).toBeUndefined();
  });
});
