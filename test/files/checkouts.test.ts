import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { listCheckouts } from '../../src/files/boundary.ts';

async function createFolder(): Promise<string> {
  const folder = await realpath(await mkdtemp(join(tmpdir(), 'edgewise-checkouts-')));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

it('the checkout is the repository of a folder, of any user, and --root', async () => {
  const folder = await createFolder();
  await mkdir(join(folder, 'repo/.git'), { recursive: true });
  await mkdir(join(folder, 'repo/live'));
  const options = { cwd: join(folder, 'repo/live'), root: '../..', env: {} };
  expect(listCheckouts([join(folder, 'repo/live')], options)).toEqual([folder, join(folder, 'repo')]);
});

it('without a repository, it is the folder itself, unless the home folder of the user is in it', async () => {
  const folder = await createFolder();
  await mkdir(join(folder, 'home/live'), { recursive: true });
  const list = (cwd: string, env: Readonly<Record<string, string>>) => listCheckouts([cwd], { cwd, env });
  const home = join(folder, 'home');
  for (const env of [{ HOME: home }, { USERPROFILE: home }]) {
    expect(list(join(home, 'live'), env)).toEqual([join(home, 'live')]);
    expect(list(home, env)).toEqual([]);
    expect(list(folder, env)).toEqual([]);
  }
  expect(list(folder, {})).toEqual([folder]);
  expect(list('/', {})).toEqual([]);
});

it('the repositories around it are checkouts too, but not one with the home folder of the user', async () => {
  const folder = await createFolder();
  for (const name of ['.git', 'a/.git', 'a/b/.git', 'me']) await mkdir(join(folder, name), { recursive: true });
  const cwd = join(folder, 'a/b');
  const [outer, middle] = [folder, join(folder, 'a')];
  expect(listCheckouts([cwd], { cwd, env: {} })).toEqual([cwd, middle, outer]);
  expect(listCheckouts([cwd], { cwd, env: { HOME: join(folder, 'me') } })).toEqual([cwd, middle]);
  expect(listCheckouts([folder], { cwd, env: { HOME: join(folder, 'me') } })).toEqual([folder]);
  expect(listCheckouts([], { cwd: join(folder, 'me'), env: {}, namedPaths: ['../a'] })).toEqual([middle, outer]);
});
