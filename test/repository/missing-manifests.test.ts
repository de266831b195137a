import { execFileSync } from 'node:child_process';
import { existsSync, lchownSync, readdirSync } from 'node:fs';
import { chmod, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { selectFirst, selectTypical } from '../cases.ts';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { requireOrSkip } from '../needs.ts';
import { commitAll, git, listWrites, toStack } from './tree.ts';

/** Manifests that git has and did not check out: a plan must not treat them as removed. */

/** A stack in a repository. All of its resources are live. */
async function createApplied(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    'live/web/edgewise.yaml': toStack('web'),
    'live/web/kept/edge.yaml': toEdge('kept', 20_001),
    'live/web/more/edge.yaml': toEdge('more', 20_002),
    'live/web/more/notes.md': 'x',
    'live/other/edgewise.yaml': toStack('other'),
    ...files,
  });
  commitAll(workspace.folder);
  await workspace.edgewise('apply -R live --yes');
  workspace.recorder.take();
  return workspace;
}

/** The same stack with a submodule in its folder. */
async function createWithSubmodule(): Promise<Workspace> {
  const { folder: inner } = await createWorkspace({ 'edge.yaml': toEdge('inner', 20_003) });
  commitAll(inner);
  const workspace = await createWorkspace({
    'live/web/edgewise.yaml': toStack('web'),
    'live/web/kept/edge.yaml': toEdge('kept', 20_001),
  });
  const { folder } = workspace;
  commitAll(folder);
  git(folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'live/web/sub');
  commitAll(folder);
  await workspace.edgewise('apply live/web --yes');
  workspace.recorder.take();
  return workspace;
}

async function expectRefused(
  { edgewise, recorder }: Workspace,
  named: string,
  { env = {}, lines = ['apply live/web --yes'] }: { readonly env?: object; readonly lines?: readonly string[] } = {},
): Promise<void> {
  for (const line of lines) {
    const { exitCode, stdout, stderr } = await edgewise(line, { env: { ...env } });
    expect(stdout + stderr).toContain('refused[manifests-missing]');
    expect(stdout + stderr).toContain(named);
    expect(exitCode).toBe(5);
  }
  expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
}

async function expectDeleted(workspace: Workspace, line = 'apply live/web --yes'): Promise<void> {
  const { exitCode, stderr } = await workspace.edgewise(line);
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  expect(listWrites(workspace).map((write) => write.replace(/edgtcp_\w+/, 'ID'))).toEqual(['DELETE /edges/tcp/ID']);
}

