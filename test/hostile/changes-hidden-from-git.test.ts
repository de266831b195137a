import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toStack } from '../repository/tree.ts';

/** The author of a pull request changes what edgewise reads, and git reports no change. */

const WEB = 'live/web/edge.yaml';
const TEXT = toManifest('WeightedBackend', 'w', {
  description: 'owner $Id$ C+AEE-',
  backends: { bkdhr_2k9XLPDYGXNLtxcTVgVsKTFzfRt: 1 },
});

/** A repository with two stacks. The stack `other` never changes. */
async function createRepository(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await createWorkspace({
    'live/web/edgewise.yaml': toStack('web'),
    [WEB]: TEXT,
    'live/other/edgewise.yaml': toStack('other'),
    'live/other/edge.yaml': TEXT.replaceAll('$', ''),
    ...files,
  });
  commitAll(workspace.folder);
  return workspace;
}

async function listChanged({ edgewise }: Workspace, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const { exitCode, stdout, stderr } = await edgewise('stacks live --changed-since main --format folder', { env });
  expect({ exitCode, stderr }).toMatchObject({ exitCode: 0 });
  return stdout.trim().split('\n').join(' ');
}

/** Checks the files out again, so that git writes each file by its attributes. */
async function checkOutAgain({ folder }: Workspace): Promise<void> {
  for (const file of git(folder, 'ls-files', '-z').split('\0').filter(Boolean)) await rm(join(folder, file));
  git(folder, 'checkout-index', '--all', '--index', '--force');
}

/** Commits single files from the index or the working tree, and no other. */
function commit({ folder }: Workspace, ...files: readonly string[]): void {
  git(folder, 'add', '--', ...files);
  git(folder, 'commit', '-q', '-m', 'more');
}

/** Attributes with which git checks out another file than the committed one. */
const ATTRIBUTES = ['ident', 'working-tree-encoding=UTF-7', 'working-tree-encoding=UTF-16LE-BOM', 'text eol=crlf'];

