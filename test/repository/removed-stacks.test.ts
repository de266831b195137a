import { mkdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { GENERAL_FORMAT_NAMES } from '../../src/report/formats.ts';
import { createWorkspace, toEdge, toManifest, type Workspace } from '../cli/workspace.ts';
import { commitAll, git, listWrites, toStack } from './tree.ts';

const REMOVED =
  'The stack web (live/web) was removed, and its 2 resources stay at the service until edgewise destroy --stack web --from HEAD.';

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
  ])('is named by %s --changed-since, with what stays and how to delete it', async (line, formats) => {
    const { edgewise } = await createRemoval();
    for (const format of formats) {
      const { stdout, exitCode } = await edgewise(`${line} --changed-since HEAD --format ${format}`);
      const text = stdout.replace(/\s+/g, ' ').replaceAll('\\', '').replaceAll('%0A', ' ');
      expect(text).not.toContain('not part of a stack');
      if (format === 'json' && line.startsWith('stacks'))
        expect(JSON.parse(stdout).removed).toEqual([{ name: 'web', folder: 'live/web', resources: 2 }]);
      else expect([format, text]).toEqual([format, expect.stringContaining(REMOVED)]);
      expect(exitCode).toBe(0);
    }
  });

  it('is a note of SARIF, a skipped case of JUnit and a member of JSON, also if no stack changed', async () => {
    const { edgewise } = await createRemoval();
    const read = async (format: string) =>
      (await edgewise(`plan -R live --changed-since HEAD --format ${format}`)).stdout;
    const [{ results }] = JSON.parse(await read('sarif')).runs;
    expect(results).toEqual([
      expect.objectContaining({ ruleId: 'removed-stack', level: 'note', properties: { stack: 'web' } }),
    ]);
    const junit = await read('junit');
    expect(junit).toContain('tests="1" failures="0" errors="0" skipped="1"');
    expect(junit).toContain(`<skipped message="${REMOVED}"/>`);
    expect(JSON.parse(await read('json'))).toMatchObject({ since: 'HEAD', removed: [{ name: 'web', resources: 2 }] });
  });

  it('is named once when the results of shards are joined', async () => {
    const { edgewise } = await createRemoval();
    for (const shard of [1, 2])
      await edgewise(`plan -R live --changed-since HEAD --shard ${shard}/2 --report json=${shard}.json`);
    for (const format of GENERAL_FORMAT_NAMES) {
      const { stdout, exitCode } = await edgewise(`join 1.json 2.json --format ${format}`);
      expect(exitCode).toBe(0);
      expect(stdout.replaceAll('\\', '').split('was removed, and its 2').length - 1, format).toBe(1);
    }
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
      stdout: expect.stringContaining('The stack web (live/web) was removed'),
    });
  });

  it('is one whose Stack document alone is gone, or that has another name', async () => {
    const workspace = await createWorkspace(FILES);
    commitAll(workspace.folder);
    rmSync(join(workspace.folder, 'live/web/edgewise.yaml'));
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).toContain(REMOVED);
    await workspace.write({ 'live/web/edgewise.yaml': toStack('shop') });
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).toContain(REMOVED);
  });

  it.each([
    ['moved within the root', 'live/moved'],
    ['moved out of the root', 'archive/web'],
  ])('is none that was %s', async (_, to) => {
    const workspace = await createWorkspace(FILES);
    commitAll(workspace.folder);
    mkdirSync(join(workspace.folder, 'archive'));
    renameSync(join(workspace.folder, 'live/web'), join(workspace.folder, to));
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('removed');
    expect(await workspace.edgewise('destroy --stack web --from HEAD --yes')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining(`The stack web is not removed: it is in ${to}`),
    });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('is none that a sparse checkout leaves out', async () => {
    const workspace = await createWorkspace(FILES);
    commitAll(workspace.folder);
    git(workspace.folder, 'sparse-checkout', 'set', '--cone', 'live/api');
    expect((await workspace.edgewise('stacks live --changed-since HEAD')).stdout).not.toContain('removed');
    expect(await workspace.edgewise('destroy --stack web --from HEAD --yes')).toMatchObject({ exitCode: 3 });
    expect(listWrites(workspace)).toEqual([]);
  });
});

const DESTROY = 'destroy --stack web --from HEAD';

