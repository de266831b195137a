import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { chmod, cp, mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { expectNoSecret, KEY, TOKEN } from './secret-values.ts';

/** The author of a pull request tries to make git, which edgewise starts, run a program of the commit. */

/** A repository with a commit that has stacks in its folders. */
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

/** Settings that each run a program when git does something for edgewise. */
const SETTINGS: readonly (readonly [string, readonly string[]])[] = [
  ['core.fsmonitor', ['core.fsmonitor']],
  ['diff.external', ['diff.external']],
  ['a filter', ['filter.evil.clean']],
];

describe('git runs no program of the checkout', () => {
  it.each(SETTINGS)('named by a bare repository in a folder of the commit: %s', async (_, names) => {
    const workspace = await createRepository();
    const { folder, edgewise } = workspace;
    // A bare repository consists of ordinary files, which a commit can contain, and git treats the folder as a repository.
    for (const name of ['HEAD', 'config', 'objects', 'refs', 'index'])
      await cp(join(folder, '.git', name), join(folder, 'live', name), { recursive: true });
    const config = join(folder, 'live/config');
    git(folder, 'config', '--file', config, 'core.bare', 'false');
    git(folder, 'config', '--file', config, 'core.worktree', '..');
    for (const name of names) git(folder, 'config', '--file', config, name, join(folder, 'ran.sh'));
    const anyhow = ['-C', join(folder, 'live'), '-c', 'safe.bareRepository=all'];
    // Edgewise runs git in the folder of a stack that has inputs.
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

  it('named by attributes of the commit, as a text conversion or a comparison', async () => {
    const { folder, edgewise, write } = await createRepository();
    await write({ '.gitattributes': '*.yaml diff=evil\n' });
    for (const name of ['diff.evil.textconv', 'diff.evil.command']) git(folder, 'config', name, join(folder, 'ran.sh'));
    await edgewise('stacks . --changed-since main --format folder');
    await edgewise('plan -R . --changed-since main');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('a committed program called git', () => {
  // An empty entry means the working folder.
  const RELATIVE = ['', '.', 'bin', './bin', 'live/../bin'];
  const ABSOLUTE = ['TOP', 'TOP/bin', 'TOP/live/../bin', 'TOP/linked', 'TOP/../TOP_NAME/bin', 'ELSEWHERE/linked'];
  it.each([...RELATIVE, ...ABSOLUTE])('is not run if PATH starts with the entry "%s"', async (written) => {
    const { folder, edgewise } = await createRepository();
    const { folder: elsewhere } = await createWorkspace({});
    const entry = written.replace('TOP_NAME', basename(folder)).replace('TOP', folder).replace('ELSEWHERE', elsewhere);
    await mkdir(join(folder, 'bin'));
    for (const at of [folder, elsewhere]) await symlink(join(folder, 'bin'), join(at, 'linked'));
    for (const at of ['git', 'bin/git']) {
      await writeFile(join(folder, at), `#!/bin/sh\ntouch '${join(folder, 'ran')}'\nexit 1\n`);
      await chmod(join(folder, at), 0o755);
    }
    const env = { PATH: `${entry}:${process.env['PATH']}` };
    spawnSync('git', [], { cwd: folder, env });
    expect(existsSync(join(folder, 'ran'))).toBe(true);
    await rm(join(folder, 'ran'));
    const { exitCode, stdout } = await edgewise('stacks . --changed-since main --format folder', { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'live\n' });
    await edgewise('plan live --report json=live/plan.json', { env });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

/** Settings of git that name a program. `PROGRAM`: its path; `MARKER`: a command line that creates the same file. */
const PROGRAMS: readonly (readonly [name: string, value: string])[] = [
  ...['core.fsmonitor', 'core.pager', 'core.editor', 'core.askPass', 'core.sshCommand', 'core.gitProxy'].map(
    (name) => [name, 'PROGRAM'] as const,
  ),
  ...['pager.ls-tree', 'pager.ls-files', 'pager.cat-file', 'pager.rev-parse'].map((name) => [name, 'PROGRAM'] as const),
  ...['filter.evil.clean', 'filter.evil.smudge', 'filter.evil.process'].map((name) => [name, 'PROGRAM'] as const),
  ...['diff.external', 'diff.evil.command', 'diff.evil.textconv', 'interactive.diffFilter'].map(
    (name) => [name, 'PROGRAM'] as const,
  ),
  ...['merge.evil.driver', 'trailer.evil.command', 'sequence.editor', 'credential.helper'].map(
    (name) => [name, 'PROGRAM'] as const,
  ),
  ...['gpg.program', 'gpg.ssh.program', 'gpg.ssh.defaultKeyCommand', 'gpg.x509.program'].map(
    (name) => [name, 'PROGRAM'] as const,
  ),
  ...['core.alternateRefsCommand', 'uploadpack.packObjectsHook', 'remote.origin.uploadpack', 'remote.origin.proxy'].map(
    (name) => [name, 'PROGRAM'] as const,
  ),
  ...['alias.ls-tree', 'alias.ls-files', 'alias.checkout-index', 'submodule.live.update'].map(
    (name) => [name, '!MARKER'] as const,
  ),
  ['core.hooksPath', 'hooks'],
  ['remote.origin.vcs', 'evil'],
  ['remote.origin.url', 'ext::MARKER'],
  ['log.showSignature', 'true'],
  ['checkout.workers', '8'],
  ['index.sparse', 'true'],
  ['core.splitIndex', 'true'],
  ['core.untrackedCache', 'true'],
  ['protocol.allow', 'always'],
  ['protocol.ext.allow', 'always'],
  ['protocol.file.allow', 'always'],
  ['safe.directory', '*'],
];

const HOOKS = ['post-checkout', 'post-index-change', 'reference-transaction', 'pre-commit', 'pre-auto-gc', 'fsmonitor'];

/** Writes all settings to a file that git reads. */
async function writeProgramSettings({ folder }: Workspace, file: string, names = PROGRAMS): Promise<void> {
  for (const hook of HOOKS) await cp(join(folder, 'ran.sh'), join(folder, 'hooks', hook), { recursive: true });
  for (const [name, value] of names) {
    const text = value.replace('PROGRAM', join(folder, 'ran.sh')).replace('MARKER', `touch ${folder}/ran`);
    git(folder, 'config', '--file', file, name, name === 'core.hooksPath' ? join(folder, value) : text);
  }
}

/** Runs each command that starts git, with attributes that name each driver. */
async function runEveryCommand(
  { folder, edgewise, write }: Workspace,
  env: Readonly<Record<string, string>> = {},
): Promise<void> {
  await write({ '.gitattributes': '*.yaml filter=evil diff=evil merge=evil\n', 'live/plan.json': 'x' });
  await writeFile(join(folder, 'live/edgewise.yaml'), `${STACK}spec: { inputs: ["*.yaml"] }\n`);
  const { exitCode, stdout, stderr } = await edgewise('stacks . --changed-since main --format folder', { env });
  expect({ exitCode, stdout, stderr }).toMatchObject({ exitCode: 0, stdout: 'live\n' });
  await edgewise('plan -R . --changed-since main', { env });
  await edgewise('plan live -o live/plan.json', { env });
  await edgewise('apply live --yes', { env });
  await write({ 'live/edge.yaml': '' });
  await edgewise('plan live', { env });
}

describe('git runs no program', () => {
  it('in the test before edgewise has run, although the settings work', async () => {
    const workspace = await createRepository();
    const { folder } = workspace;
    await writeProgramSettings(workspace, join(folder, '.git/config'));
    spawnSync('git', ['status'], { cwd: folder });
    expect(existsSync(join(folder, 'ran'))).toBe(true);
  });

  it.each(['.git/config', '.git/config.worktree', 'included'])('named by %s', async (file) => {
    const workspace = await createRepository();
    const { folder } = workspace;
    if (file === '.git/config.worktree') git(folder, 'config', 'extensions.worktreeConfig', 'true');
    if (file === 'included') git(folder, 'config', 'include.path', join(folder, file));
    await writeProgramSettings(workspace, join(folder, file));
    await runEveryCommand(workspace);
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('named by the settings of the user', async () => {
    const workspace = await createRepository();
    const { folder } = workspace;
    await writeProgramSettings(workspace, join(folder, 'gitconfig'));
    await runEveryCommand(workspace, { GIT_CONFIG_GLOBAL: join(folder, 'gitconfig'), PATH: process.env['PATH'] ?? '' });
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('named by the environment', async () => {
    const workspace = await createRepository();
    const program = join(workspace.folder, 'ran.sh');
    const names = ['GIT_PAGER', 'PAGER', 'GIT_EDITOR', 'GIT_ASKPASS', 'SSH_ASKPASS', 'GIT_SSH', 'GIT_SSH_COMMAND'];
    const more = ['GIT_EXTERNAL_DIFF', 'GIT_PROXY_COMMAND', 'GIT_SEQUENCE_EDITOR', 'EDITOR', 'VISUAL'];
    await runEveryCommand(workspace, Object.fromEntries([...names, ...more].map((name) => [name, program])));
    expect(existsSync(join(workspace.folder, 'ran'))).toBe(false);
  });

  it('with the key or a token in its environment', async () => {
    const workspace = await createRepository();
    const { folder } = workspace;
    const outside = await createWorkspace({ git: `#!/bin/sh\nenv >> ${folder}/seen\nexec "$REAL" "$@"\n` });
    await chmod(join(outside.folder, 'git'), 0o755);
    const path = process.env['PATH'] ?? '';
    const REAL = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const secrets = { EDGEWISE_API_KEY: KEY, OTHER: KEY, GITHUB_TOKEN: TOKEN };
    await runEveryCommand(workspace, { ...secrets, MARK: 'visible', REAL, PATH: `${outside.folder}:${path}` });
    const seen = readFileSync(join(folder, 'seen'), 'utf8');
    expect(seen).toContain('MARK=visible');
    expectNoSecret(seen);
  });
});

describe('git asks about the repository, whatever folders the commit has', () => {
  it('and recognises a report of the commit', async () => {
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

describe('a changed submodule', () => {
  it.each(['', 'ignore = all'])('marks the stacks in it and the one around it as changed: %s', async (setting) => {
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
