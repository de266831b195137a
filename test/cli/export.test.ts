import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
import type { Transport } from '../../src/model/transport.ts';
import { sendByHand } from '../by-hand.ts';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, toTranscript, type Workspace } from './workspace.ts';

const toId = (prefix: string, letter: string) => `${prefix}_${letter.repeat(27)}`;
const POLICY = `  # first\n  allow: true\n---\nlast`;

/** An account with an example of every decision of an export. */
const RESOURCES: Readonly<Record<string, readonly JsonObject[]>> = {
  TCPEdge: [
    {
      id: toId('edgtcp', 'a'),
      description: 'Postgres für das Daten-Team 🐘',
      metadata: '{"team":"data","on":"yes"}',
      hostports: ['1.tcp.example.net:20001'],
      backend: { enabled: true, backend_id: toId('bkdwd', 'a') },
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a text that looks like a variable
      policy: { inbound: [{ name: '${env:HOME}', expressions: ['conn.client_ip\n  == "1.2.3.4"\n  // or not'] }] },
    },
    { id: toId('edgtcp', 'b'), hostports: ['1.tcp.example.net:20002'], description: 'The same words' },
    { id: toId('edgtcp', 'c'), hostports: ['1.tcp.example.net:20003'], description: 'the same — words!' },
    { id: toId('edgtcp', 'd'), hostports: ['1.tcp.example.net:20004'] },
    { id: toId('edgtcp', 'e'), metadata: '{"edgewise":{"stack":"other","name":"theirs"}}' },
    { id: toId('edgtcp', 'f'), metadata: '{"edgewise":7}' },
    { id: toId('edgtcp', 'g'), metadata: 'x'.repeat(4096) },
  ],
  WeightedBackend: [
    { id: toId('bkdwd', 'a'), description: 'Pool', backends: { [toId('bkdhr', 'z')]: 1, [toId('bkdhr', 'y')]: 0 } },
  ],
  IPRestriction: [{ id: toId('ipx', 'a'), type: 'agent', ip_policy_ids: [toId('ipp', 'a')], enforced: true }],
  AgentIngress: [
    { id: toId('agin', 'a'), domain: 'in.example.com', certificate_management_policy: {}, metadata: ' two\n  lines' },
  ],
  Credential: [{ id: toId('cr', 'a'), acl: ['bind:*.example.com'], description: POLICY }],
  SSHUserCertificate: [
    {
      id: toId('sucrt', 'a'),
      public_key: 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIIgWaFLqDdQFyqH7tDdMVOPQkYvUOJsqxY8h6OuHfC9C alice',
      ssh_certificate_authority_id: toId('sshca', 'a'),
      valid_after: '2026-02-01T00:00:00Z',
      valid_until: '2026-02-02T00:00:00Z',
    },
  ],
};

async function createAccount(): Promise<Workspace> {
  return createWorkspace({}, { seed: { resources: RESOURCES } });
}

const HTTPS = `--modules-of ${toId('edghts', 'a')} --modules-of ${toId('edghts', 'a')}/${toId('edghtsrt', 'a')}`;