describe('destroy --from', () => {
  it('shows what it deletes, asks, and deletes what the removed stack owns and nothing else', async () => {
    const workspace = await createRemoval();
    const declined = await workspace.edgewise(DESTROY, { answers: ['no'] });
    expect(declined).toMatchObject({ exitCode: 130, stdout: expect.stringContaining('2 to delete') });
    expect(listWrites(workspace)).toEqual([]);
    const { stdout, exitCode } = await workspace.edgewise(`${DESTROY} --yes`);
    expect([stdout, exitCode]).toEqual([expect.stringContaining('TCPEdge/a'), 0]);
    expect(listWrites(workspace)).toEqual([
      expect.stringMatching(/^DELETE \/edges\/tcp\//),
      expect.stringMatching(/^DELETE \/edges\/tcp\//),
    ]);
    expect((await workspace.edgewise('plan live/api --detailed-exitcode')).exitCode).toBe(0);
    expect((await workspace.edgewise(`${DESTROY} --yes`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('works after the commit of the removal, from any folder of the repository', async () => {
    const workspace = await createRemoval();
    commitAll(workspace.folder);
    const { exitCode, stderr } = await workspace.edgewise('destroy live/api --stack web --from HEAD~1 --yes');
    expect([stderr, exitCode]).toEqual([expect.anything(), 0]);
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('needs consent for more deletes than the guard allows', async () => {
    const edges = Array.from({ length: 6 }, (_, index) => toEdge(`e${index}`, 20_010 + index)).join('---\n');
    const workspace = await createRemoval({ ...FILES, 'live/web/more.yaml': edges });
    expect(await workspace.edgewise(`${DESTROY} --yes`)).toMatchObject({
      exitCode: 5,
      stdout: expect.stringContaining('8 of 8 TCPEdge'),
    });
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise(`${DESTROY} --yes --allow-deletes`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toHaveLength(8);
  });

  it('does not delete what is protected without consent', async () => {
    const workspace = await createRemoval({
      ...FILES,
      'live/web/a.yaml': toEdge('a', 20_001).replace(/\n*$/, '\nlifecycle: { protect: true }\n'),
    });
    expect((await workspace.edgewise(`${DESTROY} --yes`)).exitCode).toBe(5);
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise(`${DESTROY} --yes --allow-protected TCPEdge/a`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('keeps what another stack takes over', async () => {
    const workspace = await createRemoval();
    await workspace.write({
      'live/api/a.yaml': toEdge('a', 20_001).replace(
        /\n*$/,
        '\nlifecycle: { renamed_from: { stack: web, name: a } }\n',
      ),
    });
    const { stdout, exitCode } = await workspace.edgewise(`${DESTROY} --yes`);
    expect([stdout, exitCode]).toEqual([expect.stringContaining('kept-for-hand-over'), 0]);
    expect(listWrites(workspace)).toHaveLength(1);
    expect((await workspace.edgewise('apply live/api --yes')).exitCode).toBe(0);
    expect((await workspace.edgewise('plan live/api --detailed-exitcode')).exitCode).toBe(0);
  });

  it('sends the key only where a flag or variable says, never where the commit says', async () => {
    const workspace = await createWorkspace({
      'web/edgewise.yaml': toStack('web', { api: { base_url: 'https://elsewhere.test' } }),
      'web/a.yaml': toEdge('a', 20_001),
      'api/edgewise.yaml': toStack('api'),
    });
    commitAll(workspace.folder);
    rmSync(join(workspace.folder, 'web'), { recursive: true });
    for (const env of [{ EDGEWISE_BASE_URL: '' }, {}]) {
      const { exitCode, stdout } = await workspace.edgewise(`${DESTROY} --yes`, { env });
      expect([exitCode, stdout]).toEqual([3, expect.stringContaining('spec.api.base_url is https://elsewhere.test')]);
    }
    expect(workspace.recorder.take()).toEqual([]);
  });

  it('deletes only what an approved plan shows', async () => {
    const workspace = await createRemoval();
    const planned = await workspace.edgewise('plan --stack web --from HEAD -o gone');
    expect([planned.exitCode, planned.stdout]).toEqual([0, expect.stringContaining('2 to delete')]);
    expect(listWrites(workspace)).toEqual([]);
    expect((await workspace.edgewise(`${DESTROY} --approved gone --yes`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toHaveLength(2);
  });

  it('refuses what differs from the approved plan', async () => {
    const workspace = await createRemoval();
    await workspace.edgewise('plan --stack web --from HEAD --target TCPEdge/a -o gone');
    expect((await workspace.edgewise(`${DESTROY} --approved gone --yes`)).exitCode).toBe(6);
    expect(listWrites(workspace)).toEqual([]);
  });

  it('is refused without the name of one removed stack, for an unknown commit, and for an untrusted one', async () => {
    const workspace = await createRemoval();
    for (const [line, message] of [
      ['destroy --from HEAD --yes', '--from needs the names of removed stacks'],
      ['destroy --stack web --from HEAD --changed-since HEAD --yes', '--from needs the names of removed stacks'],
      ['destroy --stack wep --from HEAD --yes', 'Did you mean web?'],
      ['destroy --stack web --from nowhere --yes', 'nowhere is not a commit of this repository'],
      ['destroy --stack web --from HEAD --yes --untrusted', 'not trusted'],
    ] as const) {
      const { exitCode, stderr } = await workspace.edgewise(line);
      expect([line, exitCode, stderr]).toEqual([line, expect.toBeOneOf([3, 5]), expect.stringContaining(message)]);
    }
    expect(listWrites(workspace)).toEqual([]);
  });

  it('is refused while the name of a Stack cannot be read: it may be the removed one', async () => {
    const workspace = await createRemoval();
    await workspace.write({ 'live/broken/edgewise.yaml': 'apiVersion: edgewise/v1\nkind: Stack\nmetadata: {\n' });
    expect(await workspace.edgewise(`${DESTROY} --yes`)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('live/broken/edgewise.yaml seems to contain a Stack'),
    });
    expect(listWrites(workspace)).toEqual([]);
  });

  it('removes the modules that the manifests of the commit attach', async () => {
    const id = 'edghts_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
    const module = toManifest('HTTPSEdge', 'site', { id, mutual_tls: { certificate_authority_ids: [CA] } });
    const workspace = await createRemoval({ ...FILES, 'live/web/site.yaml': module });
    expect((await workspace.edgewise(`${DESTROY} --yes`)).exitCode).toBe(0);
    expect(listWrites(workspace)).toContain(`DELETE /edges/https/${id}/mutual_tls`);
  });
});

const CA = 'ca_2k9XLPDYGXNLtxcTVgVsKTFzfRt';
