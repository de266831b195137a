import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { link, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkWritePath, replaceFile } from '../../src/files/write-file.ts';
import { createWorkspace, STACK, toCredential, toEdge, type Workspace } from '../cli/workspace.ts';

/** The author of a pull request commits links, so that a run in the checkout writes elsewhere. */

const OTHER = STACK.replace('test', 'other');
const NAMES = '--name s --base-url embedded:';

async function createCheckout(files: Readonly<Record<string, string>> = {}): Promise<Workspace> {
  const workspace = await createWorkspace();
  const inCheckout = Object.entries({ 'm/m.yaml': STACK + toEdge('a', 20_001), ...files });
  await workspace.write({
    'outside/kept': 'kept\n',
    ...Object.fromEntries(inCheckout.map(([name, text]) => [`repo/${name}`, text])),
  });
  execFileSync('git', ['init', '--quiet'], { cwd: join(workspace.folder, 'repo') });
  return workspace;
}

async function commitLink({ folder }: Workspace, name: string, target: string): Promise<void> {
  await mkdir(dirname(join(folder, 'repo', name)), { recursive: true });
  await symlink(target, join(folder, 'repo', name));
}

function run({ edgewise, folder }: Workspace, line: string) {
  return edgewise(line, { cwd: join(folder, 'repo') });
}

async function expectNothingOutside({ folder }: Workspace): Promise<void> {
  expect(await readdir(join(folder, 'outside'))).toEqual(['kept']);
  expect(await readFile(join(folder, 'outside/kept'), 'utf8')).toBe('kept\n');
}

describe('a link in the checkout is refused by', () => {
  it.each([
    ['init', 'is a symbolic link', 'manifests', '../outside', `init manifests ${NAMES}`],
    ['init, in the middle of the path', 'through the symbolic link a/b', 'a/b', '../../outside', `init a/b/c ${NAMES}`],
    ['init, before `..`', 'is a symbolic link', 'x/../manifests', '../outside', `init x/../manifests ${NAMES}`],
    ['init, to nothing', 'is a symbolic link', 'manifests', '../missing', `init manifests ${NAMES}`],
    ['init, to another place in the checkout', 'is a symbolic link', 'manifests', 'm', `init manifests ${NAMES}`],
    ['init, for the schema', 'link .edgewise', '.edgewise', '../outside', `init other ${NAMES}`],
    ['init, for a file', 'example.yaml is a symbolic link', 'n/example.yaml', '../../outside/new', `init n ${NAMES}`],
    ['export', 'is a symbolic link', 'live', '../outside', 'export -o live --owner test --force'],
    [
      'export, in the middle',
      'link live/tcp-edge',
      'live/tcp-edge',
      '../../outside',
      'export -o live --owner test --force',
    ],
    [
      'export, for a file',
      'is a symbolic link',
      'live/edgewise.yaml',
      '../../outside/kept',
      'export -o live --owner test --force',
    ],
    ['a folder of plans', 'is a symbolic link', 'plans', '../outside', 'plan -R m -o plans'],
    ['a plan file', 'through the symbolic link out', 'out', '../outside', 'plan m -o out/plan.json'],
    ['a report', 'through the symbolic link out', 'out', '../outside', 'plan m --report markdown=out/plan.md'],
    ['a report into .git', 'through the symbolic link out', 'out', '.git', 'plan m --report markdown=out/hooks/x'],
    [
      'the data of the embedded server',
      'is a symbolic link',
      'x.json',
      '../outside/x',
      'apply m --yes --base-url embedded:x.json',
    ],
    ['the data, in the middle', 'link data', 'data', '../outside', 'apply m --yes --base-url embedded:data/x.json'],
    ['a token folder of a flag', 'is a symbolic link', 't', '../outside', 'apply c --yes --token-directory t'],
    ['a token folder of the Stack', 'is outside', 't', '../outside', 'apply d --yes'],
    ['a token folder of the Stack, in the checkout', 'is a symbolic link', 't', 'm', 'apply d --yes'],
  ])('%s', async (...[, why, name, target, line]) => {
    const workspace = await createCheckout({
      'c/m.yaml': OTHER + toCredential('a'),
      'd/m.yaml': `${OTHER.replace('name: other', 'name: another')}spec: { tokens: { default: { directory: ../t } } }\n${toCredential('a')}`,
    });
    await run(workspace, 'apply m --yes');
    await commitLink(workspace, name, target);
    workspace.recorder.take();
    const { exitCode, stderr } = await run(workspace, line);
    expect(stderr).toContain(why);
    expect(exitCode).toBeOneOf([1, 3]);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
    await expectNothingOutside(workspace);
    expect(existsSync(join(workspace.folder, 'missing'))).toBe(false);
    expect(existsSync(join(workspace.folder, 'repo/m/edgewise.yaml'))).toBe(false);
  });

  it('init, if the path is absolute, and if another repository is the target', async () => {
    const workspace = await createCheckout();
    execFileSync('git', ['init', '--quiet'], { cwd: join(workspace.folder, 'outside') });
    await commitLink(workspace, 'manifests', '../outside');
    for (const folder of ['manifests/new', join(workspace.folder, 'repo/manifests')]) {
      const { exitCode, stderr } = await run(workspace, `init ${folder} ${NAMES}`);
      expect(stderr).toContain('symbolic link');
      expect(exitCode).toBe(3);
    }
    expect((await readdir(join(workspace.folder, 'outside'))).sort()).toEqual(['.git', 'kept']);
  });
});

