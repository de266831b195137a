import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import { createWorkspace, toEdge, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, toStack } from './tree.ts';

const REMOVED =
  'live/web/edgewise.yaml is gone since HEAD. If it had a Stack, what that stack owns stays at the service: see docs/how-to/remove-a-stack.md.';

const FILES = {
  'live/web/edgewise.yaml': toStack('web'),
  'live/web/a.yaml': toEdge('a', 20_001),
  'live/web/sub/b.yaml': toEdge('b', 20_002),
  'live/api/edgewise.yaml': toStack('api'),
  'live/api/c.yaml': toEdge('c', 20_003),
};

/** A repository whose stacks are applied and committed. The folder of the stack web is then removed. */
async function createRemoval(files: Readonly<Record<string, string>> = FILES): Promise<Workspace> {
  const workspace = await createWorkspace(files);
  commitAll(workspace.folder);
  expect((await workspace.edgewise('apply -R live --yes')).exitCode).toBe(0);
  rmSync(join(workspace.folder, 'live/web'), { recursive: true });
  workspace.recorder.take();
  return workspace;
}

describe('a removed stack', () => {
  it.each([
    ['stacks live', ['table', 'json']],
    ['plan -R live', GENERAL_FORMAT_NAMES],
    ['drift -R live', GENERAL_FORMAT_NAMES],
    ['validate -R live', GENERAL_FORMAT_NAMES],
  ])(
    'is named by %s --changed-since, with the page on what stays, and no command that deletes',
    async (line, formats) => {
      const { edgewise } = await createRemoval();
      for (const format of formats) {
        const { stdout, exitCode } = await edgewise(`${line} --changed-since HEAD --format ${format}`);
        const text = stdout.replace(/\s+/g, ' ').replaceAll('\\', '').replaceAll('%0A', ' ');
        expect(text).not.toContain('not part of a stack');
        if (format === 'json') expect(JSON.parse(stdout).removed).toEqual(['live/web/edgewise.yaml']);
        else expect([format, text]).toEqual([format, expect.stringContaining(REMOVED)]);
        expect(text).not.toContain('edgewise destroy');
        expect(exitCode).toBe(0);
      }
    },
  );

  it('is named with the line that moves its resources, also if its Stack only got another name', async () => {
    const NAMED =
      'had the stack web at HEAD, and no Stack has this name now. If it has a new one, write into its metadata: renamed_from: web.';
    const { edgewise, write } = await createRemoval();
    expect((await edgewise('stacks live --changed-since HEAD')).stdout).toContain(`live/web/edgewise.yaml ${NAMED}`);
    const files = { ...FILES, 'live/web/edgewise.yaml': toStack('shop') };
    await write(files);
    const { stdout } = await edgewise('stacks live --changed-since HEAD');
    expect(stdout).toContain(`live/web/edgewise.yaml ${NAMED}`);
    expect(stdout).not.toContain('is gone since');
    const said = toStack('shop').replace('"name":"shop"', '"name":"shop","renamed_from":"web"');
    await write({ 'live/web/edgewise.yaml': said });
    expect((await edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('had the stack');
    await write({ 'live/web/edgewise.yaml': toStack('web', { guard: { max_deletes: 9 } }) });
    expect((await edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('had the stack');
  });

  it('is a note of SARIF, a skipped case of JUnit and a member of JSON, also if no stack changed', async () => {
    const { edgewise } = await createRemoval();
    const read = async (format: string) =>
      (await edgewise(`plan -R live --changed-since HEAD --format ${format}`)).stdout;
    const [{ results }] = JSON.parse(await read('sarif')).runs;
    expect(results).toEqual([
      expect.objectContaining({
        ruleId: 'removed-stack',
        level: 'note',
        message: { text: expect.stringContaining(REMOVED) },
      }),
    ]);
    const junit = await read('junit');
    expect(junit).toContain('tests="1" failures="0" errors="0" skipped="1"');
    expect(junit).toContain(`<skipped message="${REMOVED} `);
    expect(JSON.parse(await read('json'))).toMatchObject({ since: 'HEAD', removed: ['live/web/edgewise.yaml'] });
  });

  it('is named on stderr by stacks in formats for programs', async () => {
    const { edgewise } = await createRemoval();
    for (const format of ['folder', 'github', 'gitlab']) {
      const { stdout, stderr } = await edgewise(`stacks live --changed-since HEAD --format ${format}`);
      expect(stderr, format).toContain(REMOVED);
      expect(stdout, format).not.toContain('web');
    }
  });

  it('is named if it was the only one', async () => {
    const { 'live/api/edgewise.yaml': _, 'live/api/c.yaml': __, ...files } = FILES;
    const { edgewise } = await createRemoval(files);
    expect(await edgewise('plan -R live --changed-since HEAD')).toMatchObject({
      exitCode: 0,
      stdout: expect.stringContaining('live/web/edgewise.yaml is gone since HEAD.'),
    });
  });

  it('is one whose Stack document alone is gone, and one inside of a stack that stays', async () => {
    const workspace = await createWorkspace({ ...FILES, 'live/api/inner/stack.json': toStack('inner') });
    commitAll(workspace.folder);
    rmSync(join(workspace.folder, 'live/web/edgewise.yaml'));
    rmSync(join(workspace.folder, 'live/api/inner'), { recursive: true });
    const { stdout } = await workspace.edgewise('stacks live --changed-since HEAD');
    expect(stdout).toContain(REMOVED);
    expect(stdout).toContain('live/api/inner/stack.json is gone since HEAD.');
  });

  it.each([
    ['moved within the root', 'live/moved'],
    ['moved out of the root', 'archive/web'],
  ])('is none that was %s', async (_, to) => {
    const workspace = await createWorkspace(FILES);
    commitAll(workspace.folder);
    mkdirSync(join(workspace.folder, 'archive'));
    renameSync(join(workspace.folder, 'live/web'), join(workspace.folder, to));
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('gone');
  });

  it('is also one beside another with the same content, in a repository with a folder for each service', async () => {
    const workspace = await createWorkspace({
      'one/web/edgewise.yaml': toStack('web'),
      'two/web/edgewise.yaml': toStack('web'),
    });
    commitAll(workspace.folder);
    rmSync(join(workspace.folder, 'one/web/edgewise.yaml'));
    expect((await workspace.edgewise('stacks --changed-since HEAD')).stdout).toContain('one/web/edgewise.yaml is gone');
  });

  it('whose file has another name is a changed file that is not part of a stack', async () => {
    const workspace = await createWorkspace({ ...FILES, 'live/shop/all.yaml': toStack('shop') });
    commitAll(workspace.folder);
    rmSync(join(workspace.folder, 'live/shop'), { recursive: true });
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).toContain(
      'Changed, but not part of a stack: live/shop/all.yaml.',
    );
  });

  it('is none that a sparse checkout leaves out', async () => {
    const workspace = await createWorkspace(FILES);
    commitAll(workspace.folder);
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/api');
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('gone');
  });
});