describe('export', () => {
  it('exports only HTTPS edges and routes when their kinds and ids are given', async () => {
    const { edgewise } = await createAccount();
    const both = await edgewise(`export HTTPSEdge HTTPSEdgeRoute ${HTTPS}`);
    expect(both.exitCode).toBe(0);
    expect(both.stdout.match(/^kind: .*$/gm)).toEqual(['kind: HTTPSEdge', 'kind: HTTPSEdgeRoute']);
    expect(await edgewise(`export HTTPSEdgeRoute --modules-of ${toId('edghts', 'a')}`)).toMatchObject({
      exitCode: 3,
      stderr: expect.stringContaining('--modules-of edghts_…/edghtsrt_…'),
    });
  });

  it('prints everything as one text, with what cannot be exported in comments', async () => {
    const { edgewise, recorder } = await createAccount();
    const result = await edgewise(`export ${HTTPS}`);
    await expect(toTranscript(result)).toMatchFileSnapshot('goldens/export.txt');
    expect(recorder.take().filter(({ method }) => method !== 'GET')).toEqual([]);
  });

  it('writes metadata with a merge key as text, so that the manifest reads back as it is live', async () => {
    const metadata = '{"team":{"<<":{"a":1}}}';
    const edge = { id: toId('edgtcp', 'a'), hostports: ['1.tcp.example.net:20001'], metadata };
    const { edgewise } = await createWorkspace({}, { seed: { resources: { TCPEdge: [edge] } } });
    const { stdout, exitCode } = await edgewise('export TCPEdge');
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`metadata: '${metadata}'`);
  });

  it('writes files that can be planned at once', async () => {
    const { edgewise, folder } = await createAccount();
    const result = await edgewise(`export -o manifests --owner shop ${HTTPS}`);
    await expect(toTranscript(result)).toMatchFileSnapshot('goldens/export-files.txt');
    const before = await readAll(join(folder, 'manifests'));
    const plan = await edgewise('plan manifests --format json');
    expect(plan.exitCode).toBe(0);
    expect(
      readOnlyStack(plan.stdout)
        .changes.map((change: JsonObject) => [change['action'], change['differences']])
        .sort(),
    ).toEqual([...Array.from({ length: 9 }, () => ['adopt', []]), ...Array.from({ length: 2 }, () => ['no-op', []])]);
    expect(await edgewise('apply manifests --yes')).toMatchObject({ exitCode: 0 });
    expect(await edgewise('plan manifests --detailed-exitcode')).toMatchObject({ exitCode: 0 });
    await edgewise(`export -o again --owner shop ${HTTPS}`);
    expect(await readAll(join(folder, 'again'))).toEqual(before);
  });

  it('writes one document a file, each with the modeline of its schema', async () => {
    const { edgewise, folder } = await createAccount();
    await edgewise(`export -o manifests --owner shop ${HTTPS}`);
    const files = Object.entries(await readAll(join(folder, 'manifests')));
    const manifests = files.filter(([path]) => path.endsWith('.yaml'));
    expect(manifests).toHaveLength(17);
    for (const [path, text] of manifests) {
      expect(text.match(/^kind: /gm), path).toHaveLength(1);
      const [, schema = ''] = /^# yaml-language-server: \$schema=(\S+)\n/.exec(text) ?? [];
      expect(join(dirname(path), schema), path).toBe('.edgewise/manifest.schema.json');
    }
    expect(Object.fromEntries(files)['.edgewise/manifest.schema.json']).toContain('"edgewise manifest"');
  });

  it('names the schema of the installed package in every file', async () => {
    const { edgewise, folder } = await createAccount();
    await mkdir(join(folder, 'node_modules/edgewise/schemas'), { recursive: true });
    await writeFile(join(folder, 'node_modules/edgewise/schemas/manifest.schema.json'), '{}');
    await edgewise('export -o manifests --owner shop');
    const files = Object.entries(await readAll(join(folder, 'manifests')));
    const schema = '../node_modules/edgewise/schemas/manifest.schema.json\n';
    for (const [path, text] of files)
      expect(text, path).toMatch(`# yaml-language-server: $schema=${path.includes('/') ? '../' : ''}${schema}`);
  });

  it('writes all files or none, and replaces only files that it made', async () => {
    const { edgewise, folder, write } = await createAccount();
    await write({ 'manifests/edgewise.yaml': 'old', 'manifests/mine.yaml': 'mine' });
    const refused = await edgewise('export -o manifests --owner shop');
    expect(refused).toMatchObject({ exitCode: 5, stderr: expect.stringContaining('manifests/edgewise.yaml') });
    expect((await readdir(join(folder, 'manifests'))).sort()).toEqual(['edgewise.yaml', 'mine.yaml']);
    expect(refused.stderr).toContain('replace the files with --force');
    const forced = await edgewise('export -o manifests --owner shop --force');
    expect(forced).toMatchObject({ exitCode: 0 });
    expect(forced.stdout).toContain('\nReplaced:\n  manifests/edgewise.yaml\nLeft out:\n');
    expect(await readFile(join(folder, 'manifests/edgewise.yaml'), 'utf8')).toContain('kind: Stack');
    expect(await readFile(join(folder, 'manifests/mine.yaml'), 'utf8')).toBe('mine');
  });

  it('leaves out resources of other stacks, and takes no name from them', async () => {
    const { edgewise } = await createAccount();
    const { stdout, stderr } = await edgewise('export TCPEdge --owner shop');
    expect(stdout).not.toContain(`adopt: ${toId('edgtcp', 'e')}`);
    expect(stdout).not.toContain(toId('edgtcp', 'e'));
    expect(stdout).toContain('# Left out: what belongs to the stack other (1).');
    expect(stderr).toContain(`${toId('edgtcp', 'e')}: it belongs to the stack other, as TCPEdge/theirs`);
    const theirs = await edgewise('export TCPEdge --owner other');
    expect(theirs.stdout).toContain(`name: theirs\nlifecycle:\n  adopt: ${toId('edgtcp', 'e')}`);
  });

  it('refers to resources that it does not export by an External, and reads only those beside', async () => {
    const { edgewise, recorder } = await createAccount();
    const { stdout } = await edgewise('export TCPEdge');
    expect(recorder.take().map(({ path }) => path)).toEqual(['/edges/tcp?limit=100', '/backends/weighted?limit=100']);
    expect(stdout.match(/^kind: .*$/gm)).toEqual(
      expect.not.arrayContaining(['kind: WeightedBackend', 'kind: Credential']),
    );
    expect(stdout).toContain('backend_id: External/bkdwd-aaaaaa');
    expect(stdout).toContain(`name: bkdwd-aaaaaa\nspec:\n  id: ${toId('bkdwd', 'a')}`);
  });

  it('exports what is asked for, by address, id and kind', async () => {
    const { edgewise } = await createAccount();
    const listNames = (text: string) =>
      text.match(/^kind: .*\nmetadata:\n {2}name: .*$/gm)?.map((one) => one.split(/\W+/).at(-1));
    const { stdout } = await edgewise(`export AgentIngress ${toId('edgtcp', 'b')} TCPEdge/the-same-words-cccccc`);
    expect(stdout.match(/^ {2}adopt: .*$/gm)).toEqual([
      `  adopt: ${toId('edgtcp', 'b')}`,
      `  adopt: ${toId('edgtcp', 'c')}`,
      `  adopt: ${toId('agin', 'a')}`,
    ]);
    expect(listNames(stdout)).toHaveLength(3);
    const modules = await edgewise(`export ${toId('edghts', 'a')} ${toId('edghts', 'a')}/${toId('edghtsrt', 'a')}`);
    expect(modules.stdout.match(/^kind: .*$/gm)).toEqual(['kind: HTTPSEdge', 'kind: HTTPSEdgeRoute']);
    const owned = await edgewise(`export ${toId('edgtcp', 'e')}`);
    expect(owned.stderr).toBe(
      `Left out:\n  TCPEdge ${toId('edgtcp', 'e')}: it belongs to the stack other, as TCPEdge/theirs\n`,
    );
  });

  it('fails if no resource has the id or the address that is asked for', async () => {
    const { edgewise } = await createAccount();
    const { exitCode, stdout, stderr } = await edgewise(`export ${toId('edgtcp', 'x')} TCPEdge/nope AgentIngress`);
    expect([exitCode, stdout]).toEqual([1, '']);
    expect(stderr).toContain(`There is no ${toId('edgtcp', 'x')} to export at https://api.test.`);
    expect(stderr).toContain('There is no TCPEdge/nope to export at https://api.test.');
  });

  it('exports a reference that leads nowhere as its id, with a warning', async () => {
    const gone = toId('bkdwd', 'x');
    const edge = { id: toId('edgtcp', 'a'), description: 'loose', backend: { backend_id: toId('bkdhr', 'z') } };
    const { edgewise, recorder } = await createWorkspace({}, { seed: { resources: { TCPEdge: [edge] } } });
    // No service of this repository has such an edge: it refuses to create it, and to delete what is in use.
    const transport: Transport = async (request) => {
      const response = await recorder.transport(request);
      return new Response((await response.text()).replaceAll(toId('bkdhr', 'z'), gone), response);
    };
    const { exitCode, stdout, stderr } = await edgewise('export --owner shop', { transport });
    expect(exitCode).toBe(0);
    expect(stdout).toContain(`    backend_id: ${gone}\n`);
    expect(stdout).toContain(`# backend.backend_id refers to ${gone}, which does not exist.\n`);
    expect(stdout).not.toContain('kind: External');
    expect(stderr).toContain('Warning: refers to what does not exist');
    expect(stderr).toContain(`\n  TCPEdge/loose: backend.backend_id: ${gone}\n`);
  });

  describe('into the folder of a stack', () => {
    /** The exported account, adopted, with better names. */
    async function createImported(): Promise<Workspace> {
      const account = await createAccount();
      const { edgewise, folder, write } = account;
      await edgewise('export -o manifests --owner shop');
      const rename = async (file: string, from: string, to: string) => {
        const text = await readFile(join(folder, file), 'utf8');
        await write({ [file]: text.replaceAll(from, to) });
      };
      await rename('manifests/weighted-backend/pool.yaml', 'name: pool', 'name: postgres-pool');
      await rename(
        'manifests/tcp-edge/postgres-fur-das-daten-team.yaml',
        'WeightedBackend/pool',
        'WeightedBackend/postgres-pool',
      );
      await rename('manifests/external/bkdhr-yyyyyy.yaml', 'name: bkdhr-yyyyyy', 'name: blue');
      await rename('manifests/weighted-backend/pool.yaml', 'External/bkdhr-yyyyyy', 'External/blue');
      return account;
    }

    const NEW_EDGE = { description: 'New', hostports: ['1.tcp.example.net:20009'] };

    it.each([['before the adoption'], ['after the adoption']])(
      'writes only what no manifest describes yet, with the names that they use: %s',
      async (when) => {
        const { edgewise, folder, server } = await createImported();
        if (when === 'after the adoption')
          expect(await edgewise('apply manifests --yes')).toMatchObject({ exitCode: 0 });
        const before = await readAll(join(folder, 'manifests'));
        expect(await edgewise('export -o manifests')).toMatchObject({
          exitCode: 0,
          stdout: expect.stringContaining('Nothing to export for the stack shop. 9 others are described already.\n'),
        });
        const backend = { backend: { backend_id: toId('bkdwd', 'a') } };
        await sendByHand({ server }, 'POST', '/edges/tcp', { ...NEW_EDGE, ...backend });
        const backends = { [toId('bkdhr', 'y')]: 1, [toId('bkdhr', 'x')]: 2 };
        await sendByHand({ server }, 'POST', '/backends/weighted', { description: 'postgres-pool', backends });
        const { exitCode, stdout } = await edgewise('export -o manifests');
        expect([exitCode, stdout]).toEqual([
          0,
          expect.stringContaining('Exported 2 resources for the stack shop. 9 others'),
        ]);
        const after = await readAll(join(folder, 'manifests'));
        expect(after).toEqual(expect.objectContaining(before));
        const added = Object.keys(after).filter((path) => !(path in before));
        expect(added).toEqual([
          'external/bkdhr-xxxxxx.yaml',
          'tcp-edge/new.yaml',
          expect.stringMatching(/^weighted-backend\/postgres-pool-\w{6}\.yaml$/),
        ]);
        expect(after['tcp-edge/new.yaml']).toContain('backend_id: WeightedBackend/postgres-pool\n');
        expect(after[added.at(-1) ?? '']).toContain('External/blue: 1');
        const plan = await edgewise('plan manifests --format json');
        const actions = readOnlyStack(plan.stdout).changes.map(({ action, differences }: JsonObject) => [
          action,
          differences,
        ]);
        const isAdopted = when === 'after the adoption';
        expect(actions.filter(([action]: [string]) => action === 'adopt')).toHaveLength(isAdopted ? 2 : 11);
        expect(actions.every(([, differences]: [string, []]) => differences.length === 0)).toBe(true);
      },
    );

    it('takes the settings from its Stack, and writes no second one', async () => {
      const { edgewise, folder, server } = await createImported();
      await sendByHand({ server }, 'POST', '/edges/tcp', NEW_EDGE);
      const { exitCode } = await edgewise('export -o manifests/more', { env: { EDGEWISE_API_KEY: 'dev' } });
      expect(exitCode).toBe(0);
      expect(Object.keys(await readAll(join(folder, 'manifests/more')))).toEqual(['tcp-edge/new.yaml']);
    });

    it('keeps a file whose name another document has, also with --force', async () => {
      const { edgewise, folder, server, write } = await createImported();
      const other = '---\napiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: other }\n';
      await write({ 'manifests/tcp-edge/new.yaml': other });
      await sendByHand({ server }, 'POST', '/edges/tcp', NEW_EDGE);
      expect((await edgewise('export -o manifests --force')).stdout).not.toContain('Replaced');
      expect(await readFile(join(folder, 'manifests/tcp-edge/new.yaml'), 'utf8')).toBe(other);
      expect(await readFile(join(folder, 'manifests/tcp-edge/new_.yaml'), 'utf8')).toContain('name: new\n');
    });

    it('says of what is asked for by name that it is described, and which kinds the Stack has to list', async () => {
      const { edgewise, folder, write } = await createAccount();
      await edgewise('export -o manifests --owner shop WeightedBackend');
      expect((await edgewise(`export -o manifests WeightedBackend ${toId('bkdwd', 'a')}`)).stdout).toContain(
        `Left out:\n  WeightedBackend ${toId('bkdwd', 'a')}: the manifests describe it already, as WeightedBackend/pool\n`,
      );
      expect((await edgewise('export -o manifests')).stdout).toContain('Nothing to export');
      expect((await edgewise('export -o manifests AgentIngress')).stdout).toContain(
        'Not in spec.kinds of the Stack. Add there:\n  AgentIngress\n',
      );
      expect(await edgewise('plan manifests')).toMatchObject({ exitCode: 3 });
      const stack = await readFile(join(folder, 'manifests/edgewise.yaml'), 'utf8');
      await write({
        'manifests/edgewise.yaml': stack.replace('- WeightedBackend', '- WeightedBackend\n    - AgentIngress'),
      });
      expect(await edgewise('plan manifests')).toMatchObject({ exitCode: 0 });
    });

    it('refuses another stack, and begins a stack of its own below', async () => {
      const { edgewise, folder } = await createImported();
      expect(await edgewise('export -o manifests --owner other')).toMatchObject({
        exitCode: 3,
        stderr: expect.stringContaining(
          'manifests/edgewise.yaml is of the stack shop, and --owner names the stack other.',
        ),
      });
      expect(await edgewise('export -o manifests/apart --owner other Credential')).toMatchObject({ exitCode: 0 });
      expect(await readFile(join(folder, 'manifests/apart/edgewise.yaml'), 'utf8')).toContain('name: other');
    });

    it('refuses manifests with a mistake, and writes nothing', async () => {
      const { edgewise, folder, write } = await createImported();
      await write({ 'manifests/wrong.yaml': 'apiVersion: edgewise/v1\nkind: TCPEdge\n' });
      const before = await readAll(folder);
      expect(await edgewise('export -o manifests')).toMatchObject({ exitCode: 3 });
      expect(await readAll(folder)).toEqual(before);
    });
  });

  it('refers to a resource of another stack by its name there', async () => {
    const seed = {
      WeightedBackend: [
        {
          id: toId('bkdwd', 'a'),
          backends: { [toId('bkdhr', 'z')]: 1 },
          metadata: '{"edgewise":{"stack":"network","name":"pool"}}',
        },
      ],
      TCPEdge: [{ id: toId('edgtcp', 'a'), description: 'e', backend: { backend_id: toId('bkdwd', 'a') } }],
    };
    const { edgewise } = await createWorkspace({}, { seed: { resources: seed } });
    expect(await edgewise('export -o web --owner web TCPEdge')).toMatchObject({ exitCode: 0 });
    expect((await edgewise('export --owner web TCPEdge')).stdout).toContain(
      'kind: External\nmetadata:\n  name: pool\nspec:\n  stack: network\n  resource: WeightedBackend/pool\n',
    );
    const { changes } = readOnlyStack((await edgewise('plan web --format json')).stdout);
    expect(changes.map(({ action, differences }: JsonObject) => [action, differences])).toEqual([['adopt', []]]);
  });

  it.each([
    ['export -o manifests', '--owner NAME'],
    ['export -o manifests --owner shop --layout single', 'a file for each resource'],
    ['export --force', '-o FOLDER'],
    ['export TcpEdge', 'Did you mean TCPEdge?'],
    ['export HTTPSEdge', '--modules-of edghts_…'],
    ['export External', 'There is no kind External to export.'],
    ['export --owner Not_A_Name', '1 to 63'],
    ['export --modules-of edghtsrt_1', 'edghts_… (HTTPS edge), edghts_…/edghtsrt_… (HTTPS edge route)'],
    ['export --modules-of edghts_1/edghts_2', 'edghts_…/edghtsrt_…'],
    ['export --modules-of edghts_', 'edghts_…'],
    ['export --modules-of edghts_1/edghtsrt_1/x', 'edghts_…/edghtsrt_…'],
  ])('refuses %s, and sends nothing', async (line, hint) => {
    const { edgewise, recorder } = await createAccount();
    expect(await edgewise(line)).toMatchObject({ exitCode: 3, stdout: '', stderr: expect.stringContaining(hint) });
    expect(recorder.take()).toEqual([]);
  });

  it('refuses a file where a folder is expected', async () => {
    const { edgewise } = await createWorkspace({ taken: '' });
    const { exitCode, stderr } = await edgewise('export -o taken --owner production');
    expect([exitCode, stderr]).toEqual([
      3,
      expect.stringContaining('Nothing was written, because taken is not a folder.'),
    ]);
  });
});

async function readAll(folder: string): Promise<Readonly<Record<string, string>>> {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const texts = await Promise.all(
    files.sort().map(async (file) => [file.slice(folder.length + 1), await readFile(file, 'utf8')]),
  );
  return Object.fromEntries(texts);
}

it('says of an account with nothing to adopt only what it wrote', async () => {
  const { edgewise } = await createWorkspace();
  const { exitCode, stdout } = await edgewise('export --owner shop -o shop');
  expect({ exitCode, stdout }).toEqual({ exitCode: 0, stdout: expect.stringContaining('Exported 0 resources') });
  expect(stdout).not.toContain('Adopt it');
});
