import { execFileSync } from 'node:child_process';
import { existsSync, lchownSync, readdirSync, readFileSync } from 'node:fs';
import { chmod, mkdir, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { isTracked } from '../../src/repository/git.ts';
import { createWorkspace, STACK, toEdge, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toRepository } from '../repository/tree.ts';

/** Another user of the machine, or a hook that starts edgewise, tries to make git read another repository or run a program. */

const OTHER_USER = 65_534;
const isRoot = process.getuid?.() === 0;
/** A configuration of git that trusts no repository of another user. */
const NO_EXCEPTION = {
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_CONFIG_SYSTEM: '/dev/null',
  PATH: process.env['PATH'] ?? '',
};

function changeUser(folder: string): void {
  for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
    lchownSync(join(folder, name), OTHER_USER, OTHER_USER);
}

describe.runIf(isRoot)('a repository of another user', () => {
  /** A partial clone whose index makes `git ls-files` fetch, with a program in place of the remote. */
  async function createTrap(): Promise<Workspace> {
    const workspace = await createWorkspace({ 'build/a': '1', 'other/b': '2' });
    const { folder } = workspace;
    commitAll(folder);
    git(folder, 'sparse-checkout', 'init', '--cone', '--sparse-index');
    git(folder, 'sparse-checkout', 'set', 'other');
    const tree = git(folder, 'rev-parse', 'HEAD:build').trim();
    await rm(join(folder, '.git/objects', tree.slice(0, 2), tree.slice(2)));
    for (const [name, value] of [
      ['core.repositoryformatversion', '1'],
      ['extensions.partialClone', 'origin'],
      ['remote.origin.promisor', 'true'],
      ['remote.origin.url', folder],
      ['remote.origin.uploadpack', `touch ${folder}/ran; git-upload-pack`],
      // More specific than the setting of edgewise.
      ['protocol.file.allow', 'always'],
    ] as const)
      git(folder, 'config', name, value);
    return workspace;
  }

  it('is not asked and runs no program when a plan is written below it', async () => {
    const { folder, write, edgewise } = await createTrap();
    await write({ 'build/manifests/edgewise.yaml': STACK });
    changeUser(join(folder, '.git'));
    await chmod(folder, 0o1777);
    const cwd = join(folder, 'build');
    for (const _ of [1, 2]) {
      const { exitCode } = await edgewise('plan manifests --untrusted --base-url https://api.test -o plan.json', {
        cwd,
      });
      expect(exitCode).toBe(0);
    }
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('is refused by git itself, which edgewise does not overrule', async () => {
    const { folder, edgewise } = await createWorkspace({ 'repository/manifests/edgewise.yaml': STACK });
    const cwd = join(folder, 'repository');
    commitAll(cwd);
    await edgewise('plan manifests -o plan.json', { cwd });
    changeUser(cwd);
    for (const line of ['plan manifests -o plan.json', 'stacks manifests --changed-since HEAD']) {
      const { exitCode, stderr } = await edgewise(line, { cwd, env: NO_EXCEPTION });
      expect(stderr).toContain(`git refuses ${cwd}, because the repository belongs to another user.`);
      expect(stderr).toContain(`git config --global --add safe.directory ${cwd}`);
      expect(exitCode).toBe(3);
    }
  });

  it.each([
    ['a file', (folder: string) => ({ ...NO_EXCEPTION, GIT_CONFIG_GLOBAL: join(folder, 'gitconfig') })],
    [
      'variables',
      (folder: string) => ({
        ...NO_EXCEPTION,
        GIT_CONFIG_COUNT: '1',
        GIT_CONFIG_KEY_0: 'safe.directory',
        GIT_CONFIG_VALUE_0: folder,
      }),
    ],
  ])('is read if the user allows it with safe.directory, in %s', async (_, createEnvironment) => {
    const { folder, write } = await createWorkspace(toRepository(1));
    commitAll(folder);
    await write({ gitconfig: `[safe]\n\tdirectory = ${folder}\n` });
    changeUser(folder);
    await expect(
      isTracked(join(folder, 'live/s00/edgewise.yaml'), folder, { cwd: folder, env: NO_EXCEPTION }),
    ).rejects.toThrow('git refuses');
    const env = createEnvironment(folder);
    expect(await isTracked(join(folder, 'live/s00/edgewise.yaml'), folder, { cwd: folder, env })).toBe(true);
    expect(await isTracked(join(folder, 'gitconfig'), folder, { cwd: folder, env })).toBe(false);
  });

  it('fetches nothing if its clone lacks objects, although the user allows it', async () => {
    const { folder } = await createTrap();
    await expect(isTracked(join(folder, 'build/a'), folder, { cwd: folder, env: process.env })).rejects.toThrow(
      'git failed',
    );
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });
});

describe('the environment of a hook', () => {
  it('does not change which stacks changed, in a linked worktree', async () => {
    const { folder, edgewise, write } = await createWorkspace({ 'main/x': '' });
    const main = join(folder, 'main');
    await write(Object.fromEntries(Object.entries(toRepository(3)).map(([name, text]) => [`main/${name}`, text])));
    commitAll(main);
    git(main, 'worktree', 'add', '-q', join(folder, 'linked'));
    const cwd = join(folder, 'linked');
    await writeFile(join(cwd, 'live/s01/new.yaml'), toEdge('new', 30_001));
    const seen = join(folder, 'environment');
    await mkdir(join(folder, 'hooks'));
    await writeFile(join(folder, 'hooks/pre-commit'), `#!/bin/sh\nenv -0 > '${seen}'\nexit 1\n`);
    await chmod(join(folder, 'hooks/pre-commit'), 0o755);
    git(cwd, 'add', '-A');
    expect(() => git(cwd, '-c', `core.hooksPath=${folder}/hooks`, 'commit', '-q', '-m', 'x')).toThrow();
    const env = Object.fromEntries(
      execFileSync('cat', [seen], { encoding: 'utf8' })
        .split('\0')
        .filter((line) => line.startsWith('GIT_'))
        .map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)]),
    );
    expect(Object.keys(env)).toEqual(expect.arrayContaining(['GIT_DIR', 'GIT_INDEX_FILE']));
    const { exitCode, stdout } = await edgewise('stacks live --changed-since HEAD --format folder', { cwd, env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'live/s01\n' });
  });

  it.each([
    'GIT_DIR',
    'GIT_WORK_TREE',
    'GIT_INDEX_FILE',
    'GIT_COMMON_DIR',
    'GIT_OBJECT_DIRECTORY',
    'GIT_NAMESPACE',
    'GIT_PREFIX',
    'GIT_SHALLOW_FILE',
    'GIT_ATTR_SOURCE',
    'GIT_LITERAL_PATHSPECS',
    'GIT_EXTERNAL_DIFF',
    'GIT_EXEC_PATH',
  ])('is not passed on: %s', async (name) => {
    const { folder, edgewise, write } = await createWorkspace(toRepository(3));
    commitAll(folder);
    await write({ 'live/s01/new.yaml': toEdge('new', 30_001), 'elsewhere/x': '' });
    const env = { [name]: join(folder, 'elsewhere') };
    const { exitCode, stdout } = await edgewise('stacks live --changed-since HEAD --format folder', { env });
    expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: 'live/s01\n' });
  });
});

