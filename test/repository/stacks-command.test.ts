import { mkdirSync, renameSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { selectFirst } from '../cases.ts';
import { createWorkspace, toEdge, toManifest, toTranscript } from '../cli/workspace.ts';
import { readOnlyStack } from '../results.ts';
import { commitAll, toRepository, toStack } from './tree.ts';

const POOL = toManifest('WeightedBackend', 'pool', { backends: { bkdhr_1: 1 } });
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L\n';
const NETWORK = { 'network/edgewise.yaml': toStack('network'), 'network/pool.yaml': POOL };
/** A stack that refers to the one above. */
const WEB = {
  'web/edgewise.yaml': toStack('web'),
  'web/uses.yaml': toManifest('External', 'pool', { stack: 'network', resource: 'WeightedBackend/pool' }),
};

/** The names of the stacks that a line lists. */
async function listNames(workspace: Awaited<ReturnType<typeof createWorkspace>>, line: string): Promise<string> {
  const { exitCode, stdout, stderr } = await workspace.edgewise(`${line} --format json`);
  expect(stderr).toBe('');
  expect(exitCode).toBe(0);
  return JSON.parse(stdout)
    .stacks.map(({ name }: { readonly name: string }) => name)
    .join(' ');
}

describe('the stacks of a tree', () => {
  it.each(['stacks', 'plan -R'])('are not searched in a file: %s advises a folder', async (command) => {
    const { edgewise } = await createWorkspace(NETWORK);
    const { exitCode, stderr } = await edgewise(`${command} network/pool.yaml`);
    expect(stderr).toContain('help: Name a folder: this path is a file, or leads through one.');
    expect(exitCode).toBe(3);
  });

  it('are the folders with a Stack, each down to the next one', async () => {
    const { edgewise, recorder } = await createWorkspace({
      ...NETWORK,
      ...WEB,
      'web/inner/stack.json': toStack('inner', { api: { base_url: 'https://other.test' } }),
      'web/inner/edge.yaml': toEdge('a', 20001),
      'lost/edge.yaml': toEdge('lost', 20002),
      'lost/kustomization.yaml': 'resources: [edge.yaml]\n',
    });
    const env = { EDGEWISE_BASE_URL: '' };
    expect(toTranscript(await edgewise('stacks', { env }))).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      STACK    FOLDER     SERVICE
      network  network
      web      web
      inner    web/inner  https://other.test

      3 stacks below the current folder.
      Manifests that belong to no stack, so no run applies them: lost/edge.yaml.
      "
    `);
    expect(JSON.parse((await edgewise('stacks web --format json', { env })).stdout)).toMatchObject({
      root: 'web',
      total: 2,
      stacks: [
        { name: 'web', folder: 'web', file: 'web/edgewise.yaml', dependsOn: ['network'] },
        {
          name: 'inner',
          folder: 'web/inner',
          file: 'web/inner/stack.json',
          baseUrl: 'https://other.test',
          dependsOn: [],
        },
      ],
    });
    expect(recorder.take()).toEqual([]);
  });

  it('end where another one begins, also for a run on one folder', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': `${toStack('a')}${toEdge('a', 20001)}`,
      'a/b/edgewise.yaml': `${toStack('b')}${toEdge('b', 20002)}`,
      'a/b/c/edge.yaml': toEdge('c', 20003),
    });
    const plan = async (folder: string) => {
      const { changes } = readOnlyStack((await edgewise(`plan ${folder} --format json`)).stdout);
      return changes.map(({ address }: { readonly address: string }) => address);
    };
    expect(await plan('a')).toEqual(['TCPEdge/a']);
    expect(await plan('a/b')).toEqual(['TCPEdge/b', 'TCPEdge/c']);
    expect((await edgewise('validate a a/b')).stdout).toContain('error[duplicate-settings]');
  });

  it('are refused with one name at one base URL', async () => {
    const { edgewise } = await createWorkspace({
      'a/edgewise.yaml': toStack('web', { api: { base_url: 'https://one.test/' } }),
      'b/edgewise.yaml': toStack('web', { api: { base_url: 'https://one.test' } }),
      'c/edgewise.yaml': toStack('web', { api: { base_url: 'https://two.test' } }),
    });
    const env = { EDGEWISE_BASE_URL: '' };
    const { exitCode, stderr } = await edgewise('stacks', { env });
    expect(exitCode).toBe(3);
    expect(stderr).toContain(
      'a/edgewise.yaml and b/edgewise.yaml both define a stack web at https://one.test, so each would delete',
    );
    expect(stderr).not.toContain('c/edgewise.yaml');
    expect((await edgewise('stacks --base-url https://all.test', { env })).stderr).toContain('c/edgewise.yaml');
  });

  it('are reported as missing if there are none', async () => {
    const { edgewise, write } = await createWorkspace();
    expect(await edgewise('stacks')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('There is no stack below .: no manifest at all.'),
    });
    await write({ 'a/edge.yaml': toEdge('a', 20001) });
    expect((await edgewise('stacks')).stderr).toContain('1 manifest files, but no Stack document');
    expect(await edgewise('stacks nowhere')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('nowhere does not exist'),
    });
  });

  it('are proposed for a name that is unknown', async () => {
    const workspace = await createWorkspace(toRepository(3));
    expect(await listNames(workspace, 'stacks live --stack s02 --stack s00')).toBe('s00 s02');
    expect((await workspace.edgewise('stacks --stack s0')).stderr).toContain('Did you mean s0');
  });

  it('make a matrix for GitHub and for GitLab', async () => {
    const { edgewise } = await createWorkspace(toRepository(2));
    const github = await edgewise('stacks live --format github');
    expect(github.stdout).toBe(
      '{"include":[{"stack":"s00","folder":"live/s00"},{"stack":"s01","folder":"live/s01"}]}\n',
    );
    expect(github.stderr).toBe('2 stacks below live.\n');
    expect(parse((await edgewise('stacks live --format gitlab')).stdout)).toEqual({
      '.edgewise-stacks': {
        parallel: {
          matrix: [
            { EDGEWISE_STACK: 's00', EDGEWISE_FOLDER: 'live/s00' },
            { EDGEWISE_STACK: 's01', EDGEWISE_FOLDER: 'live/s01' },
          ],
        },
      },
    });
  });
});

describe('the name of a stack that is not there', () => {
  it('is answered with the command that lists the names, to be pasted into a shell', async () => {
    const { edgewise } = await createWorkspace({ '$live/edgewise.yaml': toStack('network') });
    const { stderr } = await edgewise('stacks $live --stack zzzzzzzz');
    expect(stderr).toContain("edgewise stacks '$live' lists them.");
  });
});

describe('a matrix', () => {
  const MOST: readonly (readonly [format: string, system: string, most: number])[] = [
    ['gitlab', 'GitLab', 200],
    ['github', 'GitHub', 256],
  ];

  it.each(selectFirst(MOST))(
    'of more jobs than %s runs is refused, with advice to run one job',
    async (format, system, most) => {
      const names = Array.from({ length: most + 1 }, (_, index) => `s${index}`);
      const { edgewise } = await createWorkspace(
        Object.fromEntries(names.map((name) => [`live/${name}/edgewise.yaml`, toStack(name)])),
      );
      expect(await edgewise(`stacks live --format ${format}`)).toMatchObject({
        exitCode: 3,
        stdout: '',
        stderr: expect.stringMatching(
          new RegExp(
            `${most + 1} stacks are more jobs than a matrix of ${system} can have: ${most}\\.[^]*one job over all of them with -R`,
          ),
        ),
      });
      expect((await edgewise('stacks live --format folder')).exitCode).toBe(0);
    },
  );
});

describe('the changes since a commit', () => {
  it('are distinguished from an absence of stacks', async () => {
    const { edgewise, folder, write } = await createWorkspace(toRepository(3));
    commitAll(folder);
    const unchanged = await edgewise('stacks --changed-since HEAD');
    expect(toTranscript(unchanged)).toBe(
      'exit code 0\n--- stdout\nNo stack has changed since HEAD; 3 stacks below the current folder.\n',
    );
    expect((await edgewise('stacks --changed-since HEAD --format github')).stdout).toBe('{"include":[]}\n');
    expect(parse((await edgewise('stacks --changed-since HEAD --format gitlab')).stdout)).toEqual({
      '.edgewise-stacks': { rules: [{ when: 'never' }] },
    });
    expect(await edgewise('stacks --changed-since nope')).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('nope is not a commit of this repository.'),
    });
    expect((await edgewise('stacks --changed-since --output=x')).exitCode).toBe(3);
    await write({ 'live/lost.yaml': toEdge('lost', 2), 'live/README.md': 'x', 'live/s01/notes.md': 'x' });
    await write({ 'live/s01/new.yaml': toEdge('new', 1) });
    expect(toTranscript(await edgewise('stacks live --changed-since HEAD'))).toMatchInlineSnapshot(`
      "exit code 0
      --- stdout
      STACK  FOLDER    SERVICE           WHY
      s01    live/s01  https://api.test  live/s01/new.yaml

      1 of 3 stacks below live changed since HEAD.
      Changed, but not part of a stack: live/lost.yaml.
      "
    `);
  });

  it('include files, fields, inputs and dependencies of a stack', async () => {
    const workspace = await createWorkspace({
      ...NETWORK,
      ...WEB,
      'shop/edgewise.yaml': toStack('shop', { inputs: ['../base/**', '../*.cue'], api: { ca_file: '../tls/ca.pem' } }),
      'ssh/edgewise.yaml': toStack('ssh'),
      'ssh/ci.yaml': toManifest('SSHUserCertificate', 'ci', {
        public_key: { file: '../keys/ci.pub' },
        ssh_certificate_authority_id: 'sshca_2k9XLPDYGXNLtxcTVgVsKTFzfRt',
        principals: ['deploy'],
      }),
      'keys/ci.pub': KEY,
      'tls/ca.pem': 'x',
      'base/deep/down.txt': 'x',
      'values.cue': 'x',
      'linked/edgewise.yaml': toStack('linked'),
      'common/edge.yaml': toEdge('common', 20005),
    });
    symlinkSync('../common/edge.yaml', join(workspace.folder, 'linked/edge.yaml'));
    commitAll(workspace.folder);
    const changed = async (files: Readonly<Record<string, string>>): Promise<string> => {
      await workspace.write(files);
      const names = await listNames(workspace, 'stacks --changed-since HEAD');
      commitAll(workspace.folder);
      return names;
    };
    expect(await changed({})).toBe('');
    expect(await changed({ 'network/pool.yaml': `${POOL}# more\n` })).toBe('network web');
    expect(await changed({ 'web/uses.yaml': `${WEB['web/uses.yaml']}# more\n` })).toBe('web');
    expect(await changed({ 'keys/ci.pub': KEY.replace('\n', ' ci@example.net\n') })).toBe('ssh');
    expect(await changed({ 'tls/ca.pem': 'y' })).toBe('shop');
    expect(await changed({ 'base/deep/more.txt': 'y' })).toBe('shop');
    expect(await changed({ 'values.cue': 'y' })).toBe('shop');
    expect(await changed({ 'common/edge.yaml': toEdge('common', 20006) })).toBe('linked');
    expect(await changed({ 'base-other.txt': 'y', 'web/.hidden.yaml': 'y' })).toBe('');
  });

  it('are the same if the user names the repository through a link outside of it', async () => {
    const files = Object.entries(toRepository(2)).map(([path, text]) => [`repository/${path}`, text]);
    const workspace = await createWorkspace(Object.fromEntries(files));
    commitAll(join(workspace.folder, 'repository'));
    symlinkSync('repository', join(workspace.folder, 'link'));
    expect(await listNames(workspace, 'stacks link/live --changed-since HEAD')).toBe('');
    await workspace.write({ 'repository/live/s01/edges/edge.yaml': toEdge('s01-edge', 20_101) });
    expect(await listNames(workspace, 'stacks link/live --changed-since HEAD')).toBe('s01');
  });

  it('include policies, wherever they are', async () => {
    const rule = toManifest('Policy', 'rule', { rules: [] });
    const workspace = await createWorkspace({
      'live/shop/edgewise.yaml': toStack('shop', { policies: ['../../rules/one.yaml', '../../shared/'] }),
      'live/ssh/edgewise.yaml': toStack('ssh', { policies: ['../../linked'] }),
      'live/web/edgewise.yaml': toStack('web'),
      'rules/one.yaml': rule,
      'rules/two.yaml': rule,
      'shared/deep/three.yaml': rule,
      'real/four.yaml': rule,
    });
    symlinkSync('real', join(workspace.folder, 'linked'));
    commitAll(workspace.folder);
    const changed = async (change: () => unknown): Promise<string> => {
      await change();
      const names = await listNames(workspace, 'stacks live --changed-since HEAD');
      commitAll(workspace.folder);
      return names;
    };
    expect(await changed(() => workspace.write({ 'rules/one.yaml': `${rule}# more\n` }))).toBe('shop');
    expect(await changed(() => workspace.write({ 'rules/two.yaml': `${rule}# more\n` }))).toBe('');
    expect(await changed(() => workspace.write({ 'shared/notes.txt': 'x', 'shared-not/a.yaml': rule }))).toBe('');
    expect(await changed(() => workspace.write({ 'shared/deep/new.yaml': rule }))).toBe('shop');
    expect(await changed(() => rmSync(join(workspace.folder, 'shared/deep/three.yaml')))).toBe('shop');
    expect(await changed(() => workspace.write({ 'real/four.yaml': `${rule}# more\n` }))).toBe('ssh');
    const { stdout } = await workspace.edgewise('stacks live --changed-since HEAD~1');
    expect(stdout).toContain('real/four.yaml');
  });

  it('include removed and renamed files, and a folder that became a stack of its own', async () => {
    const workspace = await createWorkspace({ ...toRepository(4), 'live/s03/sub/edge.yaml': toEdge('sub', 30001) });
    const { folder, write } = workspace;
    commitAll(folder);
    rmSync(join(folder, 'live/s00/edges/edge.yaml'));
    mkdirSync(join(folder, 'live/s02/moved'));
    renameSync(join(folder, 'live/s01/edges/edge.yaml'), join(folder, 'live/s02/moved/edge.yaml'));
    expect(await listNames(workspace, 'stacks --changed-since HEAD')).toBe('s00 s01 s02');
    commitAll(folder);
    await write({ 'live/s03/sub/edgewise.yaml': toStack('sub') });
    expect(await listNames(workspace, 'stacks --changed-since HEAD')).toBe('s03 sub');
    commitAll(folder);
    rmSync(join(folder, 'live/s00'), { recursive: true });
    const { stdout } = await workspace.edgewise('stacks --changed-since HEAD');
    expect(stdout).toContain('live/s00/edgewise.yaml is gone since HEAD.');
  });

  it('do not include those of a stack inside of a stack, unless the file with its Stack differs', async () => {
    const workspace = await createWorkspace({
      ...toRepository(1),
      'live/s00/sub/edgewise.yaml': toStack('sub'),
      'live/s00/sub/gone.yaml': toEdge('gone', 30001),
    });
    const { folder, write } = workspace;
    commitAll(folder);
    await write({ 'live/s00/sub/edge.yaml': toEdge('sub', 30002) });
    rmSync(join(folder, 'live/s00/sub/gone.yaml'));
    expect(await listNames(workspace, 'stacks --changed-since HEAD')).toBe('sub');
    // Without reading the commit, it is unknown whether this file had a Stack.
    await write({ 'live/s00/sub/edgewise.yaml': toStack('sub', { handed_over: ['TCPEdge/x'] }) });
    expect(await listNames(workspace, 'stacks --changed-since HEAD')).toBe('s00 sub');
    rmSync(join(folder, 'live/s00/sub/edgewise.yaml'));
    expect(await listNames(workspace, 'stacks --changed-since HEAD')).toBe('s00');
  });
});

describe('the variables of a matrix', () => {
  const MATRIX: readonly Readonly<Record<string, string>>[] = [
    { GITLAB_CI: 'true', CI_NODE_INDEX: '2', CI_NODE_TOTAL: '2' },
    { JOB_COMPLETION_INDEX: '1', JOB_COMPLETION_TOTAL: '3' },
    { GITHUB_ACTIONS: 'true', GITHUB_JOB: 'plan', CIRCLE_NODE_INDEX: '1', CIRCLE_NODE_TOTAL: '3' },
    { BUILDKITE_PARALLEL_JOB: '1', BUILDKITE_PARALLEL_JOB_COUNT: '3', SYSTEM_JOBPOSITIONINPHASE: '2' },
  ];

  it('select no stack, whatever the command', async () => {
    const { edgewise } = await createWorkspace(toRepository(4));
    const env = Object.assign({}, ...MATRIX);
    for (const line of [
      'stacks live --format folder',
      'validate -R live',
      'plan -R live',
      'drift -R live',
      'get -R live',
    ])
      expect([line, await edgewise(line, { env })]).toEqual([line, await edgewise(line)]);
    expect((await edgewise('apply -R live --yes', { env })).exitCode).toBe(0);
    expect((await edgewise('plan -R live --detailed-exitcode')).exitCode).toBe(0);
  });
});

describe('a folder of other tools', () => {
  const others = Object.fromEntries(
    Array.from({ length: 60 }, (_, index) => [
      `k8s/d${index}.yaml`,
      `apiVersion: apps/v1\nkind: Deployment\nmetadata: { name: d${index} }\n`,
    ]),
  );
  const tree = { ...others, 'defaults.yaml': 'apiVersion: edgewise/v1\nkind: Defaults\n' };

  it.each(['plan', 'validate', 'drift'])('is one error of %s, with the three nearest stacks', async (command) => {
    const { edgewise, folder, recorder } = await createWorkspace({ ...toRepository(4), ...tree, ...NETWORK });
    commitAll(folder);
    const { exitCode, stdout, stderr } = await edgewise(`${command} k8s`);
    expect(exitCode).toBe(3);
    expect(
      stdout + stderr,
    ).toBe(`error[no-stack]: k8s is not the folder of a stack: it has no Stack document, and its 60 files belong to other tools, such as k8s/d0.yaml
  help: Name the folder of a stack. The nearest: network, live/s00, live/s01.

1 error.
`);
    expect(recorder.take()).toEqual([]);
  });

  it('is one error also if it is above a stack', async () => {
    const { edgewise } = await createWorkspace({ ...tree, ...NETWORK });
    const { exitCode, stderr } = await edgewise('plan .');
    expect(exitCode).toBe(3);
    expect(stderr.match(/^error/gm)).toHaveLength(1);
    expect(stderr).toContain('The nearest: network.');
  });

  it('is reported in detail if a file is meant for edgewise or was named', async () => {
    const { edgewise } = await createWorkspace({ ...tree, 'k8s/edge.yaml': 'kind: TCPEdge\n', ...NETWORK });
    expect((await edgewise('plan k8s')).stderr).toContain('k8s/edge.yaml');
    expect((await edgewise('plan k8s/d0.yaml')).stderr).toContain('the manifests have no Stack document');
    expect((await edgewise('plan network k8s/d0.yaml')).stdout).toContain('Skipped: 1 document of other tools.');
  });
});
