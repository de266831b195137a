import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createWorkspace, STACK, toEdge } from '../cli/workspace.ts';
import { commitAll, git } from './tree.ts';

it('sees the files of a linked worktree in its pre-commit hook, whatever git tells the hook', async () => {
  const { edgewise, folder } = await createWorkspace({ 'live/web/edgewise.yaml': STACK });
  commitAll(folder);
  const linked = join(await mkdtemp(join(tmpdir(), 'edgewise-linked-')), 'tree');
  onTestFinished(() => rm(join(linked, '..'), { recursive: true, force: true }));
  git(folder, 'worktree', 'add', '-q', linked);
  await writeFile(join(linked, 'live/web/edge.yaml'), toEdge('a', 20001).replace('---\n', ''));
  const env = {
    GIT_DIR: join(folder, '.git/worktrees/tree'),
    GIT_INDEX_FILE: join(folder, '.git/index'),
    GIT_WORK_TREE: folder,
    GIT_PREFIX: 'live/',
  };
  const inHook = await edgewise('stacks live --changed-since HEAD', { cwd: linked, env });
  expect(inHook).toMatchObject({ exitCode: 0, stdout: expect.stringContaining('live/web/edge.yaml') });
  const elsewhere = await edgewise('stacks live --changed-since HEAD', { env });
  expect(elsewhere.stdout).not.toContain('edge.yaml');
});