describe('a folder that git does not accept as a repository', () => {
  it('is an error of --changed-since, and the repository above is not used', async () => {
    const { folder, edgewise, write } = await createWorkspace(toRepository(1));
    commitAll(folder);
    await write({ 'inner/.git/HEAD': 'x', 'inner/edgewise.yaml': STACK });
    const { exitCode, stderr } = await edgewise('stacks inner --changed-since HEAD');
    expect(stderr).toContain('git failed: fatal: not a git repository');
    expect(exitCode).toBe(3);
  });

  it('is named if there is no repository at all', async () => {
    const { edgewise } = await createWorkspace(toRepository(1));
    const { exitCode, stderr } = await edgewise('stacks live --changed-since HEAD');
    expect(stderr).toContain('live is not in a git repository.');
    expect(exitCode).toBe(3);
  });
});

describe('git', () => {
  it('is started in one file of the program', () => {
    const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.ts'));
    const starting = files.filter((name) => readFileSync(join('src', name), 'utf8').includes('node:child_process'));
    expect(starting).toEqual(['programs/start-program.ts']);
    const using = files.filter((name) => /programs\/start-program[.]ts'/.test(readFileSync(join('src', name), 'utf8')));
    expect(using.sort()).toEqual(['apply/run-command.ts', 'apply/token-sinks.ts', 'repository/git.ts']);
    const naming = files.filter((name) => /\['git'/.test(readFileSync(join('src', name), 'utf8')));
    expect(naming).toEqual(['repository/git.ts']);
  });
});
