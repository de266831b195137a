import { mkdir, rm, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { readOnlyStack } from '../results.ts';
import { createWorkspace, type Workspace } from './workspace.ts';

/** Of a kind that only its values decide, so it may be one of edgewise. */
const TEMPLATE = 'apiVersion: apps/v1\nkind: {{ .Values.kind }}\nmetadata:\n  name: {{ .Values.name }}\n{{- end }}\n';
const AGENT = 'kind: agent\ntunnels:\n  web: { metadata: a }\n  web: { metadata: b }\n';

function toStackText(skipped?: readonly string[]): string {
  const spec = skipped === undefined ? '' : `spec: { skip_files: ${JSON.stringify(skipped)} }\n`;
  return `apiVersion: edgewise/v1\nkind: Stack\nmetadata: { name: shop }\n${spec}`;
}

function toEdgeText(name: string, port: number): string {
  return `apiVersion: edgewise/v1\nkind: TCPEdge\nmetadata: { name: ${name} }\nspec: { hostports: ["1.tcp.example.net:${port}"] }\n`;
}

async function write({ folder }: Workspace, files: Readonly<Record<string, string | Buffer>>): Promise<void> {
  for (const [file, text] of Object.entries(files)) {
    await mkdir(dirname(join(folder, file)), { recursive: true });
    await writeFile(join(folder, file), text);
  }
}

async function createShop(files: Readonly<Record<string, string>>): Promise<Workspace> {
  const workspace = await createWorkspace({});
  await write(workspace, { 'shop/web.yaml': toEdgeText('web', 20_001), ...files });
  return workspace;
}

describe('spec.skip_files', () => {
  it('leaves out a chart and the configuration of an agent, and says how many files', async () => {
    const files = { 'shop/charts/web/templates/a.yaml': TEMPLATE, 'shop/agent.yml': AGENT };
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(['charts/', '/agent.yml']), ...files });
    for (const command of ['validate', 'plan', 'drift', 'validate -R', 'plan -R']) {
      const { stdout, exitCode } = await edgewise(`${command} ${command.endsWith('-R') ? '.' : 'shop'}`);
      expect(stdout, command).toContain('Skipped: 2 files that spec.skip_files names.');
      expect(exitCode, command).toBe(command === 'drift' ? 2 : 0);
    }
    const { stdout } = await edgewise('plan shop --format json');
    expect(readOnlyStack(stdout)).toMatchObject({ skipped: { documents: 0, files: 2 } });
  });

  it('is the line that the error about a skippable file proposes', async () => {
    const files = { 'shop/charts/web/templates/a.yaml': TEMPLATE, 'shop/agent.yml': AGENT };
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(), ...files });
    const { stdout, exitCode } = await edgewise('validate shop');
    expect(exitCode).toBe(3);
    expect(stdout).toContain('write `skip_files: ["charts/"]` in the spec of the Stack');
    expect(stdout).toContain('write `skip_files: ["agent.yml"]` in the spec of the Stack');
  });

  it('comes from the nearest Defaults, relative to their folder, if the Stack has none', async () => {
    const defaults = 'apiVersion: edgewise/v1\nkind: Defaults\nspec: { skip_files: ["/shop/charts/"] }\n';
    const files = { 'defaults.yaml': defaults, 'shop/charts/a.yaml': TEMPLATE };
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(), ...files });
    expect(await edgewise('plan -R .')).toMatchObject({ exitCode: 0 });
    const set = await createShop({ 'shop/edgewise.yaml': toStackText(['other']), ...files });
    expect(await set.edgewise('validate shop')).toMatchObject({ exitCode: 3 });
  });

  it.each([
    ['a document of edgewise', toEdgeText('old', 20_002)],
    ['one in another case', toEdgeText('old', 20_002).replace('edgewise/v1', 'EdgeWise/v2')],
    ['one behind a document of another tool', `apiVersion: v1\nkind: Service\n---\n${toEdgeText('old', 20_002)}`],
    ['a template of one', `{{- if .x }}\n${toEdgeText('old', 20_002)}{{- end }}\n`],
    ['one in a list of another tool', `apiVersion: v1\nkind: XList\nitems: [{ apiVersion: edgewise/v1 }]\n`],
    ['one with a repeated key', `apiVersion: edgewise/v1\n${toEdgeText('old', 20_002).replace('edgewise/v1', 'v1')}`],
    [
      'one whose apiVersion comes from a variable',
      toEdgeText('old', 20_002).replace('edgewise/v1', `\${env:NONE:-edgewise/v1}`),
    ],
    ['one with an escape', toEdgeText('old', 20_002).replace('edgewise/v1', '"edgew\\u0069se/v1"')],
    ['one that an anchor gives', `x: &v edgewise/v1\n${toEdgeText('old', 20_002).replace('edgewise/v1', '*v')}`],
  ])('cannot leave out a file with %s', async (_, text) => {
    const { edgewise } = await createShop({
      'shop/edgewise.yaml': toStackText(['x', 'old/']),
      'shop/old/a.yaml': text,
    });
    for (const command of ['validate shop', 'plan shop', 'plan -R .', 'apply shop --yes']) {
      const { stdout, stderr, exitCode } = await edgewise(command);
      expect(stdout + stderr, command).toContain('error[manifest-not-read]: spec.skip_files has `old/`');
      expect(stdout + stderr, command).toContain('shop/old/a.yaml:');
      expect(exitCode, command).toBe(3);
    }
  });

  it('cannot leave out the Stack, nor the Defaults beside it', async () => {
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(['*.yaml']) });
    const { stdout, exitCode } = await edgewise('plan -R .');
    expect(stdout).toContain('leaves out a document of edgewise in shop/edgewise.yaml');
    expect(exitCode).toBe(3);
  });

  it('is not proposed for a pointer of Git LFS: the error says how to get the file', async () => {
    const pointer = 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 120\n';
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(), 'shop/edge.yaml': pointer });
    const { stderr, exitCode } = await edgewise('plan shop');
    expect(exitCode).toBe(3);
    expect(stderr).toContain('shop/edge.yaml is a pointer of Git LFS, and not the file itself');
    expect(stderr).toContain('git lfs pull');
    expect(stderr).not.toContain('skip_files');
  });

  it.each([
    ['a pointer of Git LFS', 'version https://git-lfs.github.com/spec/v1\noid sha256:abc\nsize 120\n'],
    ['binary text', Buffer.from([0, 71, 73, 84, 67, 82, 89, 80, 84, 0, 255])],
    ['nothing', ''],
    ['an encrypted text', 'kind: ENC[AES256_GCM,data:abc]\nmetadata: { name: ENC[AES256_GCM,data:x] }\n'],
    ['a text with its name', 'kind: Backup\nnames:\n  - old\n'],
  ])('is named at each delete that it may cause, because the file has %s', async (_, text) => {
    const workspace = await createShop({
      'shop/edgewise.yaml': toStackText(),
      'shop/old.yaml': toEdgeText('old', 20_002),
    });
    const { edgewise } = workspace;
    expect(await edgewise('apply shop --yes')).toMatchObject({ exitCode: 0 });
    await write(workspace, { 'shop/edgewise.yaml': toStackText(['old.yaml']), 'shop/old.yaml': text });
    const line = 'may be described in a file that spec.skip_files leaves out (shop/edgewise.yaml:4): shop/old.yaml';
    expect((await edgewise('plan shop')).stdout).toContain(line);
    expect((await edgewise('plan shop --format markdown')).stdout).toMatch(
      /spec\.skip\\_files leaves out \(shop\/edgewise\.yaml:&#8203;4\)/,
    );
  });

  it('is not named at a delete that it cannot cause', async () => {
    const workspace = await createShop({
      'shop/edgewise.yaml': toStackText(['charts']),
      'shop/old.yaml': toEdgeText('old', 20_002),
    });
    await write(workspace, { 'shop/charts/a.yaml': TEMPLATE });
    expect(await workspace.edgewise('apply shop --yes')).toMatchObject({ exitCode: 0 });
    await rm(join(workspace.folder, 'shop/old.yaml'));
    const { stdout } = await workspace.edgewise('plan shop');
    expect(stdout).toContain('TCPEdge/old');
    expect(stdout).not.toContain('may be described');
  });

  it('leaves out a link that leads out of the repository', async () => {
    const workspace = await createShop({ 'shop/edgewise.yaml': toStackText(['vendored.yaml']) });
    await symlink('/etc/hostname', join(workspace.folder, 'shop/vendored.yaml'));
    expect(await workspace.edgewise('validate shop')).toMatchObject({ exitCode: 0 });
  });

  it.each(['../other', 'a/../b', ''])('refuses the pattern %j', async (pattern) => {
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText([pattern]) });
    const { stdout, exitCode } = await edgewise('validate shop');
    expect(stdout).toContain('spec.skip_files[0]');
    expect(exitCode).toBe(3);
  });
});

