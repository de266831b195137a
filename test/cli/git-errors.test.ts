import { appendFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { git } from '../repository/tree.ts';
import { createWorkspace, STACK } from './workspace.ts';

it('shows an error of git on as many lines as git wrote', async () => {
  const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': STACK });
  git(folder, 'init', '-q');
  await appendFile(
    join(folder, '.git/config'),
    '[core]\n\trepositoryformatversion = 1\n[extensions]\n\tfirst = true\n\tsecond = true\n',
  );
  const { exitCode, stderr } = await edgewise('stacks . --changed-since HEAD');
  expect(exitCode).toBe(3);
  expect(stderr).toContain('git failed: fatal: unknown repository extensions found:\n    first\n    second\n');
});