describe('a plan that deletes is refused', () => {
  it('if a submodule in the folder of the stack is empty', async () => {
    const workspace = await createWithSubmodule();
    const sub = join(workspace.folder, 'live/web/sub');
    await rm(sub, { recursive: true });
    await expectRefused(workspace, 'live/web/sub is in git, but not checked out');
    await mkdir(sub);
    await expectRefused(workspace, 'live/web/sub is in git, but not checked out');
    await expectDeleted(workspace, 'apply live/web --yes --allow-deletes');
  });

  it('if a submodule in a submodule is empty', async () => {
    const workspace = await createWithSubmodule();
    const { folder } = workspace;
    const { folder: inmost } = await createWorkspace({ 'edge.yaml': toEdge('inmost', 20_004) });
    commitAll(inmost);
    const sub = join(folder, 'live/web/sub');
    git(sub, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inmost, 'deep');
    await workspace.edgewise('apply live/web --yes');
    workspace.recorder.take();
    await rm(join(sub, 'deep'), { recursive: true });
    await mkdir(join(sub, 'deep'));
    await expectRefused(workspace, 'live/web/sub/deep is in git');
  });

  it('by each command that plans, of one stack or of many', async () => {
    const workspace = await createApplied();
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
    await expectRefused(workspace, 'live/web/more/edge.yaml is in git, but not checked out', {
      lines: ['plan live/web', 'apply live/web --yes', 'plan -R live', 'apply -R live --yes'],
    });
    git(workspace.folder, 'sparse-checkout', 'disable');
    expect((await workspace.edgewise('plan live/web --detailed-exitcode')).exitCode).toBe(0);
  });

  it.each([
    ['a sparse checkout with a sparse index', ['set', '--cone', '--sparse-index', 'live/web/kept']],
    ['a sparse checkout by patterns', ['set', '--no-cone', '/live/web/*', '!/live/web/more', '/live/other']],
  ])('if %s leaves manifests out', async (_, words) => {
    const workspace = await createApplied();
    git(workspace.folder, 'sparse-checkout', ...words);
    expect(existsSync(join(workspace.folder, 'live/web/more'))).toBe(false);
    await expectRefused(workspace, 'live/web/more/edge.yaml is in git, but not checked out');
  });

  it('if a linked worktree is sparse', async () => {
    const workspace = await createApplied();
    const linked = join(workspace.folder, 'linked');
    git(workspace.folder, 'worktree', 'add', '-q', linked);
    git(linked, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
    const { exitCode, stderr, stdout } = await workspace.edgewise('plan live/web', { cwd: linked });
    expect(stdout + stderr).toContain('live/web/more/edge.yaml is in git');
    expect(exitCode).toBe(5);
  });

  it.each(['--skip-worktree', '--assume-unchanged'])('if a manifest with %s is missing', async (flag) => {
    const workspace = await createApplied();
    git(workspace.folder, 'update-index', flag, 'live/web/more/edge.yaml');
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    await expectRefused(workspace, 'live/web/more/edge.yaml is in git');
  });

  it('if its target is the resource whose manifest is missing', async () => {
    const workspace = await createApplied();
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
    const { exitCode, stdout, stderr } = await workspace.edgewise('plan live/web --target TCPEdge/more');
    expect(stdout + stderr).toContain('refused[manifests-missing]');
    expect(exitCode).toBe(5);
  });
});

describe('a plan that deletes is not refused', () => {
  it.each<[string, (folder: string) => unknown]>([
    ['if the user deleted the manifest', () => undefined],
    ['if the user told git so', (folder) => git(folder, 'rm', '-q', '--cached', 'live/web/more/edge.yaml')],
    ['if that is committed', (folder) => commitAll(folder)],
  ])('%s', async (_, tell) => {
    const workspace = await createApplied();
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    await tell(workspace.folder);
    await expectDeleted(workspace);
  });

  it.each(['--skip-worktree', '--assume-unchanged'])('if a manifest with %s is there', async (flag) => {
    const workspace = await createApplied();
    git(workspace.folder, 'update-index', flag, 'live/web/kept/edge.yaml');
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    await expectDeleted(workspace);
  });

  it('if the files that are left out belong to no stack, or to another', async () => {
    const workspace = await createApplied({
      'live/web/inner/edgewise.yaml': toStack('inner'),
      'live/web/inner/edge.yaml': toEdge('inner', 20_005),
      'live/web/.hidden/edge.yaml': 'x',
    });
    const { folder } = workspace;
    for (const file of ['live/web/more/notes.md', 'live/web/inner/edge.yaml', 'live/web/.hidden/edge.yaml']) {
      git(folder, 'update-index', '--skip-worktree', file);
      await rm(join(folder, file));
    }
    await rm(join(folder, 'live/web/more/edge.yaml'));
    await expectDeleted(workspace);
  });

  it('if it destroys the stack', async () => {
    const workspace = await createApplied();
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
    expect((await workspace.edgewise('destroy live/web --yes')).exitCode).toBe(0);
  });

  it('if nothing is deleted, because of --exclude', async () => {
    const workspace = await createApplied();
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
    expect((await workspace.edgewise('plan live/web --exclude TCPEdge/more')).exitCode).toBe(0);
  });

  it('if there is no repository', async () => {
    const workspace = await createApplied();
    await rm(join(workspace.folder, '.git'), { recursive: true });
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    await expectDeleted(workspace);
  });
});

describe('git', () => {
  async function countCalls(workspace: Workspace, line: string): Promise<number> {
    const { folder, write, edgewise } = workspace;
    const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
    const outside = await createWorkspace({ git: `#!/bin/sh\necho x >> ${folder}/calls\nexec ${real} "$@"\n` });
    await write({ calls: '' });
    await chmod(join(outside.folder, 'git'), 0o755);
    await edgewise(line, { env: { PATH: `${outside.folder}:${process.env['PATH']}` } });
    return (await readFile(join(folder, 'calls'), 'utf8')).split('\n').length - 1;
  }

  it('is started once by a plan that may delete, and by no other', async () => {
    const workspace = await createApplied();
    expect(await countCalls(workspace, 'plan live/web')).toBe(0);
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    expect(await countCalls(workspace, 'plan live/web')).toBe(1);
  });

  describe.each<[string, (folder: string) => Promise<Readonly<Record<string, string>>>]>([
    ['is not installed', async () => ({ PATH: '/nowhere' })],
    [
      'refuses the user of the repository',
      async (folder) => {
        requireOrSkip('root, who can give files away', process.getuid?.() === 0);
        for (const name of ['', ...readdirSync(folder, { recursive: true, encoding: 'utf8' })])
          lchownSync(join(folder, name), 65_534, 65_534);
        return { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_SYSTEM: '/dev/null', PATH: process.env['PATH'] ?? '' };
      },
    ],
  ])('that %s', (_, prepare) => {
    it('does not stop a plan of a complete checkout', async () => {
      const workspace = await createApplied();
      await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
      const env = await prepare(workspace.folder);
      expect((await workspace.edgewise('plan live/web', { env })).exitCode).toBe(0);
    });

    it('causes doubt about a sparse checkout', async () => {
      const workspace = await createApplied();
      git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/web/kept');
      const env = await prepare(workspace.folder);
      await expectRefused(workspace, 'Manifests may be missing, because git cannot be asked what it has: git ', {
        env,
      });
    });

    it('causes doubt about an empty folder beside submodules', async () => {
      const workspace = await createWithSubmodule();
      await rm(join(workspace.folder, 'live/web/sub'), { recursive: true });
      await mkdir(join(workspace.folder, 'live/web/sub'));
      const env = await prepare(workspace.folder);
      await expectRefused(workspace, 'Manifests may be missing', { env });
    });
  });

  it('causes doubt with an incomplete response', async () => {
    const workspace = await createApplied();
    await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
    await writeFile(join(workspace.folder, '.git/index'), 'broken');
    await expectRefused(workspace, 'Manifests may be missing, because git cannot be asked what it has: git failed');
  });
});

const COLLIDING: readonly (readonly [form: string, first: string, second: string])[] = [
  ['case', 'live/web/shop.yaml', 'live/web/Shop.yaml'],
  ['the case of an extension', 'live/web/shop.yaml', 'live/web/shop.YAML'],
  ['the case of a folder', 'live/web/eu/shop.yaml', 'live/web/EU/shop.yaml'],
  ['the form of Unicode', 'live/web/gr\u00fcn.yaml', 'live/web/gru\u0308n.yaml'],
  ['the case of a letter that folds to two', 'live/web/stra\u00dfe.yaml', 'live/web/STRASSE.yaml'],
];

describe('two tracked manifests whose names differ only', () => {
  const toFiles = (first: string, second: string) => ({
    [first]: toEdge('first', 20_011),
    [second]: toEdge('second', 20_012),
  });

  it.each(COLLIDING)('in %s are a warning of validate, of one stack and of many', async (_, first, second) => {
    const { edgewise, folder } = await createApplied(toFiles(first, second));
    for (const line of ['validate live/web', 'validate -R live']) {
      const { exitCode, stdout } = await edgewise(line);
      expect(stdout.match(/warning\[colliding-names\]/g)).toHaveLength(1);
      expect(stdout.replaceAll(/\s+/g, ' ')).toContain(first);
      expect(exitCode).toBe(0);
    }
    expect((await edgewise('validate live/web --strict')).stdout).toContain('error[colliding-names]');
    git(folder, 'rm', '-q', '--cached', second);
    expect((await edgewise('validate live/web')).stdout).not.toContain('colliding-names');
  });

  const missing = COLLIDING.flatMap(([form, first, second]) =>
    [first, second].map((gone, index) => ({ form, files: toFiles(first, second), gone, index })),
  );

  it.each(selectTypical(missing, 'form', 'index'))(
    'in $form refuse a plan that deletes while $gone is missing, until it is removed from git',
    async ({ files, gone }) => {
      const workspace = await createApplied(files);
      await rm(join(workspace.folder, gone));
      await expectRefused(workspace, `${gone} is in git, but not checked out`, {
        lines: ['plan live/web', 'apply live/web --yes', 'apply -R live --yes'],
      });
      git(workspace.folder, 'rm', '-q', '--cached', gone);
      await expectDeleted(workspace);
    },
  );

  it.each(selectFirst(COLLIDING))(
    'in %s refuse no plan while both are there, if a third one was removed',
    async (_, first, second) => {
      const workspace = await createApplied(toFiles(first, second));
      await rm(join(workspace.folder, 'live/web/more/edge.yaml'));
      await expectDeleted(workspace);
    },
  );
});

it('names that differ in more than case are no warning, and neither are files that are not read', async () => {
  const { edgewise } = await createApplied({
    'live/web/a.yaml': toEdge('first', 20_011),
    'live/web/b.yaml': toEdge('second', 20_012),
    'live/web/Notes.md': 'x',
    'live/web/notes.md': 'x',
    'live/web/.hidden/x.yaml': 'x',
    'live/web/.Hidden/x.yaml': 'x',
  });
  expect((await edgewise('validate live/web')).stdout).not.toContain('colliding-names');
});

it('names are not searched without git', async () => {
  const { edgewise } = await createApplied({ 'live/web/Kept/edge.yaml': toEdge('second', 20_012) });
  expect((await edgewise('validate live/web')).stdout).toContain('colliding-names');
  const { exitCode, stdout } = await edgewise('validate live/web', { env: { PATH: '/nowhere' } });
  expect(stdout).not.toContain('colliding-names');
  expect(exitCode).toBe(0);
});