describe('attributes that change the checkout of git mark a stack as changed', () => {
  it.each(ATTRIBUTES)('if the pull request adds %s', async (attribute) => {
    const workspace = await createRepository();
    git(workspace.folder, 'checkout', '-q', '-b', 'pull-request');
    await workspace.write({ '.gitattributes': `${WEB} ${attribute}\n` });
    commit(workspace, '.gitattributes');
    await checkOutAgain(workspace);
    expect(await readFile(join(workspace.folder, WEB), 'utf8')).not.toBe(TEXT);
    expect(git(workspace.folder, 'diff', '--name-only', 'main')).not.toContain(WEB);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it.each(ATTRIBUTES)('if the pull request removes %s', async (attribute) => {
    const workspace = await createRepository();
    await workspace.write({ '.gitattributes': `${WEB} ${attribute}\n` });
    commit(workspace, '.gitattributes');
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('');
    git(workspace.folder, 'checkout', '-q', '-b', 'pull-request');
    git(workspace.folder, 'rm', '-q', '.gitattributes');
    git(workspace.folder, 'commit', '-q', '-m', 'more');
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it.each([
    ['in a folder of the stack', 'live/web/.gitattributes'],
    ['in the information of the repository', '.git/info/attributes'],
  ])('%s', async (_, file) => {
    const workspace = await createRepository();
    await mkdir(join(workspace.folder, '.git/info'), { recursive: true });
    await workspace.write({ [file]: '*.yaml ident\n' });
    await checkOutAgain(workspace);
    // The same attributes check out the same file.
    expect(await listChanged(workspace)).toBe(file.startsWith('.git/') ? '' : 'live/web');
    await writeFile(join(workspace.folder, WEB), TEXT);
    expect(await listChanged(workspace)).toBe(file.startsWith('.git/') ? 'live/web' : '');
  });

  it('in a file of the user', async () => {
    const workspace = await createRepository();
    await workspace.write({ attributes: '*.yaml ident\n' });
    git(workspace.folder, 'config', 'core.attributesFile', join(workspace.folder, 'attributes'));
    expect(await listChanged(workspace)).toBe('live/web');
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('');
  });

  it('unlike a setting that converts line endings, if all files were written with it', async () => {
    const workspace = await createRepository();
    git(workspace.folder, 'config', 'core.autocrlf', 'true');
    expect(await listChanged(workspace)).toBe('live/other live/web');
    await checkOutAgain(workspace);
    expect(await readFile(join(workspace.folder, WEB), 'utf8')).toContain('\r\n');
    expect(await listChanged(workspace)).toBe('');
  });

  it('unlike those that name files which no stack reads', async () => {
    const workspace = await createRepository();
    await workspace.write({ '.gitattributes': '*.png binary\n*.yaml text=auto\n' });
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('');
  });
});

describe('a filter', () => {
  it('marks its files as changed, and is not run', async () => {
    const workspace = await createRepository({ '.gitattributes': `${WEB} filter=evil\n` });
    const { folder, write } = workspace;
    await write({ 'ran.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexec cat\n' });
    await chmod(join(folder, 'ran.sh'), 0o755);
    for (const name of ['clean', 'smudge', 'process']) git(folder, 'config', `filter.evil.${name}`, `${folder}/ran.sh`);
    git(folder, 'config', 'filter.evil.required', 'true');
    expect(await listChanged(workspace)).toBe('live/web');
    await rm(join(folder, WEB));
    expect(await listChanged(workspace)).toBe('live/web');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
  });

  it('that the pull request adds is compared with the files without it', async () => {
    const workspace = await createRepository();
    await workspace.write({ '.gitattributes': `${WEB} filter=lfs\n` });
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ [WEB]: toEdge('other', 20_001) });
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

describe('ignored files mark a stack as changed', () => {
  const IGNORED: Readonly<Record<string, (workspace: Workspace) => unknown>> = {
    'by .gitignore': ({ write }) => write({ '.gitignore': 'rendered/\n' }),
    'by .gitignore in the stack': ({ write }) => write({ 'live/web/.gitignore': '*\n' }),
    'by the information of the repository': ({ folder }) =>
      appendFileSync(join(folder, '.git/info/exclude'), 'rendered\n'),
    'by a file of the user': async ({ folder, write }) => {
      await write({ ignored: 'rendered/\n' });
      git(folder, 'config', 'core.excludesFile', join(folder, 'ignored'));
    },
  };

  it.each(Object.entries(IGNORED))('%s', async (_, ignore) => {
    const workspace = await createRepository();
    await mkdir(join(workspace.folder, '.git/info'), { recursive: true });
    await ignore(workspace);
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ 'live/web/rendered/a.yaml': toEdge('a', 20_001) });
    expect(git(workspace.folder, 'status', '--porcelain')).not.toContain('rendered');
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it.each([
    ['as Defaults above it', 'live/defaults.yaml', 'apiVersion: edgewise/v1\nkind: Defaults\n', 'live/other live/web'],
    ['as a policy', 'rules/new.yaml', toManifest('Policy', 'rule', { rules: [] }), 'live/web'],
    ['as a file that a field names', 'keys/ci.pub', 'y', 'live/web'],
    ['as an input', 'base/values.cue', 'y', 'live/web'],
    ['as a hidden input', 'base/.values.cue', 'y', 'live/web'],
  ])('%s', async (_, file, text, expected) => {
    const workspace = await createRepository({
      'live/web/edgewise.yaml': toStack('web', { policies: ['../../rules'], inputs: ['../../base/**'] }),
      'live/web/ssh.yaml': toManifest('SSHUserCertificate', 'ci', {
        public_key: { file: '../../keys/ci.pub' },
        ssh_certificate_authority_id: 'sshca_1',
      }),
      'rules/old.yaml': toManifest('Policy', 'old', { rules: [] }),
      'keys/README': 'x',
      'base/README': 'x',
      '.gitignore': 'live/defaults.yaml\nrules/new.yaml\nkeys/*.pub\nbase/*values.cue\n',
    });
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ [file]: text });
    expect(await listChanged(workspace)).toBe(expected);
  });
});

describe('files whose changes git does not report mark a stack as changed', () => {
  it.each(['--skip-worktree', '--assume-unchanged'])('with %s', async (flag) => {
    const workspace = await createRepository();
    const { folder, write } = workspace;
    git(folder, 'update-index', flag, WEB);
    expect(await listChanged(workspace)).toBe('');
    await write({ [WEB]: toEdge('a', 20_001) });
    expect(git(folder, 'diff', '--name-only', 'main')).toBe('');
    expect(await listChanged(workspace)).toBe('live/web');
    await rm(join(folder, WEB));
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('by their size and time', async () => {
    const workspace = await createRepository();
    const { folder, write } = workspace;
    git(folder, 'config', 'core.trustctime', 'false');
    git(folder, 'config', 'core.checkStat', 'minimal');
    const past = new Date('2026-01-01T00:00:00Z');
    utimesSync(join(folder, WEB), past, past);
    git(folder, 'update-index', '--refresh');
    const { mode, size } = statSync(join(folder, WEB));
    await write({ [WEB]: TEXT.replace('owner', 'thief') });
    utimesSync(join(folder, WEB), past, past);
    expect(statSync(join(folder, WEB))).toMatchObject({ mode, size });
    expect(git(folder, 'diff', '--name-only', 'main')).toBe('');
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('if a reference replaces the object of the commit', async () => {
    const workspace = await createRepository();
    const { folder, write } = workspace;
    await write({ [WEB]: toEdge('a', 20_001) });
    const id = git(folder, 'hash-object', '-w', WEB).trim();
    git(folder, 'replace', `main:${WEB}`, id);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('if the index contains them as they are now', async () => {
    const workspace = await createRepository();
    await workspace.write({ [WEB]: toEdge('a', 20_001) });
    git(workspace.folder, 'add', '-A');
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

describe('symbolic links mark a stack as changed', () => {
  /** `live/web/base` links to `shared`, and `live/web/one.yaml` over another link to `shared/one.yaml`. */
  async function createLinks(): Promise<Workspace> {
    const workspace = await createWorkspace({
      'live/web/edgewise.yaml': toStack('web'),
      'live/other/edgewise.yaml': toStack('other'),
      'shared/one.yaml': toEdge('one', 20_001),
      'shared/two.yaml': toEdge('two', 20_002),
      'far/three.yaml': toEdge('three', 20_003),
    });
    const { folder } = workspace;
    await symlink('../../shared', join(folder, 'live/web/base'));
    await symlink('middle', join(folder, 'live/web/one.yaml'));
    await symlink('../../far/three.yaml', join(folder, 'live/web/middle'));
    commitAll(folder);
    return workspace;
  }

  it.each<[string, (folder: string) => Promise<unknown>]>([
    ['if their target has other content', (folder) => writeFile(join(folder, 'far/three.yaml'), toEdge('x', 1))],
    ['if a file in their target is new', (folder) => writeFile(join(folder, 'shared/new.yaml'), toEdge('x', 1))],
    ['if a file in their target is gone', (folder) => rm(join(folder, 'shared/two.yaml'))],
    [
      'if a link on the way leads elsewhere',
      async (folder) => {
        await rm(join(folder, 'live/web/middle'));
        await symlink('../../shared/two.yaml', join(folder, 'live/web/middle'));
      },
    ],
    [
      'if a file takes the place of one',
      async (folder) => {
        await rm(join(folder, 'live/web/base'));
        await mkdir(join(folder, 'live/web/base'));
      },
    ],
  ])('%s', async (_, change) => {
    const workspace = await createLinks();
    expect(await listChanged(workspace)).toBe('');
    await change(workspace.folder);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('that form a circle, without an endless loop', async () => {
    const workspace = await createLinks();
    await symlink('..', join(workspace.folder, 'live/web/around'));
    await symlink('again', join(workspace.folder, 'live/web/again'));
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
  });
});

describe('a submodule', () => {
  async function createSubmodule(): Promise<Workspace & { readonly inner: string }> {
    const { folder: inner } = await createWorkspace({ '.gitignore': 'rendered/\n', 'edge.yaml': toEdge('s', 20_009) });
    commitAll(inner);
    const workspace = await createRepository();
    git(workspace.folder, '-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner, 'live/web/sub');
    commitAll(workspace.folder);
    return { ...workspace, inner };
  }

  const SUB = 'live/web/sub';

  it.each<[string, (folder: string) => Promise<unknown>]>([
    ['a changed file', (folder) => writeFile(join(folder, SUB, 'edge.yaml'), toEdge('x', 1))],
    [
      'an ignored file',
      (folder) =>
        mkdir(join(folder, SUB, 'rendered')).then(() =>
          writeFile(join(folder, SUB, 'rendered/a.yaml'), toEdge('x', 1)),
        ),
    ],
    [
      'no file, because it is not checked out',
      (folder) => rm(join(folder, SUB), { recursive: true }).then(() => mkdir(join(folder, SUB))),
    ],
  ])('marks the stack around it as changed if it has %s', async (_, change) => {
    const workspace = await createSubmodule();
    expect(await listChanged(workspace)).toBe('');
    await change(workspace.folder);
    const { stdout } = await workspace.edgewise('stacks live/web --changed-since main --format json');
    expect(JSON.parse(stdout).stacks.map(({ name }: { readonly name: string }) => name)).toContain('web');
  });

  it('marks it as changed if it lacks the commit, and is named', async () => {
    const workspace = await createSubmodule();
    const { folder } = workspace;
    const sub = join(folder, SUB);
    await rm(sub, { recursive: true });
    await mkdir(sub);
    await writeFile(join(sub, 'edge.yaml'), toEdge('s', 20_009));
    commitAll(sub);
    const { stdout } = await workspace.edgewise('stacks live --changed-since main');
    expect(stdout).toMatch(/web +live\/web +\S+ +live\/web\/sub/);
  });
});

describe('a sparse checkout', () => {
  it('marks a stack as changed if it leaves out files of it', async () => {
    const workspace = await createRepository({ 'live/web/more/edge.yaml': toEdge('more', 20_001) });
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/other');
    git(workspace.folder, 'sparse-checkout', 'add', 'live/web/kept');
    expect(existsSync(join(workspace.folder, 'live/web/more'))).toBe(false);
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

describe('a partial clone', () => {
  it('without the content of a changed file is an error that says how to fetch it, and fetches nothing', async () => {
    const workspace = await createRepository();
    const { folder, write, edgewise } = workspace;
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    await write({ [WEB]: toEdge('a', 20_001) });
    commit(workspace, WEB);
    git(folder, 'config', 'uploadpack.allowFilter', 'true');
    git(folder, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    const clone = join(folder, 'clone');
    git(folder, 'clone', '-q', '--filter=blob:none', `file://${folder}`, clone);
    const count = () => readdirSync(join(clone, '.git/objects/pack')).length;
    const before = count();
    const line = 'stacks live --changed-since origin/main --format folder';
    const { exitCode, stderr } = await edgewise(line, { cwd: clone });
    expect(stderr).toContain(`The content of ${WEB} in the commit `);
    const [command = ''] = /git diff --stat \w+/.exec(stderr) ?? [];
    expect(exitCode).toBe(3);
    expect(count()).toBe(before);
    git(clone, ...command.split(' ').slice(1));
    expect((await edgewise(line, { cwd: clone })).stdout).toBe('live/web\n');
  });
});

describe('a stack whose command prints the manifests', () => {
  const RENDERED = { 'live/web/edgewise.yaml': toStack('web', { render: ['true'] }) };

  it.each(['live/web/.values/hidden', 'live/web/node_modules/committed/x.js', 'live/web/ignored'])(
    'is changed if %s is',
    async (file) => {
      const workspace = await createRepository({
        ...RENDERED,
        'live/web/.values/hidden': 'x',
        'live/web/node_modules/committed/x.js': 'x',
        '.gitignore': 'ignored\n',
      });
      expect(await listChanged(workspace)).toBe('');
      await workspace.write({ [file]: 'y' });
      expect(await listChanged(workspace)).toBe('live/web');
    },
  );

  it('is not changed by packages that git does not track', async () => {
    const workspace = await createRepository({ ...RENDERED, '.gitignore': 'node_modules\n' });
    await workspace.write({ 'live/web/node_modules/installed/x.js': 'x' });
    expect(await listChanged(workspace)).toBe('');
  });
});

describe('a comparison with a commit', () => {
  it('leaves no file behind, and the index unchanged', async () => {
    const workspace = await createRepository({ '.gitattributes': '*.yaml ident\n' });
    const { folder } = workspace;
    const temporary = join(folder, 'temporary');
    await mkdir(temporary);
    const index = await readFile(join(folder, '.git/index'));
    await listChanged(workspace, { TMPDIR: temporary });
    expect(readdirSync(temporary)).toEqual([]);
    expect(await readFile(join(folder, '.git/index'))).toEqual(index);
  });

  it('reports a missing temporary folder', async () => {
    const workspace = await createRepository();
    const { exitCode, stderr } = await workspace.edgewise('stacks live --changed-since main', {
      env: { TMPDIR: '/nowhere' },
    });
    expect(stderr).toContain('No temporary folder can be created in /nowhere');
    expect(exitCode).toBe(1);
  });

  it('starts as many programs for many stacks as for few', async () => {
    const count = async (stacks: number): Promise<number> => {
      const names = Array.from({ length: stacks }, (_, index) => `s${index}`);
      const workspace = await createRepository(
        Object.fromEntries(names.map((name) => [`live/${name}/edgewise.yaml`, toStack(name)])),
      );
      const { folder } = workspace;
      const real = execFileSync('sh', ['-c', 'command -v git'], { encoding: 'utf8' }).trim();
      const outside = await createWorkspace({ git: `#!/bin/sh\necho x >> ${folder}/calls\nexec ${real} "$@"\n` });
      await chmod(join(outside.folder, 'git'), 0o755);
      await listChanged(workspace, { PATH: `${outside.folder}:${process.env['PATH']}` });
      return (await readFile(join(folder, 'calls'), 'utf8')).length;
    };
    const few = await count(2);
    expect(few).toBeGreaterThan(0);
    expect(await count(60)).toBe(few);
  });

  it('works with objects named by SHA-256', async () => {
    const workspace = await createWorkspace({ 'live/web/edgewise.yaml': toStack('web'), [WEB]: TEXT });
    git(workspace.folder, 'init', '-q', '-b', 'main', '--object-format=sha256');
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
    await rename(join(workspace.folder, WEB), join(workspace.folder, 'live/web/moved.yaml'));
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

/** Refs that a user can push from their own branch, named so that git resolves the name of a commit to them. */
const REFS: readonly (readonly [ref: string, name: string])[] = [
  ['refs/tags/origin/main', 'origin/main'],
  ['refs/heads/origin/main', 'origin/main'],
  ['refs/origin/main', 'origin/main'],
  ['refs/tags/main', 'main'],
  ['refs/main', 'main'],
  ['refs/tags/origin/main', 'origin/main~0'],
];

describe('a commit whose name the pull request has taken is refused', () => {
  it.each(REFS)('as %s, if the changes since %s are requested', async (ref, name) => {
    const workspace = await createRepository();
    const { folder, edgewise } = workspace;
    git(folder, 'update-ref', 'refs/remotes/origin/main', 'HEAD');
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    await workspace.write({ [WEB]: TEXT.replace('owner', 'other owner') });
    commit(workspace, WEB);
    git(folder, 'update-ref', ref, 'HEAD');
    git(folder, 'config', 'core.warnAmbiguousRefs', 'false');
    for (const command of ['stacks live', 'plan -R live']) {
      const { exitCode, stdout, stderr } = await edgewise(`${command} --changed-since ${name}`);
      expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
      expect(stderr).toContain(`${name} has more than one meaning in this repository`);
    }
  });

  it('by the start of its id', async () => {
    const workspace = await createRepository();
    const { folder, edgewise } = workspace;
    const name = git(folder, 'rev-parse', '--short', 'HEAD').trim();
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    await workspace.write({ [WEB]: TEXT.replace('owner', 'other owner') });
    commit(workspace, WEB);
    git(folder, 'tag', name);
    const { exitCode, stderr } = await edgewise(`stacks live --changed-since ${name}`);
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('more than one meaning'),
    });
  });

  it('unlike its full name and its whole id', async () => {
    const workspace = await createRepository();
    const { folder, edgewise } = workspace;
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    await workspace.write({ [WEB]: TEXT.replace('owner', 'other owner') });
    commit(workspace, WEB);
    git(folder, 'tag', 'main');
    for (const name of ['refs/heads/main', git(folder, 'rev-parse', 'refs/heads/main').trim()])
      expect(await edgewise(`stacks live --changed-since ${name} --format folder`)).toMatchObject({
        exitCode: 0,
        stdout: 'live/web\n',
      });
  });
});
