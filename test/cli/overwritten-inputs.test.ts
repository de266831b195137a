import { readFile, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { createWorkspace, STACK, toEdge, toManifest, type Workspace } from './workspace.ts';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAINQEG4EK5mIdm1DJJkxUpmQJUioU1ici/uMErmP5sj6L';

function toCertificate(more: object = {}, key: object | string = KEY): string {
  const spec = { public_key: key, ssh_certificate_authority_id: 'sshca_main', principals: ['alice'] };
  return toManifest('SSHUserCertificate', 'alice', spec, more);
}

/** Runs a command line that would overwrite an input. Expects that it changes no file and sends no request. */
async function expectRefused(
  { edgewise, recorder, folder }: Workspace,
  line: string,
  env: Record<string, string> = {},
) {
  const list = ['edgewise.yaml', 'key.pub', 'ca.pem', 'api-key', 'plan.json', 'account.json'];
  const readAll = () => Promise.all(list.map((name) => readFile(join(folder, name), 'utf8').catch(() => undefined)));
  const before = await readAll();
  recorder.take();
  const { exitCode, stderr } = await edgewise(line, { env });
  expect(stderr).toMatch(
    /\S+ is a (file that this run reads(, and would be overwritten)?|symbolic link, and is not overwritten)\.$/m,
  );
  expect(await readAll()).toEqual(before);
  expect(recorder.take()).toEqual([]);
  return exitCode;
}

describe('a run', () => {
  it.each([
    'plan edgewise.yaml -o edgewise.yaml',
    'plan edgewise.yaml -o ./link.yaml',
    'plan edgewise.yaml --report json=edgewise.yaml',
    'apply edgewise.yaml --yes --report markdown=link.yaml',
    'drift edgewise.yaml --report json=edgewise.yaml',
    'plan . --report json=./edgewise.yaml',
    'destroy edgewise.yaml --yes --report json=edgewise.yaml',
    'plan edgewise.yaml --report json=key.pub',
    'plan edgewise.yaml --report json=ca.pem',
    'validate edgewise.yaml --report json=ca.pem',
    'validate edgewise.yaml --report json=key.pub',
    'plan edgewise.yaml --ca-file api-key -o api-key',
  ])('overwrites no file that it reads, and says so before any request: %s', async (line) => {
    const api = STACK.replace('name: test\n', 'name: test\nspec: { api: { ca_file: ca.pem } }\n');
    const manifests = api + toEdge('a', 20001) + toCertificate({}, { file: 'key.pub' });
    const files = { 'edgewise.yaml': manifests, 'key.pub': KEY, 'ca.pem': 'pem', 'api-key': 'key' };
    const workspace = await createWorkspace(files);
    await symlink(join(workspace.folder, 'edgewise.yaml'), join(workspace.folder, 'link.yaml'));
    expect(await expectRefused(workspace, line)).toBe(3);
    expect(await workspace.edgewise('validate edgewise.yaml')).toMatchObject({ exitCode: 0 });
  });

  it('does not overwrite the file with the API key', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK, 'api-key': 'dev' });
    const env = { EDGEWISE_API_KEY: '', EDGEWISE_API_KEY_FILE: 'api-key' };
    expect(await expectRefused(workspace, 'plan edgewise.yaml -o api-key', env)).toBe(3);
  });

  it('does not overwrite the data of the embedded server', async () => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    const at = ['--base-url', 'embedded:account.json'].join(' ');
    expect(await workspace.edgewise(`apply edgewise.yaml --yes ${at}`)).toMatchObject({ exitCode: 0 });
    expect(await expectRefused(workspace, `plan edgewise.yaml ${at} -o account.json`)).toBe(3);
  });

  it.each([
    ['with a mistake in it', `${STACK}---\nkind: Nothing\n`, 'plan edgewise.yaml --report json=edgewise.yaml'],
    ['that cannot be parsed', '{', 'apply . --yes --report markdown=./edgewise.yaml'],
    ['in a folder, beside an unknown argument', STACK, 'plan --report json=edgewise.yaml --no-such-flag'],
    [
      'beside a report without a folder',
      STACK,
      'plan edgewise.yaml --report json=edgewise.yaml --report html=no/x.html',
    ],
    ['that is only checked', STACK, 'validate edgewise.yaml --report json=edgewise.yaml'],
    ['that is empty', '', 'plan edgewise.yaml --report json=edgewise.yaml'],
  ])('does not overwrite a manifest %s', async (_, text, line) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': text });
    expect(await expectRefused(workspace, line)).not.toBe(0);
  });

  it.each([
    'apply --approved plan.json --yes --report json=plan.json',
    'apply edgewise.yaml --approved plan.json --yes --report json=edgewise.yaml',
    'show plan.json --report json=plan.json',
  ])('does not overwrite a saved plan or its files: %s', async (line) => {
    const workspace = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
    expect(await workspace.edgewise('plan edgewise.yaml -o plan.json')).toMatchObject({ exitCode: 0 });
    expect(await expectRefused(workspace, line)).not.toBe(0);
  });

  it.each(['-o', '--out'])(
    'overwrites an earlier plan with its failure before it has read anything: %s',
    async (flag) => {
      const { edgewise, folder } = await createWorkspace({ 'edgewise.yaml': STACK + toEdge('a', 20001) });
      const readPlan = () => readFile(join(folder, 'plan.json'), 'utf8');
      expect(await edgewise('plan -o plan.json')).toMatchObject({ exitCode: 0 });
      expect(JSON.parse(await readPlan())).toMatchObject({ ok: true });
      expect(await edgewise(`plan no-such-folder ${flag} plan.json`)).toMatchObject({ exitCode: 3 });
      expect(JSON.parse(await readPlan())).toMatchObject({ ok: false });
    },
  );

  it('overwrites any other file silently, as cp does', async () => {
    const { edgewise, folder, write } = await createWorkspace({});
    await write({ 'plan.json': '{"format": 1}', 'notes.md': '# Notes\n' });
    const line = 'plan . -o plan.json --report markdown=notes.md';
    for (const port of [20001, 20002]) {
      await write({ 'edgewise.yaml': STACK + toEdge('b', port) });
      expect(await edgewise(line)).toMatchObject({ exitCode: 0, stderr: '' });
      for (const file of ['plan.json', 'notes.md'])
        expect(await readFile(join(folder, file), 'utf8')).toContain(`1.tcp.example.net:${port}`);
    }
  });
});
