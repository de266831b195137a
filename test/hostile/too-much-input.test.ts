import { copyFile, mkdir, readFile, symlink, truncate, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createReadBudget, readInput } from '../../src/files/read-input.ts';
import { readManifestFiles } from '../../src/manifest/load.ts';
import { createWorkspace, STACK, toManifest, type Workspace } from '../cli/workspace.ts';
import { runEdgewise } from '../end-to-end/processes.ts';
import { toRepository } from '../repository/tree.ts';

/** The author of a pull request tries to use up the memory or time of the machine: each file is small enough, but there are many. */

const MIB = 1024 * 1024;

const COUNT = 30;

/** Creates sparse files of these sizes. */
async function createLargeFiles(files: Readonly<Record<string, number>>, more: Readonly<Record<string, string>> = {}) {
  const names = Object.keys(files);
  const workspace = await createWorkspace({ ...more, ...Object.fromEntries(names.map((name) => [name, '# '])) });
  for (const [name, size] of Object.entries(files)) await truncate(join(workspace.folder, name), size);
  return workspace;
}

function toFiles(folder: string, size: number): Readonly<Record<string, number>> {
  return Object.fromEntries(
    Array.from({ length: COUNT }, (_, index) => [`${folder}/f${String(index).padStart(2, '0')}.yaml`, size]),
  );
}

function plan({ folder }: Workspace, words: readonly string[]) {
  const env = { EDGEWISE_BASE_URL: 'embedded:', EDGEWISE_API_KEY: 'dev' };
  return runEdgewise(['plan', ...words.map((word) => join(folder, word))], env);
}

const STACK_LIMIT = /is where the limit of 64 MiB for the files of one stack was reached/;

describe('thirty large files', () => {
  it('of a folder end the run with an error at the first one too many, and are not all read', async () => {
    const workspace = await createLargeFiles(toFiles('live', 31 * MIB), { 'live/a.yaml': STACK });
    const { exitCode, stdout, stderr } = await plan(workspace, ['live']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 3, stdout: '' });
    expect(stderr).toMatch(/^error\[file-unreadable\]: \S+live\/f02\.yaml /);
    expect(stderr).toMatch(STACK_LIMIT);
    expect(stderr).toContain('split the manifests');
    expect(stderr.match(/error\[file-unreadable\]/g)).toHaveLength(1);
  });

  it('end the run if each is too large, and each is named', async () => {
    const workspace = await createLargeFiles(toFiles('live', 33 * MIB), { 'live/a.yaml': STACK });
    const { exitCode, stderr } = await plan(workspace, ['live']);
    expect(exitCode).toBe(3);
    expect(stderr.match(/is larger than 32 MiB/g)).toHaveLength(COUNT);
  });

  it('end the run if they are named one by one, or are policies', async () => {
    const files = toFiles('live', 31 * MIB);
    const workspace = await createLargeFiles(files, { 'm.yaml': STACK });
    for (const words of [Object.keys(files), ['m.yaml', ...Object.keys(files)], ['live', 'live/f09.yaml']]) {
      const { exitCode, stderr } = await plan(workspace, words);
      expect(exitCode).toBe(3);
      expect(stderr).toMatch(STACK_LIMIT);
      expect(stderr.match(/error\[file-unreadable\]/g)).toHaveLength(1);
    }
    const policies = `${STACK}spec: { policies: [live] }\n`;
    await writeFile(join(workspace.folder, 'm.yaml'), policies);
    const { exitCode, stderr } = await plan(workspace, ['m.yaml']);
    expect(exitCode).toBe(3);
    expect(stderr).toMatch(STACK_LIMIT);
  });

  it('end the run if many stacks have too many together', async () => {
    const files = Object.assign({}, ...['a', 'b', 'c', 'd', 'e'].map((name) => toTwo(name)));
    const stacks = ['a', 'b', 'c', 'd', 'e'].map((name) => [`${name}/m.yaml`, STACK.replace('test', name)]);
    const { folder } = await createLargeFiles(files, Object.fromEntries(stacks));
    const { exitCode, stdout, stderr } = await runEdgewise(['plan', '-R', folder], { EDGEWISE_BASE_URL: 'embedded:' });
    expect(exitCode).toBe(3);
    expect(stdout + stderr).toMatch(/is where the limit of 256 MiB for the files of one run was reached/);
  });
});

function toTwo(name: string): Readonly<Record<string, number>> {
  return { [`${name}/x.yaml`]: 30 * MIB, [`${name}/y.yaml`]: 30 * MIB };
}

describe('a folder of ten large plans', () => {
  it.each(['apply plans --yes', 'apply -R live --approved plans --yes'])('is not all read: %s', async (line) => {
    const { edgewise, write, folder, recorder } = await createWorkspace(toRepository(1));
    await edgewise('plan -R live -o plans');
    await write({
      'plans/s00.json': (await readFile(join(folder, 'plans/s00.json'), 'utf8')) + ' '.repeat(30 * MIB),
    });
    const names = Array.from({ length: 10 }, (_, number) => `s0${number}.json`);
    for (const name of names.slice(1)) await copyFile(join(folder, 'plans/s00.json'), join(folder, 'plans', name));
    recorder.take();
    const { exitCode, stderr } = await edgewise(line);
    expect(exitCode).toBe(3);
    expect(stderr).toContain('s08.json');
    expect(stderr).toContain('where the limit of 256 MiB for the files of one run was reached');
    expect(recorder.take()).toEqual([]);
  });
});

