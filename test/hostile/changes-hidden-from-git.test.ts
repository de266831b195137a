import { execFileSync } from 'node:child_process';
import { appendFileSync, existsSync, readdirSync, statSync, utimesSync } from 'node:fs';
import { chmod, mkdir, readFile, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toStack } from '../repository/tree.ts';
import {
  checkOutAgain,
  commit,
  createRepository,
  KEY,
  listChanged,
  POLICY,
  SSH,
  TEXT,
  WEB,
  WITH_INPUTS,
} from './changed-stacks.ts';

/** The author of a pull request changes what edgewise reads, and git reports no change. */

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
    expect(await listChanged(workspace)).toBe('live/other live/web');
  });

  it.each(ATTRIBUTES)('if the pull request removes %s', async (attribute) => {
    const workspace = await createRepository();
    await workspace.write({ '.gitattributes': `${WEB} ${attribute}\n` });
    commit(workspace, '.gitattributes');
    await checkOutAgain(workspace);
    // What git wrote is not what the commit contains.
    expect(await listChanged(workspace)).toBe('live/web');
    git(workspace.folder, 'checkout', '-q', '-b', 'pull-request');
    git(workspace.folder, 'rm', '-q', '.gitattributes');
    git(workspace.folder, 'commit', '-q', '-m', 'more');
    expect(await listChanged(workspace)).toBe('live/other live/web');
    await checkOutAgain(workspace);
    // The content is what the commit contains, and not what git wrote before.
    expect(await readFile(join(workspace.folder, WEB), 'utf8')).toBe(TEXT);
    expect(await listChanged(workspace)).toBe('live/other live/web');
  });

  it.each([
    ['live/web/.gitattributes', 'live/web'],
    ['live/web/deep/.gitattributes', 'live/web'],
    ['live/.gitattributes', 'live/other live/web'],
    ['base/.gitattributes', 'live/web'],
    ['other/.gitattributes', ''],
  ])('if %s is new or gone', async (file, expected) => {
    const workspace = await createRepository({
      'live/web/edgewise.yaml': WITH_INPUTS,
      'live/web/deep/a.yaml': toEdge('deep', 20_001),
      'base/x.cue': '',
      'other/x.cue': '',
    });
    await workspace.write({ [file]: '*.yaml ident\n' });
    expect(await listChanged(workspace)).toBe(expected);
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
    await rm(join(workspace.folder, file));
    expect(await listChanged(workspace)).toBe(expected);
  });

  it('in the information of the repository', async () => {
    const workspace = await createRepository();
    await mkdir(join(workspace.folder, '.git/info'), { recursive: true });
    await workspace.write({ '.git/info/attributes': '*.yaml ident\n' });
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('live/web');
    await writeFile(join(workspace.folder, WEB), TEXT);
    expect(await listChanged(workspace)).toBe('');
  });

  it('in a file of the user', async () => {
    const workspace = await createRepository();
    await workspace.write({ attributes: '*.yaml ident\n' });
    git(workspace.folder, 'config', 'core.attributesFile', join(workspace.folder, 'attributes'));
    expect(await listChanged(workspace)).toBe('');
    await checkOutAgain(workspace);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('as a setting that converts line endings does', async () => {
    const workspace = await createRepository();
    git(workspace.folder, 'config', 'core.autocrlf', 'true');
    expect(await listChanged(workspace)).toBe('');
    await checkOutAgain(workspace);
    expect(await readFile(join(workspace.folder, WEB), 'utf8')).toContain('\r\n');
    expect(git(workspace.folder, 'diff', '--name-only', 'main')).toBe('');
    expect(await listChanged(workspace)).toBe('live/other live/web');
  });
});

