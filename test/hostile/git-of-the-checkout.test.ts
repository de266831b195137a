import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { expectNoSecret, KEY, TOKEN } from './secret-values.ts';

/** The author of a pull request wants git, which edgewise starts, to start a program of the commit. */

/** A repository with a commit, in whose folders stacks are. */
async function createRepository(): Promise<Workspace> {
  const workspace = await createWorkspace({
    'live/edgewise.yaml': STACK,
    '.gitattributes': '*.yaml filter=evil\n',
    'ran.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\n',
  });
  await chmod(join(workspace.folder, 'ran.sh'), 0o755);
  git(workspace.folder, 'init', '--quiet', '--initial-branch', 'main');
  git(workspace.folder, 'add', '.');
  git(workspace.folder, ...AUTHOR, 'commit', '--quiet', '--message', 'first');
  await workspace.write({ 'live/edge.yaml': toEdge('a', 20_001) });
  return workspace;
}

const AUTHOR = ['-c', 'user.name=a', '-c', 'user.email=a@example.net'];

function git(cwd: string, ...words: readonly string[]): void {
  execFileSync('git', words, { cwd, stdio: 'ignore' });
}

/** Each starts a program when git does something that edgewise asks it for. */
const SETTINGS: readonly (readonly [string, readonly string[]])[] = [
  ['core.fsmonitor', ['core.fsmonitor']],
  ['diff.external', ['diff.external']],
  ['a filter', ['filter.evil.clean']],
];

describe('git runs no program of the checkout', () => {
  it.each(SETTINGS)('that a bare repository in a folder of the commit names: %s', async (_, names) => {
    const workspace = await createRepository();
    const { folder, edgewise } = workspace;
    // A bare repository is a folder of ordinary files, which a commit can hold, and git takes the folder that it is in for its own.
    for (const name of ['HEAD', 'config', 'objects', 'refs', 'index'])
      await cp(join(folder, '.git', name), join(folder, 'live', name), { recursive: true });
    const config = join(folder, 'live/config');
    git(folder, 'config', '--file', config, 'core.bare', 'false');
    git(folder, 'config', '--file', config, 'core.worktree', '..');
    for (const name of names) git(folder, 'config', '--file', config, name, join(folder, 'ran.sh'));
    const anyhow = ['-C', join(folder, 'live'), '-c', 'safe.bareRepository=all'];
    // Git is asked in the folder of a stack that has inputs.
    await writeFile(join(folder, 'live/edgewise.yaml'), `${STACK}spec: { inputs: ["*.yaml"] }\n`);
    spawnSync('git', [...anyhow, 'diff', '--ext-diff', 'HEAD', '--'], { cwd: folder });
    expect(existsSync(join(folder, 'ran'))).toBe(true);
    execFileSync('rm', ['-f', join(folder, 'ran')]);
    for (const line of [
      'stacks live --changed-since main --format folder',
      'plan -R live --changed-since main',
      'plan live --report json=live/plan.json',
      'plan live --report json=live/edge.yaml',
    ])
      await edgewise(line);
    await edgewise('stacks . --changed-since main', { cwd: join(folder, 'live') });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it.each(['core.fsmonitor', 'diff.external'])('that the settings of the repository name: %s', async (name) => {
    const { folder, edgewise } = await createRepository();
    git(folder, 'config', name, join(folder, 'ran.sh'));
    git(folder, ...(name === 'diff.external' ? ['diff', '--ext-diff', 'HEAD'] : ['status']));
    await writeFile(join(folder, 'live/edgewise.yaml'), `${STACK}spec: {}\n`);
    execFileSync('rm', ['-f', join(folder, 'ran')]);
    const { exitCode, stdout } = await edgewise('stacks . --changed-since main --format folder');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'live\n' });
    await edgewise('plan live --report json=live/plan.json');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('that attributes of the commit name, as a text conversion or a comparison', async () => {
    const { folder, edgewise, write } = await createRepository();
    await write({ '.gitattributes': '*.yaml diff=evil\n' });
    for (const name of ['diff.evil.textconv', 'diff.evil.command']) git(folder, 'config', name, join(folder, 'ran.sh'));
    await edgewise('stacks . --changed-since main --format folder');
    await edgewise('plan -R . --changed-since main');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('git is asked about the repository, whatever the commit has in its folders', () => {
  it('so that a report of the commit is known as one', async () => {
    const { folder, edgewise, write } = await createRepository();
    for (const name of ['HEAD', 'config', 'objects', 'refs'])
      await cp(join(folder, '.git', name), join(folder, 'live', name), { recursive: true });
    await write({ 'live/plan.md': '<!-- edgewise:plan stack=test -->\n\n## ✓ Nothing to do\n' });
    git(folder, 'add', '.');
    const { exitCode, stderr } = await edgewise('plan live --report markdown=live/plan.md');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('plan.md belongs to the commit');
  });
});

describe('a submodule that is another one than before', () => {
  it.each(['', 'ignore = all'])('makes the stacks in it changed, and the one around it: %s', async (setting) => {
    const { folder: inner, write } = await createRepository();
    const { folder, edgewise } = await createRepository();
    git(folder, '-c', 'protocol.file.allow=always', 'submodule', 'add', inner, 'live/sub');
    git(folder, 'add', '.');
    git(folder, ...AUTHOR, 'commit', '--message', 'second');
    expect((await edgewise('stacks . --changed-since main --format folder')).stdout).toBe('');
    await write({ 'live/edgewise.yaml': STACK.replace('test', 'inner') });
    git(inner, ...AUTHOR, 'commit', '--all', '--message', 'second');
    git(join(folder, 'live/sub'), 'pull', '--quiet');
    await writeFile(
      join(folder, '.gitmodules'),
      `[submodule "live/sub"]\n\tpath = live/sub\n\turl = ${inner}\n\t${setting}\n`,
    );
    git(folder, 'add', '--force', 'live/sub');
    const { exitCode, stdout } = await edgewise('stacks . --changed-since main --format folder');
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'live\nlive/sub/live\n' });
  });
});

describe('a program that git starts because the machine says so', () => {
  it('gets neither the key nor a token', async () => {
    const { folder, edgewise } = await createRepository();
    git(folder, 'config', 'filter.evil.clean', 'env >> seen; cat');
    await writeFile(join(folder, 'live/edgewise.yaml'), `${STACK}spec: { inputs: ["*.yaml"] }\n`);
    const env = { ...process.env, EDGEWISE_API_KEY: KEY, OTHER: KEY, GITHUB_TOKEN: TOKEN, MARK: 'visible' };
    await edgewise('stacks . --changed-since main --format folder', { env });
    await edgewise('plan live --report json=live/edgewise.yaml', { env });
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(seen).toContain('MARK=visible');
    expectNoSecret(seen);
  });
});