describe('a file of another tool beside the manifests', () => {
  it('does not stop a plan: documents of charts and CRDs are skipped and counted', async () => {
    const rendered = 'apiVersion: v1\nkind: Service\n---\napiVersion: apps/v1\nkind: Deployment\n';
    const { edgewise } = await createShop({ 'shop/edgewise.yaml': toStackText(), 'shop/rendered.yaml': rendered });
    for (const command of ['validate shop', 'plan shop', 'plan -R .', 'drift shop'])
      expect((await edgewise(command)).stdout, command).toContain('Skipped: 2 documents of other tools.');
    const { stdout } = await edgewise('validate shop --format json');
    expect(readOnlyStack(stdout)).toMatchObject({ ok: true, skipped: { documents: 2, files: 0 } });
  });

  it('does not end a stack: a Stack of Pulumi takes no files of edgewise with it', async () => {
    const files = {
      'shop/edgewise.yaml': toStackText(['Pulumi.yaml']),
      'shop/infra/Pulumi.yaml': 'apiVersion: pulumi.com/v1\nkind: Stack\nmetadata: { name: infra }\n',
      'shop/infra/db.yaml': toEdgeText('db', 20_002),
    };
    const { edgewise } = await createShop(files);
    expect((await edgewise('plan shop')).stdout).toContain('2 to create');
    const all = await edgewise('plan -R .');
    expect(all.stdout).toContain('2 to create');
    expect(all.stdout).toContain('1 stack below the current folder');
  });

  it('does not keep a resource that an API dump shows, with its mark, from being pruned', async () => {
    const workspace = await createShop({
      'shop/edgewise.yaml': toStackText(['/backup/']),
      'shop/old.yaml': toEdgeText('old', 20_002),
    });
    const { edgewise } = workspace;
    expect(await edgewise('apply shop --yes')).toMatchObject({ exitCode: 0 });
    const dumped = await edgewise('get shop --format json');
    await write(workspace, { 'shop/backup/edge.json': dumped.stdout });
    await rm(join(workspace.folder, 'shop/old.yaml'));
    const { stdout, exitCode } = await edgewise('plan shop');
    expect(stdout).toMatch(/- TCPEdge\/old .* delete: no longer in the manifests/);
    expect(exitCode).toBe(0);
  });
});