describe('a filter', () => {
  it('is not run, and does not hide a change', async () => {
    const workspace = await createRepository({ '.gitattributes': `${WEB} filter=evil\n` });
    const { folder, write } = workspace;
    await write({ 'ran.sh': '#!/bin/sh\ntouch "$(dirname "$0")/ran"\nexec cat\n' });
    await chmod(join(folder, 'ran.sh'), 0o755);
    for (const name of ['clean', 'smudge', 'process']) git(folder, 'config', `filter.evil.${name}`, `${folder}/ran.sh`);
    git(folder, 'config', 'filter.evil.required', 'true');
    expect(await listChanged(workspace)).toBe('');
    await write({ [WEB]: toEdge('other', 20_001) });
    expect(await listChanged(workspace)).toBe('live/web');
    await rm(join(folder, WEB));
    expect(await listChanged(workspace)).toBe('live/web');
    expect(existsSync(join(folder, 'ran'))).toBe(false);
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
    ['as an input', 'base/values.cue', 'y', 'live/web'],
    ['as a hidden input', 'base/.values.cue', 'y', 'live/web'],
  ])('%s', async (_, file, text, expected) => {
    const workspace = await createRepository({
      'live/web/edgewise.yaml': toStack('web', { policies: ['../../rules'], inputs: ['../../base/**'] }),
      'rules/old.yaml': toManifest('Policy', 'old', { rules: [] }),
      'base/README': 'x',
      '.gitignore': 'live/defaults.yaml\nrules/new.yaml\nbase/*values.cue\n',
    });
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ [file]: text });
    expect(await listChanged(workspace)).toBe(expected);
  });

  it('as a file that a field names', async () => {
    const workspace = await createRepository({ 'live/web/ssh.yaml': SSH, '.gitignore': 'keys/*.pub\n' });
    await workspace.write({ 'keys/ci.pub': KEY });
    expect(await listChanged(workspace)).toBe('live/web');
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

  it('if references replace the commit and its tree', async () => {
    const workspace = await createRepository();
    const { folder, write } = workspace;
    const before = git(folder, 'rev-parse', 'main').trim();
    await write({ [WEB]: toEdge('a', 20_001) });
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    commit(workspace, WEB);
    git(folder, 'replace', before, 'HEAD');
    git(folder, 'replace', `${before}^{tree}`, 'HEAD^{tree}');
    expect(git(folder, 'diff', '--name-only', 'main')).toBe('');
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('if the index contains them as they are now', async () => {
    const workspace = await createRepository();
    await workspace.write({ [WEB]: toEdge('a', 20_001) });
    git(workspace.folder, 'add', '-A');
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

describe('what is gone marks a stack as changed', () => {
  it.each([
    ['a manifest', WEB, 'live/web'],
    ['a manifest in a folder', 'live/web/deep/er/a.yaml', 'live/web'],
    ['Defaults above it', 'live/defaults.yaml', 'live/other live/web'],
    ['Defaults in the root of the repository', 'all.json', 'live/other live/web'],
    ['a policy', 'rules/old.yaml', 'live/web'],
    ['all policies', 'rules', 'live/web'],
    ['an input', 'base/.hidden/x', 'live/web'],
    ['all inputs', 'base', 'live/web'],
    ['the Stack of a stack inside of it', 'live/web/inner/edgewise.yaml', 'live/web'],
    ['the file that a field names', 'keys/ci.pub', 'live/web'],
  ])('%s', async (_, path, expected) => {
    const workspace = await createRepository({
      'live/web/edgewise.yaml': toStack('web', { policies: ['../../rules'], inputs: ['../../base/**'] }),
      'live/web/deep/er/a.yaml': toEdge('deep', 20_005),
      'live/web/inner/edgewise.yaml': toStack('inner'),
      'live/web/inner/a.yaml': toEdge('inner', 20_004),
      'live/web/ssh.yaml': SSH,
      'keys/ci.pub': KEY,
      'live/defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\nspec: {}\n',
      'all.json': '{"apiVersion":"edgewise/v1","kind":"Defaults","spec":{}}\n',
      'rules/old.yaml': POLICY,
      'base/.hidden/x': '1',
      'base/y': '1',
    });
    expect(await listChanged(workspace)).toBe('');
    await rm(join(workspace.folder, path), { recursive: true });
    expect((await listChanged(workspace)).replace(' live/web/inner', '')).toBe(expected);
  });

  it('also if a file looks as if it had the same name', async () => {
    const workspace = await createRepository();
    const { folder } = workspace;
    const path = Buffer.concat([Buffer.from(join(folder, 'live/web/x')), Buffer.from([0xff]), Buffer.from('.yaml')]);
    await writeFile(path, TEXT);
    commitAll(folder);
    await rm(path);
    await writeFile(join(folder, 'live/web/x\u{FFFD}.yaml'), TEXT);
    expect(await listChanged(workspace)).toBe('live/web');
  });
});

describe('what a Stack or Defaults name is compared', () => {
  it.each(['policies', 'inputs'])('if %s are named by an absolute path', async (setting) => {
    const workspace = await createRepository({ 'rules/old.yaml': POLICY });
    const named = join(workspace.folder, 'rules', setting === 'inputs' ? '**' : '');
    await workspace.write({ 'live/web/edgewise.yaml': toStack('web', { [setting]: [named] }) });
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ 'rules/old.yaml': POLICY.replace('old', 'new') });
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it.each([
    ['commits', true],
    ['adds', false],
  ])('if the author %s Defaults above the stack that name others, and that no stack uses', async (_, isCommitted) => {
    const toDefaults = (policies: readonly string[]): string => toManifest('Defaults', 'x', { policies });
    const unused = { 'live/a.yaml': toDefaults([]).replace('Defaults', 'D\\u0065faults') };
    const workspace = await createRepository({
      'live/defaults.yaml': toDefaults(['../rules']),
      'rules/old.yaml': POLICY,
      ...(isCommitted ? unused : {}),
    });
    await workspace.write(unused);
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ 'rules/old.yaml': POLICY.replace('old', 'new') });
    expect(await listChanged(workspace)).toBe('live/other live/web');
  });
});

describe('a stack that refers to another one is changed', () => {
  it('if the other one has another name now, or is gone, and only then', async () => {
    const workspace = await createRepository({
      'live/user/edgewise.yaml': toStack('user'),
      'live/user/pool.yaml': toManifest('External', 'w', { stack: 'web', resource: 'WeightedBackend/w' }),
    });
    const { folder, write } = workspace;
    expect(await listChanged(workspace)).toBe('');
    await write({ 'live/web/edgewise.yaml': toStack('renamed') });
    expect(await listChanged(workspace)).toBe('live/user live/web');
    const { stdout } = await workspace.edgewise('stacks live --changed-since main');
    expect(stdout).toMatch(/user +live\/user +\S+ +depends on web/);
    await rm(join(folder, 'live/web'), { recursive: true });
    expect(await listChanged(workspace)).toBe('live/user');
    commitAll(folder);
    expect(await listChanged(workspace)).toBe('');
  });
});

describe('the content that a file had counts, not only what it is now', () => {
  it.each([
    ['a manifest', WEB, 'live/web'],
    ['Defaults', 'live/defaults.yaml', 'live/other live/web'],
  ])('%s that is now a file of another tool', async (_, path, expected) => {
    const workspace = await createRepository({ [path]: `apiVersion: edgewise/v1\nkind: Defaults\nspec: {}\n` });
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ [path]: 'services: { web: { image: x } }\n' });
    expect(await listChanged(workspace)).toBe(expected);
  });

  it('unlike a new file of another tool, and the bit that makes a file executable', async () => {
    const workspace = await createRepository();
    await workspace.write({
      'live/web/compose.yaml': 'services: {}\n',
      'live/package.json': '{ "name": "x" }\n',
      'plan.json': '{ "changes": [] }\n',
    });
    await chmod(join(workspace.folder, WEB), 0o755);
    expect(await listChanged(workspace)).toBe('');
  });

  it('also if a mistake hides which file a field names', async () => {
    const workspace = await createRepository({
      'live/web/ssh.yaml': SSH.replace('deploy', '$' + '{env:WHO}'),
      'keys/ci.pub': KEY,
    });
    expect(await listChanged(workspace)).toBe('live/web');
    await workspace.write({ 'live/web/ssh.yaml': SSH });
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
  });

  it('and a Stack that appears in a folder of another one changes both', async () => {
    const workspace = await createRepository({ 'live/web/inner/a.yaml': toEdge('inner', 20_004) });
    await workspace.write({ 'live/web/inner/edgewise.yaml': toStack('inner') });
    expect(await listChanged(workspace)).toBe('live/web live/web/inner');
    commitAll(workspace.folder);
    await workspace.write({ 'live/web/inner/a.yaml': toEdge('inner', 20_006) });
    expect(await listChanged(workspace)).toBe('live/web/inner');
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

  it('marks the stack around it as changed, whatever it has, also if it is gone or was never there', async () => {
    const workspace = await createSubmodule();
    const { folder } = workspace;
    expect(await listChanged(workspace)).toContain('live/web');
    await rm(join(folder, SUB), { recursive: true });
    expect(await listChanged(workspace)).toBe('live/web');
    await mkdir(join(folder, SUB));
    expect(await listChanged(workspace)).toBe('live/web');
    await writeFile(join(folder, SUB, 'edge.yaml'), toEdge('s', 20_009));
    expect(await listChanged(workspace)).toBe('live/web');
    git(folder, 'rm', '-q', '--cached', SUB);
    git(folder, 'add', '.gitmodules', SUB);
    git(folder, 'commit', '-q', '-m', 'no submodule');
    expect(await listChanged(workspace)).toBe('');
    git(join(folder, SUB), 'init', '-q');
    git(join(folder, SUB), 'commit', '-q', '--allow-empty', '-m', 'a repository in a folder');
    expect(await listChanged(workspace)).toBe('');
  });

  it('is named', async () => {
    const workspace = await createSubmodule();
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
  async function createClone(filter: string) {
    const workspace = await createRepository();
    const { folder, write } = workspace;
    git(folder, 'checkout', '-q', '-b', 'pull-request');
    await write({ [WEB]: toEdge('a', 20_001) });
    commit(workspace, WEB);
    git(folder, 'config', 'uploadpack.allowFilter', 'true');
    git(folder, 'config', 'uploadpack.allowAnySHA1InWant', 'true');
    const clone = join(folder, 'clone');
    git(folder, 'clone', '-q', `--filter=${filter}`, `file://${folder}`, clone);
    const count = () => readdirSync(join(clone, '.git/objects/pack')).length;
    const before = count();
    const ran = await workspace.edgewise('stacks live --changed-since origin/main --format folder', { cwd: clone });
    expect(count()).toBe(before);
    return ran;
  }

  it('without the content of files is compared, and nothing is fetched', async () => {
    expect(await createClone('blob:none')).toMatchObject({ exitCode: 0, stdout: 'live/web\n' });
  });

  it('without trees is an error that says so, and nothing is fetched', async () => {
    expect(await createClone('tree:0')).toMatchObject({
      exitCode: 3,
      stdout: '',
      stderr: expect.stringMatching(/git cannot list the files of the commit \w+: [\s\S]*clone without --filter/),
    });
  });
});

describe('a comparison with a commit', () => {
  it('writes no file, and leaves the index unchanged', async () => {
    const workspace = await createRepository({ '.gitattributes': '*.yaml ident\n' });
    const { folder } = workspace;
    const index = await readFile(join(folder, '.git/index'));
    // A temporary folder is not needed.
    expect(await listChanged(workspace, { TMPDIR: '/nowhere' })).toBe('');
    expect(await readFile(join(folder, '.git/index'))).toEqual(index);
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
    await symlink('../../far.yaml', join(workspace.folder, 'live/web/link.yaml'));
    await workspace.write({ 'far.yaml': toEdge('far', 20_002) });
    commitAll(workspace.folder);
    expect(git(workspace.folder, 'rev-parse', 'HEAD').trim()).toHaveLength(64);
    expect(await listChanged(workspace)).toBe('');
    await rename(join(workspace.folder, WEB), join(workspace.folder, 'live/web/renamed.yaml'));
    expect(await listChanged(workspace)).toBe('live/web');
    await rename(join(workspace.folder, 'live/web/renamed.yaml'), join(workspace.folder, WEB));
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ 'far.yaml': toEdge('far', 20_003) });
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
      expect(stderr).toContain(`${name} is ambiguous in this repository`);
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
      stderr: expect.stringContaining('is ambiguous'),
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
