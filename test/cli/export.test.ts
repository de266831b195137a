import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { JsonObject } from '../../src/model/json.ts';
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
    expect(await edgewise('export -o manifests --owner shop --force')).toMatchObject({ exitCode: 0 });
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

  it('refers to resources that it does not export by an External, and reads nothing else', async () => {
    const { edgewise, recorder } = await createAccount();
    const { stdout } = await edgewise('export TCPEdge');
    expect(recorder.take().map(({ path }) => path)).toEqual(['/edges/tcp?limit=100']);
    expect(stdout).toContain('backend_id: External/bkdwd-aaaaaa');
    expect(stdout).toContain(`name: bkdwd-aaaaaa\nspec:\n  id: ${toId('bkdwd', 'a')}`);
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
