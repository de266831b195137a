import { execFileSync } from 'node:child_process';
import { chownSync, lchownSync, renameSync } from 'node:fs';
import { chmod, copyFile, cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { readInput } from '../../src/files/read-input.ts';
import { isOfAnotherUser } from '../../src/files/trusted-users.ts';
import { writeToDeviceOrPipe } from '../../src/files/write-file.ts';
import { createWorkspace, STACK, toCredential, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { toRepository } from '../repository/tree.ts';

/** Another user of the machine has created files in a folder that every user can write to. */

const OWN = process.getuid?.();
const NOBODY = 65_534;
/** Only root can give a file to another user. */
const isRoot = OWN === 0;

function apply({ edgewise }: Workspace, flags: string) {
  return edgewise(`apply --yes --token-directory tokens ${flags}`, { ...(OWN !== undefined && { uid: OWN }) });
}

async function createShared(): Promise<Workspace> {
  const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toCredential('agent') });
  await workspace.write({ 'home/.bashrc': '# mine\n' });
  return workspace;
}

describe('a report', () => {
  it.each(['a link', 'a file'])('is not written into %s that replaced a pipe after the check', async (what) => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [secret, report] = [join(folder, '.bashrc'), join(folder, 'report')];
    await writeFile(secret, '# mine\n');
    if (what === 'a link') await symlink(secret, report);
    await expect(
      writeToDeviceOrPipe(what === 'a link' ? report : secret, 'touch pwned\n', { cwd: folder }),
    ).rejects.toThrow();
    expect(await readFile(secret, 'utf8')).toBe('# mine\n');
  });
});

describe('a token folder', () => {
  it.runIf(isRoot)('causes a warning if another user made it', async () => {
    const workspace = await createShared();
    await mkdir(join(workspace.folder, 'tokens'), { mode: 0o700 });
    chownSync(join(workspace.folder, 'tokens'), NOBODY, NOBODY);
    const { stderr } = await apply(workspace, '');
    expect(stderr).toContain('The token folder tokens belongs to another user, who can replace its files.');
  });
});

/** A folder that every user can write to, such as `/tmp`, with a file or folder of another user. */
async function createSharedFolder(workspace: Workspace, make: (path: string) => unknown): Promise<string> {
  const shared = join(workspace.folder, 'shared');
  await mkdir(shared);
  await chmod(shared, 0o1777);
  const path = join(shared, 'theirs');
  await make(path);
  lchownSync(path, NOBODY, NOBODY);
  return path;
}