describe('more files than a run reads', () => {
  it('end the run, however small they are', async () => {
    const { folder } = await createWorkspace({ 'a.yaml': STACK, 'b.yaml': '# b\n', 'c.yaml': '# c\n' });
    const budget = createReadBudget({ maxBytes: MIB, maxFiles: 2, of: 'one stack' });
    const { sources, diagnostics } = await readManifestFiles(['.'], {
      cwd: folder,
      uid: process.getuid?.(),
      readStdin: failIfRead,
      budget,
    });
    expect(sources).toHaveLength(2);
    expect(diagnostics.map(({ message }) => message)).toEqual([
      'c.yaml is where the limit of 2 files for one stack was reached',
    ]);
  });

  it('count for the run as for their stack', async () => {
    const { folder } = await createWorkspace({ 'a.yaml': STACK, 'b.yaml': STACK });
    const run = createReadBudget({ maxBytes: MIB, maxFiles: 1, of: 'one run' });
    const limits = { maxBytes: MIB, maxFiles: 9, of: 'one stack' };
    readInput(join(folder, 'a.yaml'), { budget: createReadBudget(limits, run) });
    expect(() => readInput(join(folder, 'b.yaml'), { budget: createReadBudget(limits, run) })).toThrow(/one run/);
  });
});

function failIfRead(): never {
  throw new Error('standard input is not asked for');
}

describe('a link to an endless tree', () => {
  it.each(['/proc', '/sys', '/dev/zero', '/proc/kcore'])('is refused and not followed: %s', async (target) => {
    const { folder, edgewise } = await createWorkspace({ 'm.yaml': STACK });
    await symlink(target, join(folder, 'more.yaml'));
    const { exitCode, stderr } = await edgewise('plan .');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('more.yaml is outside the repository');
  });
});

describe('a folder with too many levels', () => {
  it.each(['is not entered', 'is not entered through a link either'])('%s', async (how) => {
    const { folder } = await createWorkspace({ 'live/m.yaml': STACK });
    const [top, length] = how.includes('link') ? ['deep', 150] : ['live', 1400];
    const deep = join(folder, top, ...Array.from({ length }, () => 'a'));
    await mkdir(deep, { recursive: true });
    await mkdir(join(folder, '.git'));
    if (how.includes('link')) await symlink(deep, join(folder, 'live/link'));
    const started = performance.now();
    const { exitCode, stdout } = await runEdgewise(['validate', join(folder, 'live')]);
    expect(exitCode).toBe(3);
    expect(stdout.match(/is more than 100 folders deep/g)).toHaveLength(1);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});

describe('files of fields that are a thousand folders deep', () => {
  it.each([
    ['that are there', 1900],
    ['that are not there', 30_000],
  ])(
    'are refused before the system searches for them: %s',
    async (what, depth) => {
      const { folder } = await createWorkspace({ '.git/HEAD': '' });
      if (what === 'that are there') await mkdir(join(folder, 'a/'.repeat(depth)), { recursive: true });
      const keys = Array.from({ length: 300 }, (_, index) =>
        toManifest('SSHUserCertificate', `c${index}`, {
          ssh_certificate_authority_id: 'sshca_1',
          principals: ['a'],
          public_key: { file: `${'a/'.repeat(depth)}k${index}.pub` },
        }),
      );
      await writeFile(join(folder, 'm.yaml'), `${STACK}${keys.join('')}`);
      const { exitCode, stdout } = await runEdgewise(['validate', join(folder, 'm.yaml')]);
      expect(exitCode).toBe(3);
      expect(stdout.match(/goes through more than 300 folders/g)).toHaveLength(300);
    },
    // A search for them would take minutes.
    60_000,
  );
});

describe('a name that is not valid UTF-8', () => {
  it('is an error that names its folder and its bytes', async () => {
    const { folder, edgewise } = await createWorkspace({ 'live/m.yaml': STACK });
    const toPath = (name: string) => Buffer.concat([Buffer.from(join(folder, 'live/')), Buffer.from(name, 'latin1')]);
    await writeFile(toPath('b\xff\x1b.yaml'), '# b\n');
    await mkdir(toPath('d\xfe'));
    await writeFile(toPath('notes\xff.txt'), 'not read\n');
    const { exitCode, stdout } = await edgewise('validate live');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('live contains a file name that is not valid UTF-8: b\\xff\\x1b.yaml\n');
    expect(stdout).toContain('live contains a file name that is not valid UTF-8: d\\xfe\n');
    expect(stdout).toContain('2 errors');
  });

  it('is valid with the replacement character, and its file is read', async () => {
    const { edgewise } = await createWorkspace({ 'live/m\ufffd.yaml': STACK });
    expect(await edgewise('validate live')).toMatchObject({ exitCode: 0 });
  });
});

describe('links through a thousand folders', () => {
  it.each(['each by itself', 'one after the other'])('are refused before the system follows them: %s', async (how) => {
    const { folder } = await createWorkspace({ 'live/m.yaml': STACK });
    await mkdir(join(folder, '.git'));
    const part = Array.from({ length: how === 'each by itself' ? 1400 : 200 }, () => 'a').join('/');
    let deep = join(folder, 'z');
    for (let left = 1400; left > 0; left -= part.split('/').length) {
      await mkdir(join(deep, part), { recursive: true });
      await symlink(part, join(deep, 'next'));
      deep = join(deep, part);
    }
    await writeFile(join(deep, 'x.yaml'), '# x\n');
    const way = how === 'each by itself' ? `z/${part}` : `z${'/next'.repeat(7)}`;
    for (let index = 0; index < 200; index += 1) await symlink(`../${way}/x.yaml`, join(folder, `live/l${index}.yaml`));
    const started = performance.now();
    const { exitCode, stdout } = await runEdgewise(['validate', join(folder, 'live')]);
    expect(exitCode).toBe(3);
    expect(stdout.match(/goes through more than 300 folders/g)).toHaveLength(200);
    expect(performance.now() - started).toBeLessThan(10_000);
  });
});
