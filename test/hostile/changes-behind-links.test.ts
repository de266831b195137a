import { symlinkSync } from 'node:fs';
import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { commitAll, toStack } from '../repository/tree.ts';
import { createRepository, KEY, listChanged, POLICY, SSH, TEXT, WITH_INPUTS, WITH_POLICIES } from './changed-stacks.ts';

/** The author of a pull request changes where a path leads, and each file has the content that it had. */

/** Puts a link in the place of a link or file. */
function placeLink(link: string, target: string): (folder: string) => Promise<void> {
  return async (folder) => {
    await rm(join(folder, link));
    await symlink(target, join(folder, link));
  };
}

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
    ['if a link on the way leads elsewhere', placeLink('live/web/middle', '../../shared/two.yaml')],
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

  it.each<[string, Readonly<Record<string, string>>, (folder: string) => Promise<unknown>]>([
    [
      'if one takes the place of a file with the same content',
      { 'live/web/a.yaml': TEXT, 'shared/same.yaml': TEXT },
      placeLink('live/web/a.yaml', '../../shared/same.yaml'),
    ],
    [
      'if a file takes the place of one with the same content',
      { 'shared/same.yaml': TEXT, 'live/web/a.yaml': '-> ../../shared/same.yaml' },
      async (folder) => {
        await rm(join(folder, 'live/web/a.yaml'));
        await writeFile(join(folder, 'live/web/a.yaml'), TEXT);
      },
    ],
    [
      'if a file takes its place that contains its text',
      { 'shared/same.yaml': TEXT, 'live/web/a.yaml': '-> ../../shared/same.yaml' },
      async (folder) => {
        await rm(join(folder, 'live/web/a.yaml'));
        await writeFile(join(folder, 'live/web/a.yaml'), '../../shared/same.yaml');
      },
    ],
    [
      'if one takes the place of a folder with the same files',
      { 'live/web/sub/a.yaml': TEXT, 'shared/same/a.yaml': TEXT },
      async (folder) => {
        await rm(join(folder, 'live/web/sub'), { recursive: true });
        await symlink('../../shared/same', join(folder, 'live/web/sub'));
      },
    ],
    [
      'if one to a folder is gone',
      { 'live/web/sub': '-> ../../shared/same', 'shared/same/a.yaml': TEXT },
      (folder) => rm(join(folder, 'live/web/sub')),
    ],
    [
      'if the folder that it leads to is gone',
      { 'live/web/sub': '-> ../../shared/same', 'shared/same/a.yaml': TEXT },
      (folder) => rm(join(folder, 'shared'), { recursive: true }),
    ],
    [
      'if it goes up from a folder that is gone, so that it leads nowhere',
      { 'live/web/sub': '-> ../../gone/../shared', 'shared/a.yaml': TEXT, 'gone/README': '' },
      (folder) => rm(join(folder, 'gone'), { recursive: true }),
    ],
    [
      'if it goes up from a folder that is now a link',
      {
        'live/web/sub': '-> ../../way/../shared',
        'shared/a.yaml': TEXT,
        'way/x': '',
        'else/way/x': '',
        'else/shared/a.yaml': TEXT,
      },
      async (folder) => {
        await rm(join(folder, 'way'), { recursive: true });
        await symlink('else/way', join(folder, 'way'));
      },
    ],
    [
      'if it goes up from a folder that was a link',
      {
        'live/web/sub': '-> ../../way/../shared',
        way: '-> else/way',
        'else/way/x': '',
        'else/shared/a.yaml': TEXT,
        'shared/a.yaml': TEXT,
      },
      async (folder) => {
        await rm(join(folder, 'way'));
        await mkdir(join(folder, 'way'));
        await writeFile(join(folder, 'way/x'), '');
      },
    ],
    [
      'if the stack is reached through another one',
      { current: '-> live', next: '-> live', 'live/web/a.yaml': TEXT },
      placeLink('current', 'next'),
    ],
    [
      'if policies are behind one that leads elsewhere',
      { rules: '-> one', 'one/p.yaml': POLICY, 'two/p.yaml': POLICY, 'live/web/edgewise.yaml': WITH_POLICIES },
      placeLink('rules', 'two'),
    ],
    [
      'if inputs are behind one that leads elsewhere',
      { base: '-> one', 'one/x': '1', 'two/x': '1', 'live/web/edgewise.yaml': WITH_INPUTS },
      placeLink('base', 'two'),
    ],
    [
      'if a named file is behind one that leads elsewhere',
      { keys: '-> one', 'one/ci.pub': KEY, 'two/ci.pub': KEY, 'live/web/ssh.yaml': SSH },
      placeLink('keys', 'two'),
    ],
  ])('%s', async (_, files, change) => {
    const workspace = await createRepository(
      Object.fromEntries(Object.entries(files).filter(([, text]) => !text.startsWith('-> '))),
    );
    const { folder } = workspace;
    for (const [path, text] of Object.entries(files))
      if (text.startsWith('-> ')) await symlink(text.slice(3), join(folder, path));
    commitAll(folder);
    const root = 'current' in files ? 'current' : 'live';
    const list = async () =>
      (await workspace.edgewise(`stacks ${root} --changed-since main --format folder`)).stdout.split('\n')[0];
    expect(await list()).toBe('');
    await change(folder);
    expect(await list()).toBe(root === 'current' ? 'current/other' : 'live/web');
  });

  it.each(['/etc', '../../../outside', 'a/../../../../outside'])('always, if one leads to %s', async (target) => {
    const workspace = await createRepository({ 'live/web/a/README': '' });
    await symlink(target, join(workspace.folder, 'live/web/out'));
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it('always, if one leads to the repository by an absolute path', async () => {
    const workspace = await createRepository({ 'shared/a.yaml': toEdge('a', 20_001) });
    await symlink(join(workspace.folder, 'shared'), join(workspace.folder, 'live/web/out'));
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('live/web');
  });

  it.each(['policies', 'inputs'])('if Defaults above one name %s, relative to their own folder', async (setting) => {
    const workspace = await createRepository({
      'live/defaults.yaml': toManifest('Defaults', 'x', { [setting]: ['../rules'] }),
      'rules/p.yaml': POLICY,
      'far/away/deep/more/edgewise.yaml': toStack('more'),
    });
    await symlink('../far/away/deep/more', join(workspace.folder, 'live/more'));
    commitAll(workspace.folder);
    expect(await listChanged(workspace)).toBe('');
    await workspace.write({ 'rules/p.yaml': POLICY.replace('old', 'new') });
    expect(await listChanged(workspace)).toBe('live/more live/other live/web');
  });

  it('that form a long chain, and the program does not fail', async () => {
    const workspace = await createRepository({ 'live/web/edgewise.yaml': WITH_INPUTS, 'base/README': '' });
    for (let index = 0; index < 3000; index += 1)
      symlinkSync(`${index + 1}`, join(workspace.folder, 'base', String(index)));
    commitAll(workspace.folder);
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