describe('a path out of the checkout that the user gives', () => {
  it.each(['../outside/new', 'm/../../outside/new'])('is written: %s', async (folder) => {
    const workspace = await createCheckout();
    expect(await run(workspace, `init ${folder} ${NAMES}`)).toMatchObject({ exitCode: 0 });
    expect(existsSync(join(workspace.folder, 'outside/new/edgewise.yaml'))).toBe(true);
  });

  it('is written through a link of the user', async () => {
    const workspace = await createCheckout();
    await symlink('outside', join(workspace.folder, 'mine'));
    const path = join(workspace.folder, 'mine');
    expect(await run(workspace, `plan m --report json=${path}/plan.json`)).toMatchObject({ exitCode: 0 });
    expect((await readdir(join(workspace.folder, 'outside'))).sort()).toEqual(['kept', 'plan.json']);
  });

  it('is not written back into the checkout through one of its links', async () => {
    const workspace = await createCheckout();
    await commitLink(workspace, 'out', '../outside');
    await symlink('repo/out', join(workspace.folder, 'mine'));
    const { exitCode, stderr } = await run(workspace, `plan m --report json=${workspace.folder}/mine/plan.json`);
    expect(stderr).toContain('is reached through the symbolic link out');
    expect(exitCode).toBe(3);
    await expectNothingOutside(workspace);
  });
});

describe('a hard link', () => {
  it('keeps its text under its other name if a report, an export or a token replaces it', async () => {
    const files = { 'c/m.yaml': OTHER + toCredential('a'), 'live/x': '', 't/x': '', '.gitignore': '/t/\n' };
    const workspace = await createCheckout(files);
    const { folder } = workspace;
    for (const name of ['plan.json', 'live/edgewise.yaml', 't/a.token'])
      await link(join(folder, 'outside/kept'), join(folder, 'repo', name));
    await run(workspace, 'plan m --report json=plan.json');
    expect((await run(workspace, 'export -o live --owner test --force')).exitCode).toBe(0);
    expect((await run(workspace, 'apply c --yes --token-directory t')).exitCode).toBe(0);
    expect(await readFile(join(folder, 'repo/t/a.token'), 'utf8')).not.toBe('kept\n');
    await expectNothingOutside(workspace);
  });
});

describe('a folder that a link replaces while a file in it is written', () => {
  it('gets no text outside', async () => {
    const { folder } = await createCheckout();
    const [out, outside] = [join(folder, 'repo/out'), join(folder, 'outside')];
    await mkdir(out);
    // Another process exchanges the folder and a link to a folder outside, as often as it can.
    const script = `
      const { renameSync, symlinkSync } = require('node:fs');
      symlinkSync(${JSON.stringify(outside)}, ${JSON.stringify(`${out}.link`)});
      process.stdout.write('x');
      const end = Date.now() + 1500;
      while (Date.now() < end) {
        for (const [from, to] of [['', '.folder'], ['.link', ''], ['', '.link'], ['.folder', '']])
          renameSync(${JSON.stringify(out)} + from, ${JSON.stringify(out)} + to);
      }`;
    const { spawn } = await import('node:child_process');
    const swapper = spawn(process.execPath, ['-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    await new Promise((done) => swapper.stdout.once('data', done));
    const results: string[] = [];
    const ended = new Promise((done) => swapper.once('exit', done));
    let isRunning = true;
    ended.then(() => {
      isRunning = false;
    });
    while (isRunning) {
      await replaceFile('out/secret', 'SECRET', { cwd: join(folder, 'repo'), mode: 0o600 }).then(
        () => results.push('written'),
        () => results.push('refused'),
      );
    }
    await ended;
    expect(results).toContain('refused');
    const texts = await Promise.all((await readdir(outside)).map((name) => readFile(join(outside, name), 'utf8')));
    expect(texts.filter((text) => text.includes('SECRET'))).toEqual([]);
  });
});

describe('a path to write', () => {
  it('can be a file, or a device or pipe of the user', async () => {
    const { folder } = await createCheckout();
    await writeFile(join(folder, 'file'), '');
    expect(checkWritePath('/dev/stdout', { cwd: folder })).toBe('/dev/stdout');
    expect(() => checkWritePath('/dev/stdout', { cwd: folder, roots: ['/'] })).toThrow('outside the repository');
    expect(() => checkWritePath('../x', { cwd: folder, roots: [folder] })).toThrow('outside the repository');
    expect(() => checkWritePath('.git/x', { cwd: folder, roots: [folder] })).toThrow('inside .git');
  });
});