describe.runIf(isRoot)('a folder of another user in a folder that every user can write to', () => {
  it.each(['--report markdown=shared/theirs/plan.md', '-o shared/theirs/plan.json'])(
    'gets nothing: %s',
    async (flags) => {
      const workspace = await createShared();
      const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
      const old = '<!-- edgewise:plan stack=test -->\n';
      await workspace.write({ 'shared/theirs/plan.md': old });
      const { exitCode, stderr } = await workspace.edgewise(`plan ${flags}`, { uid: 0 });
      expect(stderr).toContain(`is in ${theirs}, which belongs to another user, and is not overwritten.`);
      expect(exitCode).toBe(3);
      expect(await readdir(theirs)).toEqual(['plan.md']);
      expect(await readFile(join(theirs, 'plan.md'), 'utf8')).toBe(old);
    },
  );

  it('gets no folder of plans', async () => {
    const workspace = await createWorkspace(toRepository(1));
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    const { exitCode, stderr } = await workspace.edgewise('plan -R live -o shared/theirs/plans', { uid: 0 });
    expect(stderr).toContain('belongs to another user');
    expect(exitCode).toBe(3);
    expect(await readdir(theirs)).toEqual([]);
  });

  it('gets no token', async () => {
    const workspace = await createShared();
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    const { exitCode, stderr } = await workspace.edgewise('apply --yes --token-directory shared/theirs/tokens', {
      uid: 0,
    });
    expect(stderr).toContain(`it is in ${theirs}, which belongs to another user`);
    expect(exitCode).toBe(1);
    expect(workspace.recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('gets no export', async () => {
    const workspace = await createShared();
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    const { exitCode, stderr } = await workspace.edgewise('export --owner test -o shared/theirs/live', { uid: 0 });
    expect(stderr).toContain(`shared/theirs/live is in ${theirs}, which belongs to another user`);
    expect(exitCode).toBe(3);
  });

  it('gets no snapshot', async () => {
    const workspace = await createShared();
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    const url = 'embedded:shared/theirs/account.json';
    const { exitCode, stderr } = await workspace.edgewise(`plan --base-url ${url}`, { uid: 0 });
    expect(stderr).toContain(`${theirs} belongs to another user`);
    expect(exitCode).toBe(3);
  });
});

describe.runIf(isRoot)('a temporary name of another user in a folder that every user can write to', () => {
  it.each([
    ['a report', (path: string) => writeFile(path, '<!-- edgewise:plan stack=test -->\n')],
    ['a report, as a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ])('is neither removed nor read: %s', async (_, make) => {
    const workspace = await createShared();
    const theirs = await createSharedFolder(workspace, make);
    const { exitCode, stderr } = await workspace.edgewise(`plan --report markdown=${theirs}`, { uid: 0 });
    expect(stderr).toContain(`${theirs} belongs to another user, and is not overwritten.`);
    expect(exitCode).toBe(3);
  });

  it.each([
    ['a snapshot', (path: string) => writeFile(path, '{}')],
    ['a snapshot, as a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a snapshot, as a link', (path: string) => symlink('../edgewise.yaml', path)],
  ])('is not taken over: %s', async (_, make) => {
    const workspace = await createShared();
    const theirs = await createSharedFolder(workspace, make);
    const { exitCode, stderr } = await workspace.edgewise(`plan --base-url embedded:${theirs}`, { uid: 0 });
    expect(stderr).toContain(`The snapshot cannot be kept in ${theirs}: ${theirs} belongs to another user.`);
    expect(exitCode).toBe(3);
  });
});

describe.runIf(isRoot)('a file of another user in a folder that every user can write to', () => {
  const EDGE = `${STACK}${toEdge('a', 20001)}`;
  const WARNING = (path: string) =>
    `Warning: ${path} belongs to another user (uid ${NOBODY}), in a folder that every user can write to. That user decides what this run reads there.\n`;
  const PEM = '-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----\n';
  const policy = toManifest('Policy', 'any', { require: 'change.address != ""', message: 'No.' });

  it.each([
    ['a manifest', 'plan edgewise.yaml shared/theirs', toEdge('b', 20002), {}],
    ['a manifest that names its Stack', 'validate shared/theirs', EDGE, {}],
    ['a policy', 'plan edgewise.yaml --policies shared/theirs', policy, {}],
    ['the policies of validate', 'validate edgewise.yaml --policies shared/theirs', policy, {}],
    ['the API key', 'plan edgewise.yaml', 'dev', { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'shared/theirs' }],
    ['certificate authorities', 'plan edgewise.yaml --ca-file shared/theirs', PEM, {}],
  ])('is read with one warning that names its user: %s', async (_, line, text, env) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': EDGE });
    const theirs = await createSharedFolder(workspace, (path) => writeFile(path, text));
    const { stderr, stdout } = await workspace.edgewise(`${line} --format json`, { uid: 0, env });
    expect(stderr.split('Warning: ')).toHaveLength(2);
    expect(stderr).toContain(WARNING(theirs));
    expect(() => JSON.parse(stdout)).not.toThrow();
  });

  it('causes one warning for a folder with many manifests, and for many stacks', async () => {
    const workspace = await createWorkspace();
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    await workspace.write(
      Object.fromEntries(Object.entries(toRepository(3)).map(([file, text]) => [`shared/theirs/${file}`, text])),
    );
    const many = await workspace.edgewise('plan -R shared/theirs/live', { uid: 0 });
    expect(many).toMatchObject({ exitCode: 0, stderr: WARNING(theirs) });
    const one = await workspace.edgewise('plan shared/theirs/live/s00', { uid: 0 });
    expect(one).toMatchObject({ exitCode: 0, stderr: WARNING(theirs) });
  });

  it.each([
    'apply edgewise.yaml --approved shared/theirs --yes',
    'show shared/theirs',
    'diff shared/theirs own.json',
    'diff own.json shared/theirs',
  ])('is no plan and no approval: %s', async (line) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': EDGE });
    await workspace.edgewise('plan edgewise.yaml -o own.json');
    const theirs = await createSharedFolder(workspace, (path) => copyFile(join(workspace.folder, 'own.json'), path));
    workspace.recorder.take();
    const { exitCode, stderr } = await workspace.edgewise(line, { uid: 0 });
    expect(exitCode).toBe(3);
    expect(stderr).toContain(
      `The plan shared/theirs is not read: ${theirs} belongs to another user (uid ${NOBODY}), in a folder that every user can write to.`,
    );
    expect(workspace.recorder.take()).toEqual([]);
  });

  it.each([
    [
      "a link to a plan of one's own",
      (path: string) => symlink('../own.json', path),
      'apply edgewise.yaml --approved shared/theirs --yes',
    ],
    [
      'a folder with a link to it',
      async (path: string) => {
        await mkdir(path);
        await symlink('../../own.json', join(path, 'plan.json'));
      },
      'apply edgewise.yaml --approved shared/theirs/plan.json --yes',
    ],
    [
      'an approved folder of plans',
      (path: string) => cp(join(path, '../../plans'), path, { recursive: true }),
      'apply -R live --approved shared/theirs --yes',
    ],
  ])('is no plan, as %s', async (_, make, line) => {
    const workspace = await createWorkspace({ ...toRepository(1), 'edgewise.yaml': EDGE });
    await workspace.edgewise('plan edgewise.yaml -o own.json');
    await workspace.edgewise('plan -R live -o plans');
    workspace.recorder.take();
    await createSharedFolder(workspace, make);
    const { exitCode, stderr } = await workspace.edgewise(line, { uid: 0 });
    expect({ exitCode, stderr }).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('belongs to another user'),
    });
    expect(workspace.recorder.take()).toEqual([]);
  });

  it.each([
    ['a file of the user', 0, 0o1777, '.'],
    ['a file of root', 1000, 0o1777, '.'],
    ['in the folder in which the command runs', NOBODY, 0o1777, 'shared/theirs'],
  ])('is used without a warning if it is %s', async (_, user, mode, cwd) => {
    const workspace = await createWorkspace();
    const theirs = await createSharedFolder(workspace, (path) => mkdir(path));
    await workspace.write({ 'shared/theirs/edgewise.yaml': EDGE });
    await chmod(join(workspace.folder, 'shared'), mode);
    chownSync(theirs, user === NOBODY ? NOBODY : 0, 0);
    const at = { uid: user === NOBODY ? 0 : user, cwd: join(workspace.folder, cwd) };
    const path = cwd === '.' ? 'shared/theirs' : '.';
    expect(await workspace.edgewise(`plan ${path} -o ${workspace.folder}/plan.json`, at)).toMatchObject({
      exitCode: 0,
      stderr: '',
    });
  });

  it('is used without a warning in a folder of its user that others cannot write to, as in a container', async () => {
    const workspace = await createWorkspace({ 'mounted/edgewise.yaml': EDGE });
    for (const path of ['mounted', 'mounted/edgewise.yaml']) chownSync(join(workspace.folder, path), NOBODY, NOBODY);
    expect(await workspace.edgewise('plan mounted', { uid: 0 })).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

describe('a folder for plans of another user', () => {
  it.runIf(isRoot)('is refused with an index that names files to remove', async () => {
    const workspace = await createWorkspace(toRepository(1));
    await workspace.edgewise('plan -R live -o plans');
    chownSync(join(workspace.folder, 'plans'), NOBODY, NOBODY);
    const { exitCode, stderr } = await workspace.edgewise('plan -R live -o plans', { uid: 0 });
    expect(stderr).toContain('plans belongs to another user.');
    expect(exitCode).toBe(3);
  });
});

describe('a file that is read', () => {
  it('is not waited for if it has become a pipe since the check', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'edgewise-test-'));
    onTestFinished(() => rm(folder, { recursive: true }));
    const [file, pipe] = [join(folder, 'file'), join(folder, 'pipe')];
    await writeFile(file, 'text');
    execFileSync('mkfifo', [pipe]);
    const budget = { spend: () => renameSync(pipe, file) }; // called between the check and the read
    expect(() => readInput(file, { budget })).toThrow('was replaced while');
  });
});

describe('a file of another user', () => {
  it('belongs neither to the user, nor to root, nor to the user of the folder', () => {
    const path = join(tmpdir(), 'x');
    expect(isOfAnotherUser(path, { uid: NOBODY }, 1000)).toBe(true);
    expect(isOfAnotherUser(path, { uid: 1000 }, 1000)).toBe(false);
    expect(isOfAnotherUser(path, { uid: 0 }, 1000)).toBe(false);
    expect(isOfAnotherUser(path, { uid: NOBODY }, undefined)).toBe(false);
  });
});
